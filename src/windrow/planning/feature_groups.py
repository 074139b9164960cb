"""The features of a plan in three groups, with an algorithm for each.

Features whose partials are numbers form one product and run compiled, all in one pass. Where rows
are answered from value counts, those that ask for them form the second group. The others run as
plain Python, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from windrow.algebra.aggregation import Digest
from windrow.algebra.conditions import Condition
from windrow.algebra.nullable import NullSkipping, filtered, skipping_nulls
from windrow.algebra.product import Part, Product
from windrow.algorithms import Algorithm, value_counts
from windrow.errors import NotApplicable
from windrow.planning.choose import ASSUMED_EVENTS, Choice, Served, Wish, choose
from windrow.planning.features import Feature


@dataclass(frozen=True)
class Slot:
    """One array that kernels read.

    Attributes:
        column: the column whose values it holds.
        carried: whether it holds the positions of the rows in place of the values.
        before: what numpy does to the values first.
        digest: what makes numbers of any column.
        condition: the condition that it holds, in place of a column: true where it is true.
        as_python: whether plain Python gets Python's own values; see `Input`.
    """

    column: str
    carried: bool
    before: np.ufunc | None = None
    digest: Digest | None = None
    condition: Condition | None = None
    as_python: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it is made from."""
        return (self.column,) if self.condition is None else self.condition.columns


class FeatureGroups:
    """The compiled features as a product, those that are counted, and the plain ones."""

    def __init__(
        self,
        features: Sequence[Feature],
        nullable: AbstractSet[str],
        *,
        counts: bool = False,
        as_given: bool = False,
    ) -> None:
        """Group features of columns that are `nullable`.

        Args:
            features: those of a plan, or of a policy.
            nullable: the columns that may hold nulls.
            counts: whether rows are answered from value counts.
            as_given: the product keeps the order of the features, because somebody counts on it.
        """
        #: in one order, whatever that of the call: the same features are the same kernel
        self.compiled = [feature for feature in features if feature.compiled]
        if not as_given:
            self.compiled.sort(key=_name)
        #: the compiled features in the order of the call
        self.named = [feature for feature in features if feature.compiled]
        self.counted = [each for each in features if counts and each.is_counted]
        self.plain = [
            feature for feature in features if not feature.compiled and feature not in self.counted
        ]
        self.slots = list(dict.fromkeys(s for f in self.compiled for s in _slots(f)))
        self.plain_slots = list(dict.fromkeys(s for f in self.plain for s in _slots(f)))
        self.product = Product([self._part(feature, nullable) for feature in self.compiled])

    @property
    def checked(self) -> bool:
        """Whether a user's own functions are among the compiled."""
        return any(feature.aggregation.custom for feature in self.compiled)

    @property
    def input_columns(self) -> list[str]:
        """The columns that the features read by value."""
        slots = (*self.slots, *self.plain_slots)
        read = [column for slot in slots for column in slot.reads]
        return list(dict.fromkeys((*read, *(name for each in self.counted for name in each.reads))))

    def choice(self, wish: Wish, events: int | None, driven: str) -> Choice:
        """The algorithm for the compiled features.

        An algorithm that the user names may serve each feature alone, but not all in one pass: the
        product of two selective aggregations is not selective. Nor is an aggregation that has to
        count its values because some are null.
        """
        served = Served.compiled(
            f"{', '.join(map(str, self.named))} in one pass",
            [feature.aggregation.name for feature in self.named],
            self.product,
            driven,
        )
        try:
            if wish.algorithm == value_counts.NAME:  # these are the counts of gates
                wish = replace(wish, algorithm=None)
            return choose(served, wish, events)
        except NotApplicable as refusal:
            raise NotApplicable(
                f"{refusal}; ask for one at a time, of columns without nulls, without min_rows=, "
                "or leave the algorithm to windrow"
            ) from None

    @staticmethod
    def plain_choice(feature: Feature, wish: Wish, events: int | None, driven: str) -> Choice:
        """The algorithm for a plain feature."""
        served = Served.plain(feature.aggregation.name, feature.monoid, driven)
        return choose(served, wish, events)

    @staticmethod
    def counted_choice(feature: Feature, events: int | None) -> Choice:
        """The algorithm for a feature that is answered from value counts."""
        why = "its answers depend on the multiset of a window's values alone"
        served = Served.plain(feature.aggregation.name, feature.monoid)
        return Choice(
            cast(Algorithm, value_counts), served, why, events or ASSUMED_EVENTS, None, {}, {}
        )

    def plain_part(self, feature: Feature) -> tuple[NullSkipping, tuple[int, ...]]:
        """A plain feature's monoid, and the indices of its columns among the plain slots."""
        indices = tuple(self.plain_slots.index(slot) for slot in _slots(feature))
        watched = [
            index for index, column in enumerate(feature.columns) if column in feature.watched
        ]
        nulls = skipping_nulls if feature.condition is None else filtered
        unknown = feature.aggregation.unknown
        return nulls(feature.monoid, watched, str(feature), unknown), indices

    def _part(self, feature: Feature, nullable: AbstractSet[str]) -> Part:
        indices = tuple(self.slots.index(slot) for slot in _slots(feature))
        inputs, condition = indices[: len(feature.columns)], indices[len(feature.columns) :]
        watched = tuple(
            index
            for index, column in zip(inputs, feature.columns, strict=True)
            if column in feature.watched and column in nullable
        )
        monoid = feature.monoid.for_blocks
        if monoid.absent is None:
            return Part(monoid, inputs, (*watched, *condition))
        unknown = tuple(
            inputs[place]
            for place in feature.aggregation.unknown
            if place < len(inputs) and feature.columns[place] in nullable
        )
        return Part(monoid, inputs, watched, (*unknown, *condition))


def _name(feature: Feature) -> tuple[str, ...]:
    """What orders the features of a product: what is computed, before the names of columns."""
    monoid = feature.monoid
    numbers = [monoid.lowered, *(entry.dtype for entry in monoid.fields)]
    return (feature.aggregation.name, *numbers, *feature.columns, str(feature))


def _slots(feature: Feature) -> Sequence[Slot]:
    """The slots of a feature's inputs, and of its condition if it has one."""
    blockwise = feature.monoid.blockwise if feature.compiled else None
    slots = [
        Slot(
            column,
            entry.carried,
            blockwise.before if blockwise and index == 0 else None,
            entry.digest if feature.compiled else None,
            as_python=entry.as_python and not feature.compiled,
        )
        for index, (column, entry) in enumerate(
            zip(feature.columns, feature.aggregation.inputs, strict=False)
        )
    ]
    if feature.condition is not None:
        slots.append(Slot(str(feature.condition), carried=False, condition=feature.condition))
    return slots
