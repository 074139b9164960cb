"""What conditions are made of: columns, literals, arithmetic, questions, and `and`, `or`, `not`.

An expression can evaluate itself on columns, and write itself. Two texts that differ in spaces,
parentheses or case of keywords alone are written alike, so plans and checkpoints take them for the
same.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.condition_literals import Literal
from windrow.algebra.condition_tokens import KEYWORDS
from windrow.algebra.condition_values import compared, computed, like, negated

Columns = Mapping[str, pa.Array]

#: how tightly expressions bind, the loosest first
OR, AND, NOT, PREDICATE, SUM, PRODUCT, NEGATIVE, ATOM = range(1, 9)
POWERS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}


@dataclass(frozen=True)
class Column:
    """The values of a column; as a condition, a column of truth values."""

    name: str
    operands: ClassVar[tuple[Any, ...]] = ()
    binds: ClassVar[int] = ATOM

    def evaluate(self, columns: Columns) -> Any:
        """The column."""
        return columns[self.name]

    @property
    def text(self) -> str:
        """Its name, in quotes if it is no plain word."""
        if re.fullmatch(r"[^\W\d]\w*", self.name) and self.name.lower() not in KEYWORDS:
            return self.name
        return '"' + self.name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Negative:
    """A number or duration with its sign turned."""

    operand: Any
    binds: ClassVar[int] = NEGATIVE

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.operand,)

    def evaluate(self, columns: Columns) -> Any:
        """The values with their signs turned."""
        return negated(self.operand.evaluate(columns))

    @property
    def text(self) -> str:
        """How it is written; a minus before a number would be part of the number."""
        bare = self.operand.binds >= ATOM and not isinstance(self.operand, Literal)
        return f"-{self.operand.text}" if bare else f"-({self.operand.text})"


@dataclass(frozen=True)
class Terms:
    """Sums and differences, or products, quotients and remainders, however many there are."""

    first: Any
    rest: tuple[tuple[str, Any], ...]

    @property
    def binds(self) -> int:
        """As its signs do."""
        return POWERS[self.rest[0][0]]

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.first, *(operand for _sign, operand in self.rest))

    def evaluate(self, columns: Columns) -> Any:
        """Each with what those before it give."""
        found = self.first.evaluate(columns)
        for sign, operand in self.rest:
            found = computed(sign, found, operand.evaluate(columns))
        return found

    @property
    def text(self) -> str:
        """How it is written."""
        rest = (f" {sign} {_within(each, self.binds + 1)}" for sign, each in self.rest)
        return _within(self.first, self.binds + 1) + "".join(rest)


@dataclass(frozen=True)
class Comparison:
    """Two values compared."""

    sign: str
    left: Any
    right: Any
    binds: ClassVar[int] = PREDICATE

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.left, self.right)

    def evaluate(self, columns: Columns) -> Any:
        """Whether it holds; beside a null it is not known."""
        return compared(self.sign, self.left.evaluate(columns), self.right.evaluate(columns))

    @property
    def text(self) -> str:
        """How it is written."""
        return f"{_within(self.left, SUM)} {self.sign} {_within(self.right, SUM)}"


class _Asked:
    """A question about one operand that has a `not` of its own, as in `n not in (1, 2)`."""

    operand: Any
    binds: ClassVar[int] = PREDICATE

    def question(self, negated: str) -> str:
        """What is written after the operand."""
        raise NotImplementedError

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.operand,)

    @property
    def text(self) -> str:
        """How it is written."""
        return self.written("")

    def written(self, negated: str) -> str:
        """How it is written, with `not` or without."""
        return f"{_within(self.operand, SUM)} {self.question(negated)}"


@dataclass(frozen=True)
class IsNull(_Asked):
    """Whether there is no value."""

    operand: Any

    def evaluate(self, columns: Columns) -> Any:
        """Whether there is none; this is always known."""
        return pc.is_null(self.operand.evaluate(columns))

    def question(self, negated: str) -> str:
        """What is written after the operand."""
        return f"is {negated}null"


@dataclass(frozen=True)
class In(_Asked):
    """Whether a value is one of several."""

    operand: Any
    values: tuple[Any, ...]

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.operand, *self.values)

    def evaluate(self, columns: Columns) -> Any:
        """Whether each value is; of a null it is not known."""
        found = self.operand.evaluate(columns)
        listed = self._set_for(found)
        if listed is not None:
            return pc.if_else(
                found.is_valid(), pc.is_in(found, listed), pa.scalar(None, pa.bool_())
            )
        equal = (compared("=", found, each.evaluate(columns)) for each in self.values)
        return functools.reduce(pc.or_kleene, equal)

    def _set_for(self, found: Any) -> pa.Array | None:
        """The values as a set of the column's type, if they are all texts or all integers of it."""
        values = [each.value if isinstance(each, Literal) else None for each in self.values]
        kind = str if pa.types.is_string(found.type) else int if found.type == pa.int64() else None
        if isinstance(found, pa.Scalar) or any(type(each) is not kind for each in values):
            return None
        return pa.array(values, found.type)

    def question(self, negated: str) -> str:
        """What is written after the operand."""
        return f"{negated}in ({', '.join(_within(each, SUM) for each in self.values)})"


