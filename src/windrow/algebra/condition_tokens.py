"""Words, numbers and signs of a condition's text, with their places for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple, NoReturn

from windrow.errors import InvalidArgument

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign><=|>=|<>|!=|==|[=<>(),*/%+-])
    )""",
    re.VERBOSE,
)
#: words that name no column unless they are quoted
KEYWORDS = frozenset({"and", "or", "not", "is", "null", "in", "between", "true", "false"})
#: characters of the text that a message shows, and how many of them before the place
_SHOWN, _BEFORE = 70, 40


class Token(NamedTuple):
    """A piece of the text: its kind, what it says, and where it begins."""

    kind: str
    found: str
    place: int


class Tokens:
    """The tokens of a text, taken one after the other."""

    #: what a token looks like, with the blanks before it
    pattern: ClassVar[re.Pattern[str]] = _TOKEN

    def __init__(self, text: str, argument: str) -> None:
        self._text, self._argument = text, argument
        self._tokens = list(self._read())
        self._next = 0

    def _read(self) -> Iterator[Token]:
        position, end = 0, self._end()
        while position < end:
            token = self.pattern.match(self._text, position)
            if token is None:
                rest = self._text[position:]
                place = position + len(rest) - len(rest.lstrip())
                self.fail(f"{self._text[place]!r} is not understood", place)
            kind = str(token.lastgroup)
            yield self._token(kind, token[kind], token.start(kind))
            position = token.end()
        yield Token("end", "the end", end)

    def _end(self) -> int:
        """Where the last token ends."""
        return len(self._text.rstrip())

    def _token(self, kind: str, found: str, place: int) -> Token:
        if kind == "word" and found.lower() in KEYWORDS:
            return Token("keyword", found.lower(), place)
        return Token(kind, found, place)

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one after it."""
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token, which then is taken."""
        self._next += 1
        return self._tokens[self._next - 1]

    def take_if(self, *wanted: str) -> str | None:
        """The next token if it is one of these signs and keywords."""
        kind, found, _place = self.peek()
        if kind in ("sign", "keyword") and found in wanted:
            return self.take().found
        return None

    def take_word(self, *wanted: str) -> str | None:
        """The next token if it is one of these words, which also name columns elsewhere."""
        kind, found, _place = self.peek()
        if kind == "word" and found.lower() in wanted:
            return self.take().found.lower()
        return None

    def expect(self, wanted: str) -> None:
        """Take a sign or keyword that has to be there."""
        if self.take_if(wanted) is None:
            self.fail(f"{wanted!r} is missing before {self.peek().found!r}")

    def fail(self, reason: str, place: int | None = None) -> NoReturn:
        """Refuse the text, and point to where it is wrong: at the next token if not said."""
        place = self.peek().place if place is None else place
        text = self._text if len(self._text) < 200 else f"{self._text[:200]}..."
        begin = max(0, place - _BEFORE)
        shown = re.sub(r"\s", " ", self._text[begin : begin + _SHOWN])
        raise InvalidArgument(
            f"{self._argument}: {reason} in {text!r}; write conditions such as \"status = 'ok' and "
            'amount > 3", "region in (\'eu\', \'us\')" or "amount is not null"\n'
            f"    {shown}\n    {'^':>{place - begin + 1}}"
        )
