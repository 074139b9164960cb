"""A few large functions out of many small ones.

numba takes 15 to 40 ms for each function, however small it is. A kernel has about twenty. So before
numba sees them, the body of a small function is written where the function is called. The others
stay functions, and LLVM inlines those.

`evict` of Subtract-on-Evict over a sum becomes

    def evict(state, ring):
        front = state.front + 1
        if front == state.end:
            return State(front, front, identity_0)
        slot_1 = slot_of(ring[0], state.front)
        part_2 = state.total - ring[0][slot_1]
        total = float(part_2)
        return State(front, state.end, total)

Two kinds of calls stay, although numba would be faster without them. LLVM optimises each function
before it inlines it, and hot loops need that: Two-Stacks Lite over a sum takes 10 to 25 % longer if
either is inlined here (`docs/decisions.md`).

- A function with a loop, such as `flip`, or of more than a few lines stays a function.
- Into the outermost loop only single expressions and assignments are written: it calls `insert`,
  `evict`, `query`.

`windrow.compiler.bodies` writes the bodies. Only windrow's own functions are inlined: a user's
function is compiled by itself, so that numba's messages show it as the user wrote it.
"""

from __future__ import annotations

import ast
import functools
import itertools
import types
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

from windrow.compiler.bodies import Bodies
from windrow.compiler.intrinsics import intrinsics
from windrow.compiler.returns import can_assign, is_straight
from windrow.compiler.syntax import clone, definition_of, function_of, nodes_of

#: a function of more statements and expressions stays a function, unless it is one expression
SMALL = 20

#: the same for plain Python, where a call takes as long as some statements do
SMALL_IN_PYTHON = 80

#: elements of a tuple that Python puts together without a list
LONGEST = 30

#: what no function contains that is inlined
_REFUSED = (
    ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp,
    ast.Global, ast.Nonlocal, ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.NamedExpr,
    ast.Delete, ast.Starred,
)  # fmt: skip


def inline(
    function: types.FunctionType,
    compiled_own: Callable[[types.FunctionType, Callable[[], types.FunctionType]], Any],
    compiled: Callable[[Any], Any],
) -> types.FunctionType:
    """The function, with the functions that it calls written into it.

    Args:
        function: the outermost function.
        compiled_own: compiles a function of windrow's that is not inlined; it gets the function as
            it is linked, and what makes the function to compile.
        compiled: compiles any other function, and Python's own `min` and `max`.
    """
    return _Program(function, compiled_own, compiled, is_plain=False).function()


def inline_in_python(
    function: types.FunctionType, finish: Callable[[ast.FunctionDef], ast.FunctionDef]
) -> types.FunctionType:
    """The same for plain Python: more is written into the function, and nothing is compiled.

    `finish` rewrites what has become of a function.
    """
    program = _Program(function, lambda _, make: make(), lambda same: same, is_plain=True)
    program.finish = finish
    return program.function()


