"""On Spark, under any disorder, the last revision of each answer is what a table would say."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.slide import oracle
from tests.support.stream.files import read_stream, write_batches
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import MILLISECOND
from tests.support.stream.revisions import Revisions
from tests.support.stream.strategies import Stream
from tests.support.stream.updated import AT_THEIR_ROW, SLIDING, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    # Interpreted, numbers are numpy's, which warn where a kernel is silent.
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

MOST_BATCHES = 5
#: milliseconds, or days, beyond all events
FOREVER = 100_000
#: to shrink an example on Spark takes long, and says little more
RUN = {
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
    "suppress_health_check": list(HealthCheck),
}
ALLOWED = st.just(FOREVER) | st.integers(0, 20)


def revised(spark: "SparkSession", call: Any, example: Iterated, allowed: int) -> None:
    """Run the batches as a stream on Spark; keep the newest revisions, and those that are late."""
    # A batch takes about a second.
    stream = replace(example.stream, batches=example.stream.batches[:MOST_BATCHES])
    example = replace(example, stream=stream)
    sink, late = Revisions(stream.key), list[int]()

    def take(batch: "DataFrame", _number: int) -> None:
        found = batch.toArrow()
        answers = wr.on_time(found)
        sink.take(answers.to_pylist() if call is wr.over else oracle.rows_of(answers))
        late.extend(wr.late(found)["id"].to_pylist())

    with tempfile.TemporaryDirectory() as name:
        write_batches(Path(name) / "events", example.batches)
        answers = call(
            read_stream(spark, Path(name) / "events"),
            **stream.arguments,
            lateness=f"{example.lateness} milliseconds",
            allowed_lateness=f"{allowed} milliseconds",
            emit="updates",
            late="side",
        )
        writer = answers.writeStream.foreachBatch(take).outputMode("update")
        writer = writer.option("checkpointLocation", f"{name}/checkpoint")
        writer.trigger(availableNow=True).start().awaitTermination()
    every = pa.concat_tables(example.batches).combine_chunks()
    every = every.filter(pc.is_valid(every["o0"]))
    require_late(every, late, example.lateness + allowed)
    in_time = every.filter(pc.invert(pc.is_in(every["id"], pa.array(late, pa.int64()))))
    sink.check(answers_of(call, stream, in_time))


def require_late(every: pa.Table, late: list[int], allowed: int) -> None:
    """None of these events came in time, by the newest of all."""
    assert len(set(late)) == len(late)
    if late:
        times = dict(zip(every["id"].to_pylist(), over_oracle.ticks(every["o0"]), strict=True))
        behind = (max(times.values()) - max(times[each] for each in late)) // MILLISECOND
        assert behind >= allowed


def answers_of(call: Any, stream: Stream, events: pa.Table) -> list[dict[str, Any]]:
    """What the oracle says of a table."""
    if call is wr.slide:
        return oracle.slide(events, **stream.arguments)
    if not events.num_rows:
        return []
    answers = over_oracle.over(events, **stream.arguments)
    columns = {"id": events["id"].to_pylist(), **answers}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@given(iterated(SLIDING), ALLOWED)
@examples(3, **RUN)
def test_slide(streaming: "SparkSession", example: Iterated, allowed: int) -> None:
    """Windows by a clock; what comes too late comes out as rows instead."""
    revised(streaming, wr.slide, example, some(allowed, example))


@given(iterated(AT_THEIR_ROW), ALLOWED)
@examples(2, **RUN)
def test_over(streaming: "SparkSession", example: Iterated, allowed: int) -> None:
    """Windows that end at their row."""
    revised(streaming, wr.over, example, some(allowed, example))
