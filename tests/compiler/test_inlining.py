"""Bodies of functions in place of their calls, run as plain Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import windrow as wr
from windrow import algorithms
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.algebra.product import Part, Product
from windrow.compiler.inlining import inline
from windrow.compiler.kernel import Kernel
from windrow.compiler.returns import assigning, can_assign
from windrow.compiler.syntax import define
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

KINDS = {"sum": Kind.FLOAT, "max": Kind.FLOAT, "mean": Kind.FLOAT, "min": Kind.INTEGER}


def itself(function: Any) -> Any:
    """In place of numba's compiler."""
    return function


def made(linked: Any, make: Callable[[], Any]) -> Any:
    """The same for windrow's own functions."""
    return make()


class Linked(Kernel):
    """A kernel that runs as it is linked."""

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile nothing."""
        self._call = self._linked("<product>")


class Inlined(Kernel):
    """A kernel that runs as it is given to numba."""

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile nothing."""
        self._call = inline(self._linked("<product>"), made, itself)


NUMBERS = np.random.default_rng(1).integers(0, 20, 90)


def answers(kind: type[Kernel], algorithm: Any, monoid: Monoid, extent: int) -> list[float]:
    """The answers over the newest rows of two keys."""
    product = Product([Part(monoid, (0,))])
    column = NUMBERS if monoid.lowered == "int64" else NUMBERS.astype(np.float64)
    kernel = kind(loops.over_rows, algorithm.FUNCTIONS, product, checked=False)
    found, defined = monoid.room(90), np.empty(90, np.bool_)
    window = CompiledRowWindow(wr.rows(extent), loops.over_rows, kernel, product, algorithm)
    bounds = Bounds(np.array([0, 40, NEVER]), Newest(extent))
    block = RowBlock((column,), (), bounds, 0, 0, 90)
    window.advance(block, [found], [defined])
    return found.tolist()


def served() -> Iterator[tuple[str, str]]:
    """Every algorithm with every aggregation that it serves."""
    for name, algorithm in sorted(algorithms.ALGORITHMS.items()):
        for aggregation, kind in sorted(KINDS.items()):
            monoid = getattr(wr, aggregation).monoid_for((kind,))
            if not algorithm.refuses(monoid.traits, monoid.inverse is not None):
                yield name, aggregation


@pytest.mark.parametrize(("name", "aggregation"), list(served()))
def test_an_inlined_kernel_does_what_the_linked_one_does(name, aggregation):
    algorithm = algorithms.ALGORITHMS[name]
    monoid = getattr(wr, aggregation).monoid_for((KINDS[aggregation],))
    for extent in (1, 3, 16):
        expected = answers(Linked, algorithm, monoid, extent)
        assert answers(Inlined, algorithm, monoid, extent) == expected


# Small functions ----------------------------------------------------------------------------------


def inlined(text: str) -> Any:
    """The function `main` of a text, with bodies written into it."""
    found: dict[str, Any] = {}
    namespace: dict[str, Any] = {"__name__": "windrow.example"}
    # A function with a loop is not written into the function that calls it.
    looping = re.sub(r"(def main.*)", r"\1\n    for _ in range(0): pass", text)
    define(f"{looping}\n\ndef outermost(x):\n    main(x)", "<example>", namespace)

    def own(linked: Any, make: Callable[[], Any]) -> Any:
        found[linked.__name__] = make()
        return found[linked.__name__]

    inline(namespace["outermost"], own, itself)
    return found["main"]


def test_variables_of_a_body_get_names_of_their_own():
    main = inlined("""
def double(x):
    y = x + x
    return y

def main(x):
    y = double(x + 1)
    x = double(y)
    return x, y
""")
    assert main(3) == (16, 8)
    assert "double" not in main.__code__.co_names


def test_expressions_are_evaluated_in_their_order():
    text = """
def push(stack, value):
    stack[0] = stack[0] + value
    return stack[0]

def main(stack):
    return stack[0] * 100 + push(stack, 1) * 10 + push(stack, 1)
"""
    assert inlined(text)([3]) == 300 + 40 + 5


def test_a_call_that_may_not_happen_does_not_happen():
    main = inlined("""
def pop(stack):
    stack[0] = stack[0] - 1
    return stack[0] >= 0

def main(stack):
    found = stack[0] > 1 and pop(stack)
    other = pop(stack) if stack[0] > 100 else False
    while stack[0] > 0 and pop(stack):
        found = not found
    return found, other, stack[0]
""")
    assert main([1]) == (True, False, 0)


def test_a_body_returns_from_itself_only():
    main = inlined("""
def sign(x):
    if x < 0:
        return -1
    if x > 0:
        return 1
    return 0

def main(x):
    found = sign(x)
    return found * 10
""")
    assert [main(x) for x in (-5, 0, 5)] == [-10, 0, 10]
    assert "sign" not in main.__code__.co_names


def test_the_outermost_loop_takes_in_single_lines_only():
    namespace: dict[str, Any] = {"__name__": "windrow.example"}
    text = """
def put(values, place, value):
    values[place] = value

def put_twice(values, value):
    values[0] = value
    values[1] = value

def outermost(values):
    for place in range(2):
        put_twice(values, 5)
        put(values, place, values[0] + 1)
"""
    define(text, "<example>", namespace)
    outermost, values = inline(namespace["outermost"], made, itself), [0, 0]
    outermost(values)
    assert values == [5, 6]
    assert {"put", "put_twice"} & {*outermost.__code__.co_names} == {"put_twice"}


def test_a_function_that_returns_from_a_loop_stays_a_function():
    main = inlined("""
def first_above(values, least):
    for value in values:
        if value > least:
            return value
    return least

def main(values):
    return first_above(values, 3) + first_above(values, 5)
""")
    assert main([1, 4, 9]) == 13
    assert "first_above" in main.__code__.co_names


def test_a_function_with_a_long_tuple_stays_a_function():
    ones = ", ".join(["x"] * 31)
    main = inlined(f"""
def many(x):
    return ({ones})

def main(x):
    return many(x)[0] + many(x)[30]
""")
    assert main(2) == 4
    assert "many" in main.__code__.co_names


def test_a_function_of_a_users_stays_a_function():
    namespace: dict[str, Any] = {"__name__": "mine"}
    define("def twice(x):\n    return x + x", "<mine>", namespace)
    own: dict[str, Any] = {"__name__": "windrow.example", "twice": namespace["twice"]}
    define("def main(x):\n    return twice(x)", "<example>", own)
    main = inline(own["main"], made, itself)
    assert main.__code__.co_names == ("twice",)
    assert main(4) == 8


def test_globals_of_the_same_name_stay_apart():
    other: dict[str, Any] = {"__name__": "windrow.other", "step": 100}
    define("def further(x):\n    return x + step", "<other>", other)
    own: dict[str, Any] = {"__name__": "windrow.example", "step": 1, "further": other["further"]}
    define("def main(x):\n    return further(x) + step", "<example>", own)
    assert inline(own["main"], made, itself)(0) == 101


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if x:\n    return 1\nreturn 2", True),
        ("if x:\n    y = 1\nelse:\n    return 2\nreturn y", True),
        ("if x:\n    if y:\n        return 1\nreturn 2", False),
        ("while x:\n    return 1\nreturn 2", False),
        ("if x:\n    return 1", False),
        ("x = 1", True),
    ],
)
def test_bodies_that_can_assign_what_they_return(text, expected):
    body = ast.parse(text).body
    assert can_assign(body) is expected
    if expected:
        left = ast.Module(assigning(body, "result"), [])
        assert not any(isinstance(node, ast.Return) for node in ast.walk(left))