class Facts:
    """What one look at a function's tree tells."""

    def __init__(self, definition: ast.FunctionDef) -> None:
        #: how often each name occurs, and how often it is called
        self.names: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.assigned: set[str] = set()
        self.size = 0
        self.stays = False
        self.is_refused = bool(definition.decorator_list) or _has_odd_parameters(definition.args)
        for node in nodes_of(definition.body):
            self.size += isinstance(node, ast.expr | ast.stmt)
            if isinstance(node, ast.Name):
                self.names[node.id] += 1
                if isinstance(node.ctx, ast.Store):
                    self.assigned.add(node.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.called[node.func.id] += 1
            elif isinstance(node, ast.For | ast.While) or _is_long(node):
                self.stays = True
            elif isinstance(node, _REFUSED):
                self.is_refused = True


def _is_long(node: ast.AST) -> bool:
    """Whether it is a tuple that Python makes of a list; numba takes one in a function."""
    return isinstance(node, ast.Tuple) and len(node.elts) > LONGEST


def _has_odd_parameters(arguments: ast.arguments) -> bool:
    return bool(
        arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs
        or arguments.defaults
    )  # fmt: skip


class _InPairs(ast.NodeTransformer):
    """`min(a, b, c)` as `min(min(a, b), c)`: kernels know the extremes of two numbers."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            while len(node.args) > 2:
                pair = ast.Call(node.func, node.args[:2], keywords=[])
                node.args[:2] = [ast.copy_location(pair, node)]
        return node


_FACTS: weakref.WeakKeyDictionary[ast.FunctionDef, Facts] = weakref.WeakKeyDictionary()


def _facts(definition: ast.FunctionDef) -> Facts:
    if definition not in _FACTS:
        _FACTS[definition] = Facts(definition)
    return _FACTS[definition]


class Callee:
    """A function that may be inlined.

    Its body is final once the functions that it calls are inlined into it.
    """

    def __init__(self, function: types.FunctionType, definition: ast.FunctionDef) -> None:
        self.function = function
        self.facts = _facts(definition)
        self.definition = definition
        self.parameters = [argument.arg for argument in definition.args.args]
        self.locals = {*self.parameters, *self.facts.assigned}
        #: what it calls, by the names in the shared namespace
        self.calls: dict[str, Callee] = {}
        self.is_inlined = False

    def settle(self, body: list[ast.stmt], small: int) -> None:
        """Take the final body, and decide whether it is inlined."""
        self.definition.body = body or [ast.Pass()]
        self.facts = Facts(self.definition)
        self.is_expression = len(body) == 1 and isinstance(body[0], ast.Return)
        self.is_line = len(body) == 1 and isinstance(body[0], ast.Return | ast.Assign)
        self.is_straight = is_straight(self.definition.body)
        is_small = self.is_expression or self.facts.size <= small
        self.is_inlined = is_small and not self.facts.stays and can_assign(self.definition.body)


class _Program:
    """A function and all that it calls, directly or not."""

    def __init__(
        self,
        function: types.FunctionType,
        compiled_own: Callable[[types.FunctionType, Callable[[], types.FunctionType]], Any],
        compiled: Callable[[Any], Any],
        is_plain: bool,
    ) -> None:
        self._is_plain = is_plain
        self.finish: Callable[[ast.FunctionDef], ast.FunctionDef] = lambda same: same
        self._compiled_own = compiled_own
        self._compiled = compiled
        self._callees: dict[types.FunctionType, Callee | None] = {}
        #: callees first
        self._order: list[Callee] = []
        self._numbers = itertools.count(1)
        root = self._found(function)
        assert root is not None, "loops have a source"
        self._root = root
        self._taken = {name for callee in self._order for name in callee.locals}
        #: what all functions refer to
        self._globals: dict[str, Any] = {
            "__name__": function.__module__, "min": compiled(min), "max": compiled(max)
        }  # fmt: skip
        for callee in self._order:
            self._share_globals(callee)

    def function(self) -> types.FunctionType:
        """The outermost function."""
        for callee in self._order:
            only_lines = callee is self._root and not self._is_plain
            bodies = Bodies(self.fresh, callee.calls, only_lines)
            body = bodies.statements(callee.definition.body)
            callee.settle(body, SMALL_IN_PYTHON if self._is_plain else SMALL)
            for name, called in callee.calls.items():
                if self._globals[name] is called.function and callee.facts.names[name]:
                    self._globals[name] = self._compiled_own(
                        called.function, functools.partial(self._made, called)
                    )
        return self._made(self._root)

    def fresh(self, name: str) -> str:
        """A name that nothing else has."""
        made = next(
            made
            for made in (f"{name}_{number}" for number in self._numbers)
            if made not in self._taken and made not in self._globals
        )
        self._taken.add(made)
        return made

    def _made(self, callee: Callee) -> types.FunctionType:
        made = function_of(self.finish(callee.definition), callee.function)
        return types.FunctionType(made.__code__, self._globals, made.__name__)

    def _found(self, function: types.FunctionType) -> Callee | None:
        """A function and, before it, all that it calls; None if it is not to be inlined."""
        if function in self._callees:
            return self._callees[function]
        self._callees[function] = None  # a function that calls itself stays a function
        definition = definition_of(function)
        own = (function.__module__ or "").partition(".")[0] == "windrow"
        is_intrinsic = not self._is_plain and function in intrinsics()
        if (
            is_intrinsic
            or not own
            or definition is None
            or function.__closure__
            or _facts(definition).is_refused
        ):
            return None
        callee = Callee(function, definition)
        for name in sorted(callee.facts.names.keys() - callee.locals):
            value = function.__globals__.get(name)
            if isinstance(value, types.FunctionType):
                found = self._found(value)
                if found is not None and callee.facts.called[name] == callee.facts.names[name]:
                    callee.calls[name] = found
        self._callees[function] = callee
        self._order.append(callee)
        return callee

    def _share_globals(self, callee: Callee) -> None:
        """Let a function take its globals from where all functions take theirs."""
        names: dict[str, ast.expr] = {}
        calls, callee.calls = callee.calls, {}
        for name in sorted(callee.facts.names.keys() - callee.locals):
            if name in callee.function.__globals__:
                shared = self._shared(name, callee.function.__globals__[name], name in calls)
                names[name] = ast.Name(shared, ast.Load())
                if name in calls:
                    callee.calls[shared] = calls[name]
        callee.definition = clone(callee.definition, names)
        if callee.facts.called["min"] or callee.facts.called["max"]:
            _InPairs().visit(callee.definition)

    def _shared(self, name: str, value: Any, is_called: bool) -> str:
        if isinstance(value, types.FunctionType) and not is_called:
            value = self._compiled(value)
        if name in self._taken or self._globals.get(name, value) is not value:
            name = self.fresh(name)
        self._globals[name] = value
        return name
