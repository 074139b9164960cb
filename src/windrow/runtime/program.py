"""A plan of `over` made ready to run: kernels and passes."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from windrow.planning.resolve import Feature, OverPlan
from windrow.runtime import columns as arrow
from windrow.runtime.features import Answers, Features, overflow_named
from windrow.runtime.passes import Block, CompiledPass, PlainPass, driver_for, extent_of, kernel_for
from windrow.windows import TrailingWindow


class Program(Features):
    """The kernels of a plan; `passes` starts one stream of rows through them."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        super().__init__(plan.features, nullable)
        self.plan = plan
        if self.compiled:
            self._form = self.compiled_form(plan.algorithm)
            self._kernels = {
                driver_for(window): kernel_for(window, self._form, self.product, self.checked)
                for window in plan.windows.values()
            }
        tick = 1
        if plan.measures_time:
            tick = arrow.nanoseconds_per_tick(plan.schema.field(plan.order[0]).type)
        self.extents = {name: extent_of(each, tick) for name, each in plan.windows.items()}

    @property
    def threads(self) -> int:
        """How many threads a pass keeps busy."""
        return 2 if self.compiled and hasattr(self._form, "HELPER") else 1

    def passes(self, name: str) -> tuple[CompiledPass | None, list[PlainPass]]:
        """One window, empty."""
        window, extent = self.plan.windows[name], self.extents[name]
        compiled = None
        if self.compiled:
            kernel = self._kernels[driver_for(window)]
            compiled = CompiledPass(window, kernel, self.product, self._form, extent)
        return compiled, [self._plain_pass(window, feature, extent) for feature in self.plain]

    def _plain_pass(self, window: TrailingWindow, feature: Feature, extent: int) -> PlainPass:
        monoid, indices = self.plain_part(feature)
        form = self.plain_form(self.plan.algorithm, feature)
        return PlainPass(window, monoid, indices, form, extent)


def drive(
    passes: tuple[CompiledPass | None, list[PlainPass]],
    compiled: Block,
    plain: Block,
    answers: Answers,
) -> None:
    """Drive a block through one window, in all its forms."""
    compiled_pass, plain_passes = passes
    with overflow_named():
        if compiled_pass is not None:
            compiled_pass.advance(compiled, answers.values, answers.defined)
        for each, answer in zip(plain_passes, answers.plain, strict=True):
            each.advance(plain, answer)
