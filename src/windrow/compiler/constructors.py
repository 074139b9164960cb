"""`state._replace(...)`, written as a call of the state's constructor.

Algorithms say what changes in a state: `state._replace(front=state.front + 1)`. numba does not know
`_replace`, and in plain Python it takes five times as long as the constructor. So the linker
rewrites `insert` of Two-Stacks Lite

    return state._replace(end=state.end + 1, back_partial=combine(state.back_partial, partial))

to

    return State(state.front, state.back, state.end + 1, combine(state.back_partial, partial))

The class is the one that the function's module knows as `State`.
"""

from __future__ import annotations

import ast
import types
import weakref
from typing import Any

from windrow.compiler.syntax import clone, definition_of, function_of

_REWRITTEN: weakref.WeakKeyDictionary[Any, types.FunctionType] = weakref.WeakKeyDictionary()


def with_constructors(function: Any) -> types.FunctionType:
    """The function without `_replace`; the function itself if it has none, or no source."""
    if "_replace" not in function.__code__.co_names:
        return function  # type: ignore[no-any-return]
    if function not in _REWRITTEN:
        _REWRITTEN[function] = _rewritten(function)
    return _REWRITTEN[function]


def _rewritten(function: types.FunctionType) -> types.FunctionType:
    definition, state = definition_of(function), function.__globals__.get("State")
    if definition is None or state is None:
        return function
    definition = clone(definition)
    _Constructors(state._fields).visit(definition)
    return function_of(definition, function)


class _Constructors(ast.NodeTransformer):
    def __init__(self, fields: tuple[str, ...]) -> None:
        self._fields = fields

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        replaced = node.func
        if not (isinstance(replaced, ast.Attribute) and replaced.attr == "_replace"):
            return node
        if not isinstance(replaced.value, ast.Name):
            raise TypeError(f"line {node.lineno}: give the state a name before you call _replace")
        changed = {keyword.arg: keyword.value for keyword in node.keywords}
        unknown = changed.keys() - set(self._fields)
        if unknown:
            raise TypeError(f"line {node.lineno}: the state has no field {unknown}")
        values = [
            changed.get(field) or ast.Attribute(replaced.value, field, ast.Load())
            for field in self._fields
        ]
        constructor = ast.Name("State", ast.Load())
        return ast.copy_location(ast.Call(constructor, values, keywords=[]), node)
