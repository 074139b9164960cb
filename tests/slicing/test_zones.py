"""Time zones: local days and times against `zoneinfo`, day by day and second by second."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from windrow.slicing.zones import DAY, zone

NAMES = [
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",  # half an hour
    "America/Sao_Paulo",  # back at midnight, and forward over midnight
    "America/St_Johns",  # back at one minute past midnight, until 2011
    "Pacific/Apia",  # no 2011-12-30, two times 1892-07-04
    "Africa/Casablanca",  # back for Ramadan
    "+05:30",
]


def instants() -> np.ndarray:
    random = np.random.default_rng(0)
    # 1865 to 2065, and around midnights of the years in which clocks changed there.
    anywhere = random.integers(-3_300_000_000, 3_000_000_000, 3000)
    midnights = random.integers(14_000, 16_000, 3000) * DAY + random.integers(-7, 8, 3000) * 1800
    return np.sort(np.concatenate([anywhere, midnights + random.integers(-90, 90, 3000)]))


@pytest.mark.parametrize("name", NAMES)
def test_days_are_those_that_have_begun(name: str) -> None:
    clock, times = zone(name), instants()
    days = clock.days(times)
    assert (clock.begins(days) <= times).all()
    assert (times < clock.begins(days + 1)).all()
    assert (np.diff(days) >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_local_times_are_those_of_zoneinfo(name: str) -> None:
    clock, times = zone(name), instants()
    local = clock.locals(times)
    if name in NAMES[:-1]:
        place = ZoneInfo(name)
        expected = [
            datetime.fromtimestamp(time, place).replace(tzinfo=UTC).timestamp()
            for time in times.tolist()
        ]
        assert local.tolist() == expected
    # The first instant at which the clock has reached a time: not one second before.
    reached, leapt = clock.instants(local)
    assert not leapt.any()
    assert (reached <= times).all()
    assert (clock.locals(reached) >= local).all()
    assert (clock.locals(reached - 1) < local).all()
    shown, returns = clock.locals_and_returns(times)
    assert (shown == local).all()
    assert (returns <= local).all()
    assert (np.diff(returns) >= 0).all()


def test_a_day_may_be_missing_or_come_twice() -> None:
    apia = zone("Pacific/Apia")
    skipped, doubled = (
        np.datetime64(day, "D").astype(np.int64) for day in ("2011-12-30", "1892-07-04")
    )
    lengths = np.diff(apia.begins(np.array([skipped, skipped + 1, doubled, doubled + 1])))
    assert lengths[0] == 0
    assert lengths[2] == 48 * 3600


def test_rules_go_on_for_ever() -> None:
    """Arrow knows no changes after 2037; so it is not asked."""
    berlin = zone("Europe/Berlin")
    july = np.array([datetime(year, 7, 1, tzinfo=UTC).timestamp() for year in (2050, 9000)])
    july = np.append(july, july[1] + 146_097 * DAY * 400).astype(np.int64)
    assert (berlin.locals(july) - july).tolist() == [7200] * 3
    by_arrow = pc.local_timestamp(pa.array(july[:1], pa.timestamp("s", "Europe/Berlin")))
    assert by_arrow.cast(pa.int64()).to_pylist() == [july[0] + 3600], "then zones.py can ask Arrow"
    long_ago = np.array([-(10**11)])
    assert (berlin.locals(long_ago) - long_ago).tolist() == [53 * 60 + 28]


@pytest.mark.parametrize("name", ["Europe/Nowhere", "", "../etc/passwd", "CEST+x"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(wr.InvalidArgument, match="timezone: there is no zone"):
        wr.calendar("1 day", timezone=name)


@pytest.mark.parametrize("zone", [3, ["UTC"], b"UTC"])
def test_what_is_no_name_is_refused(zone: Any) -> None:
    with pytest.raises(wr.InvalidArgument, match="timezone: the name of a zone"):
        wr.calendar("1 day", timezone=zone)
    assert wr.calendar("1 day", timezone=ZoneInfo("UTC")) == wr.calendar("1 day", timezone="UTC")
