"""Which call arguments are meant for, where they stand for a call that is not made yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from windrow.algebra.literals import require_one_of
from windrow.planning.as_of_plan import resolve_events
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.windows import Windows, named

#: the calls that `wr.plan` explains and `wr.warm_up` prepares
Call = Literal["over", "slide", "as_of"]

#: what checks the arguments of each call, and makes its plan
RESOLVE: dict[str, Callable[..., Any]] = {
    "over": resolve_over, "slide": resolve_slide, "as_of": resolve_events,
}  # fmt: skip


def call_meant(call: Call | None, windows: Windows) -> Call:
    """The call that is named; without a name, "slide" if some window says `every`, else "over"."""
    if call is None:
        return "slide" if any(each.only_slides for each in named(windows).values()) else "over"
    require_one_of(Call, "call", call)
    return call
