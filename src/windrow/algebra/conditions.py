"""Conditions on rows, as text: `status = 'ok' and not (amount is null or region in ('eu', 'us'))`.

A small part of SQL's language of conditions: comparisons, `and`, `or`, `not`, `is null`, `in`,
`between`, columns and literals. Text is parsed when a measure is made (see `condition_text`), and
evaluated on whole columns by Arrow, with SQL's logic: what is unknown because of a null is neither
true nor false, and only what is true counts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import plain_type
from windrow.errors import InvalidArgument

Columns = Mapping[str, pa.Array]

COMPARISONS = {
    "=": "equal", "==": "equal", "!=": "not_equal", "<>": "not_equal",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip


# What conditions are made of --------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """The values of a column; as a condition, a column of truth values."""

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.name,)

    def evaluate(self, columns: Columns) -> Any:
        """The column."""
        return columns[self.name]


@dataclass(frozen=True)
class Literal:
    """A value that stands in the text."""

    value: Any
    columns: tuple[str, ...] = ()

    def evaluate(self, _columns: Columns) -> Any:
        """The value as a scalar."""
        return pa.scalar(self.value)


@dataclass(frozen=True)
class Call:
    """A function of Arrow applied to operands."""

    function: str
    operands: tuple[Any, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(name for each in self.operands for name in each.columns))

    def evaluate(self, columns: Columns) -> Any:
        """The function of the operands' values."""
        values = _of_one_kind([each.evaluate(columns) for each in self.operands])
        return pc.call_function(self.function, values)


@dataclass(frozen=True)
class Chain:
    """Conditions joined by one of `and_kleene` and `or_kleene`, however many there are."""

    function: str
    operands: tuple[Any, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(name for each in self.operands for name in each.columns))

    def evaluate(self, columns: Columns) -> Any:
        """Each joined with those before it."""
        found = (each.evaluate(columns) for each in self.operands)
        return functools.reduce(lambda *pair: pc.call_function(self.function, list(pair)), found)


def joined(function: str, operands: list[Any]) -> Any:
    """A chain of conditions; the operands of chains of the same kind become its own."""
    flat: list[Any] = []
    for each in operands:
        same = isinstance(each, Chain) and each.function == function
        flat += each.operands if same else [each]
    return flat[0] if len(flat) == 1 else Chain(function, tuple(flat))


@dataclass(frozen=True)
class In:
    """Whether a value is one of several."""

    operand: Any
    values: tuple[Any, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(self.operand.columns)

    def evaluate(self, columns: Columns) -> Any:
        """Whether each value is; of a null it is not known."""
        found = self.operand.evaluate(columns)
        equal = (Call("equal", (_Value(found), Literal(value))) for value in self.values)
        return functools.reduce(pc.or_kleene, (each.evaluate(columns) for each in equal))


@dataclass(frozen=True)
class _Value:
    """What is evaluated already."""

    value: Any
    columns: tuple[str, ...] = ()

    def evaluate(self, _columns: Columns) -> Any:
        return self.value


def _of_one_kind(values: list[Any]) -> list[Any]:
    """Texts beside times are times: literals have no other way to say them."""
    times = [each.type for each in values if pa.types.is_temporal(each.type)]
    if not times:
        return values
    return [_as_time(each, times[0]) if pa.types.is_string(each.type) else each for each in values]


def _as_time(text: Any, data_type: pa.DataType) -> Any:
    """A text as a time; one that names no zone is in the column's."""
    zone = getattr(data_type, "tz", None)
    if zone is None:
        return text.cast(data_type)
    try:
        return text.cast(data_type)
    except pa.ArrowInvalid:
        local = text.cast(pa.timestamp(data_type.unit))
        return pc.assume_timezone(local, zone)


@dataclass(frozen=True)
class Condition:
    """A condition on the rows of a table."""

    text: str
    root: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(self.root.columns)

    def evaluate(self, columns: Columns) -> pa.Array:
        """Which rows it is true of; where it is not known, null."""
        return self.root.evaluate(columns)

    def check(self, schema: pa.Schema) -> None:
        """Refuse columns that are not there, or of types that cannot be compared."""
        for name in self.columns:
            if name not in schema.names:
                raise InvalidArgument(
                    f"where: there is no column {name!r}; there are {', '.join(schema.names)}"
                )
        empty = {name: pa.array([], plain_type(schema.field(name).type)) for name in self.columns}
        try:
            kind = self.evaluate(empty).type
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InvalidArgument(f"where: {self.text!r} cannot be computed: {error}") from None
        if not pa.types.is_boolean(kind):
            raise InvalidArgument(f"where: {self.text!r} is {kind} and no condition")

    def guesses(self) -> dict[str, pa.DataType]:
        """Types that its columns may have, told by what they are compared with."""
        return dict(_guesses(self.root))

    def __and__(self, other: Condition) -> Condition:
        text = f"({self.text}) and ({other.text})"
        return Condition(text, joined("and_kleene", [self.root, other.root]))

    def __str__(self) -> str:
        return self.text


def _guesses(node: Any, like: pa.DataType | None = None) -> Iterator[tuple[str, pa.DataType]]:
    if isinstance(node, Column):
        yield node.name, like or pa.bool_()
    elif isinstance(node, In):
        yield from _guesses(node.operand, pa.scalar(node.values[0]).type)
    elif isinstance(node, Chain):
        for operand in node.operands:
            yield from _guesses(operand)
    elif isinstance(node, Call):
        literals = [each.value for each in node.operands if isinstance(each, Literal)]
        compared = node.function in (*COMPARISONS.values(), "is_null")
        beside = pa.scalar(literals[0]).type if literals else pa.float64() if compared else None
        for operand in node.operands:
            yield from _guesses(operand, beside)
