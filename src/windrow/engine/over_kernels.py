"""The kernels of a plan of `over`, and the windows that they drive."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from windrow.algorithms import Algorithm
from windrow.compiler.kernel import Kernel
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.policy_counts import Counts, PolicyKernels
from windrow.engine.row_windows import (
    CompiledRowWindow,
    PlainRowWindow,
    driver_for,
    extent_of,
    kernel_for,
)
from windrow.engine.trailing import PolicyTrail, Trail, trail_of
from windrow.planning.over_plan import Feature, OverPlan
from windrow.windows import PolicyWindow

#: one window: of all compiled features, if there are any, and of each plain one
RowWindows = tuple[CompiledRowWindow | None, list[PlainRowWindow]]


class OverKernels(FeatureColumns):
    """The kernels of a plan; `windows_of` and `trail` start one stream of rows through them."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        super().__init__(plan.features, nullable)
        self.plan = plan
        #: the algorithm of the compiled features, for each window
        self._forms: dict[str, Algorithm] = {}
        self._kernels: dict[tuple[Callable[..., Any], str], Kernel] = {}
        if self.compiled:
            for name, window in plan.windows.items():
                form = self.choice(plan.wish, *plan.size_of(name)).algorithm
                self._forms[name] = form
                joined = driver_for(window), form.NAME
                if joined not in self._kernels:
                    kernel = kernel_for(window, form, self.product, self.checked)
                    self._kernels[joined] = kernel
        self._tick = 1
        if plan.measures_time:
            self._tick = arrow.nanoseconds_per_tick(plan.schema.field(plan.order[0]).type)
        self._extents = {name: extent_of(each, self._tick) for name, each in plan.windows.items()}

        self._policies = {
            name: PolicyKernels(window, plan.schema, nullable)
            for name, window in plan.windows.items()
            if isinstance(window, PolicyWindow)
        }

    @property
    def threads(self) -> int:
        """How many threads one window keeps busy."""
        return 2 if any(hasattr(form, "HELPER") for form in self._forms.values()) else 1

    def trail(self, name: str) -> Trail:
        """The trail of one window, before its first row."""
        if name in self._policies:
            return PolicyTrail(self.counts(name))
        return trail_of(self.plan.windows[name], self._extents[name], self._tick)

    def counts(self, name: str) -> Counts:
        """A counter of the rows that a policy leaves in its window, before the first row."""
        return self._policies[name].counts()

    def windows_of(self, name: str) -> RowWindows:
        """The window of that name, empty."""
        window, extent = self.plan.windows[name], self._extents[name]
        compiled = None
        if self.compiled:
            form = self._forms[name]
            kernel = self._kernels[driver_for(window), form.NAME]
            compiled = CompiledRowWindow(window, kernel, self.product, form, extent)
        return compiled, [self._plain_window(name, feature) for feature in self.plain]

    def _plain_window(self, name: str, feature: Feature) -> PlainRowWindow:
        monoid, indices = self.plain_part(feature)
        events, _driven = self.plan.size_of(name)
        form = self.plain_choice(feature, self.plan.wish, events).algorithm
        window, extent = self.plan.windows[name], self._extents[name]
        return PlainRowWindow(feature, window, monoid, indices, form, extent)
