"""The features of a plan over columns: what kernels and plain Python read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import AggregateOverflow
from windrow.planning.groups import FeatureGroups
from windrow.planning.resolve import Feature
from windrow.runtime import columns as arrow

Array = np.ndarray[Any, Any]


@dataclass
class Answers:
    """What the passes of one window write: arrays by compiled, lists by plain features."""

    values: list[Array]
    defined: list[Array]
    plain: list[list[Any]]


class Features(FeatureGroups):
    """The groups of a plan, and the columns between them and a table."""

    def compiled_block(
        self, columns: Mapping[str, pa.Array], size: int, first_position: int
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """The arrays that kernels read: values or positions, and validities."""
        positions = None
        values = []
        for slot in self.slots:
            if slot.carried:
                if positions is None:
                    positions = arrow.read_only(np.arange(first_position, first_position + size))
                values.append(positions)
            else:
                column = arrow.values(columns[slot.column])
                values.append(column if slot.before is None else _each(slot.before, column))
        validities = [
            arrow.validity(columns[self.slots[index].column])
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
            for slot in self.plain_slots
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
        found = answers.values[index]
        if feature.carried is not None:
            return carried(feature.carried, arrow.answers_to_arrow(found, defined, pa.int64()))
        if feature.monoid.blockwise is not None:
            found = _each(feature.monoid.blockwise.after, found)
        return arrow.answers_to_arrow(found, defined, feature.type)


def _each(function: np.ufunc, values: Array) -> Array:
    """A function of every value."""
    # Without warnings: what stands for a null may be anything.
    with np.errstate(all="ignore"):
        return arrow.read_only(function(values))


@contextmanager
def overflow_named() -> Iterator[None]:
    """Turn Python's error of an overflow into windrow's."""
    try:
        yield
    except OverflowError as error:
        raise AggregateOverflow(str(error)) from None
