"""Algorithms for partials that are rows of arrays, without a line of their own.

An algorithm's source treats partials as values. A row of an array is a number of a row in a
workspace (see `windrow.compiler.product_source`), so before linking, each function is rewritten:

- every function gets the workspace as its first parameter, `rows`, and hands it on to the functions
  that it calls;
- what a `State` is made of is held: its partials are copied out of the scratch rows, which combine
  will write again.

`insert` of Two-Stacks Lite becomes

    def insert(rows, state, ring, partial):
        store(rows, ring, state.end, partial)
        return State(state.front, state.back, state.end + 1,
                     hold(rows, 3, combine(rows, state.back_partial, partial)))
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from windrow.compiler.constructors import with_constructors
from windrow.compiler.syntax import clone, definition_of, function_of

#: slots that read or make rows
ROW_SLOTS = frozenset({"combine", "inverse", "same", "store", "lift_row", "lower_row", "verdict"})


def with_workspace(functions: Iterable[Callable[..., Any]]) -> list[types.FunctionType]:
    """The functions, rewritten to work on rows of arrays."""
    functions = list(map(with_constructors, functions))
    threaded = ROW_SLOTS | {function.__name__ for function in functions}
    return [_rewritten(function, threaded) for function in functions]


# Every kernel of rows of arrays needs about ten functions.
@functools.lru_cache(1024)
def _rewritten(function: Any, threaded: frozenset[str]) -> types.FunctionType:
    definition = definition_of(function)
    assert definition is not None, "algorithms and loops have a source"
    definition = clone(definition)
    _Rewriter(threaded, function.__globals__.get("State")).visit(definition)
    definition.args.args.insert(0, ast.arg("rows"))
    return function_of(definition, function)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, threaded: frozenset[str], state: Any) -> None:
        self._threaded = threaded
        self._fields = getattr(state, "__annotations__", {})

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        if node.func.id in self._threaded:
            node.args.insert(0, ast.Name("rows", ast.Load()))
        elif node.func.id == "State":
            node.args = [
                self._held(number, field, argument) if kind in (Any, "Partial") else argument
                for number, ((field, kind), argument) in enumerate(
                    zip(self._fields.items(), node.args, strict=True)
                )
            ]
        return node

    def _held(self, number: int, field: str, argument: ast.expr) -> ast.expr:
        if isinstance(argument, ast.Attribute) and argument.attr == field:
            return argument  # unchanged, so it is held already
        rows, place = ast.Name("rows", ast.Load()), ast.Constant(number)
        return ast.Call(ast.Name("hold", ast.Load()), [rows, place, argument], keywords=[])
