"""The features of a plan over columns: what kernels and plain Python read and write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.algebra.conditions import Condition
from windrow.algebra.nullable import skipping_nulls
from windrow.engine import columns as arrow
from windrow.planning.feature_groups import FeatureGroups, Slot
from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.work import memory

Array = np.ndarray[Any, Any]


@dataclass
class FeatureAnswers:
    """The answers of one window: arrays for compiled features, lists for plain ones.

    A row that is not `present` has no window, or one without rows; a value there means nothing.
    """

    values: list[Any]
    defined: list[Array]
    plain: list[list[Any]]
    present: Array | None = None
    #: finds the answers of features that are counted, as columns
    counted: Callable[[Feature], pa.Array] | None = None

    def settle(self) -> None:
        """Forget which rows are present, if all are: it would cost a pass for every column."""
        present = self.present  # threads may come here together
        if present is not None and present.all():
            self.present = None


class FeatureColumns(FeatureGroups):
    """The features of a plan: what they read of a table's columns, and their answers as columns."""

    def compiled_block(
        self, columns: Mapping[str, pa.Array], size: int, first_position: int
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """The arrays that kernels read: values or positions, and validities."""
        positions = None
        values = []
        for slot in self.slots:
            if slot.condition is not None:
                values.append(truth_of(slot.condition, columns, size))
            elif slot.carried:
                if positions is None:
                    positions = arrays.read_only(np.arange(first_position, first_position + size))
                values.append(positions)
            elif slot.digest is not None:
                values.append(arrays.read_only(slot.digest(columns[slot.column])))
            else:
                column = arrays.values(columns[slot.column])
                values.append(column if slot.before is None else _each(slot.before, column))
        validities = [
            arrays.validity(columns[self.slots[index].column])
            if self.slots[index].condition is None
            else values[index]
            for index in self.product.nullable_columns
        ]
        return tuple(values), tuple(validities)

    def plain_block(
        self, columns: Mapping[str, pa.Array], size: int, first_position: int
    ) -> tuple[Any, ...]:
        """What plain Python reads: lists of values, and ranges of positions."""

        def read(slot: Slot) -> Any:
            if slot.condition is not None:
                truth = truth_of(slot.condition, columns, size).tolist()
                return [each or None for each in truth]
            if slot.carried:
                return range(first_position, first_position + size)
            return arrow.python_values(columns[slot.column], slot.column, slot.as_python)

        return tuple(map(read, self.plain_slots))

    def answers(
        self, size: int, present: Array | None = None, *, plain: bool = True
    ) -> FeatureAnswers:
        """Room for the answers of one window; without `present`, every row has one."""
        return FeatureAnswers(
            [feature.monoid.room(size) for feature in self.compiled],
            [
                memory.empty(size if conditional else 0, np.bool_)
                for conditional in self.product.conditional
            ],
            [[None] * size for _ in self.plain] if plain else [],
            None if present is None or present.all() else present,
        )

    def answers_together(self, size: int, windows: int) -> tuple[FeatureAnswers, ...]:
        """Room for the answers of windows that share a pass: first for all, then for each.

        The arrays of a window are parts of those for all, one window behind the other. Features in
        plain Python have lists of their own.
        """
        whole = self.answers(size * windows, plain=False)
        parts = []
        for number in range(windows):
            rows = slice(number * size, (number + 1) * size)
            values = [
                tuple(member[rows] for member in each) if isinstance(each, tuple) else each[rows]
                for each in whole.values
            ]
            defined = [each[rows] for each in whole.defined]
            parts.append(FeatureAnswers(values, defined, [[None] * size for _ in self.plain]))
        return whole, *parts

    def column(
        self,
        plan: OverPlan | SlidePlan,
        window: str,
        place: int,
        answers: FeatureAnswers,
        carried: Callable[[str, pa.Array], pa.Array],
    ) -> pa.Array:
        """A window's answers of the feature at a place of a plan; null where its gate is closed."""
        found = self.result(answers, plan.features[place], carried)
        gate = plan.gates.get((window, place))
        if gate is None:
            return found
        counts = arrays.values(self.result(answers, plan.features[gate.feature], carried))
        closed = counts < gate.least
        if not closed.any():
            return found
        return found.take(pa.array(np.arange(len(found)), mask=closed))

    def result(
        self,
        answers: FeatureAnswers,
        feature: Feature,
        carried: Callable[[str, pa.Array], pa.Array],
    ) -> pa.Array:
        """One column of answers; `carried` finds a column's values by position."""
        if feature in self.counted:
            assert answers.counted is not None
            return answers.counted(feature)
        if feature.monoid.members:
            return self._struct(answers, feature, carried)
        if not feature.compiled:
            objects = self._objects(answers, feature)
            if feature.carried:
                return carried(feature.carried[0], pa.array(objects, pa.int64()))
            return arrow.objects_to_arrow(objects, feature.type, str(feature))
        values, defined = self._numbers(answers, feature)
        if feature.monoid.lanes is not None:
            if defined is not None:
                # A kernel has written nothing there.
                values[~defined, 0 if feature.monoid.lanes.counted else slice(None)] = 0
            column = feature.monoid.lanes.finish(values, feature.type)
            return column if defined is None else pc.if_else(pa.array(defined), column, None)
        if feature.carried:
            rows = arrow.answers_to_arrow(values, defined, pa.int64(), str(feature))
            return carried(feature.carried[0], rows)
        return arrow.answers_to_arrow(values, defined, feature.type, str(feature))

    def _struct(
        self,
        answers: FeatureAnswers,
        feature: Feature,
        carried: Callable[[str, pa.Array], pa.Array],
    ) -> pa.Array:
        """One column of answers that are structs; null where there is no answer."""
        if feature.compiled:
            numbers, defined = self._numbers(answers, feature)
            missing = None if defined is None else pa.array(~defined)
        else:
            objects = self._objects(answers, feature)
            missing = pa.array([each is None for each in objects], pa.bool_())
            nothing = (None,) * len(feature.monoid.members)
            rows = [nothing if each is None else each for each in objects]
            numbers = list(zip(*rows, strict=True)) if rows else [()] * len(nothing)
        children = []
        for place, member in enumerate(feature.monoid.members):
            wanted = feature.type.field(member.name).type
            held = wanted if member.carried is None else pa.int64()
            if feature.compiled:
                column = arrow.answers_to_arrow(numbers[place], defined, held, str(feature))
            else:
                column = arrow.objects_to_arrow(list(numbers[place]), held, str(feature))
            if member.carried is not None:
                column = carried(feature.columns[member.carried], column)
            children.append(column)
        return pa.StructArray.from_arrays(children, fields=list(feature.type), mask=missing)

    def _objects(self, answers: FeatureAnswers, feature: Feature) -> list[Any]:
        """The answers of a plain feature."""
        found, present = answers.plain[self.plain.index(feature)], answers.present
        if present is None:
            return found
        nothing = of_no_values(feature)
        return [each if there else nothing for each, there in zip(found, present, strict=True)]

    def _numbers(self, answers: FeatureAnswers, feature: Feature) -> tuple[Any, Array | None]:
        """The answers of a compiled feature, and which rows have one; None for all."""
        index = self.compiled.index(feature)
        values, present = answers.values[index], answers.present
        if feature.monoid.blockwise is not None:
            values = _each(feature.monoid.blockwise.after, values)
        defined = answers.defined[index] if self.product.conditional[index] else None
        if present is None:
            return values, defined
        nothing = of_no_values(feature)
        if nothing is None:
            return values, present if defined is None else defined & present
        values = np.where(present, values, nothing)
        return values, None if defined is None else defined | ~present


def truth_of(condition: Condition, columns: Mapping[str, pa.Array], size: int) -> Array:
    """The rows for which a condition is true; unknown is not true."""
    found = condition.evaluate(columns)
    if isinstance(found, pa.Scalar):  # a condition without columns
        return arrays.read_only(np.full(size, found.as_py() is True))
    return arrays.read_only(arrays.truth(found))


def of_no_values(feature: Feature) -> Any:
    """A feature's answer for no values: null, or a count of 0."""
    return skipping_nulls(feature.monoid, (), str(feature)).lower(None)


def _each(function: np.ufunc, values: Array) -> Array:
    """Apply a function to every value."""
    # Without warnings: the value of a null may be anything.
    with np.errstate(all="ignore"):
        return arrays.read_only(function(values))
