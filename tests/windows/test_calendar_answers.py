"""The answers of `wr.calendar` everywhere, against calendars and clocks of the standard library."""

from datetime import UTC, datetime
from itertools import cycle
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from tests.support import calendars
from tests.support.calendars import events
from tests.support.over.batches import cut, roll
from tests.support.slide.batches import stream
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", None]
#: a range and a slide, as they are written and as `calendars` takes them
SLIDES = [
    ("1 day", None, (1, "day"), (1, "day")),
    ("2 weeks", None, (2, "week"), (2, "week")),
    ("month", None, (1, "month"), (1, "month")),
    ("quarter", "1mo", (1, "quarter"), (1, "month")),
    ("1 month", "1 day", (1, "month"), (1, "day")),
    ("3 days", "1 month", (3, "day"), (1, "month")),
    ("2 years", None, (2, "year"), (2, "year")),
]
RANGES = [("1 month", (1, "month")), ("1 day", (1, "day")), ("1y", (1, "year"))]
AGGS = [wr.sum("x"), wr.count()]
#: behind all events
THE_END = 2_000_000_000_000


def ticks(table: pa.Table, name: str) -> list[int]:
    return [each * 1_000 for each in table[name].cast(pa.int64()).to_pylist()]


# wr.slide ----------------------------------------------------------------------------------------


def expected_windows(table: pa.Table, zone: str | None, span: Any, every: Any) -> list[Any]:
    found = []
    times, keys, values = ticks(table, "t"), table["k"].to_pylist(), table["x"].to_pylist()
    for begin, end in calendars.windows(min(times), max(times), span, every, zone):
        for key in (0, 1):
            held = [
                value
                for time, own, value in zip(times, keys, values, strict=True)
                if own == key and begin <= time < end
            ]
            if held:
                found.append((key, begin, end, sum(held), len(held)))
    return sorted(found)


def found_windows(result: pa.Table) -> list[Any]:
    begins, ends = ticks(result, "window_start"), ticks(result, "window_end")
    others = (result[name].to_pylist() for name in ("k", "sum_x", "count"))
    keys, sums, counts = others
    return sorted(zip(keys, begins, ends, sums, counts, strict=True))


@pytest.mark.parametrize(
    ("zone", "written", "every", "span", "slide"),
    [(zone, *asked) for zone, asked in zip(cycle(ZONES), [*SLIDES, *SLIDES[:3]], strict=False)],
)
def test_slide(zone: str | None, written: str, every: str | None, span: Any, slide: Any) -> None:
    table = events(zone)
    window = wr.calendar(written, every, timezone=zone)
    arguments: dict[str, Any] = {"key": "k", "order": "t", "windows": window, "aggs": AGGS}
    expected = expected_windows(table, zone, span, slide)
    assert found_windows(wr.slide(table, **arguments)) == expected
    placed = table.sort_by([("k", "ascending"), ("t", "ascending")])
    assert found_windows(stream(placed, [37, 1, 90], arguments)) == expected
    plan = resolve_slide(table.schema, **arguments, wish=Wish(), changes_only=False)
    assert found_windows(in_stream(StreamSlide(plan, set(), 1), table)) == expected


def in_stream(shard: Any, table: pa.Table) -> pa.Table:
    """What comes out of a stream in the order of time, a few events at a time."""
    storage, found = Memory(), []
    for begin in range(0, table.num_rows, 60):
        watermark = ticks(table, "t")[begin] // 10**6 - 1
        found += shard.advance(storage, [table.slice(begin, 60)], watermark).answers
    last = shard.advance(storage, [], THE_END)
    assert last.timer is None
    return pa.concat_tables([*found, *last.answers])


def test_slide_agrees_with_polars() -> None:
    table = events("Europe/Berlin", 1)
    frame = pl.from_arrow(table).with_columns(pl.col("t").dt.convert_time_zone("Europe/Berlin"))
    for unit in ("1d", "1w", "1mo", "1q", "1y"):
        window = wr.calendar(unit, timezone="Europe/Berlin")
        ours = wr.slide(table, key="k", order="t", windows=window, aggs=AGGS)
        theirs = frame.group_by_dynamic("t", every=unit, group_by="k", include_boundaries=True)
        answers = theirs.agg(pl.col("x").sum().alias("sum_x"), pl.len().alias("count"))
        names = {"_lower_boundary": "window_start", "_upper_boundary": "window_end"}
        assert found_windows(ours) == found_windows(answers.rename(names).to_arrow())


# wr.over -----------------------------------------------------------------------------------------


def expected_rows(table: pa.Table, zone: str | None, span: Any) -> list[tuple[int, int, int]]:
    times, keys, values = ticks(table, "t"), table["k"].to_pylist(), table["x"].to_pylist()
    found = []
    for row, time in enumerate(times):
        since = min(calendars.back(time, span, zone), time - 1)
        held = [
            values[other]
            for other in range(row + 1)
            if keys[other] == keys[row] and times[other] > since
        ]
        found.append((row, sum(held), len(held)))
    return found


def found_rows(result: pa.Table) -> list[tuple[int, int, int]]:
    return sorted(
        zip(*(result[each].to_pylist() for each in ("id", "sum_x", "count")), strict=True)
    )


@pytest.mark.parametrize(
    ("zone", "written", "span"),
    [(zone, *asked) for zone, asked in zip(ZONES, cycle(RANGES), strict=False)],
)
def test_over(zone: str | None, written: str, span: Any) -> None:
    table = events(zone)
    window = wr.calendar(written, timezone=zone)
    arguments: dict[str, Any] = {
        "key": "k", "order": ["t", "id"], "windows": window, "aggs": AGGS,
    }  # fmt: skip
    expected = expected_rows(table, zone, span)
    assert found_rows(wr.over(table, **arguments)) == expected
    placed = table.sort_by([("k", "ascending"), ("id", "ascending")])
    assert found_rows(roll(cut(placed, [37, 1, 90]), placed.schema, arguments)) == expected
    plan = resolve_over(table.schema, **arguments, wish=Wish())
    assert found_rows(in_stream(StreamOver(plan, set(), 1), table)) == expected


def test_rows_come_back_to_a_window() -> None:
    """March 29 is one month after February 28, as March 28 is."""
    hours = ["02-28T01:00", "02-28T22:00", "03-28T23:00", "03-29T00:30", "03-30T12:00"]
    moments = [datetime.fromisoformat(f"2023-{each}").replace(tzinfo=UTC) for each in hours]
    table = pa.table({"t": pa.array(moments, pa.timestamp("us", "UTC")), "x": [1, 2, 4, 8, 16]})
    window = wr.calendar("1 month")
    found = wr.over(table, order="t", windows=window, aggs=[wr.sum("x"), wr.collect("x")])
    assert found["sum_x"].to_pylist() == [1, 3, 4, 15, 30]
    assert found["collect_x"].to_pylist()[-1] == [2, 4, 8, 16]
    with pytest.raises(wr.NotApplicable, match="two_stacks_lite cannot serve"):
        wr.over(table, order="t", windows=window, aggs=wr.sum("x"), algorithm="two_stacks_lite")


def test_a_window_holds_its_own_row_where_the_clock_leaps() -> None:
    """There was no December 30, 2011 in Apia: the day before the 31st begins with it."""
    times = pa.array([datetime(2011, 12, 30, 10, tzinfo=UTC)], pa.timestamp("ns", "Pacific/Apia"))
    table = pa.table({"t": times})
    found = wr.over(table, order="t", windows=wr.calendar("1 day"), aggs=wr.count())
    assert found["count"].to_pylist() == [1]
