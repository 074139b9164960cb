"""An algorithm and an aggregation as a few functions of plain Python.

A call takes Python as long as ten operations do, and a named tuple as long as five calls. So what
kernels get from the compiler, plain Python gets as well: small functions are written where they
are called (`windrow.compiler.inlining`), and a state is a bare tuple. `insert` of Two-Stacks Lite
over a maximum becomes

    def insert(state, ring, partial):
        ring[state[2] >> 9][state[2] & 511] = partial
        if state[3] is None:
            result_1 = partial
        ...
        return (state[0], state[1], state[2] + 1, result_1)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from windrow.compiler.inlining import inline_in_python
from windrow.compiler.linking import link
from windrow.compiler.syntax import clone, define

#: the slots of memory: `windrow.algorithms.plain_memory` has chunks of 512
_MEMORY = """
def load(ring, position):
    return ring[position >> 9][position & 511]


def store(ring, position, value):
    ring[position >> 9][position & 511] = value


load_integer = watch = load
store_integer = publish = store


def release(ring, position):
    if position >> 9 != ring.oldest:
        ring.release(position)


def capacity(ring):
    return ring.capacity
"""
#: what functions of algorithms call rings
_RINGS = ("ring", "other")


class PlainCode:
    """Functions, linked to a source; each is made when it is first asked for.

    Args:
        functions: those of an algorithm, and others that call them.
        state: the class of the algorithm's states.
        source: defines `combine`, `identity` and what else the functions call.
        refers: what the source refers to.
    """

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]],
        state: type,
        source: str,
        refers: dict[str, Any],
    ) -> None:
        # The inliner writes windrow's own functions into others, and no user's.
        namespace = {"__name__": __name__, **refers}
        define(_MEMORY + source, "<plain>", namespace)
        slots = {name: each for name, each in namespace.items() if not name.startswith("__")} | {
            "__name__": __name__
        }
        self._linked = link(functions, slots)
        self._fields: dict[str, int] = {
            name: place
            for place, name in enumerate(state._fields)  # type: ignore[attr-defined]
        }
        self._made: dict[str, Callable[..., Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._linked

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name not in self._made:
            self._made[name] = inline_in_python(self._linked[name], self._with_tuples)
        return self._made[name]

    def get(self, name: str) -> Callable[..., Any] | None:
        """A function, if there is one of that name."""
        return self[name] if name in self._linked else None

    def _with_tuples(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """The function on states that are bare tuples."""
        rewritten: ast.FunctionDef = _Tuples(self._fields).visit(clone(definition))
        return rewritten


class _Tuples(ast.NodeTransformer):
    def __init__(self, fields: dict[str, int]) -> None:
        self._fields = fields

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        value = node.value
        if node.attr not in self._fields or not isinstance(value, ast.Name):
            return node
        # A name that the inliner made has a number behind it.
        if value.id.rstrip("0123456789").rstrip("_") in _RINGS:
            return node
        place = ast.Constant(self._fields[node.attr])
        return ast.copy_location(ast.Subscript(value, place, node.ctx), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "State":
            return ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
        return node
