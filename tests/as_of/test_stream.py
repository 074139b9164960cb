"""`as_of` over a stream of events and one of queries: a shard, compared with the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.as_of import oracle as moments
from tests.support.as_of.tables import events, queries
from tests.support.over import oracle
from tests.support.stream.model import BINS_SMALL, MILLISECOND, THE_END, WAITING_SMALL, Memory
from windrow.planning.as_of_plan import resolve_as_of
from windrow.planning.choose import Wish
from windrow.stream import sizes
from windrow.stream.as_of_stream import StreamAsOf
from windrow.stream.asked_rows import AskedRows
from windrow.stream.inspection import summary

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

AGGS = [wr.sum("n"), wr.last("s"), wr.count("x"), wr.median("x"), wr.max("ts")]
WINDOWS = {
    "short": wr.time("20 seconds"),
    "long": wr.time("2 minutes", closed="left", min_rows=3),
    "rows": wr.rows(4),
    "before": wr.rows(7, current=False),
    "all": wr.expanding(),
    "month": wr.calendar("1 month"),
}
ORDER = ["ts", "place"]
#: how late events come at most, in seconds; the watermark is as far behind
LATENESS = 30
SECOND = 10**9


def laid(rows: AskedRows, table: pa.Table, asks: bool) -> pa.Table:
    """Queries or events as rows of the stream."""
    own = rows.asked if asks else {name: name for name in rows.told}
    columns = {here: table[name] for name, here in own.items()}
    columns[rows.asks] = pa.array([asks] * table.num_rows, pa.bool_())
    return pa.table(
        {
            name: columns.get(name, pa.nulls(table.num_rows, data_type)).cast(data_type)
            for name, data_type in rows.types.items()
        }
    )


def in_disorder(table: pa.Table, random: np.random.Generator, batches: int) -> list[pa.Table]:
    """Rows in batches by time, most of them late enough to count and a few too late."""
    times = np.array([-1 if each is None else each // SECOND for each in oracle.ticks(table["ts"])])
    arrival = times + random.choice(
        [0, 10, LATENESS, 3 * LATENESS], len(times), p=[0.5, 0.3, 0.15, 0.05]
    )
    order = np.argsort(arrival, kind="stable")
    cuts = np.linspace(0, 300 + LATENESS, batches + 1)[1:-1]
    places = np.searchsorted(arrival[order], cuts)
    return [table.take(pa.array(each)) for each in np.split(order, places)]


def newest(tables: list[pa.Table]) -> int:
    """The newest time, in seconds."""
    return max((t // SECOND for each in tables for t in oracle.ticks(each["ts"]) if t), default=0)


def check(key: list[str], windows: dict[str, Any], seed: int, batches: int) -> None:
    random = np.random.default_rng(seed)
    asked, told = queries(seed, 40), events(seed + 50, 120)
    arguments: dict[str, Any] = {"key": key, "order": ORDER, "windows": windows, "aggs": AGGS}
    (plan,) = resolve_as_of(asked.schema, {None: told.schema}, **arguments, wish=Wish())
    rows = AskedRows(plan, asked.schema)
    storage, found, late, watermark, timer = Memory(), [], 0, 0, None
    kept: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    seen: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    dropped = untimed = 0
    for pair in zip(*(in_disorder(each, random, batches) for each in (asked, told)), strict=True):
        for each, on_time, so_far in zip(pair, kept, seen, strict=True):
            times = oracle.ticks(each["ts"])
            is_late = [t is not None and watermark and t <= watermark * MILLISECOND for t in times]
            fine = [t is not None and not gone for t, gone in zip(times, is_late, strict=True)]
            on_time.append(each.filter(pa.array(fine, pa.bool_())))
            so_far.append(each)
            dropped += sum(map(bool, is_late))
        batch = [laid(rows, each, asks) for each, asks in zip(pair, (True, False), strict=True)]
        # Nothing but the storage is carried from one batch to the next.
        step = StreamAsOf(plan, asked.schema, {"n", "x"}, 1).advance(storage, batch, watermark)
        found += step.answers
        late, untimed, timer = late + step.late, untimed + step.untimed, step.timer
        # Spark's watermark of the next batch is that of the stream that is behind.
        watermark = max(watermark, 1000 * (min(map(newest, seen)) - LATENESS))
    assert timer is not None
    step = StreamAsOf(plan, asked.schema, {"n", "x"}, 1).advance(storage, [], THE_END)
    answers = pa.concat_tables([*found, *step.answers]).sort_by("id")
    assert late == dropped
    assert late
    assert untimed == asked["ts"].null_count + told["ts"].null_count
    on_time, happened = (pa.concat_tables(each) for each in kept)
    on_time = on_time.sort_by("id")
    assert answers.select(asked.column_names).to_pylist() == on_time.to_pylist()
    oracle.assert_agrees(moments.as_of(on_time, happened, **arguments), answers)
    summary(storage)
    reached = {"short", "long"} >= windows.keys()
    assert not reached or not any(number >> 56 == 10 for number in storage), "rows are left"


@pytest.mark.parametrize(("seed", "batches"), [(1, 8), (2, 5), (3, 9)])
@pytest.mark.parametrize("small", [False, True])
def test_queries_are_answered_once_when_they_are_final(
    seed: int, batches: int, small: bool
) -> None:
    with sizes.using(**(BINS_SMALL | WAITING_SMALL if small else {})):
        check(["user"] if seed != 2 else [], WINDOWS, seed, batches)
        timed = {name: WINDOWS[name] for name in ("short", "long")}
        check(["zone", "user"], timed, seed + 10, batches)


def test_what_must_stay_the_same_for_a_restart() -> None:
    asked, told = queries(1, 3), events(1, 3)

    def described(asked: pa.Table, windows: dict[str, Any]) -> list[str]:
        (plan,) = resolve_as_of(
            asked.schema, {None: told.schema}, key="user", order="ts", windows=windows,
            aggs=[wr.sum("n")], wish=Wish(),
        )  # fmt: skip
        return StreamAsOf(plan, asked.schema, {"n"}, 1).description

    one = described(asked, {"short": WINDOWS["short"]})
    assert one == described(asked, {"short": WINDOWS["short"]})
    assert one != described(asked, {"short": WINDOWS["long"]})
    assert one != described(asked.drop_columns("n"), {"short": WINDOWS["short"]})
    with pytest.raises(wr.InvalidArgument, match="windows: 'soon' ends after its moment"):
        described(asked, {"soon": wr.time(before="1 second", after="2 seconds")})
    seconds = asked.set_column(2, "ts", asked["ts"].cast(pa.timestamp("s", "UTC"), safe=False))
    with pytest.raises(wr.InvalidArgument, match=r"order: 'ts' is .* so cast one of them"):
        described(seconds, {"short": WINDOWS["short"]})
