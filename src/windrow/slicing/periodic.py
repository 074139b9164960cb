"""Periodic windows W[range, slide]: where each begins and ends.

A periodic window stands for the windows [start, start + range) at every start = offset + k × slide,
for all integers k, also negative ones. For times these are exactly the windows of Spark's
`F.window(ts, range, slide, offset)`, and also those that it refuses, with a slide longer than the
range. Rows are counted from 0 within their key, and an answer is due after every `slide` rows. So
for rows the ends are multiples of the slide: `of_rows` chooses the offset that makes them so.

      range 5, slide 2, offset 1

      0 1 2 3 4 5 6 7 8 9
        [---------)
            [---------)
                [---------)

If the range is less than the slide, the window samples. The gap, from the end of one window to the
start of the next, belongs to no window; `holds` tells its events apart.

All of it is integer arithmetic, on the ticks of a clock or the positions of rows. Ranges and slides
are less than 2^62, so an event within 2^62 of zero has windows whose edges fit 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from windrow.errors import InvalidArgument

Integers = NDArray[np.int64]

LIMIT = 2**62


@dataclass(frozen=True)
class PeriodicWindow:
    """The windows [start, start + range) for every start that is offset modulo slide.

    Attributes:
        range: extent of a window.
        slide: distance between two windows.
        offset: where the windows start, reduced to 0 <= offset < slide, so that two specifications
            of the same windows are equal.

    >>> window = PeriodicWindow(range=5, slide=2, offset=1)
    >>> window.window_starts_of(4)
    array([1, 3])
    """

    range: int
    slide: int
    offset: int = 0

    def __post_init__(self) -> None:
        for name in ("range", "slide", "offset"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, Integral):
                raise InvalidArgument(f"{name}: a number of rows or ticks, not {given!r}")
            # numpy's integers wrap where Python's grow.
            object.__setattr__(self, name, int(given))
        for name, extent in (("range", self.range), ("slide", self.slide)):
            if not 1 <= extent < LIMIT:
                raise InvalidArgument(f"{name}: at least 1 and less than 2^62, not {extent}")
        object.__setattr__(self, "offset", self.offset % self.slide)

    @classmethod
    def of_rows(cls, range: int, slide: int) -> PeriodicWindow:
        """The last `range` rows after every `slide` rows: windows that end at multiples of it.

        >>> PeriodicWindow.of_rows(10, 4).windows_ending_in(0, 13)
        array([-10,  -6,  -2,   2])
        """
        return cls(range, slide, -range)

    @property
    def gap(self) -> int:
        """How far the next window starts behind a window's end, 0 if they meet or overlap."""
        return max(self.slide - self.range, 0)

    @property
    def end_offset(self) -> int:
        """Where the windows end, modulo slide."""
        return (self.offset + self.range) % self.slide

    def starts_between(self, low: int, high: int) -> Integers:
        """The window starts in [low, high), in order."""
        return progression(self.offset, self.slide, low, high)

    def ends_between(self, low: int, high: int) -> Integers:
        """The window ends in [low, high), in order."""
        return progression(self.end_offset, self.slide, low, high)

    def windows_ending_in(self, low: int, high: int) -> Integers:
        """The starts of the windows whose end is in [low, high), in order."""
        return self.starts_between(low - self.range, high - self.range)

    def windows_meeting(self, low: int, high: int) -> Integers:
        """The starts of the windows that hold some position in [low, high), in order."""
        if low >= high:
            return np.empty(0, np.int64)
        return self.starts_between(low - self.range + 1, high)

    def window_starts_of(self, time: int) -> Integers:
        """The starts of all windows that hold one time, in order; none in a gap."""
        return self.windows_meeting(time, time + 1)

    def last_starts(self, times: Integers) -> Integers:
        """For each time, the newest start at or before it.

        It begins a window that holds the time, unless the time is in a gap.
        """
        return times - self._phases(times)

    def first_starts(self, times: Integers) -> Integers:
        """For each time, the start of the oldest window that holds it.

        The windows that hold a time are those from its first start to its last, one slide apart. In
        a gap there are none, and the first start is one slide after the last.
        """
        phases = self._phases(times)
        # From the last start back, because time - range may be less than 64 bits hold.
        earlier = (self.range - 1 - phases) // self.slide
        return times - phases - earlier * self.slide

    def first_open(self, frontier: int) -> int:
        """The start of the first window that ends behind a time.

        >>> PeriodicWindow(10, 4).first_open(12)
        4
        """
        return int(self.last_starts(np.array([frontier - self.range]))[0]) + self.slide

    def holds(self, times: Integers) -> NDArray[np.bool_]:
        """For each time, whether some window holds it: false only in gaps."""
        if not self.gap:
            return np.ones(np.shape(times), np.bool_)
        return self._phases(times) < self.range

    def _phases(self, times: Integers) -> Integers:
        """How far each time is behind the newest start: 0 <= phase < slide."""
        # The offset is taken off after the remainder: times - offset may not fit.
        phases = times % self.slide - self.offset
        return np.where(phases < 0, phases + self.slide, phases)


def progression(first: int, step: int, low: int, high: int) -> Integers:
    """All first + k × step in [low, high), for integers k, in order.

    >>> progression(1, 3, -6, 5)
    array([-5, -2,  1,  4])
    """
    lowest = low + (first - low) % step
    if lowest >= high:
        return np.empty(0, np.int64)
    # Counted in integers: `np.arange` with a step takes its length from a quotient of floats.
    count = (high - 1 - lowest) // step + 1
    return lowest + step * np.arange(count, dtype=np.int64)
