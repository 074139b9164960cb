"""`wr.calendar`: what it takes and refuses, and what its windows are."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stream.inspection import summary
from windrow.stream.slide_stream import StreamSlide

SPRING = ["2024-03-30T22:59", "2024-03-30T23:30", "2024-03-31T21:59", "2024-03-31T22:00"]


def table(times: list[str], zone: str | None = "UTC") -> pa.Table:
    ticks = pa.array([datetime.fromisoformat(each) for each in times], pa.timestamp("us"))
    return pa.table({"t": ticks.cast(pa.timestamp("us", zone)), "x": range(len(times))})


def windows_of(data: pa.Table, window: Any) -> list[tuple[Any, Any, int]]:
    found = wr.slide(data, order="t", windows=window, aggs=wr.count())
    return [tuple(row.values()) for row in found.to_pylist()]


def test_a_day_has_23_hours_when_clocks_go_forward() -> None:
    first, second, third = windows_of(table(SPRING), wr.calendar("1 day", timezone="Europe/Berlin"))
    assert second[1] - second[0] == timedelta(hours=23)
    assert [row[2] for row in (first, second, third)] == [1, 2, 1]
    assert third[0] == datetime.fromisoformat("2024-03-31T22:00+00:00")


def test_the_zone_is_that_of_the_column() -> None:
    asked = wr.calendar("1 day", timezone="Europe/Berlin")
    assert windows_of(table(SPRING, "Europe/Berlin"), wr.calendar("1 day")) == windows_of(
        table(SPRING, "Europe/Berlin"), asked
    )
    (only,) = windows_of(table(["2024-02-29T10:00"], None), wr.calendar("year"))
    assert only == (datetime(2024, 1, 1), datetime(2025, 1, 1), 1)
    dates = pa.table({"t": pa.array([date(2024, 2, 29)])})
    found = wr.slide(dates, order="t", windows=wr.calendar("quarter"), aggs=wr.count())
    assert found["window_end"].to_pylist() == [date(2024, 4, 1)]


def test_a_zone_for_times_without_one_is_refused() -> None:
    with pytest.raises(wr.InvalidArgument, match="timezone: the order column is timestamp"):
        windows_of(table(SPRING, None), wr.calendar("1 day", timezone="Europe/Berlin"))


@pytest.mark.parametrize(
    ("window", "begins"),
    [
        (wr.calendar("3 months"), "2024-01-01"),
        (wr.calendar("2 years"), "2024-01-01"),
        (wr.calendar("1 week"), "2024-02-26"),
        (wr.calendar("1 week", week_start="Sunday"), "2024-02-25"),
        (wr.calendar("2 weeks"), "2024-02-19"),
        (wr.calendar("10 days"), "2024-02-27"),
        (wr.calendar("1 day", every="1 year"), None),
    ],
)
def test_where_windows_begin(window: Any, begins: str | None) -> None:
    found = windows_of(table(["2024-02-29T10:00"]), window)
    assert [str(row[0].date()) for row in found] == ([] if begins is None else [begins])


@pytest.mark.parametrize(
    ("window", "call"),
    [
        (wr.calendar("12 months"), "calendar('1 year')"),
        (wr.calendar("14d", every="1mo"), "calendar('2 weeks', every='1 month')"),
        (wr.calendar("month", timezone="UTC"), "calendar('1 month', timezone='UTC')"),
        (wr.calendar(timedelta(days=3), week_start="sunday"), "calendar('3 days')"),
        (wr.calendar("w", week_start="sunday"), "calendar('1 week', week_start='sunday')"),
    ],
)
def test_a_window_as_text(window: Any, call: str) -> None:
    assert window.call() == call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1 hour",), "range: 'hour' in '1 hour' is no unit of the calendar"),
        (("1m",), "range: 'm' in '1m' is no unit of the calendar.*'mo' is a month"),
        (("1 month 3 days",), "range: '1 month 3 days' is no length of the calendar"),
        (("",), "range: '' is no length of the calendar"),
        (("0 days",), "range: '0 days' is no length of the calendar"),
        ((5,), "range: 5 is no length of the calendar"),
        (("1 day", 5), "every: 5 is no length of the calendar"),
        (("99999999999 years",), "range: .* is longer than any calendar"),
        ((timedelta(hours=5),), "range: calendar windows are whole days"),
    ],
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument, match=message):
        wr.calendar(*arguments)
    with pytest.raises(wr.InvalidArgument, match="week_start: a weekday"):
        wr.calendar("1 week", week_start="mon")


def test_every_is_for_slide() -> None:
    with pytest.raises(wr.InvalidArgument, match="every=, which is for"):
        wr.over(table(SPRING), order="t", windows=wr.calendar("1 month", "1 day"), aggs=wr.count())


def test_a_checkpoint_tells_zones_and_units_apart() -> None:
    def description(window: Any) -> list[str]:
        schema = pa.schema({"t": pa.timestamp("us", "UTC"), "x": pa.float64()})
        asked = {"key": None, "order": "t", "windows": {"w": window}, "aggs": wr.sum("x")}
        plan = resolve_slide(schema, **asked, wish=Wish(), changes_only=False)
        return StreamSlide(plan, set(), 1).description

    month = description(wr.calendar("1 month", timezone="Europe/Berlin"))
    assert description(wr.calendar("month", timezone="Europe/Berlin")) == month
    for other in (
        wr.calendar("1 month", timezone="Europe/Paris"),
        wr.calendar("1 month"),
        wr.calendar("1 month", every="1 day", timezone="Europe/Berlin"),
        wr.calendar("1 quarter", timezone="Europe/Berlin"),
    ):
        assert description(other) != month


def test_it_is_explained() -> None:
    windows = {
        "month": wr.calendar("1 month", timezone="Europe/Berlin"),
        "quarter": wr.calendar("quarter", every="month", timezone="Europe/Berlin"),
    }
    asked: dict[str, Any] = {"order": "t", "windows": windows, "aggs": wr.sum("x")}
    sliced = "month and quarter: slices of 1 month by the calendar of Europe/Berlin, at most 3 in a"
    assert sliced in str(wr.plan(**asked))
    assert "slices: a partial for each key and slice" in str(wr.plan(**asked, lateness="1 hour"))
    asked["windows"] = windows["month"]
    explained = " ".join(str(wr.plan(**asked, call="over")).split())
    assert "it cannot answer for a part of its window" in explained


def test_too_many_windows_of_an_event_are_refused() -> None:
    with pytest.raises(wr.InvalidArgument, match="every event gives 'calendar_1000000_years'"):
        windows_of(table(SPRING), wr.calendar("1000000 years", every="1 day"))
    with pytest.raises(wr.InvalidArgument, match="begins or ends at times that 't'"):
        windows_of(table(SPRING), wr.calendar("1000000 years"))


def test_a_stream_keeps_partials_however_many_events_there_are() -> None:
    def kept(events_of_a_day: int) -> Any:
        hours = 24 // events_of_a_day
        begin = datetime(2024, 2, 1)
        times = [begin + timedelta(hours=hour) for hour in range(0, 59 * 24, hours)]
        data = table([each.isoformat() for each in times])
        window = wr.calendar("quarter", every="month", timezone="Europe/Berlin")
        asked = {"key": None, "order": "t", "windows": window, "aggs": wr.sum("x")}
        plan = resolve_slide(data.schema, **asked, wish=Wish(), changes_only=False)
        storage = Memory()
        april = round(datetime(2024, 3, 31, 22, tzinfo=UTC).timestamp() * 1_000)
        shard = StreamSlide(plan, set(), 1)
        shard.advance(storage, [data], 0)
        assert sum(map(len, shard.advance(storage, [], april).answers)) == 2
        return summary(storage)

    few, many = kept(1), kept(24)
    assert few.blocks == many.blocks
    assert many.bytes < few.bytes + 16, "larger sums are compressed less"
    assert (few.waiting, many.waiting) == (0, 0)
    # From the begin of February in Berlin, which windows to come hold, to the begin of April.
    assert few.oldest == datetime(2024, 1, 31, 23, tzinfo=UTC).timestamp()
    assert few.newest == datetime(2024, 3, 31, 22, tzinfo=UTC).timestamp()
