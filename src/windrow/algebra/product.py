"""Products: several aggregations as one monoid in which equal fields exist once.

Each part is a monoid over some of the table's columns. Fields with the same name over the same rows
of the same columns are the same field: a kurtosis already holds what a variance and a count over
its column need, so only its combine is called and the others just read their answers off.

`windrow.compiler.product_source` writes a product out as Python source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windrow.algebra.counting import COUNT
from windrow.algebra.monoid import Field, Monoid, Traits


@dataclass(frozen=True, eq=False)
class Part:
    """One aggregation of a product.

    Attributes:
        monoid: its functions.
        inputs: the indices of its columns.
        nullable: the indices of columns whose invalid rows it must skip: inputs that hold nulls,
            and a condition, which is true where it is valid.
        missing: the indices of columns in whose invalid rows it has no value, but counts the row
            (see `Monoid.absent`).
    """

    monoid: Monoid
    inputs: tuple[int, ...]
    nullable: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()

    def place_of(self, entry: Field) -> tuple[Any, ...]:
        """What identifies a field among those of the same name over other rows."""
        return (entry.name, self.inputs, self.nullable, self.missing)


class Product:
    """Monoids over columns, joined.

    Columns come as pairs of arrays, values and validity, for the columns that some part declares
    nullable, and as values alone for the others. Answers go to pairs of arrays as well: one of
    values and one of validity for each part.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        #: the aggregations that were asked for
        self.parts = tuple(
            replace(part, monoid=part.monoid.defined.with_nulls or part.monoid)
            if part.nullable
            else part
            for part in parts
        )
        self._counted = [
            index
            for index, part in enumerate(self.parts)
            if part.nullable and part.monoid.defined.test is None
        ]
        counters = [replace(self.parts[index], monoid=COUNT) for index in self._counted]
        #: the parts, and counts for those that cannot tell by themselves that they have no values
        self.members = (*self.parts, *counters)
        self._places: dict[tuple[Any, ...], int] = {}
        self.fields: list[Field] = []
        #: members whose combine is called, with the places of the fields that they bring
        self.combining: list[tuple[int, list[int]]] = []
        widest_first = sorted(
            range(len(self.members)), key=lambda index: -len(self.members[index].monoid.fields)
        )
        for index in widest_first:
            new = [place for place, is_new in self._claim(self.members[index]) if is_new]
            if new:
                self.combining.append((index, new))

    def _claim(self, part: Part) -> Iterator[tuple[int, bool]]:
        for entry in part.monoid.fields:
            key = part.place_of(entry)
            is_new = key not in self._places
            if is_new:
                self._places[key] = len(self.fields)
                self.fields.append(entry)
            yield self._places[key], is_new

    def without_nulls(self) -> Product | None:
        """The same partials, of rows that all have values: no row is asked whether it is valid.

        None if the partials would not be the same, because some part counts its valid rows.
        """
        product = Product([replace(part, nullable=(), missing=()) for part in self.parts])
        same = [each.name for each in product.fields] == [each.name for each in self.fields]
        return product if same else None

    @property
    def nullable_columns(self) -> tuple[int, ...]:
        """The columns of which the kernel wants to know which rows are valid."""
        return tuple(
            sorted({index for part in self.parts for index in (*part.nullable, *part.missing)})
        )

    @property
    def holds_rows(self) -> bool:
        """Whether some field is a row of an array."""
        return any(entry.width for entry in self.fields)

    @property
    def allocates(self) -> bool:
        """Whether some function makes a new array for each partial."""
        return any(
            entry.width and part.monoid.in_place is None
            for part in self.parts
            for entry in part.monoid.fields
        )

    @property
    def is_invertible(self) -> bool:
        """Whether the oldest event can be taken out of a partial."""
        return all(
            self.members[index].monoid.inverse is not None for index, _places in self.combining
        )

    @property
    def traits(self) -> Traits:
        """The traits that all parts share."""
        shared = [part.monoid.traits for part in self.parts]
        return Traits(
            commutative=all(traits.commutative for traits in shared),
            selective=len(self.members) == 1 and shared[0].selective,
            exact=all(traits.exact for traits in shared),
        )

    def fields_of(self, index: int) -> list[int]:
        """The places of a member's fields in the product's partial."""
        part = self.members[index]
        return [self._places[part.place_of(entry)] for entry in part.monoid.fields]

    def counter_of(self, index: int) -> int | None:
        """The member that counts the values of a part that cannot tell by itself if it has any."""
        if index not in self._counted:
            return None
        return len(self.parts) + self._counted.index(index)

    def identity(self) -> Any:
        """The product's partial of no events, as a kernel takes it: row 0 stands for a row."""
        values = [
            0 if entry.width else self.identity_of(place) for place, entry in enumerate(self.fields)
        ]
        return values[0] if len(values) == 1 else tuple(values)

    def identity_of(self, place: int) -> Any:
        """The identity's value in one field, in the field's own type."""
        for index, places in self.combining:
            if place in places:
                identity = self.members[index].monoid.identity
                own = self.fields_of(index)
                value = identity[own.index(place)] if len(own) > 1 else identity
                if len(own) == 1 and isinstance(identity, tuple):
                    value = identity[0]
                return np.asarray(value, self.fields[place].dtype)[()]
        raise AssertionError("every field is brought by some member")

    def count_of(self, index: int) -> int:
        """The place of the field that counts the values of a part."""
        return self._places[self.parts[index].place_of(COUNT.fields[0])]

    @property
    def conditional(self) -> tuple[bool, ...]:
        """For each part, whether a window may hold no answer for it."""
        return tuple(
            part.monoid.defined.or_none or self.condition_of(index) is not None
            for index, part in enumerate(self.parts)
        )

    def condition_of(self, index: int) -> str | None:
        """How a part tells that a window holds an answer: "defined", "count", or it always does.

        A window that answers a row holds that row: only nulls can leave it without a value.
        """
        part = self.parts[index]
        defined = part.monoid.defined
        if not (part.nullable or part.missing) and defined.one_value_is_enough:
            return None
        return "count" if defined.test is None else "defined"
