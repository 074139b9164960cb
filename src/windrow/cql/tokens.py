"""Tokens of a query, its reserved words, and errors that show the line and the place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import ClassVar, NoReturn

from windrow.algebra.condition_tokens import Token, Tokens
from windrow.errors import InvalidArgument

#: words that name no column unless they are quoted, beside the keywords of conditions
RESERVED = frozenset({"select", "from", "where", "group", "having", "as"})

_TOKEN = re.compile(
    r"""(?:\s|--[^\n]*)*(?:
        (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign>=>|<=|>=|<>|!=|==|[=<>(),*/%+;\[\]-])
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*)*")
#: characters of a line that a message shows, and how many of them before the place
_SHOWN, _BEFORE = 78, 50


class CqlTokens(Tokens):
    """The tokens of a text of queries; `--` begins a comment."""

    pattern: ClassVar[re.Pattern[str]] = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text, "cql")

    def _end(self) -> int:
        # A comment at the end is no token; the text of a string may look like one.
        position = 0
        while token := self.pattern.match(self._text, position):
            position = token.end()
        blank = _BLANK.match(self._text, position)
        assert blank is not None
        return position if blank.end() == len(self._text) else len(self._text)

    def _token(self, kind: str, found: str, place: int) -> Token:
        if kind == "word" and found.lower() in RESERVED:
            return Token("reserved", found, place)
        return super()._token(kind, found, place)

    def take_reserved(self, word: str) -> bool:
        """Take the next token if it is this reserved word."""
        kind, found, _place = self.peek()
        if kind == "reserved" and found.lower() == word:
            self.take()
            return True
        return False

    def fail_for(self, wanted: str, words: Iterable[str] = ()) -> NoReturn:
        """Refuse the next token: something else is expected, perhaps one of these words."""
        found = self.peek().found
        self.fail(f"{wanted} is expected before {found!r}{suggestion(found, words)}")

    def fail(self, reason: str, place: int | None = None) -> NoReturn:
        """Refuse the text, and point to where it is wrong: at the next token if not said."""
        raise refusal(self._text, self.peek().place if place is None else place, reason)


def refusal(text: str, place: int, reason: str) -> InvalidArgument:
    """An error that shows the line of a place in the text, with a caret under it."""
    begin = text.rfind("\n", 0, place) + 1
    line = text[begin:].partition("\n")[0]
    at = place - begin
    first = max(0, at - _BEFORE)
    shown = re.sub(r"\s", " ", line[first : first + _SHOWN])
    number = text.count("\n", 0, place) + 1
    return InvalidArgument(
        f"cql: line {number}: {reason}\n    {shown}\n    {'^':>{at - first + 1}}"
    )


def suggestion(found: str, names: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the names is near, else nothing.

    >>> suggestion("amuont", ["amount", "region"])
    "; did you mean 'amount'?"
    """
    known = {name.lower(): name for name in names}
    # A long word is near to nothing, and comparing it takes long.
    near = difflib.get_close_matches(found.lower()[:100], known, n=1)
    return f"; did you mean {known[near[0]]!r}?" if near else ""
