"""What a paper says of a figure, and whether the points here say the same.

A claim knows what it compares; the sentence about this machine is made of the numbers. Each verdict
says `holds`, `a tie`, `in part` or `does not hold`, by what factor, and, where the two differ, why.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from windrow.experiments.report.names import label_of
from windrow.experiments.results import FigurePoints

Holds = Literal["holds", "a tie", "in part", "does not hold", "not measured"]
#: ratios this close to 1 are a tie on a shared machine
TIE = 0.03
#: in the place of the paper's factor, where the comparison is ours
NOT_IN_PAPER = "not in the paper"
#: how many places a sentence names
_NAMED = 3


@dataclass(frozen=True)
class Verdict:
    """What became of a claim here.

    Attributes:
        claim: what the paper says.
        holds: whether it does here.
        paper: the paper's factor in words, or an empty text.
        here: the factor here in words, with where it was found.
        why: why the two differ, if they do and there is a known reason.
    """

    claim: str
    holds: Holds
    paper: str
    here: str
    why: str = ""


class Claim(Protocol):
    """Something that a paper says of a figure."""

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """Compare it with the points."""


@dataclass(frozen=True)
class Better:
    """One series is better than others, everywhere or from some x on.

    Attributes:
        says: what the paper says.
        series: the one that is better.
        than: the others; it is compared with the best of them at each x.
        paper: the paper's factor in words.
        why: why it may be otherwise here.
        panels: where; all by default.
        least_x, most_x: the part of the axis that is meant.
        by: the quantile of latencies that is compared.
    """

    says: str
    series: str
    than: Sequence[str]
    paper: str = ""
    why: str = ""
    panels: Sequence[str] = ()
    least_x: float = float("-inf")
    most_x: float = float("inf")
    by: float = 0.5

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """The ratios at all places that both have."""
        ratios = dict(self._ratios(points, higher_is_better))
        if not ratios:
            return Verdict(self.says, "not measured", self.paper, "no points to compare")
        middle, low, high = (
            statistics.median(ratios.values()),
            min(ratios.values()),
            max(ratios.values()),
        )
        if low >= 1 - TIE and middle > 1 + TIE:
            holds: Holds = "holds"
        elif low >= 1 - TIE and high <= 1 + TIE:
            holds = "a tie"
        elif high <= 1 + TIE:
            holds = "does not hold"
        else:
            holds = "in part"
        here = middle_and_range(list(ratios.values()))
        if holds == "in part":
            here += f"; {_places(ratios)}"
        return Verdict(self.says, holds, self.paper, here, self.why if holds != "holds" else "")

    def _ratios(self, points: FigurePoints, higher_is_better: bool) -> Iterable[tuple[str, float]]:
        for panel in self.panels or points.panels:
            others = [points.line(panel, name) for name in self.than]
            for point in points.line(panel, self.series):
                if not isinstance(point.x, str) and not self.least_x <= point.x <= self.most_x:
                    continue
                beside = [each for line in others for each in line if each.x == point.x]
                if not beside:
                    continue
                mine, theirs = point.quantile(self.by), [each.quantile(self.by) for each in beside]
                best = max(theirs) if higher_is_better else min(theirs)
                if mine > 0 and best > 0:
                    ratio = mine / best if higher_is_better else best / mine
                    yield place_of(panel, point.x), ratio


@dataclass(frozen=True)
class Alike:
    """Two series are about the same, within a factor.

    Attributes:
        says: what the paper says.
        series, other: the two.
        within: the largest factor between them that counts as alike.
        why: why it may be otherwise here.
        by: the quantile of latencies that is compared.
    """

    says: str
    series: str
    other: str
    within: float = 1.5
    paper: str = "about the same"
    why: str = ""
    panels: Sequence[str] = ()
    by: float = 0.5

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """The ratio at all places that both have."""
        ratios = []
        for panel in self.panels or points.panels:
            others = {point.x: point.quantile(self.by) for point in points.line(panel, self.other)}
            for point in points.line(panel, self.series):
                if point.x in others and others[point.x] > 0:
                    ratio = point.quantile(self.by) / others[point.x]
                    ratios.append(ratio if higher_is_better else 1 / ratio)
        if not ratios:
            return Verdict(self.says, "not measured", self.paper, "no points to compare")
        alike = sum(1 / self.within <= ratio <= self.within for ratio in ratios)
        holds: Holds = "holds" if alike == len(ratios) else "in part" if alike else "does not hold"
        here = middle_and_range(ratios)
        return Verdict(self.says, holds, self.paper, here, self.why if holds != "holds" else "")


@dataclass(frozen=True)
class Flat:
    """Series stay the same along the axis, within a factor.

    Attributes:
        says: what the paper says.
        series: which ones.
        within: the largest factor between the lowest and the highest value that counts as flat.
        least_x: where it begins.
        why: why it may be otherwise here.
    """

    says: str
    series: Sequence[str]
    within: float = 2.0
    least_x: float = 16
    why: str = ""
    paper: str = "flat"
    panels: Sequence[str] = ()

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """The largest factor along each line."""
        spans = {}
        for panel in self.panels or points.panels:
            for name in self.series:
                line = [
                    each.median
                    for each in points.line(panel, name)
                    if not isinstance(each.x, str) and each.x >= self.least_x
                ]
                if len(line) > 1:
                    spans[", ".join(filter(None, (label_of(name), panel)))] = max(line) / min(line)
        if not spans:
            return Verdict(self.says, "not measured", self.paper, "fewer than two points")
        worst = max(spans, key=lambda name: spans[name])
        flat = sum(span <= self.within for span in spans.values())
        holds: Holds = "holds" if flat == len(spans) else "in part" if flat else "does not hold"
        here = (
            f"slowest and fastest point are {number(min(spans.values()))} to "
            f"{number(spans[worst])} times apart, most with {worst}"
        )
        return Verdict(self.says, holds, self.paper, here, self.why if holds != "holds" else "")


@dataclass(frozen=True)
class Grows:
    """A series grows along the axis: by how much for each doubling of x.

    Attributes:
        says: what the paper says.
        series: which one.
        least, most: the factor from the first to the last point for each doubling of x that is
            meant: 2 is linear, a little above 1 logarithmic.
    """

    says: str
    series: str
    least: float
    most: float
    paper: str = ""
    why: str = ""
    least_x: float = 16
    panels: Sequence[str] = ()

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """The mean factor of a doubling, on each panel."""
        found = []
        for panel in self.panels or points.panels:
            line = [
                (float(each.x), each.median)
                for each in points.line(panel, self.series)
                if not isinstance(each.x, str) and each.x >= self.least_x
            ]
            if len(line) > 1:
                (first_x, first), (last_x, last) = line[0], line[-1]
                cost = first / last if higher_is_better else last / first
                found.append(cost ** (1 / math.log2(last_x / first_x)))
        if not found:
            return Verdict(self.says, "not measured", self.paper, "fewer than two points")
        within = sum(self.least <= each <= self.most for each in found)
        holds: Holds = "holds" if within == len(found) else "in part" if within else "does not hold"
        here = f"a doubling costs {_span(found)} times as much"
        return Verdict(self.says, holds, self.paper, here, self.why if holds != "holds" else "")


@dataclass(frozen=True)
class Overtakes:
    """From which x on one series is better than another by a factor, on each panel.

    Attributes:
        says: what the paper says.
        series, than: the two.
        by: the factor.
        paper_x: the paper's x by panel.
    """

    says: str
    series: str
    than: str
    by: float
    paper_x: dict[str, float]
    why: str = ""

    def judge(self, points: FigurePoints, higher_is_better: bool) -> Verdict:
        """Where it begins here, panel by panel."""
        here, met = [], 0
        for panel, paper_x in self.paper_x.items():
            crossing = self.crossing(points, panel, higher_is_better)
            here.append(f"{panel} {number_of_events(crossing)}")
            met += crossing is not None and crossing <= 2 * paper_x
        if not points.points:
            return Verdict(self.says, "not measured", "", "no points")
        holds: Holds = "holds" if met == len(here) else "in part" if met else "does not hold"
        paper = ", ".join(f"{panel} {number_of_events(x)}" for panel, x in self.paper_x.items())
        return Verdict(
            self.says, holds, paper, ", ".join(here), self.why if holds != "holds" else ""
        )

    def crossing(self, points: FigurePoints, panel: str, higher_is_better: bool) -> float | None:
        """The first x from which on it is better by the factor, or None."""
        others = {each.x: each.median for each in points.line(panel, self.than)}
        found = None
        for point in points.line(panel, self.series):
            if point.x not in others or isinstance(point.x, str):
                continue
            ratio = point.median / others[point.x]
            if (ratio if higher_is_better else 1 / ratio) < self.by:
                found = None
            elif found is None:
                found = point.x
        return found


def _places(ratios: dict[str, float]) -> str:
    """Where a series is ahead, level and behind: every place behind, if there are few.

    >>> _places({"1": 2.0, "16": 1.0, "256": 0.5})
    'ahead at 1 of 3 places, level at 1, behind at 256 (0.50)'
    """
    ahead = sum(ratio > 1 + TIE for ratio in ratios.values())
    behind = sorted((ratio, place) for place, ratio in ratios.items() if ratio < 1 - TIE)
    level = len(ratios) - ahead - len(behind)
    told = [f"ahead at {ahead} of {len(ratios)} places"]
    if level:
        told.append(f"level at {level}")
    if behind:
        named = ", ".join(f"{place} ({number(ratio)})" for ratio, place in behind[:_NAMED])
        most = "" if len(behind) <= _NAMED else f" at {len(behind)}, furthest"
        told.append(f"behind{most} at {named}")
    return ", ".join(told)


def factor(ratio: float) -> str:
    """A ratio as people say it.

    >>> factor(1.234), factor(0.5), factor(345.2)
    ('1.23 times', '0.50 times', '345 times')
    """
    return f"{number(ratio)} times"


def middle_and_range(ratios: Sequence[float]) -> str:
    """The median of some ratios, and how far they reach.

    >>> middle_and_range([1.0, 2.0, 4.0]), middle_and_range([0.5])
    ('2.00 times (1.00 to 4.00)', '0.50 times')
    """
    middle, low, high = (
        number(each) for each in (statistics.median(ratios), min(ratios), max(ratios))
    )
    return f"{middle} times" if low == high else f"{middle} times ({low} to {high})"


def number(value: float) -> str:
    """A number with about three digits.

    >>> [number(each) for each in (0.0123, 1.5, 12.34, 1234567.0)]
    ['0.012', '1.50', '12.3', '1,234,567']
    """
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def number_of_events(value: float | None) -> str:
    """A place on the axis of windows.

    >>> number_of_events(1024.0), number_of_events(None)
    ('1,024', 'never')
    >>> number_of_events(0.01), number_of_events(2.0**22)
    ('0.01', '4,194,304')
    """
    if value is None:
        return "never"
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def place_of(panel: str, x: float | str = "") -> str:
    """Where a point is, in words.

    >>> place_of("sum", 4096.0), place_of("policies", "max"), place_of("sum")
    ('sum at 4,096', 'policies, max', 'sum')
    """
    if isinstance(x, str):
        return ", ".join(each for each in (panel, x) if each)
    return f"{panel} at {number_of_events(x)}"


def _span(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"
