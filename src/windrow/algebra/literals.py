"""Arguments that are one of a few texts, declared once: type checkers and calls read the same."""

from __future__ import annotations

from typing import Any, get_args

from windrow.errors import InvalidArgument


def require_one_of(literal: Any, argument: str, given: object) -> None:
    """Refuse an argument that its `Literal` does not list.

    >>> from typing import Literal
    >>> require_one_of(Literal["left", "right"], "side", "left")
    >>> require_one_of(Literal["left", "right"], "side", "up")
    Traceback (most recent call last):
    windrow.errors.InvalidArgument: side: 'left' or 'right', not 'up'
    """
    known = get_args(literal)
    if isinstance(given, str) and given in known:
        return
    *first, last = map(repr, known)
    is_short = given is None or isinstance(given, str | bool | float)
    shown = repr(given) if is_short else f"a value of type {type(given).__name__}"
    raise InvalidArgument(f"{argument}: {', '.join(first)} or {last}, not {shown}")
