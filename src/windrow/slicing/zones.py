"""Time zones: from instants to the time on a clock, and back, for whole arrays.

Instants are seconds since the epoch. The time on the clock, the local time, is the instant plus the
zone's offset from UTC, in seconds as well. Between two changes of its offset a zone's clock runs
evenly:

    instants       ------------|--------------------|----------
    offset             1 h     |        2 h         |    1 h
    local time     ... 02:00   | 03:00 ...   03:00  | 02:00 ...
                        the clock goes forward    back

Forward, some local times are missing; back, some come twice. So a way back needs a rule: a local
time begins at the first instant at which the clock has reached it. That is the earlier of two, and
the first that exists where it is missing. By this rule local times never begin before earlier ones.

Changes are found with `zoneinfo`, a year at a time, for the years that are asked for. Not with
Arrow: pyarrow 26 knows no changes after 2037 (tests/slicing/test_zones.py shows 2050).
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from windrow.errors import InvalidArgument
from windrow.slicing.periodic import LIMIT, Integers

DAY = 86_400

#: no zone had changes before; until then each place kept the time of its sun
_FIRST_YEAR = 1800
#: from here on zones follow rules, which repeat with the calendar
_RULED_YEAR, _CYCLE = 2400, 400
_CYCLE_SECONDS = 146_097 * DAY
#: so many years in a row are looked up without asking which of them occur
_FEW_YEARS = 300
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIXED = re.compile(r"([+-])(\d\d):?(\d\d)$")
_UTC = ("UTC", "Etc/UTC", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "GMT", "Etc/GMT", "+00:00")


def is_utc(name: str) -> bool:
    """Whether a zone's clock shows UTC and never changes."""
    return name in _UTC


