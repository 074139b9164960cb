"""Products: several aggregations as one monoid in which equal fields exist once.

Each part is a monoid over some of the table's columns. Fields with the same name over the same
columns are the same field: of sum, count, mean and variance over one column, variance already
holds count and sum, so only its combine is called and the others just read their answers off.

The product is written out as Python source (`source`) with the parts' functions as its globals:
that text, compiled, is what the Reactive Aggregator's code generation (002 §5.3) is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
        nullable: the indices of those columns whose nulls it must skip.
    """

    monoid: Monoid
    inputs: tuple[int, ...]
    nullable: tuple[int, ...] = ()


class Product:
    """Monoids over columns, joined.

    Columns come as pairs of arrays, values and validity, for the columns that some part declares
    nullable, and as values alone for the others. Answers go to pairs of arrays as well: one of
    values and one of validity for each part.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        counters = [
            Part(COUNT, part.inputs, part.nullable)
            for part in self.parts
            if part.nullable and part.monoid.defined is None
        ]
        self._members = (*self.parts, *counters)
        self._places: dict[tuple[str, tuple[int, ...]], int] = {}
        self.fields: list[Field] = []
        #: members whose combine is called, with the places of the fields that they bring
        self._combining: list[tuple[int, list[int]]] = []
        widest_first = sorted(
            range(len(self._members)), key=lambda index: -len(self._members[index].monoid.fields)
        )
        for index in widest_first:
            new = [place for place, is_new in self._claim(self._members[index]) if is_new]
            if new:
                self._combining.append((index, new))

    def _claim(self, part: Part) -> Iterator[tuple[int, bool]]:
        for entry in part.monoid.fields:
            key = (entry.name, part.inputs)
            is_new = key not in self._places
            if is_new:
                self._places[key] = len(self.fields)
                self.fields.append(entry)
            yield self._places[key], is_new

    @property
    def nullable_columns(self) -> tuple[int, ...]:
        """The columns of which the kernel wants to know which rows are valid."""
        return tuple(sorted({index for part in self.parts for index in part.nullable}))

    @property
    def holds_rows(self) -> bool:
        """Whether some field is a row of an array, which lives on the heap."""
        return any(entry.width for entry in self.fields)

    @property
    def is_invertible(self) -> bool:
        """Whether the oldest event can be taken out of a partial."""
        return all(
            self._members[index].monoid.inverse is not None for index, _places in self._combining
        )

    @property
    def traits(self) -> Traits:
        """The traits that all parts share."""
        shared = [part.monoid.traits for part in self.parts]
        return Traits(
            commutative=all(traits.commutative for traits in shared),
            selective=len(shared) == 1 and shared[0].selective and len(self.fields) == 1,
            exact=all(traits.exact for traits in shared),
        )

    def _fields_of(self, index: int) -> list[int]:
        part = self._members[index]
        return [self._places[entry.name, part.inputs] for entry in part.monoid.fields]

    def allocate(self, capacity: int) -> tuple[np.ndarray[Any, Any], ...]:
        """A ring of so many partials, a power of two."""
        return tuple(entry.allocate(capacity) for entry in self.fields)

    def identity(self) -> Any:
        """The product's partial of no events."""
        names = self.globals
        values = [names[f"identity_{place}"].copy() for place in range(len(self.fields))]
        return values[0] if len(values) == 1 else tuple(values)

    @property
    def conditional(self) -> tuple[bool, ...]:
        """For each part, whether a window may hold no answer for it."""
        return tuple(
            self._condition(index, part) is not None for index, part in enumerate(self.parts)
        )

    # Source ------------------------------------------------------------------------------------

    @property
    def globals(self) -> dict[str, Any]:
        """What the generated source refers to."""
        names: dict[str, Any] = {"np": np}
        for index, part in enumerate(self._members):
            monoid = part.monoid
            for role in ("lift", "combine", "inverse", "lower", "defined"):
                function = getattr(monoid, role)
                if function is not None:
                    names[f"{role}_{index}"] = function
            values = monoid.identity if isinstance(monoid.identity, tuple) else (monoid.identity,)
            for entry, place, value in zip(
                monoid.fields, self._fields_of(index), values, strict=True
            ):
                names[f"identity_{place}"] = np.asarray(value, entry.dtype)[()]
        return names

    def source(self) -> str:
        """The product's functions as Python source."""
        return "\n\n".join(
            "\n".join(lines)
            for lines in (
                self._identity(),
                self._combine("combine", "older", "newer"),
                *([self._combine("inverse", "total", "oldest")] if self.is_invertible else []),
                self._same(),
                self._load(),
                self._store(),
                self._lift_row(),
                self._lower_row(),
            )
        )

    def _partial(self, prefix: str) -> str:
        """The product's partial from one variable per field."""
        names = [f"{prefix}{place}" for place in range(len(self.fields))]
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def _argument(self, index: int, whole: str) -> str:
        """The partial of one member, taken out of the product's partial."""
        places = self._fields_of(index)
        names = [whole if len(self.fields) == 1 else f"{whole}[{place}]" for place in places]
        return f"({', '.join(names)},)" if self._is_tuple(index) else names[0]

    def _is_tuple(self, index: int) -> bool:
        return isinstance(self._members[index].monoid.identity, tuple)

    def _assign(self, index: int, places: list[int], call: str) -> Iterator[str]:
        """Take the fields that a member brings out of what its function returns."""
        own = self._fields_of(index)
        yield f"part = {call}"
        for place in places:
            value = f"part[{own.index(place)}]" if self._is_tuple(index) else "part"
            yield f"f{place} = {self._coerced(place, value)}"

    def _coerced(self, place: int, value: str) -> str:
        entry = self.fields[place]
        if entry.width:
            return value
        return f"float({value})" if entry.dtype == "float64" else _whole(value)

    def _identity(self) -> Iterator[str]:
        yield "def identity():"
        for place, entry in enumerate(self.fields):
            copied = ".copy()" if entry.width else ""
            yield f"    f{place} = identity_{place}{copied}"
        yield f"    return {self._partial('f')}"

    def _combine(self, role: str, left: str, right: str) -> Iterator[str]:
        yield f"def {role}({left}, {right}):"
        for index, places in self._combining:
            arguments = f"{self._argument(index, left)}, {self._argument(index, right)}"
            for line in self._assign(index, places, f"{role}_{index}({arguments})"):
                yield f"    {line}"
        yield f"    return {self._partial('f')}"

    def _same(self) -> Iterator[str]:
        yield "def same(left, right):"
        if len(self.fields) == 1:
            rows = self.fields[0].width
            yield f"    return {'(left == right).all()' if rows else 'left == right'}"
            return
        yield (
            "    return ("
            + " and ".join(
                f"(left[{place}] == right[{place}]).all()"
                if entry.width
                else f"left[{place}] == right[{place}]"
                for place, entry in enumerate(self.fields)
            )
            + ")"
        )

    def _load(self) -> Iterator[str]:
        yield "def load(ring, position):"
        yield "    slot = np.uintp(position) & np.uintp(ring[0].shape[0] - 1)"
        yield f"    return {self._partial_of(lambda place: f'ring[{place}][slot]')}"

    def _partial_of(self, text: Any) -> str:
        names = [text(place) for place in range(len(self.fields))]
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def _store(self) -> Iterator[str]:
        yield "def store(ring, position, partial):"
        yield "    slot = np.uintp(position) & np.uintp(ring[0].shape[0] - 1)"
        for place in range(len(self.fields)):
            value = "partial" if len(self.fields) == 1 else f"partial[{place}]"
            yield f"    ring[{place}][slot] = {value}"

    def _column(self, index: int, what: str = "value") -> str:
        """How the source reads one column: values first, then validities of the nullable ones."""
        if what == "value":
            return f"columns[{index}][at]"
        return f"validities[{self.nullable_columns.index(index)}][at]"

    def _lift_row(self) -> Iterator[str]:
        yield "def lift_row(columns, validities, row):"
        yield "    at = np.uintp(row)"
        for index, places in self._combining:
            part = self._members[index]
            inputs = ", ".join(self._column(column) for column in part.inputs)
            indent = "    "
            if part.nullable:
                valid = " and ".join(self._column(column, "valid") for column in part.nullable)
                yield f"    if {valid}:"
                indent = "        "
            for line in self._assign(index, places, f"lift_{index}({inputs})"):
                yield f"{indent}{line}"
            if part.nullable:
                yield "    else:"
                for place in places:
                    copied = ".copy()" if self.fields[place].width else ""
                    yield f"        f{place} = identity_{place}{copied}"
        yield f"    return {self._partial('f')}"

    def _lower_row(self) -> Iterator[str]:
        yield "def lower_row(answers, defined, row, partial):"
        yield "    at = np.uintp(row)"
        for index, part in enumerate(self.parts):
            argument = self._argument(index, "partial")
            lowered = f"lower_{index}({argument})"
            if part.monoid.lowered == "int64":
                lowered = _whole(lowered)
            answer = f"answers[{index}][at] = {lowered}"
            condition = self._condition(index, part)
            if condition is None:
                yield f"    {answer}"
                continue
            yield f"    if {condition}:"
            yield f"        {answer}"
            yield f"        defined[{index}][at] = True"
            yield "    else:"
            yield f"        defined[{index}][at] = False"

    def _condition(self, index: int, part: Part) -> str | None:
        # A window that answers a row holds that row: only nulls can leave it without a value.
        if not part.nullable and part.monoid.one_is_enough:
            return None
        if part.monoid.defined is not None:
            return f"defined_{index}({self._argument(index, 'partial')})"
        place = self._places["count", part.inputs]
        return "partial > 0" if len(self.fields) == 1 else f"partial[{place}] > 0"


def _whole(value: str) -> str:
    """An integer, unchanged; a float, which would be cut off where integers are kept, is refused.

    Integers alone know `|`: a kernel of floats does not compile (see `compiler.why_not_compiled`).
    """
    return f"{value} | 0"
