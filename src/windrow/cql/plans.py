"""`query.plan()`: the plan of each call, with the steps around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windrow.algebra.condition_expressions import Column
from windrow.cql.sharing import SharedCall
from windrow.explaining import plan
from windrow.planning.explain import Plan


@dataclass(frozen=True)
class CallPlan:
    """A call that answers statements: what comes before it, its plan, and what follows."""

    statements: list[str]
    before: list[str]
    plan: Plan
    after: list[str]

    def __str__(self) -> str:
        steps = [*(f"First: {each}" for each in self.before), str(self.plan).rstrip()]
        steps += [f"Then: {each}" for each in self.after]
        return "\n\n".join([*self.statements, "\n".join(steps)])


@dataclass(frozen=True)
class QueryPlan:
    """The calls of a query; print it, or read it with `to_dict()`."""

    calls: list[CallPlan]

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists and plain values."""
        return {
            "calls": [
                {
                    "statements": each.statements, "before": each.before,
                    "plan": each.plan.to_dict(), "after": each.after,
                }
                for each in self.calls
            ]
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.calls))


def plan_of(call: SharedCall, data: Any, arguments: dict[str, Any]) -> CallPlan:
    """What a call does with its table."""
    kept = [f"keep the rows where {each}" for each in call.before.filters]
    computed = [f"compute {each} of each row" for each in call.before.columns.values()]
    after: list[str] = []
    for statement in call.statements:
        step = call.after(statement, ())
        after += [f"keep the answers where {each}" for each in step.filters]
        after += [
            f"compute {name} = {each}"
            for name, each in step.columns.items()
            if not isinstance(each.root, Column)
        ]
        if statement.changes and not statement.exact:
            after.append("keep the answers that differ from the one before of their key")
    texts = [each.statement.text for each in call.statements]
    explained = plan(data, call=call.first.call, **arguments)
    return CallPlan(texts, kept + computed, explained, list(dict.fromkeys(after)))
