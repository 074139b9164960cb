"""The features of a plan over columns: what kernels and plain Python read and write.

The features fall into two groups. Those whose partials are numbers form one product and run
compiled, all in one pass. The others run as plain Python, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.nullable import NullSkipping, skipping_nulls
from windrow.algebra.product import Part, Product
from windrow.algorithms import Algorithm, find_form
from windrow.errors import AggregateOverflow, NotApplicable
from windrow.planning.resolve import Feature
from windrow.runtime import columns as arrow

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


class Features:
    """Features in their two groups, and the columns between them and a table."""

    def __init__(self, features: Sequence[Feature], nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self.compiled = [feature for feature in features if feature.compiled]
        self.plain = [feature for feature in features if not feature.compiled]
        self._slots = list(dict.fromkeys(s for f in self.compiled for s in _slots(f)))
        self._plain_slots = list(dict.fromkeys(s for f in self.plain for s in _slots(f)))
        self.product = Product([self._part(feature, nullable) for feature in self.compiled])

    @property
    def checked(self) -> bool:
        """Whether a user's own functions are among the compiled."""
        return any(feature.aggregation.custom for feature in self.compiled)

    def compiled_form(self, algorithm: str) -> Algorithm:
        """The form of an algorithm that serves the compiled features.

        An algorithm may serve every feature alone, but not all of them in one pass: the product of
        two selective aggregations is not selective, nor is one that must count its values because
        some are null.
        """
        names = ", ".join(
            f"{feature.aggregation.name}({', '.join(feature.columns)})" for feature in self.compiled
        )
        try:
            return find_form(
                algorithm, f"{names} in one pass", self.product.traits, self.product.is_invertible
            )
        except NotApplicable as refusal:
            raise NotApplicable(
                f"{refusal}; ask for one at a time, of columns without nulls, or leave the "
                "algorithm to windrow"
            ) from None

    @staticmethod
    def plain_form(algorithm: str, feature: Feature) -> Algorithm:
        """The form of an algorithm that serves a plain feature."""
        monoid, name = feature.monoid, feature.aggregation.name
        return find_form(algorithm, name, monoid.traits, monoid.inverse is not None)

    def _part(self, feature: Feature, nullable: AbstractSet[str]) -> Part:
        indices = tuple(self._slots.index(slot) for slot in _slots(feature))
        watched = tuple(
            index
            for index, column in zip(indices, feature.columns, strict=True)
            if column in feature.watched and column in nullable
        )
        return Part(feature.monoid, indices, watched)

    def plain_part(self, feature: Feature) -> tuple[NullSkipping, tuple[int, ...]]:
        """A plain feature's monoid, and the indices of its columns in a plain block."""
        indices = tuple(self._plain_slots.index(slot) for slot in _slots(feature))
        watched = [
            index for index, column in enumerate(feature.columns) if column in feature.watched
        ]
        return skipping_nulls(feature.monoid, watched), indices

    @property
    def input_columns(self) -> list[str]:
        """The columns that the features read by value."""
        return list(dict.fromkeys(slot.column for slot in (*self._slots, *self._plain_slots)))

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


@contextmanager
def overflow_named() -> Iterator[None]:
    """Turn Python's error of an overflow into windrow's."""
    try:
        yield
    except OverflowError as error:
        raise AggregateOverflow(str(error)) from None
