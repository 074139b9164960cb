"""Why partials do not suffice for some windows of a stream, so that their rows are kept."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.engine.maps import has_partials_of_numbers
from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.wording import listed
from windrow.stream import sizes


def why_over_keeps_rows(plan: OverPlan) -> str:
    """The reason for `over`."""
    windows = plan.windows.values()
    if large := _large_partials(plan.features):
        return large
    if all(window.rows_back is not None for window in windows):
        return f"no window has {sizes.current().fewest_counted} rows or more"
    others = [
        name
        for name, window in plan.windows.items()
        if window.rows_back is None and window.ticks_back(1) is None
    ]
    if not others:
        return "the call has windows of time and of rows, and one way serves all its windows"
    return f"the events, and not a range, say where {listed(others)} begin{'s' * (len(others) < 2)}"


def why_slide_keeps_rows(plan: SlidePlan) -> str:
    """The reason for `slide`."""
    if plan.changes_only:
        return "changes_only compares every answer with the answer before of its key"
    return _large_partials(plan.features) or (
        "the events, and not a range and slide in time alone, say which rows an answer holds"
    )


def _large_partials(features: Sequence[Feature]) -> str | None:
    if has_partials_of_numbers(features):
        return None
    large = [str(each) for each in features if not has_partials_of_numbers([each])]
    return f"the partials of {listed(large)} are not a few numbers"
