"""A plan made ready to run: products, kernels and passes.

The features of a plan fall into two groups. Those whose partials are numbers form one product and
run compiled, all in one pass per window. The others run as plain Python, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow import algorithms
from windrow.algebra.compiler import Kernel
from windrow.algebra.nullable import skipping_nulls
from windrow.algebra.product import Part, Product
from windrow.errors import AggregateOverflow
from windrow.planning.resolve import Feature, OverPlan
from windrow.runtime import columns as arrow
from windrow.runtime.passes import (
    Block,
    CompiledPass,
    PlainPass,
    driver_for,
    extent_of,
)
from windrow.windows import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Slot:
    """One array that kernels read: the values of a column, or the positions of its rows."""

    column: str
    carried: bool


@dataclass
class Answers:
    """What the passes of one window write: arrays by compiled, lists by plain features."""

    values: list[Array]
    defined: list[Array]
    plain: list[list[Any]]


class Program:
    """The products and kernels of a plan; `passes` starts one stream of rows through them."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self.plan = plan
        self._algorithm = algorithms.find(plan.algorithm)
        self.compiled = [feature for feature in plan.features if feature.compiled]
        self.plain = [feature for feature in plan.features if not feature.compiled]
        self._slots = list(dict.fromkeys(s for f in self.compiled for s in _slots(f)))
        self._plain_slots = list(dict.fromkeys(s for f in self.plain for s in _slots(f)))
        self.product = Product([self._part(feature, nullable) for feature in self.compiled])
        checked = any(feature.aggregation.custom for feature in self.compiled)
        drivers = {driver_for(window) for window in plan.windows.values()}
        self._kernels = {
            driver: Kernel(driver, self._algorithm.FUNCTIONS, self.product, checked)
            for driver in drivers
        }
        tick = 1
        if plan.measures_time:
            tick = arrow.nanoseconds_per_tick(plan.schema.field(plan.order[0]).type)
        self.extents = {name: extent_of(each, tick) for name, each in plan.windows.items()}

    def _part(self, feature: Feature, nullable: AbstractSet[str]) -> Part:
        indices = tuple(self._slots.index(slot) for slot in _slots(feature))
        watched = tuple(
            index
            for index, column in zip(indices, feature.columns, strict=True)
            if column in feature.watched and column in nullable
        )
        return Part(feature.monoid, indices, watched)

    @property
    def input_columns(self) -> list[str]:
        """The columns that the features read by value."""
        return list(dict.fromkeys(slot.column for slot in (*self._slots, *self._plain_slots)))

    def passes(self, name: str) -> tuple[CompiledPass | None, list[PlainPass]]:
        """One window, empty."""
        window, extent = self.plan.windows[name], self.extents[name]
        compiled = None
        if self.compiled:
            kernel = self._kernels[driver_for(window)]
            compiled = CompiledPass(window, kernel, self.product, self._algorithm, extent)
        return compiled, [self._plain_pass(window, feature, extent) for feature in self.plain]

    def _plain_pass(self, window: Window, feature: Feature, extent: int) -> PlainPass:
        indices = tuple(self._plain_slots.index(slot) for slot in _slots(feature))
        watched = [
            index for index, column in enumerate(feature.columns) if column in feature.watched
        ]
        monoid = skipping_nulls(feature.monoid, watched)
        return PlainPass(window, monoid, indices, self._algorithm, extent)

    def compiled_block(
        self, columns: Mapping[str, pa.Array], size: int, first_position: int
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """The arrays that kernels read: values or positions, and validities."""
        positions = None
        values = []
        for slot in self._slots:
            if slot.carried:
                if positions is None:
                    positions = arrow.read_only(np.arange(first_position, first_position + size))
                values.append(positions)
            else:
                values.append(arrow.values(columns[slot.column]))
        validities = [
            arrow.validity(columns[self._slots[index].column])
            for index in self.product.nullable_columns
        ]
        return tuple(values), tuple(validities)

    def plain_block(
        self, columns: Mapping[str, pa.Array], size: int, first_position: int
    ) -> tuple[Any, ...]:
        """What plain Python reads: lists of values, and ranges of positions."""
        return tuple(
            range(first_position, first_position + size)
            if slot.carried
            else columns[slot.column].to_pylist()
            for slot in self._plain_slots
        )

    def answers(self, size: int) -> Answers:
        """Room for the answers of one window."""
        return Answers(
            [np.empty(size, feature.monoid.lowered) for feature in self.compiled],
            [
                np.empty(size if conditional else 0, np.bool_)
                for conditional in self.product.conditional
            ],
            [[None] * size for _ in self.plain],
        )

    def result(
        self,
        answers: Answers,
        feature: Feature,
        carried: Callable[[str, pa.Array], pa.Array],
    ) -> pa.Array:
        """One column of answers; `carried` finds a column's values by position."""
        if not feature.compiled:
            values = answers.plain[self.plain.index(feature)]
            if feature.carried is not None:
                return carried(feature.carried, pa.array(values, pa.int64()))
            return arrow.objects_to_arrow(values, feature.type, feature.aggregation.name)
        index = self.compiled.index(feature)
        defined = answers.defined[index] if self.product.conditional[index] else None
        if feature.carried is not None:
            found = arrow.answers_to_arrow(answers.values[index], defined, pa.int64())
            return carried(feature.carried, found)
        return arrow.answers_to_arrow(answers.values[index], defined, feature.type)


def _slots(feature: Feature) -> Sequence[Slot]:
    return [
        Slot(column, entry.carried)
        for column, entry in zip(feature.columns, feature.aggregation.inputs, strict=False)
    ]


def drive(
    passes: tuple[CompiledPass | None, list[PlainPass]],
    compiled: Block,
    plain: Block,
    answers: Answers,
) -> None:
    """Drive a block through one window, in all its forms."""
    compiled_pass, plain_passes = passes
    try:
        if compiled_pass is not None:
            compiled_pass.advance(compiled, answers.values, answers.defined)
        for each, answer in zip(plain_passes, answers.plain, strict=True):
            each.advance(plain, answer)
    except OverflowError as error:
        raise AggregateOverflow(str(error)) from None
