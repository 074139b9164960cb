"""From text to statements: the grammar of `grammar.ebnf`, a method for each rule.

Expressions are read by the parser of conditions, which knows nothing but columns; here a name that
parentheses follow is an aggregate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from windrow.algebra.condition_literals import Literal
from windrow.algebra.condition_text import ExpressionParser, unquoted
from windrow.algebra.condition_tokens import Token
from windrow.cql.tokens import CqlTokens
from windrow.cql.tree import Aggregate, Item, Name, Statement, WindowText, parts_of

_STREAMS = ("istream", "rstream")
_CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "AS")
_KINDS = (
    "ROWS", "RANGE", "DELTA", "PUNCTUATED", "SESSION", "POLICY", "CALENDAR", "UNBOUNDED",
)  # fmt: skip
#: a duration in quotes: numbers, each with a unit
_TERM = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]+)")
_DURATION = re.compile(rf"\s*(?:{_TERM.pattern}\s*)+")
_Part = TypeVar("_Part")


def parse_query(text: str) -> tuple[Statement, ...]:
    """The statements of a text.

    >>> print(parse_query("select max(x) as top from t[rows 100 slide 10]")[0].text)
    SELECT max(x) AS top
    FROM t [ROWS 100 SLIDE 10]
    """
    return _QueryParser(CqlTokens(text)).statements()


class _QueryParser(ExpressionParser):
    """Takes the tokens of a rule; refuses the first that does not fit it."""

    _tokens: CqlTokens

    def statements(self) -> tuple[Statement, ...]:
        found: list[Statement] = []
        while True:
            while self._tokens.take_if(";"):
                pass
            if found and self._tokens.peek().kind == "end":
                return tuple(found)
            found.append(self._statement())
            if self._tokens.peek().kind != "end" and self._tokens.peek().found != ";":
                self._tokens.fail_for("';' or the end", _CLAUSES)

    def _statement(self) -> Statement:
        place = self._tokens.peek().place
        self._expect_reserved("select")
        stream = self._stream()
        items = self._listed_parts(self._item)
        if stream is not None:
            self._tokens.expect(")")
        self._expect_reserved("from")
        table = self._name("the name of a table")
        windows = self._windows()
        where = self._condition("WHERE") if self._tokens.take_reserved("where") else None
        keys: tuple[Name, ...] = ()
        if self._tokens.take_reserved("group"):
            self._expect_word("by")
            keys = self._listed_parts(self._column)
        having = None
        if self._tokens.take_reserved("having"):
            having = self.expression()
        return Statement(items, table, windows, stream, where, keys, having, place)

    def _stream(self) -> str | None:
        """`ISTREAM(` or `RSTREAM(`, if it is there."""
        follows = self._tokens.peek(1)
        if follows.kind != "sign" or follows.found != "(":
            return None
        stream = self._tokens.take_word(*_STREAMS)
        if stream is not None:
            self._tokens.take()
        return stream

    def _item(self) -> Item:
        place = self._tokens.peek().place
        if self._tokens.take_if("*"):
            return Item(None, None, place)
        return Item(self.expression(), self._alias(), place)

    def _alias(self) -> str | None:
        if not self._tokens.take_reserved("as"):
            return None
        return self._name("a name").name

    def _condition(self, clause: str) -> Any:
        """An expression over columns alone."""
        condition = self.expression()
        for part in parts_of(condition):
            if isinstance(part, Aggregate):
                self._tokens.fail(f"{clause} is about rows; use HAVING for aggregates", part.place)
        return condition

    # Windows -------------------------------------------------------------------------------------

    def _windows(self) -> tuple[WindowText, ...]:
        if self._tokens.peek().found != "[":
            return ()
        return self._listed_parts(self._window)

    def _window(self) -> WindowText:
        place = self._tokens.peek().place
        self._tokens.expect("[")
        partition: tuple[Name, ...] = ()
        if self._tokens.take_word("partition"):
            self._expect_word("by")
            # No comma follows the last of them, so `,` is not looked for after a kind.
            partition = self._listed_parts(self._column)
        kind = self._tokens.take_word(*(each.lower() for each in _KINDS))
        if kind is None:
            self._tokens.fail_for(f"one of {', '.join(_KINDS)}", _KINDS)
        column, extent = self._extent(kind)
        slide = self._amount("SLIDE") if self._tokens.take_word("slide") else None
        order: list[Name] = []
        options: list[tuple[str, Literal]] = []
        if self._tokens.take_word("on"):
            order.append(self._column())
        while self._tokens.take_if(","):
            if self._is_option():
                options.append(self._option())
            elif order and not options:
                order.append(self._column())
            else:
                self._tokens.fail_for("an option such as min_rows => 3")
        if self._tokens.take_if("]") is None:
            self._tokens.fail_for("SLIDE, ON, an option or ']'", ("SLIDE", "ON"))
        return WindowText(
            kind, extent, column, slide, tuple(order), partition, tuple(options), self._alias(),
            place,
        )  # fmt: skip

    def _extent(self, kind: str) -> tuple[str | None, Any]:
        """The column and the extent of a window of a kind."""
        tokens = self._tokens
        if kind == "unbounded":
            return None, None
        if kind == "policy":
            return self._name("the name of a policy").name, None
        if kind == "punctuated":
            self._expect_word("by")
            return self._column().name, None
        if kind == "delta":
            column = self._column().name
            if tokens.peek().kind != "number":
                tokens.fail_for("a number")
            return column, float(self._atom("").value)
        if kind == "rows":
            return None, self._whole_number("a number of rows")
        return None, self._duration_of(kind.upper())

    def _amount(self, clause: str) -> int | str:
        """A number of rows, or a duration."""
        follows = self._tokens.peek(1)
        unit = follows.found.lower() if follows.kind == "word" else ""
        if self._tokens.peek().kind == "number" and unit in ("", "row", "rows", "on"):
            rows = self._whole_number("a number of rows")
            self._tokens.take_word("row", "rows")
            return rows
        return self._duration_of(clause)

    def _whole_number(self, wanted: str) -> int:
        kind, found, _place = self._tokens.peek()
        # Longer numbers are refused here, because Python refuses to read the longest.
        if kind != "number" or not found.isdecimal() or len(found) > 18:
            self._tokens.fail_for(f"{wanted}, at most 18 digits")
        return int(self._tokens.take().found)

    def _duration_of(self, clause: str) -> str:
        """`24 HOURS`, `1 HOUR 30 MINUTES` or `'24 hours'`, in one spelling."""
        tokens, place = self._tokens, self._tokens.peek().place
        tokens.take_word("interval")
        written: list[str] = []
        if tokens.peek().kind == "string":
            text = unquoted(tokens.take().found).lower()
            if _DURATION.fullmatch(text) is None:
                tokens.fail(f"a duration is expected here, as in {clause} '1 hour'", place)
            written = [part for term in _TERM.findall(text) for part in term]
        while tokens.peek().kind == "number" and tokens.peek().found.replace(".", "").isdecimal():
            written.append(tokens.take().found)
            if tokens.peek().kind != "word" or tokens.peek().found.lower() in ("slide", "on"):
                tokens.fail_for(f"a unit of time, as in {clause} 1 HOUR,")
            written.append(tokens.take().found.lower())
        if not written:
            tokens.fail_for(f"a duration, as in {clause} 1 HOUR,")
        if "m" in written:
            tokens.fail("m may be minutes or months; write MINUTES or MONTHS", place)
        return " ".join(written)

    # Names, aggregates, options ------------------------------------------------------------------

    def _named(self, token: Token) -> Any:
        """A column, or an aggregate if parentheses follow."""
        name = unquoted(token.found)
        if self._tokens.peek().found != "(" or self._tokens.peek().kind != "sign":
            return Name(name, token.place)
        self._tokens.take()
        self._deeper(token.place)
        aggregate = self._aggregate(name, token.place)
        self._depth -= 1
        return aggregate

    def _aggregate(self, name: str, place: int) -> Aggregate:
        tokens = self._tokens
        follows = tokens.peek(1)
        distinct = False
        if not (follows.kind in ("sign", "keyword") and follows.found in (")", ",", "=>")):
            distinct = tokens.take_word("distinct") is not None
        arguments: list[Any] = []
        options: list[tuple[str, Literal]] = []
        if tokens.take_if("*"):
            tokens.expect(")")
        elif not tokens.take_if(")"):
            while True:
                if self._is_option():
                    options.append(self._option())
                elif options:
                    tokens.fail_for("a parameter such as n => 3")
                else:
                    arguments.append(self._argument())
                if not tokens.take_if(","):
                    break
            if tokens.take_if(")") is None:
                tokens.fail_for("')', ',' or an operator")
        condition = self._filter()
        return Aggregate(name, tuple(arguments), tuple(options), distinct, condition, place)

    def _argument(self) -> Any:
        argument = self.expression()
        for part in parts_of(argument):
            if isinstance(part, Aggregate):
                self._tokens.fail(
                    f"{part.name} is inside another aggregate; an aggregate is of columns",
                    part.place,
                )
        return argument

    def _filter(self) -> Any:
        follows = self._tokens.peek(1)
        if follows.found != "(" or self._tokens.take_word("filter") is None:
            return None
        self._tokens.expect("(")
        self._expect_reserved("where")
        condition = self._condition("FILTER")
        self._tokens.expect(")")
        return condition

    def _is_option(self) -> bool:
        return self._tokens.peek().kind == "word" and self._tokens.peek(1).found == "=>"

    def _option(self) -> tuple[str, Literal]:
        name = self._tokens.take().found
        self._tokens.take()
        place = self._tokens.peek().place
        value = self._operand()
        if not isinstance(value, Literal):
            self._tokens.fail("a number, a text, true or false is expected here", place)
        return name, value

    def _column(self) -> Name:
        return self._name("a column")

    def _name(self, wanted: str) -> Name:
        kind, found, place = self._tokens.peek()
        if kind not in ("word", "quoted"):
            self._tokens.fail_for(wanted)
        self._tokens.take()
        return Name(unquoted(found), place)

    def _listed_parts(self, part: Callable[[], _Part]) -> tuple[_Part, ...]:
        """One or more, with commas between them."""
        found = [part()]
        while self._tokens.take_if(","):
            found.append(part())
        return tuple(found)

    def _expect_reserved(self, word: str) -> None:
        if not self._tokens.take_reserved(word):
            self._tokens.fail_for(word.upper(), _words_near(word))

    def _expect_word(self, word: str) -> None:
        if self._tokens.take_word(word) is None:
            self._tokens.fail_for(word.upper(), (word.upper(),))


def _words_near(word: str) -> Sequence[str]:
    """What else may have been meant where a clause is missing."""
    return (word.upper(), "AS") if word == "from" else (word.upper(),)
