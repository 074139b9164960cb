"""Conditions from text: the grammar of `windrow.algebra.conditions`, read by recursive descent."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NoReturn

from windrow.algebra.conditions import (
    COMPARISONS,
    Call,
    Chain,
    Column,
    Condition,
    In,
    Literal,
    joined,
)
from windrow.errors import InvalidArgument

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
#: parentheses in parentheses that are read, so that none overflows Python's stack
_DEEPEST = 50
#: of an integer, as many as Arrow's decimals have
_MOST_DIGITS = 76
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
        self._depth = 0

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
        text = self._text if len(self._text) < 200 else f"{self._text[:200]}..."
        raise InvalidArgument(
            f"where: {reason} in {text!r}; write conditions such as \"status = 'ok' and "
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
        conditions = [self._both()]
        while self._take("or"):
            conditions.append(self._both())
        return joined("or_kleene", conditions)

    def _both(self) -> Any:
        conditions = [self._negated()]
        while self._take("and"):
            conditions.append(self._negated())
        return joined("and_kleene", conditions)

    def _negated(self) -> Any:
        negated = False
        while self._take("not"):
            negated = not negated
        condition = self._predicate()
        return Call("invert", (condition,)) if negated else condition

    def _predicate(self) -> Any:
        if self._take("("):
            self._depth += 1
            if self._depth > _DEEPEST:
                self._fail(f"parentheses are nested more than {_DEEPEST} deep")
            condition = self._either()
            self._expect(")")
            self._depth -= 1
            return condition
        operand = self._operand()
        sign = self._take(*COMPARISONS)
        if sign is not None:
            return Call(COMPARISONS[sign], (operand, self._operand()))
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
            return _perhaps_not(negated, Chain("and_kleene", (low, high)))
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
            return Literal(self._number("-" * negative + found))
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

    def _number(self, text: str) -> Any:
        """A float, or an integer; one of more than 64 bits as a decimal, which Arrow compares."""
        if re.search("[.eE]", text):
            return float(text)
        if len(text.lstrip("-0")) > _MOST_DIGITS:
            self._fail(
                f"a number has more than {_MOST_DIGITS} digits; write it as a float, as 1e80,"
            )
        number = int(text)
        return number if -(2**63) <= number < 2**63 else Decimal(number)


def _perhaps_not(negated: str | None, condition: Any) -> Any:
    return Call("invert", (condition,)) if negated else condition
