"""`slide` on streaming DataFrames."""

from __future__ import annotations

from functools import partial
from typing import Any

from windrow.planning.slide_plan import END, SlidePlan
from windrow.planning.stream_arguments import StreamArguments
from windrow.spark.bridge.answer_columns import answer_batches, in_microseconds, result_columns
from windrow.spark.bridge.source import Source, title
from windrow.spark.streaming.dataflow import answer_stream
from windrow.spark.streaming.outputs import AnswerFormat
from windrow.spark.streaming.stream_setup import set_up
from windrow.spark.streaming.watermark import column_with_watermark
from windrow.windows import Window


def slide_stream(source: Source, plan: SlidePlan, arguments: StreamArguments) -> Any:
    """The answers of `wr.slide` as a streaming DataFrame, each when it is final."""
    schema = in_microseconds(plan.output_schema)
    is_sampled = any(map(_is_sampled, plan.windows.values()))
    answers = AnswerFormat(
        title("slide", plan.features, plan.windows),
        result_columns(source.schema, plan),
        schema,
        partial(answer_batches, schema=schema),
        None if is_sampled else column_with_watermark(END, schema),
    )
    return answer_stream(set_up(source, plan, arguments), answers)


def _is_sampled(window: Window) -> bool:
    """Whether answers wait for a tick of a clock, which may be long after the window's end."""
    return window.every is not None and window.every.in_time and window.period is None
