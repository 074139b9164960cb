"""Where the body of a function returns, and bodies that return at their end only.

A body that is written into another function cannot return from it. So it assigns what it would
return:

    if begin == stop:                    if begin == stop:
        return identity()                    result = identity()
    return load(ring, begin)     ->      else:
                                             result = load(ring, begin)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

Body = Sequence[ast.stmt]


def returns(body: Body) -> bool:
    """Whether some statement of a body returns."""
    return any(isinstance(node, ast.Return) for part in body for node in ast.walk(part))


def is_straight(body: Body) -> bool:
    """Whether a body returns at its end, and nowhere else."""
    return isinstance(body[-1], ast.Return) and not returns(body[:-1])


def always_returns(body: Body) -> bool:
    """Whether a body returns on all of its ways."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def can_assign(body: Body) -> bool:
    """Whether `assigning` takes a body: no loop returns, and one of two branches always does."""
    if not returns(body):
        return True
    for place, statement in enumerate(body):
        if isinstance(statement, ast.For | ast.While) and returns([statement]):
            return False
        if isinstance(statement, ast.If) and returns([statement]):
            branches = (statement.body, statement.orelse)
            ways = [_to_the_end(branch, body, place) for branch in branches]
            return any(map(always_returns, branches)) and all(
                returns(way) and can_assign(way) for way in ways
            )
    return always_returns(body)


def assigning(body: Body, result: str) -> list[ast.stmt]:
    """The body, so that it assigns to `result` what it would return."""
    made: list[ast.stmt] = []
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return [*made, assignment(result, statement.value or ast.Constant(None))]
        if isinstance(statement, ast.If) and returns([statement]):
            branches = [
                assigning(_to_the_end(branch, body, place), result)
                for branch in (statement.body, statement.orelse)
            ]
            return [*made, ast.copy_location(ast.If(statement.test, *branches), statement)]
        made.append(statement)
    return made


def assignment(name: str, value: ast.expr) -> ast.stmt:
    """`name = value`."""
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value)


def _to_the_end(branch: Body, body: Body, place: int) -> Body:
    """A branch of the statement at this place, and what follows it if it goes on."""
    return branch if always_returns(branch) else [*branch, *body[place + 1 :]]
