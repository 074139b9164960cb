"""One plan for many windows: every slice is filled once and serves all of them.

The least common multiple of the windows' slides is the composite slide (Shein et al. 2018, §2.3).
The plan marks the edges of all windows in it, each once. Between two edges is a slice, the longest
run of events that no window edge cuts. A slice knows the queries that answer at its end, and how
many of the newest slices each answer takes. After one composite slide everything repeats.

      Q1: range 6, slide 2       edges   0   2   4
      Q2: range 8, slide 4               |---|---|
                                 Q1          3   3        Q1 answers over the last 3 slices
                                 Q2              4        Q2 over the last 4

The slices are those of Pairs. Panes would mark edges that no window has. Cutty would mark fewer,
but then a plan could not say at which slice's end a query answers.

The composite slide may explode. For slides of 7 and 11 seconds it is 77 seconds; for 99,991 and
99,989 microseconds it is 2 hours and 47 minutes, with 200,000 edges. And a window of a day that
shares slices of a millisecond keeps 86 million partials, where a few would do. So a plan stays
small: it has at most `limit` edges in its composite slide and at most `limit` slices in its longest
window, unless its queries by themselves have more.

Queries that would make one plan too large are put into groups. From the longest slide to the
shortest, each query joins the group whose composite slide grows least: the one with the largest
common divisor. Each group costs a pass over the events. If the events lie between two known bounds,
edges are marked as they come, and the length of the composite slide does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from windrow.errors import InvalidArgument
from windrow.planning.diagram import ruler
from windrow.planning.wording import counted, listed
from windrow.slicing import LIMIT, Integers, PeriodicWindow, Slices, edges_between, pairs

EDGE_LIMIT = 2**16

Wording = Callable[[int], str]


class Answer(NamedTuple):
    """An answer that is due at the end of a slice.

    Attributes:
        query: the number of the window that it answers.
        slices: how many of the newest slices it combines.
    """

    query: int
    slices: int


@dataclass(frozen=True)
class SharedPlan:
    """The slices that some queries share within one composite slide; marked on first use.

    Attributes:
        queries: the numbers of the windows that it serves, in order.
        windows: these windows.
    """

    queries: tuple[int, ...]
    windows: tuple[PeriodicWindow, ...]

    @property
    def period(self) -> int:
        """The composite slide: the least common multiple of the slides."""
        return math.lcm(*(window.slide for window in self.windows))

    @property
    def edges(self) -> tuple[int, ...]:
        """Where the slices of the composite slide begin: at the edges of all windows."""
        return self.slices.edges

    @cached_property
    def slices(self) -> Slices:
        """The shared slices, whose period is the composite slide."""
        period = self.period
        return Slices(period, tuple(edges_between(self.windows, 0, period).tolist()))

    @cached_property
    def answers(self) -> tuple[tuple[Answer, ...], ...]:
        """For each slice of the composite slide, the answers that are due at its end.

        The longest range comes first, so that one walk from the oldest slice to the newest gives
        them all.
        """
        due: list[list[Answer]] = [[] for _ in self.edges]
        by_range = sorted(
            zip(self.queries, self.windows, strict=True), key=lambda entry: -entry[1].range
        )
        for query, window in by_range:
            newest, held = self._answers_of(window)
            for place, slices in zip(newest.tolist(), held.tolist(), strict=True):
                due[place].append(Answer(query, slices))
        return tuple(map(tuple, due))

    @cached_property
    def needed(self) -> tuple[bool, ...]:
        """For each slice of the composite slide, whether any window holds it.

        The others are gaps between windows, and their events can be dropped.
        """
        starts = np.array(self.edges, np.int64)
        held = [window.holds(starts) for window in self.windows]
        return tuple(np.logical_or.reduce(held).tolist())

    @cached_property
    def longest(self) -> int:
        """How many slices the longest window holds: the number of partials to keep."""
        return max(int(self._answers_of(window)[1].max()) for window in self.windows)

    def _answers_of(self, window: PeriodicWindow) -> tuple[Integers, Integers]:
        """The slices at whose ends a window answers, and how many slices each answer combines."""
        ends = window.ends_between(0, self.period)
        first, end, _ = self.slices.covering(ends - window.range, ends)
        # An answer at the first edge is due at the end of the last slice, one period before.
        return (end - 1) % len(self.edges), end - first

    @property
    def repeats_soon(self) -> bool:
        """Whether the composite slide is short enough to mark its edges."""
        return _Load.joining(self.windows).repeats_soon(EDGE_LIMIT)

    def diagram(self, names: Sequence[str] | None = None, say: Wording = counted) -> str:
        """The composite slide as a ruler of edges, with the queries that answer at each edge.

        The number under an edge says how many slices the answer there combines.

        Args:
            names: the names of all windows; by default Q1, Q2, ...
            say: writes a length or a time, as `algebra.durations.words` does.

        >>> windows = [PeriodicWindow.of_rows(6, 2), PeriodicWindow.of_rows(8, 4)]
        >>> print(share(windows).groups[0].diagram())
        edges  0   2   4
               |---|---|
        Q1         3   3
        Q2             4
        """
        ends = (*self.edges, self.edges[0] + self.period)
        counts = [{answer.query: str(answer.slices) for answer in due} for due in self.answers]
        rows = [
            (_name(query, names), [count.get(query, "") for count in counts])
            for query in self.queries
        ]
        # `words` would write "0 weeks".
        return "\n".join(ruler([say(end) if end else "0" for end in ends], self.needed, rows))


@dataclass(frozen=True)
class Sharing:
    """How queries share slices: in one plan, or in groups, each with a plan that stays small."""

    groups: tuple[SharedPlan, ...]
    limit: int
    bounded: bool = False

    def why(self, names: Sequence[str] | None = None, say: Wording = counted) -> tuple[str, ...]:
        """What is shared, and why no more, in lines for people.

        >>> windows = [PeriodicWindow(60, 7), PeriodicWindow(60, 11)]
        >>> for line in share(windows, limit=30).why():
        ...     print(line)
        one plan for all 2 queries: 36 edges in a composite slide of 77, 29 slices kept
        a plan has at most 30 of either, so there are 2 groups, by common divisors
        group 1: Q2: composite slide 11, 2 slices, at most 11 in a window
        group 2: Q1: composite slide 7, 2 slices, at most 17 in a window
        """
        if len(self.groups) == 1:
            return (_summary(self.groups[0], names, say),)
        windows = [window for group in self.groups for window in group.windows]
        whole = _Load.joining(windows)
        edges = (
            f"{counted(whole.marks)} edges in a composite slide of {_length(whole.slide, say)}, "
        )
        return (
            f"one plan for all {len(windows)} queries: {'' if self.bounded else edges}"
            f"{counted(whole.kept)} slices kept",
            f"a plan has at most {counted(self.limit)}{'' if self.bounded else ' of either'}, so "
            f"there are {len(self.groups)} groups, by common divisors",
            *(
                f"group {number}: {_summary(group, names, say)}"
                for number, group in enumerate(self.groups, 1)
            ),
        )

    def diagram(self, names: Sequence[str] | None = None, say: Wording = counted) -> str:
        """The diagrams of all groups that are short enough to draw, one below the other."""
        return "\n\n".join(group.diagram(names, say) for group in self.groups if group.repeats_soon)


def share(
    windows: Sequence[PeriodicWindow], limit: int = EDGE_LIMIT, *, bounded: bool = False
) -> Sharing:
    """Plan the slices of many windows, in one group if it stays small.

    Args:
        windows: the windows.
        limit: the most edges in a composite slide, and the most slices in a window.
        bounded: whether the events lie between two known bounds, as those of a table do. Then only
            the slices of a window count.
    """
    if not windows:
        raise InvalidArgument("windows: at least one window is needed")
    groups: list[tuple[_Load, list[int]]] = []
    # Longest slide first: shorter ones may divide it, and then the composite slide stays the same.
    for query in sorted(range(len(windows)), key=lambda query: (-windows[query].slide, query)):
        own = _Load.of(windows[query])
        candidates = [
            (joined.slide // load.slide, joined.marks, index, joined)
            for index, (load, _) in enumerate(groups)
            if (joined := load.joined(own)).is_small(limit, load.kept + own.kept, bounded)
        ]
        if candidates:
            *_, index, joined = min(candidates)
            groups[index] = (joined, [*groups[index][1], query])
        else:
            groups.append((own, [query]))
    return Sharing(
        tuple(
            SharedPlan(tuple(queries), tuple(windows[query] for query in queries))
            for queries in (sorted(queries) for _, queries in groups)
        ),
        limit,
        bounded,
    )


class _Load(NamedTuple):
    """How large a plan for some windows would be, before any edge is marked.

    Attributes:
        slide: the composite slide.
        marks: the edges within it, counted once for each window that has them.
        unit: a length that divides all distances between edges.
        offset: the place of one of the edges.
        range: the longest range.
    """

    slide: int
    marks: int
    unit: int
    offset: int
    range: int

    @classmethod
    def of(cls, window: PeriodicWindow) -> _Load:
        return cls(
            window.slide,
            pairs.slices_per_slide(window),
            math.gcd(window.slide, window.range),
            window.offset,
            window.range,
        )

    @classmethod
    def joining(cls, windows: Sequence[PeriodicWindow]) -> _Load:
        return reduce(cls.joined, map(cls.of, windows))

    def joined(self, other: _Load) -> _Load:
        slide = math.lcm(self.slide, other.slide)
        return _Load(
            slide,
            slide // self.slide * self.marks + slide // other.slide * other.marks,
            math.gcd(self.unit, other.unit, self.offset - other.offset),
            self.offset,
            max(self.range, other.range),
        )

    @property
    def kept(self) -> int:
        """About how many slices the longest window holds."""
        # Marks of several windows may coincide; if not, they are at least one unit apart.
        edges = min(self.marks, self.slide // self.unit)
        return -(-self.range * edges // self.slide)

    def is_small(self, limit: int, kept_anyway: int, bounded: bool) -> bool:
        """Whether the plan is small enough."""
        return (bounded or self.repeats_soon(limit)) and self.kept <= max(limit, kept_anyway)

    def repeats_soon(self, limit: int) -> bool:
        """Whether a composite slide has few edges."""
        return self.slide < LIMIT and self.marks <= limit


def _summary(plan: SharedPlan, names: Sequence[str] | None, say: Wording) -> str:
    called = [_name(query, names) for query in plan.queries]
    if len(called) > 4:
        called = [*called[:3], f"{len(called) - 3} more"]
    names_of_all = listed(called)
    if not plan.repeats_soon:
        load = _Load.joining(plan.windows)
        return (
            f"{names_of_all}: composite slide {_length(load.slide, say)}, marked as events come, "
            f"at most {counted(load.kept)} slices in a window"
        )
    slices = f"{counted(len(plan.edges))} slice{'s' if len(plan.edges) > 1 else ''}"
    return (
        f"{names_of_all}: composite slide {say(plan.period)}, {slices}, "
        f"at most {counted(plan.longest)} in a window"
    )


def _length(slide: int, say: Wording) -> str:
    return say(slide) if slide < LIMIT else counted(slide)


def _name(query: int, names: Sequence[str] | None) -> str:
    return names[query] if names is not None else f"Q{query + 1}"
