"""Windows of `slide` that are answered together: final aggregation shared, in one pass.

Windows that share slices are one plan (`share.py`). By themselves, each of them goes over the
slices. An algorithm that answers for a part of its window answers all of them in one pass, as the
shared plan of Shein et al. 2018 (§2.3, §3.3) does: each slice enters one window, and at the end of
a slice the queries that are due there are answered, the longest range first.

      slices    0   1   2   3   4   5         one window of the longest range
      Q1        |-------|   |-------|         answered at the ends of slices 1, 3, 5
      Q2        |---------------|             at the ends of slices 3, 5

It is so for an algorithm of `TOGETHER` that the user names. Left to itself, the planner takes a
pass for each window (`make bench BENCH_ARGS=shared_answers`). SlickDeque (Inv) keeps a running
answer for each range, so a pass for each takes the same combines.
"""

from __future__ import annotations

from windrow.planning.feature_groups import FeatureGroups
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import cutty

#: the algorithms that answer several windows over slices in one pass
TOGETHER = ("slick_deque_non_inv", "flat_fit", "base_intervals")


def shared_answers(plan: SlidePlan, features: FeatureGroups) -> list[tuple[str, ...]]:
    """The windows that are answered in one pass, in groups of those that share slices."""
    if not features.compiled or plan.slices == cutty.NAME or plan.wish.algorithm is None:
        return []
    found = []
    for group in plan.groups:
        periodic = [name for name in group if name in plan.periodic]
        if len(periodic) < 2:
            continue
        choice = features.choice(plan.wish, *plan.size_of(periodic[0]))
        if choice.algorithm.NAME in TOGETHER:
            found.append(tuple(periodic))
    return found
