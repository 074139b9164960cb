"""Functions as syntax trees, and syntax trees as functions.

The compiler rewrites functions before it links them. It reads a function's tree from the file that
the function comes from, changes the tree and makes a function of it again. Line numbers stay, so a
traceback still points into the original file.
"""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import types
import weakref
from typing import Any

#: the trees of functions that were made here: no file holds them
_MADE: weakref.WeakKeyDictionary[types.FunctionType, ast.FunctionDef] = weakref.WeakKeyDictionary()


def definition_of(function: Any) -> ast.FunctionDef | None:
    """A copy of the function's tree that you may change; None for lambdas and code without a file.

    The copy has no annotations and no docstring.
    """
    definition = _MADE.get(function)
    if definition is None:
        code = function.__code__
        found = _definitions(code.co_filename).get((code.co_name, code.co_firstlineno))
        definition = found and _bare(found)
    return copy.deepcopy(definition)


def function_of(definition: ast.FunctionDef, like: types.FunctionType) -> types.FunctionType:
    """A function of this tree, in the file and with the globals of another."""
    namespace: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([definition], type_ignores=[]))
    exec(compile(module, like.__code__.co_filename, "exec"), namespace)
    code = namespace[definition.name].__code__
    function = types.FunctionType(code, like.__globals__, like.__name__, like.__defaults__)
    _MADE[function] = definition
    return function


@functools.lru_cache(maxsize=64)
def _definitions(path: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file, by name and first line."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return {}
    return {
        (node.name, node.lineno): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def _bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    definition = copy.deepcopy(definition)
    definition.returns = None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    if ast.get_docstring(definition, clean=False) is not None and len(definition.body) > 1:
        del definition.body[0]
    return definition
