"""`slide` on streaming DataFrames."""

from __future__ import annotations

from functools import partial
from typing import Any

from windrow.planning.slide_plan import END, SlidePlan
from windrow.spark.bridge.answer_columns import answer_batches, in_microseconds, result_columns
from windrow.spark.bridge.column_names import require_new_names
from windrow.spark.bridge.source import Source, title
from windrow.spark.streaming.dataflow import Told, through_shards
from windrow.spark.streaming.outputs import Answered
from windrow.spark.streaming.watermark import mark_on
from windrow.stream.slide_stream import StreamSlide
from windrow.windows import Window


def slide_stream(source: Source, plan: SlidePlan, told: Told) -> Any:
    """The answers of `wr.slide` as a streaming DataFrame, each when it is final."""
    result = result_columns(source.schema, plan)
    outputs = [name for name, _place in plan.outputs]
    require_new_names(source.frame, result.names[: -len(outputs)], outputs)
    schema = in_microseconds(plan.output_schema)
    answered = Answered(
        title("slide", plan.features, plan.windows),
        result,
        schema,
        partial(answer_batches, schema=schema),
        marked=None if any(map(_is_sampled, plan.windows.values())) else mark_on(END, schema),
    )
    return through_shards(source, plan, plan.columns, StreamSlide, answered, told)


def _is_sampled(window: Window) -> bool:
    """Whether answers wait for a tick of a clock, which may be long after the window's end."""
    return window.every is not None and window.every.in_time and window.period is None
