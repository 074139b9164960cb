"""Conditions on rows, as text: `status = 'ok' and not (amount is null or region in ('eu', 'us'))`.

A small part of SQL's language of conditions: comparisons, `and`, `or`, `not`, `is null`, `in`,
`between`, columns and literals. Text is parsed when a measure is made, and evaluated on whole
columns by Arrow, with SQL's logic: what is unknown because of a null is neither true nor false, and
only what is true counts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import plain_type
from windrow.errors import InvalidArgument

Columns = Mapping[str, pa.Array]

_COMPARISONS = {
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
        return Condition(text, Call("and_kleene", (self.root, other.root)))

    def __str__(self) -> str:
        return self.text


def _guesses(node: Any, like: pa.DataType | None = None) -> Iterator[tuple[str, pa.DataType]]:
    if isinstance(node, Column):
        yield node.name, like or pa.bool_()
    elif isinstance(node, In):
        yield from _guesses(node.operand, pa.scalar(node.values[0]).type)
    elif isinstance(node, Call):
        literals = [each.value for each in node.operands if isinstance(each, Literal)]
        compared = node.function in (*_COMPARISONS.values(), "is_null")
        beside = pa.scalar(literals[0]).type if literals else pa.float64() if compared else None
        for operand in node.operands:
            yield from _guesses(operand, beside)


# From text --------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"[^"]+"|`[^`]+`)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign><=|>=|<>|!=|==|[=<>(),-])
    )""",
    re.VERBOSE,
)
_WORDS = {"and", "or", "not", "is", "null", "in", "between", "true", "false"}


@functools.cache
def parse(text: str) -> Condition:
    """The condition that a text says.

    >>> parse("status = 'ok' and amount > 3").columns
    ('status', 'amount')
    """
    return Condition(text, _Parser(text).parse())


class _Parser:
    """Recursive descent: a method for each rule of the grammar, which takes what it reads."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._read())
        self._next = 0

    def _read(self) -> Iterator[tuple[str, str]]:
        position, end = 0, len(self._text.rstrip())
        while position < end:
            token = _TOKEN.match(self._text, position)
            if token is None:
                self._fail(f"{self._text[position:].strip()[:1]!r} is not understood")
            kind = str(token.lastgroup)
            found = token[kind]
            if kind == "word" and found.lower() in _WORDS:
                kind, found = "keyword", found.lower()
            yield kind, found
            position = token.end()

    def _fail(self, reason: str) -> NoReturn:
        raise InvalidArgument(
            f"where: {reason} in {self._text!r}; write conditions such as \"status = 'ok' and "
            'amount > 3", "region in (\'eu\', \'us\')" or "amount is not null"'
        )

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("end", "the end")

    def _take(self, *wanted: str) -> str | None:
        """The next token if it is one of these signs or keywords."""
        kind, found = self._peek()
        if kind in ("sign", "keyword") and found in wanted:
            self._next += 1
            return found
        return None

    def _expect(self, wanted: str) -> None:
        if self._take(wanted) is None:
            self._fail(f"{wanted!r} is missing before {self._peek()[1]!r}")

    def parse(self) -> Any:
        condition = self._either()
        if self._peek()[0] != "end":
            self._fail(f"{self._peek()[1]!r} is one too many")
        return condition

    def _either(self) -> Any:
        condition = self._both()
        while self._take("or"):
            condition = Call("or_kleene", (condition, self._both()))
        return condition

    def _both(self) -> Any:
        condition = self._negated()
        while self._take("and"):
            condition = Call("and_kleene", (condition, self._negated()))
        return condition

    def _negated(self) -> Any:
        if self._take("not"):
            return Call("invert", (self._negated(),))
        return self._predicate()

    def _predicate(self) -> Any:
        if self._take("("):
            condition = self._either()
            self._expect(")")
            return condition
        operand = self._operand()
        sign = self._take(*_COMPARISONS)
        if sign is not None:
            return Call(_COMPARISONS[sign], (operand, self._operand()))
        if self._take("is"):
            negated = self._take("not")
            self._expect("null")
            return _perhaps_not(negated, Call("is_null", (operand,)))
        negated = self._take("not")
        if self._take("in"):
            return _perhaps_not(negated, In(operand, self._literals()))
        if self._take("between"):
            low = Call("greater_equal", (operand, self._operand()))
            self._expect("and")
            high = Call("less_equal", (operand, self._operand()))
            return _perhaps_not(negated, Call("and_kleene", (low, high)))
        if negated:
            self._fail(f"'in' or 'between' is missing before {self._peek()[1]!r}")
        return operand

    def _literals(self) -> tuple[Any, ...]:
        self._expect("(")
        values = [self._literal()]
        while self._take(","):
            values.append(self._literal())
        self._expect(")")
        return tuple(values)

    def _literal(self) -> Any:
        operand = self._operand()
        if not isinstance(operand, Literal):
            self._fail("only literals may be listed after 'in'")
        return operand.value

    def _operand(self) -> Any:
        negative = self._take("-") is not None
        kind, found = self._peek()
        if kind == "number":
            self._next += 1
            value = float(found) if re.search("[.eE]", found) else int(found)
            return Literal(-value if negative else value)
        if negative:
            self._fail(f"a number is missing before {found!r}")
        if kind == "string":
            self._next += 1
            return Literal(found[1:-1].replace("''", "'"))
        if kind in ("word", "quoted"):
            self._next += 1
            return Column(found.strip('"`'))
        truth = self._take("true", "false")
        if truth is None:
            self._fail(f"a column or a value is missing before {found!r}")
        return Literal(truth == "true")


def _perhaps_not(negated: str | None, condition: Any) -> Any:
    return Call("invert", (condition,)) if negated else condition
