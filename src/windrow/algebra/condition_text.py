"""Conditions from text: the grammar of `windrow.algebra.conditions`, read by precedence climbing.

`_expression(least)` reads what binds at least so tightly: an operand, then operators as long as
they do. Operators in a row become one flat expression, so that no text overflows Python's stack.
"""

from __future__ import annotations

import functools
from typing import Any

from windrow.algebra.condition_expressions import (
    AND,
    NEGATIVE,
    NOT,
    OR,
    POWERS,
    PREDICATE,
    SUM,
    Between,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Negative,
    Not,
    Terms,
    joined,
)
from windrow.algebra.condition_literals import Literal, Moment, Span, number
from windrow.algebra.condition_tokens import Token, Tokens
from windrow.algebra.condition_values import COMPARISONS
from windrow.algebra.conditions import Condition

#: parentheses in parentheses that are read, so that none overflows Python's stack
_DEEPEST = 50
_SPELLINGS = {"==": "=", "<>": "!="} | {sign: sign for sign in COMPARISONS}
_QUESTIONS = ("is", "not", "in", "between")
_LIKES = ("like", "ilike")


@functools.cache
def parse(text: str, argument: str = "where") -> Condition:
    """The condition that a text says; messages name the argument.

    >>> str(parse("status='ok' AND (amount*2 > 3)"))
    "status = 'ok' and amount * 2 > 3"
    >>> parse("status = 'ok' and amount > 3").columns
    ('status', 'amount')
    """
    return Condition(ExpressionParser(Tokens(text, argument)).parse(), argument)