@dataclass(frozen=True)
class Between(_Asked):
    """Whether a value is neither below one nor above another."""

    operand: Any
    low: Any
    high: Any

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.operand, self.low, self.high)

    def evaluate(self, columns: Columns) -> Any:
        """Whether it is."""
        found = self.operand.evaluate(columns)
        low = compared(">=", found, self.low.evaluate(columns))
        return pc.and_kleene(low, compared("<=", found, self.high.evaluate(columns)))

    def question(self, negated: str) -> str:
        """What is written after the operand."""
        return f"{negated}between {_within(self.low, SUM)} and {_within(self.high, SUM)}"


@dataclass(frozen=True)
class Like(_Asked):
    """Whether a text fits a pattern."""

    operand: Any
    pattern: str
    escape: str = "\\"
    any_case: bool = False

    def evaluate(self, columns: Columns) -> Any:
        """Whether it does; of a null it is not known."""
        return like(self.operand.evaluate(columns), self.pattern, self.escape, self.any_case)

    def question(self, negated: str) -> str:
        """What is written after the operand."""
        escape = "" if self.escape == "\\" else f" escape {Literal(self.escape).text}"
        word = "ilike" if self.any_case else "like"
        return f"{negated}{word} {Literal(self.pattern).text}{escape}"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition; what is not known stays so."""

    operand: Any

    @property
    def binds(self) -> int:
        """As `not` does, or as what has a `not` of its own."""
        return PREDICATE if isinstance(self.operand, _Asked) else NOT

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (self.operand,)

    def evaluate(self, columns: Columns) -> Any:
        """Whether the condition is false."""
        return pc.invert(self.operand.evaluate(columns))

    @property
    def text(self) -> str:
        """How it is written."""
        if isinstance(self.operand, _Asked):
            return self.operand.written("not ")
        return f"not {_within(self.operand, PREDICATE)}"


@dataclass(frozen=True)
class Chain:
    """Conditions joined by one of `and` and `or`, however many there are."""

    word: str
    operands: tuple[Any, ...]

    @property
    def binds(self) -> int:
        """As its word does."""
        return AND if self.word == "and" else OR

    def evaluate(self, columns: Columns) -> Any:
        """Each joined with those before it."""
        function = pc.and_kleene if self.word == "and" else pc.or_kleene
        return functools.reduce(function, (each.evaluate(columns) for each in self.operands))

    @property
    def text(self) -> str:
        """How it is written."""
        return f" {self.word} ".join(_within(each, self.binds + 1) for each in self.operands)


def joined(word: str, operands: list[Any]) -> Any:
    """A chain of conditions; the operands of chains of the same kind become its own."""
    flat: list[Any] = []
    for each in operands:
        same = isinstance(each, Chain) and each.word == word
        flat += each.operands if same else [each]
    return flat[0] if len(flat) == 1 else Chain(word, tuple(flat))


def _within(expression: Any, least: int) -> str:
    """An expression as part of another, in parentheses if it binds more loosely."""
    return expression.text if expression.binds >= least else f"({expression.text})"
