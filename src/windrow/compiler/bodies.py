"""The bodies of functions, written where the functions are called.

What always holds:

1. Every variable of an inlined body gets a name of its own.
2. Expressions are evaluated in their order. A body is written before the statement that calls it.
   If that statement evaluates something before the call that the body might change, then this is
   written before the body, too.
3. A call that may not happen (behind `and`, in a branch of a conditional expression) and a call in
   the condition of `while` have no statement before them. There only single expressions are
   inlined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from windrow.compiler.returns import always_returns, assigning, assignment, is_straight, returns
from windrow.compiler.syntax import clone

if TYPE_CHECKING:
    from windrow.compiler.inlining import Callee

_STABLE = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple,
    ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


class Bodies:
    """Writes bodies into the body of one function."""

    def __init__(
        self, fresh: Callable[[str], str], calls: dict[str, Callee], only_lines: bool
    ) -> None:
        """Write into a function that makes these calls.

        Args:
            fresh: makes new names.
            calls: the functions that may be inlined, by name.
            only_lines: inline only functions that are a single expression or assignment.
        """
        self._fresh = fresh
        self._calls = calls
        self._only_lines = only_lines

    # Statements ----------------------------------------------------------------------------------

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, with calls inlined."""
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        match statement:
            case ast.Pass():
                return []
            case ast.While():
                statement.test = self._in_place(statement.test)
                statement.body = self.statements(statement.body) or [ast.Pass()]
            case ast.If():
                statement.test = self._hoisted(statement.test, before)
                statement.body = self.statements(statement.body) or [ast.Pass()]
                statement.orelse = self.statements(statement.orelse)
            case ast.For():
                statement.iter = self._hoisted(statement.iter, before)
                statement.body = self.statements(statement.body) or [ast.Pass()]
            case ast.Return(value=ast.Call() as call) if self._returns_for_caller(call):
                callee = self._calls[call.func.id]  # type: ignore[attr-defined]
                arguments = self._all_hoisted(call.args, before)
                body = self._bound(callee, arguments, before)
                return [*before, *body]
            case ast.Return(value=ast.expr()) | ast.Assign() | ast.Expr():
                assert statement.value is not None
                statement.value = self._hoisted(statement.value, before)
            case ast.AugAssign(target=ast.Name()):
                statement.value = self._hoisted(statement.value, before)
        if isinstance(statement, ast.Expr) and _is_stable(statement.value):
            return before  # an inlined procedure returns nothing that anybody reads
        return [*before, statement]

    def _returns_for_caller(self, call: ast.Call) -> bool:
        """Whether the function that is called may itself return what the caller returns."""
        callee = self._callee(call)
        return (
            callee is not None and not callee.is_straight and always_returns(callee.definition.body)
        )

    # Expressions ---------------------------------------------------------------------------------

    def _callee(self, call: ast.expr) -> Callee | None:
        """The function to inline for an expression, if it is a call of one."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        callee = self._calls.get(call.func.id)
        if callee is None or call.keywords or len(call.args) != len(callee.parameters):
            return None
        wanted = callee.is_line or not self._only_lines
        return callee if wanted and callee.is_inlined else None

    def _hoisted(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The expression as it is once the statements have run that this puts `before` it."""
        callee = self._callee(expression)
        if callee is not None:
            assert isinstance(expression, ast.Call)
            return self._written(callee, self._all_hoisted(expression.args, before), before)
        match expression:
            case ast.BoolOp(values=[first, *others]):
                expression.values = [self._hoisted(first, before), *map(self._in_place, others)]
            case ast.IfExp():
                expression.test = self._hoisted(expression.test, before)
                expression.body = self._in_place(expression.body)
                expression.orelse = self._in_place(expression.orelse)
            case ast.Compare(comparators=[_, _, *_]):
                return self._in_place(expression)
            case _:
                places = list(_places(expression))
                values = self._all_hoisted([value for *_, value in places], before)
                for (name, index, _value), value in zip(places, values, strict=True):
                    _put(expression, name, index, value)
        return expression

    def _all_hoisted(
        self, expressions: Sequence[ast.expr], before: list[ast.stmt]
    ) -> list[ast.expr]:
        """Expressions that are evaluated one after the other."""
        done: list[ast.expr] = []
        for expression in expressions:
            own: list[ast.stmt] = []
            value = self._hoisted(expression, own)
            if own:
                done = [self._held(earlier, before) for earlier in done]
                before.extend(own)
            done.append(value)
        return done

    def _held(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The value that the expression has now."""
        if _is_stable(expression):
            return expression
        name = self._fresh("value")
        before.append(assignment(name, expression))
        return ast.Name(name, ast.Load())

    def _in_place(self, expression: ast.expr) -> ast.expr:
        """The expression with calls of single expressions written out, and nothing before it."""
        for name, index, value in list(_places(expression)):
            _put(expression, name, index, self._in_place(value))
        callee = self._callee(expression)
        if callee is None or not callee.is_expression:
            return expression
        assert isinstance(expression, ast.Call)
        before: list[ast.stmt] = []
        written = self._written(callee, expression.args, before)
        return expression if before else written

    # Bodies --------------------------------------------------------------------------------------

    def _written(
        self, callee: Callee, arguments: Sequence[ast.expr], before: list[ast.stmt]
    ) -> ast.expr:
        """Write a body, and return what it returns."""
        body = self._bound(callee, arguments, before)
        if is_straight(body):
            *statements, last = body
            before.extend(statements)
            assert isinstance(last, ast.Return)
            return last.value or ast.Constant(None)
        if not returns(body):
            before.extend(body)
            return ast.Constant(None)
        result = self._fresh("result")
        before.extend(assigning(body, result))
        return ast.Name(result, ast.Load())

    def _bound(
        self, callee: Callee, arguments: Sequence[ast.expr], before: list[ast.stmt]
    ) -> list[ast.stmt]:
        """The body, with arguments for its parameters and new names for its variables."""
        facts = callee.facts
        names: dict[str, ast.expr] = {}
        for parameter, argument in zip(callee.parameters, arguments, strict=True):
            is_read_once = facts.names[parameter] <= 1 and _is_stable(argument)
            if parameter not in facts.assigned and (_is_atom(argument) or is_read_once):
                names[parameter] = argument
            else:
                name = self._fresh(parameter)
                before.append(assignment(name, argument))
                names[parameter] = ast.Name(name, ast.Load())
        for variable in sorted(facts.assigned - names.keys()):
            names[variable] = ast.Name(self._fresh(variable), ast.Load())
        return [clone(statement, names) for statement in callee.definition.body]


def _is_atom(expression: ast.expr) -> bool:
    """Whether it costs nothing to evaluate an expression again."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name | ast.Constant)


def _is_stable(expression: ast.expr) -> bool:
    """Whether no body can change the value: the expression reads no array and calls nothing."""
    return all(isinstance(node, _STABLE) for node in ast.walk(expression))


def _places(expression: ast.expr) -> Iterator[tuple[str, int | None, ast.expr]]:
    """Where expressions stand in an expression, in the order of their evaluation."""
    for name in expression._fields:
        value = getattr(expression, name, None)
        if isinstance(value, ast.expr):
            yield name, None, value
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, ast.expr):
                    yield name, index, entry


def _put(expression: ast.expr, name: str, index: int | None, value: ast.expr) -> None:
    if index is None:
        setattr(expression, name, value)
    else:
        getattr(expression, name)[index] = value