class ExpressionParser:
    """A method for each kind of expression, which takes the tokens that it reads.

    `windrow.cql` reads the expressions of queries with it, aggregates among them.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._depth = 0

    def parse(self) -> Any:
        """The expression that is the whole text."""
        condition = self.expression()
        kind, found, _place = self._tokens.peek()
        if kind != "end":
            self._tokens.fail(f"{found!r} is one too many")
        return condition

    def expression(self) -> Any:
        """The next expression, as far as it goes."""
        return self._expression(OR)

    def _expression(self, least: int) -> Any:
        found = self._operand()
        while (power := self._power()) >= least:
            if power in (OR, AND):
                found = self._chain(found, power)
            elif power == PREDICATE:
                found = self._predicate(found)
                if self._power() == PREDICATE:
                    self._tokens.fail("compare two values at a time, and join with 'and';")
            else:
                found = self._terms(found, power)
        return found

    def _power(self) -> int:
        """How tightly the next token binds what is before it; 0 if it does not."""
        kind, found, _place = self._tokens.peek()
        if kind == "word":
            return PREDICATE if found.lower() in _LIKES else 0
        if kind not in ("sign", "keyword"):
            return 0
        if found in _SPELLINGS or found in _QUESTIONS:
            return PREDICATE
        return {"or": OR, "and": AND}.get(found, POWERS.get(found, 0))

    def _chain(self, first: Any, power: int) -> Any:
        word = "and" if power == AND else "or"
        operands = [first]
        while self._tokens.take_if(word):
            operands.append(self._expression(power + 1))
        return joined(word, operands)

    def _terms(self, first: Any, power: int) -> Any:
        signs = [sign for sign, own in POWERS.items() if own == power]
        rest: list[tuple[str, Any]] = []
        if isinstance(first, Terms) and first.binds == power:
            first, rest = first.first, [*first.rest]
        while sign := self._tokens.take_if(*signs):
            rest.append((sign, self._expression(power + 1)))
        return Terms(first, tuple(rest))

    def _predicate(self, operand: Any) -> Any:
        tokens = self._tokens
        sign = tokens.take_if(*_SPELLINGS)
        if sign is not None:
            return Comparison(_SPELLINGS[sign], operand, self._expression(SUM))
        if tokens.take_if("is"):
            negated = tokens.take_if("not")
            tokens.expect("null")
            return _perhaps_not(negated, IsNull(operand))
        negated = tokens.take_if("not")
        if tokens.take_if("in"):
            return _perhaps_not(negated, In(operand, self._listed()))
        if tokens.take_if("between"):
            low = self._expression(SUM)
            tokens.expect("and")
            return _perhaps_not(negated, Between(operand, low, self._expression(SUM)))
        word = tokens.take_word(*_LIKES)
        if word is None:
            tokens.fail(f"'like', 'in' or 'between' is missing before {tokens.peek().found!r}")
        return _perhaps_not(negated, self._like(operand, any_case=word == "ilike"))

    def _listed(self) -> tuple[Any, ...]:
        self._tokens.expect("(")
        values = [self._expression(SUM)]
        while self._tokens.take_if(","):
            values.append(self._expression(SUM))
        self._tokens.expect(")")
        return tuple(values)

    def _like(self, operand: Any, any_case: bool) -> Like:
        place = self._tokens.peek().place
        pattern = self._string("a pattern in quotes")
        escape = "\\"
        if self._tokens.take_word("escape"):
            escape = self._string("one character in quotes")
            if len(escape) > 1:
                self._tokens.fail(f"an escape is one character, not {escape!r}", place)
        if escape and _ends_escaped(pattern, escape):
            self._tokens.fail(f"the pattern {pattern!r} ends with its escape", place)
        return Like(operand, pattern, escape, any_case)

    def _string(self, wanted: str) -> str:
        if self._tokens.peek().kind != "string":
            self._tokens.fail(f"{wanted} is missing before {self._tokens.peek().found!r}")
        return unquoted(self._tokens.take().found)

    def _operand(self) -> Any:
        """What stands before, between and after operators."""
        if self._tokens.take_if("not"):
            negated = True
            while self._tokens.take_if("not"):
                negated = not negated
            condition = self._expression(NOT + 1)
            return Not(condition) if negated else condition
        negative = False
        while self._tokens.take_if("-"):
            negative = not negative
        if negative and self._tokens.peek().kind != "number":
            return Negative(self._expression(NEGATIVE))
        return self._atom("-" * negative)

    def _atom(self, sign: str) -> Any:
        tokens = self._tokens
        kind, found, place = tokens.peek()
        if tokens.take_if("("):
            self._deeper(place)
            inner = self._expression(OR)
            tokens.expect(")")
            self._depth -= 1
            return inner
        if kind == "number":
            return Literal(self._made(number, sign + tokens.take().found, place))
        if kind == "string":
            return Literal(unquoted(tokens.take().found))
        if kind == "quoted":
            return self._named(tokens.take())
        if kind == "word":
            return self._time(found.lower(), place) or self._named(tokens.take())
        truth = tokens.take_if("true", "false")
        if truth is not None:
            return Literal(truth == "true")
        reason = f"a column or a value is missing before {found!r}"
        null = "nothing equals null; write 'is null' or 'is not null'"
        return tokens.fail(null if found == "null" else reason)

    def _named(self, token: Token) -> Any:
        """What a name stands for."""
        return Column(unquoted(token.found))

    def _deeper(self, place: int) -> None:
        """Count parentheses that are open."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._tokens.fail(f"parentheses are nested more than {_DEEPEST} deep", place)

    def _time(self, word: str, place: int) -> Any:
        """A literal such as `date '2024-01-31'`; None if the word names a column."""
        tokens, following = self._tokens, self._tokens.peek(1).kind
        if word in ("timestamp", "date") and following == "string":
            tokens.take()
            text = unquoted(tokens.take().found)
            return self._made(functools.partial(Moment.of, word), text, place)
        if word == "interval" and following in ("string", "number"):
            tokens.take()
            return self._made(Span.of, self._duration(), place)
        return None

    def _duration(self) -> str:
        """`'1 hour 30 minutes'`, `'1' hour` or `1 hour 30 minutes`."""
        first = unquoted(self._tokens.take().found)
        written = [first]
        if not first.replace(".", "").lstrip("+-").isdigit():
            return first
        while self._tokens.peek().kind == "word" and self._tokens.peek().found not in _LIKES:
            written.append(self._tokens.take().found)
            if self._tokens.peek().kind == "number":
                written.append(self._tokens.take().found)
        return " ".join(written)

    def _made(self, make: Any, text: str, place: int) -> Any:
        try:
            return make(text)
        except ValueError as error:
            hint = "; write it as a float, as 1e80," if make is number else ""
            self._tokens.fail(f"{error}{hint}", place)


def unquoted(found: str) -> str:
    """What stands between quotes, or a word as it is."""
    mark = found[0]
    return found[1:-1].replace(mark * 2, mark) if mark in "'\"`" else found


def _ends_escaped(pattern: str, escape: str) -> bool:
    characters = iter(pattern)
    return any(character == escape and next(characters, None) is None for character in characters)


def _perhaps_not(negated: str | None, condition: Any) -> Any:
    return Not(condition) if negated else condition
