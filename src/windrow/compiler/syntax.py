"""Functions as syntax trees, and syntax trees as functions.

The compiler rewrites functions before it links them. It reads a function's tree from the file that
the function comes from, and makes a function of the tree that it wants instead. Line numbers stay,
so a traceback still points into the original file.

Trees are shared. Nobody changes the tree of a function: copy it first.
"""

from __future__ import annotations

import ast
import functools
import linecache
import threading
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

#: Python 3.11 counts the depth of a tree in one place for all threads: two that parse or compile
#: trees at once may end in a SystemError. `tests/stream/test_rows.py` found it.
_ONE_THREAD = threading.RLock()

#: the trees of functions that were made here: no file holds them
_MADE: weakref.WeakKeyDictionary[types.FunctionType, ast.FunctionDef] = weakref.WeakKeyDictionary()


def definition_of(function: Any) -> ast.FunctionDef | None:
    """The function's tree, without annotations and docstring.

    None for lambdas, and for functions without a file.
    """
    if function in _MADE:
        return _MADE[function]
    code = function.__code__
    return _definitions(code.co_filename).get((code.co_name, code.co_firstlineno))


def function_of(definition: ast.FunctionDef, like: types.FunctionType) -> types.FunctionType:
    """A function of this tree, in the file and with the globals of another."""
    namespace: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([definition], type_ignores=[]))
    with _ONE_THREAD:
        compiled = compile(module, like.__code__.co_filename, "exec")
    exec(compiled, namespace)
    code = namespace[definition.name].__code__
    function = types.FunctionType(code, like.__globals__, like.__name__, like.__defaults__)
    _MADE[function] = definition
    return function


def copy_of(function: types.FunctionType, namespace: dict[str, Any]) -> types.FunctionType:
    """The function with other globals."""
    copied = types.FunctionType(function.__code__, namespace, function.__name__)
    if function in _MADE:
        _MADE[copied] = _MADE[function]
    return copied


def define(text: str, path: str, namespace: dict[str, Any]) -> None:
    """Run the text of a module, and remember the trees of its functions."""
    tree, compiled = _parsed(text, path)
    exec(compiled, namespace)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _MADE[namespace[node.name]] = node


@functools.lru_cache(maxsize=32)
def _parsed(text: str, path: str) -> tuple[ast.Module, types.CodeType]:
    """The tree and the code of a text: a stream in plain Python asks for the same in each batch."""
    with _ONE_THREAD:
        tree = ast.parse(text, path)
        return tree, compile(tree, path, "exec")


def clone(node: Node, names: Mapping[str, ast.expr] | None = None) -> Node:
    """A copy of a tree, with expressions in place of some names."""
    found = names.get(node.id) if names and isinstance(node, ast.Name) else None
    if found is not None:
        if isinstance(found, ast.Name):
            return ast.copy_location(ast.Name(found.id, node.ctx), node)  # type: ignore
        return clone(found)  # type: ignore[return-value]
    if not node._fields:
        return node
    copied = type(node)()
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            value = clone(value, names)
        elif isinstance(value, list):
            value = [clone(part, names) if isinstance(part, ast.AST) else part for part in value]
        setattr(copied, name, value)
    return ast.copy_location(copied, node)


def nodes_of(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of some trees; in half the time of `ast.walk`."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [part for part in value if isinstance(part, ast.AST)]


@functools.lru_cache(maxsize=64)
def _definitions(path: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file, by name and first line."""
    try:
        with _ONE_THREAD:
            tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return {}
    return {(node.name, node.lineno): _bare(node) for node in _functions_in(tree)}


def _functions_in(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """All functions below a node; expressions, which are most nodes, hold none."""
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, block, ()):
            if isinstance(statement, ast.FunctionDef):
                yield statement
            yield from _functions_in(statement)


def _bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    definition.returns = None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    if ast.get_docstring(definition, clean=False) is not None and len(definition.body) > 1:
        del definition.body[0]
    return definition
