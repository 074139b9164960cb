"""One call on one backend, held against the model."""

from __future__ import annotations

import traceback
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa

import windrow as wr
from tests.fuzz import model
from tests.fuzz.aggregates import Overflows
from tests.fuzz.backends import BACKENDS, Backend, interpreted
from tests.fuzz.calls import Call
from tests.fuzz.compare import Difference, check_over, check_slide
from tests.fuzz.draw import draw_call
from tests.fuzz.pieces import small_pieces


@dataclass(frozen=True)
class Example:
    """A call, where it is made, and what splits are drawn from."""

    backend: str
    call: Call
    seed: str


@dataclass(frozen=True)
class Finding:
    """A difference.

    Attributes:
        sign: what it is about; shrinking keeps to findings of the same sign.
        text: expected and got.
    """

    sign: str
    text: str


def drawn(backend: str, seed: int, number: int) -> Example:
    """The example of a number: always the same."""
    name = f"{seed}/{backend}/{number}"
    return Example(backend, draw_call(Random(name), BACKENDS[backend].profile), name)


def examined(example: Example) -> Finding | None:
    """What is wrong, if anything is."""
    backend, call = BACKENDS[example.backend], example.call
    random = Random(example.seed)
    pieces = small_pieces(random) if backend.in_process else nullcontext()
    with warnings.catch_warnings(), interpreted(not backend.compiled), pieces:
        # Interpreted, numbers are numpy's, which warn where a kernel is silent.
        warnings.simplefilter("ignore")
        try:
            answered, result = backend.run(call, random)
        except Exception as error:
            return _refused(call, error)
    try:
        expected = getattr(model, answered.function)(answered)
        check(backend, answered, result, expected)
    except Overflows:
        return Finding("no overflow", f"expected AggregateOverflow\ngot {result.to_pydict()}")
    except Difference as difference:
        return Finding("differs", str(difference))
    return None


def _refused(call: Call, error: Exception) -> Finding | None:
    """What is wrong with an error."""
    if isinstance(error, wr.NotApplicable) and "algorithm" in call.options:
        return None  # an algorithm that was named may not serve
    if "AggregateOverflow" in f"{type(error).__name__} {error}":
        try:
            getattr(model, call.function)(call)
        except Overflows:
            return None
    shown = "".join(traceback.format_exception(error, limit=-3))
    return Finding(f"raised {type(error).__name__}", f"expected an answer\ngot {shown}")


def check(backend: Backend, call: Call, result: pa.Table, expected: Any) -> None:
    """Raise the difference between a result and the model."""
    if call.function == "over":
        check_over(call, result, expected)
    else:
        check_slide(call, result, expected, ordered=backend.ordered)