class Zone:
    """The clock of a time zone; `zone` makes one."""

    def __init__(self, clock: tzinfo) -> None:
        self._clock = clock

    def days(self, instants: Integers) -> Integers:
        """The local day, since 1970-01-01, that each instant is in: the last that has begun."""
        offsets = self._offsets(instants)
        piece = offsets.piece_of(instants)
        # Where a clock goes back over midnight, the day that had begun goes on.
        reached = np.maximum(instants + offsets.offset[piece], offsets.reached[piece] - 1)
        days: Integers = reached // DAY
        return days

    def begins(self, days: Integers) -> Integers:
        """When each local day begins."""
        return self.instants(days * DAY)[0]

    def locals(self, instants: Integers) -> Integers:
        """The local time at each instant."""
        offsets = self._offsets(instants)
        return instants + offsets.offset[offsets.piece_of(instants)]

    def locals_and_returns(self, instants: Integers) -> tuple[Integers, Integers]:
        """The local time at each instant; and the earliest then or later: clocks go back."""
        offsets = self._offsets(instants)
        piece = offsets.piece_of(instants)
        local: Integers = instants + offsets.offset[piece]
        return local, np.minimum(local, offsets.returns[piece])

    def instants(self, local: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """When each local time begins: the first instant at which the clock has reached it.

        And which of the local times the clock leaps over.
        """
        offsets = self._offsets(local)
        piece = np.searchsorted(offsets.reached[1:], local, side="right")
        shown: Integers = local - offsets.offset[piece]
        begins = offsets.at[piece]
        return np.maximum(begins, shown), shown < begins

    def _offsets(self, seconds: Integers) -> _Offsets:
        """The offsets in the years of some times, and in those beside them."""
        if not len(seconds):
            return _offsets(self._clock, (1970,))
        low, high = _years(np.array([seconds.min(), seconds.max()])).tolist()
        if high - low <= _FEW_YEARS:
            return _offsets(self._clock, tuple(range(low - 1, high + 2)))
        years = np.unique(_years(seconds))
        return _offsets(self._clock, tuple(np.unique([years - 1, years, years + 1]).tolist()))


@dataclass(frozen=True)
class _Offsets:
    """The pieces between changes of an offset, in order.

    Attributes:
        at: when each piece begins.
        offset: what its local time is ahead of UTC.
        reached: which local time the clock has reached before it, by any piece before; the last
            entry, one more than there are pieces, is later than all.
        returns: the earliest local time in any piece behind it.
    """

    at: Integers
    offset: Integers
    reached: Integers
    returns: Integers

    def piece_of(self, instants: Integers) -> Integers:
        """The piece that each instant is in."""
        return np.searchsorted(self.at[1:], instants, side="right")


@lru_cache(maxsize=256)
def _offsets(clock: tzinfo, years: tuple[int, ...]) -> _Offsets:
    pieces = [piece for year in years for piece in _pieces(clock, year)]
    at, offset = (np.array(each, np.int64) for each in zip(*pieces, strict=True))
    ends = at[1:] + offset[:-1]
    starts = at + offset
    return _Offsets(
        at,
        offset,
        np.concatenate([[-LIMIT], np.maximum.accumulate(ends), [LIMIT]]),
        np.append(np.minimum.accumulate(starts[::-1])[::-1][1:], LIMIT),
    )


def _pieces(clock: tzinfo, year: int) -> list[tuple[int, int]]:
    """When the offset changes in a year of UTC, and to what; its first is that at the begin."""
    if year < _FIRST_YEAR:
        begin = _begin_of(year)
        return [(begin, offset) for _, offset in _changes(clock, _FIRST_YEAR)[:1]]
    cycles = max((year - _RULED_YEAR) // _CYCLE, 0)
    shift = cycles * _CYCLE_SECONDS
    return [(at + shift, offset) for at, offset in _changes(clock, year - cycles * _CYCLE)]


@lru_cache(maxsize=4096)
def _changes(clock: tzinfo, year: int) -> list[tuple[int, int]]:
    """The pieces of a year, found by looking at the clock once a day."""
    begin, end = _begin_of(year), _begin_of(year + 1)
    found = [(begin, _offset(clock, begin))]
    for day in range(begin, end, DAY):
        next_day = min(day + DAY, end - 1)
        later = _offset(clock, next_day)
        while found[-1][1] != later:
            same, changed = max(found[-1][0], day), next_day
            while changed - same > 1:
                middle = (same + changed) // 2
                if _offset(clock, middle) == found[-1][1]:
                    same = middle
                else:
                    changed = middle
            found.append((changed, _offset(clock, changed)))
    return found


def _offset(clock: tzinfo, instant: int) -> int:
    offset = (_EPOCH + timedelta(seconds=instant)).astimezone(clock).utcoffset()
    assert offset is not None
    return offset // timedelta(seconds=1)


def _begin_of(year: int) -> int:
    """When a year begins in UTC."""
    day = np.datetime64(year - 1970, "Y").astype("datetime64[D]")
    return int(day.astype(np.int64)) * DAY


def _years(seconds: Integers) -> Integers:
    days = (seconds // DAY).astype("datetime64[D]")
    years: Integers = days.astype("datetime64[Y]").astype(np.int64) + 1970
    return years


def zone(name: str) -> Zone:
    """The zone of that name, as in "Europe/Berlin" or "+05:30"."""
    if not isinstance(name, str):
        raise InvalidArgument(f"timezone: the name of a zone, as in 'Europe/Berlin', not {name!r}")
    return _zone(name)


@lru_cache(maxsize=256)
def _zone(name: str) -> Zone:
    fixed = _FIXED.match(name)
    if fixed is not None:
        ahead = timedelta(hours=int(fixed[2]), minutes=int(fixed[3]))
        return Zone(timezone(-ahead if fixed[1] == "-" else ahead))
    try:
        return Zone(zoneinfo.ZoneInfo(name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = (
            "give the name of a place, as in 'Europe/Berlin', or 'UTC'"
            if zoneinfo.available_timezones()
            else "this machine has no time-zone data; pip install tzdata"
        )
        raise InvalidArgument(f"timezone: there is no zone {name!r}; {hint}") from None
