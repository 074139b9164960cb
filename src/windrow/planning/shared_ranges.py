"""Windows of `over` that are answered together: many ranges of rows in one pass.

A window of its own goes over all rows. Windows that hold the newest rows of a key, and differ in
how many, can share a pass:

1. If the user names an algorithm that answers several ranges at once, it does (`IN_ONE_PASS`).
2. Otherwise `doubling` answers them if it takes less time than a pass for each, by the measured
   costs, and "throughput" is preferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from windrow.algorithms import doubling
from windrow.planning.choose import TOLERANCE, Choice, Wish
from windrow.planning.feature_groups import FeatureGroups
from windrow.planning.over_plan import OverPlan
from windrow.windows import Window
from windrow.windows.ahead import HERE
from windrow.windows.reach import Newest
from windrow.work import sizes

#: the algorithms that answer several ranges of one window (Shein et al. 2018, §3.3 and §4)
IN_ONE_PASS = ("slick_deque_non_inv", "slick_deque_inv", "flat_fit", "base_intervals")

#: What `doubling` takes to combine a partial, and to write an answer: shares of what a row takes in
#: a pass for one range. Together they come to what sums take in benchmarks/ranges.py; max takes a
#: third of it.
_COMBINE, _ANSWER = 0.1, 0.4
#: partials that a thread may keep for one pass; more would not stay in any cache
_MOST_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class SharedRanges:
    """Windows that share a pass, from the shortest to the longest.

    Attributes:
        ranges: how many rows each window holds.
        choice: what answers them, and why; its cost is that of a row, for all windows together.
    """

    ranges: dict[str, int]
    choice: Choice

    @property
    def names(self) -> tuple[str, ...]:
        """The windows."""
        return tuple(self.ranges)

    @property
    def choices(self) -> dict[str, Choice]:
        """The choice for each window, with its share of what a row costs."""
        cost, windows = self.choice.nanoseconds, len(self.ranges)
        of_each = None if cost is None else cost / windows
        return {
            name: replace(self.choice, events=extent, nanoseconds=of_each)
            for name, extent in self.ranges.items()
        }

    @property
    def by_doubling(self) -> bool:
        """Whether no algorithm of windows answers them."""
        return self.choice.algorithm.NAME == doubling.NAME


def shared_ranges(plan: OverPlan, features: FeatureGroups) -> SharedRanges | None:
    """The windows of a plan that share a pass for its compiled features, if some do."""
    ranges = _ranges(plan.windows)
    if len(ranges) < 2 or not features.compiled:
        return None
    apart = {name: features.choice(plan.wish, *plan.size_of(name)) for name in ranges}
    longest = apart[list(ranges)[-1]]
    if plan.wish.algorithm is not None:
        if longest.algorithm.NAME not in IN_ONE_PASS:
            return None
        why = "it was asked for, and answers all ranges of rows in one pass"
        return SharedRanges(ranges, replace(longest, why=why, nanoseconds=None))
    return _by_doubling(ranges, apart, longest, features, plan.wish)


def _ranges(windows: Mapping[str, Window]) -> dict[str, int]:
    """The windows of the newest rows, from the shortest to the longest."""
    found = {
        name: window.most_rows
        for name, window in windows.items()
        if window.reach is Newest and window.ahead(1) == HERE and window.most_rows is not None
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _by_doubling(
    ranges: dict[str, int],
    apart: Mapping[str, Choice],
    longest: Choice,
    features: FeatureGroups,
    wish: Wish,
) -> SharedRanges | None:
    """All ranges in one pass by doubling, if that is faster than a pass for each."""
    product = features.product
    costs = [choice.nanoseconds for choice in apart.values()]
    few = len(ranges) < sizes.current().fewest_shared
    if few or wish.prefer != "throughput" or product.holds_rows or None in costs:
        return None
    served, alone = longest.served, sum(cost for cost in costs if cost is not None)
    recipes = doubling.recipes_for(list(ranges.values()), product.traits.selective)
    keeps = doubling.kept_rows(recipes)
    kept = 2 * sum(keeps) * served.partial_bytes
    combines = len(keeps) - 1 + sum(recipe.combines for recipe in recipes)
    together = alone / len(ranges) * (_COMBINE * combines + _ANSWER * len(ranges))
    if kept > _MOST_BYTES or together * (1 + TOLERANCE) > alone:
        return None
    algorithm: Any = doubling
    why = (
        f"{len(ranges)} ranges of rows in one pass take {combines} combines and about "
        f"{together:.0f} ns a row, and a pass for each about {alone:.0f} ns"
    )
    others = {"a pass for each": alone}
    found = Choice(algorithm, served, why, longest.events, together, others, {})
    return SharedRanges(ranges, found)
