"""The kernels of a plan of `over`, and the windows that they drive."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

from windrow.algorithms import Algorithm
from windrow.compiler.kernel import Kernel
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.policy_counts import PolicyCounters
from windrow.engine.row_windows import (
    CompiledRowWindow,
    PlainRowWindow,
    bounding_for,
    kernel_for,
    loop_for,
)
from windrow.engine.shared_windows import SharedKernel
from windrow.errors import NotApplicable
from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.shared_ranges import SharedRanges, shared_ranges
from windrow.windows import Window
from windrow.windows.ahead import HERE
from windrow.windows.bounds import Bounding
from windrow.windows.setting import Setting

#: one window: of all compiled features, if there are any, and of each plain one
RowWindows = tuple[CompiledRowWindow | None, list[PlainRowWindow]]


class OverKernels(FeatureColumns):
    """The kernels of a plan; `windows_of` and `bounding` start one stream of rows through them."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        super().__init__(plan.features, nullable, counts=plan.wish.counts_values)
        self.plan = plan
        self._require_current_rows()
        #: the algorithm of the compiled features, for each window
        self._forms: dict[str, Algorithm] = {}
        self._kernels: dict[tuple[Callable[..., Any], str], Kernel] = {}
        if self.compiled:
            for name, window in plan.windows.items():
                form = self.choice(plan.wish, *plan.size_of(name)).algorithm
                self._forms[name] = form
                joined = self.loop_of(window), form.NAME
                if joined not in self._kernels:
                    kernel = kernel_for(joined[0], form, self.product, self.checked)
                    self._kernels[joined] = kernel
        self._counts = PolicyCounters(plan.schema, nullable)

    @cached_property
    def shared(self) -> SharedRanges | None:
        """The windows whose compiled features are answered in one pass, if some are."""
        return shared_ranges(self.plan, self)

    @cached_property
    def shared_kernel(self) -> SharedKernel:
        """What answers them."""
        assert self.shared is not None
        return SharedKernel(self.shared, self.product, self.checked)

    def _require_current_rows(self) -> None:
        """Refuse to ask a monoid for the current row where a window does not end there."""
        asked = [feature for feature in self.plain if feature.asks_of_current]
        for name, window in self.plan.windows.items():
            if asked and window.ahead(1) != HERE:
                raise NotApplicable(
                    f"{asked[0]} is about the current row, and {name!r} does not end there: only "
                    "value_counts can answer it; leave the algorithm to windrow"
                )

    def loop_of(self, window: Window) -> Callable[..., Any]:
        """The loop that drives rows through a window."""
        return loop_for(window)

    @property
    def threads(self) -> int:
        """How many threads one window keeps busy."""
        return 2 if any(hasattr(form, "HELPER") for form in self._forms.values()) else 1

    def bounding(self, name: str) -> Bounding:
        """What bounds one window, before its first row."""
        plan, order = self.plan, next(iter(self.plan.order), None)
        time_type = None if order is None else plan.schema.field(order).type
        setting = Setting(name, order, time_type, self._counts)
        return bounding_for(plan.windows[name], setting)

    def windows_of(self, name: str, *, shares: bool = False) -> RowWindows:
        """The window of that name, empty; if it shares a pass, of plain features alone."""
        window = self.plan.windows[name]
        compiled = None
        if self.compiled and not shares:
            form = self._forms[name]
            loop = self.loop_of(window)
            kernel = self._kernels[loop, form.NAME]
            compiled = CompiledRowWindow(window, loop, kernel, self.product, form)
        return compiled, [self._plain_window(name, feature) for feature in self.plain]

    def _plain_window(self, name: str, feature: Feature) -> PlainRowWindow:
        monoid, indices = self.plain_part(feature)
        form = self.plain_choice(feature, self.plan.wish, *self.plan.size_of(name)).algorithm
        loop = self.loop_of(self.plan.windows[name])
        return PlainRowWindow(feature, loop, monoid, indices, form)
