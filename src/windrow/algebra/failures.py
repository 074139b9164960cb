"""Arithmetic that fails, named by what was computed: an overflow, a division by zero."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from windrow.errors import AggregateOverflow, DivisionByZero, WindrowError

#: what Python raises where arithmetic has no answer
FAILURES = (OverflowError, ZeroDivisionError)


def named(what: str, error: BaseException) -> WindrowError:
    """The error that names what was computed."""
    message = str(error)
    if not message.startswith(what):
        message = f"{what}: {message}"
    return (DivisionByZero if isinstance(error, ZeroDivisionError) else AggregateOverflow)(message)


@contextmanager
def failures_named(what: str) -> Iterator[None]:
    """Raise what fails with its name."""
    try:
        yield
    except FAILURES as error:
        raise named(what, error) from error
