"""Statements that read the same rows are answered by one call.

    SELECT MAX(x) FROM t [ROWS 10] GROUP BY k ;            over(t, key="k",
    SELECT MAX(x) FROM t [ROWS 1000] GROUP BY k     --->        windows=[rows(10), rows(1000)],
                                                                aggs=[max("x")])

A call answers all of its aggregations over all of its windows. So statements share one if they have
the same aggregates, or the same windows: nothing is computed that no statement asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.algebra.condition_expressions import Column, In
from windrow.algebra.condition_literals import Literal
from windrow.algebra.conditions import Condition
from windrow.algebra.measure import Measure
from windrow.cql.steps import Step
from windrow.cql.translation import Translated
from windrow.planning.slide_plan import NAME
from windrow.windows import Window

#: the column that says whether an answer meets HAVING, while changes are looked for
HAVING = "having"


@dataclass(frozen=True)
class SharedCall:
    """A call of `wr.over` or `wr.slide`, and the statements that it answers."""

    statements: tuple[Translated, ...]

    @property
    def first(self) -> Translated:
        """A statement that says what all of them have in common."""
        return self.statements[0]

    @property
    def table(self) -> str:
        """The table that it reads, as its first statement names it."""
        return self.first.statement.table.name

    @property
    def before(self) -> Step:
        """What is done to rows first."""
        columns: dict[str, Condition] = {}
        for each in self.statements:
            columns |= each.before.columns
        return Step(self.first.before.filters, columns)

    @property
    def windows(self) -> dict[str, Window]:
        """The windows of all statements by name."""
        found: dict[str, Window] = {}
        for each in self.statements:
            found |= each.windows
        return found

    @property
    def measures(self) -> list[Measure]:
        """The measures of all statements, each once."""
        found = {measure.name: measure for each in self.statements for measure in each.measures}
        return list(found.values())

    @property
    def is_named(self) -> bool:
        """Whether the call's results tell windows apart by name."""
        return len(self.windows) > 1 or any(each.named for each in self.statements)

    @property
    def changes_only(self) -> bool:
        """Whether the call leaves out answers that did not change."""
        return self.first.changes and self.first.exact

    def arguments(self) -> dict[str, Any]:
        """The arguments of the Python call."""
        windows = self.windows
        found: dict[str, Any] = {
            "key": list(self.first.key) or None,
            "order": list(self.first.order) or None,
            "windows": windows if self.is_named else next(iter(windows.values())),
            "aggs": self.measures,
        }
        if self.first.call == "slide":
            found["changes_only"] = self.changes_only
        return found

    def after(self, statement: Translated, columns: Sequence[str]) -> Step:
        """What makes a statement's answers of the call's.

        Args:
            statement: one of the statements.
            columns: the columns of the table, for `*`.
        """
        having = statement.condition(self.is_named)
        filters = (*self._own(statement), *(() if having is None else (having,)))
        return Step(filters, self._shown(statement, columns), keeps=False)

    def compared(self, statement: Translated) -> Step:
        """The same with all answers, and whether each meets HAVING."""
        having = statement.condition(self.is_named)
        shown = self._shown(statement, ())
        shown[HAVING] = Condition(Literal(True), "HAVING") if having is None else having
        return Step(tuple(self._own(statement)), shown, keeps=False)

    def _shown(self, statement: Translated, columns: Sequence[str]) -> dict[str, Condition]:
        leading = columns if statement.star else statement.leading
        shown = {name: Condition(Column(name), "SELECT") for name in leading}
        for name, root in statement.results(self.is_named):
            shown[name] = Condition(root, "SELECT")
        return shown

    def _own(self, statement: Translated) -> list[Condition]:
        """The answers to its own windows, of those that the call answers."""
        if statement.call == "over" or {*statement.windows} == {*self.windows}:
            return []
        names = tuple(Literal(name) for name in statement.windows)
        return [Condition(In(Column(NAME), names), "SELECT")]


def shared_calls(statements: Sequence[Translated]) -> list[SharedCall]:
    """The calls that answer the statements: few, in the order of their first statements."""
    calls: list[SharedCall] = []
    for statement in statements:
        for place, call in enumerate(calls):
            if _fits(call, statement):
                calls[place] = SharedCall((*call.statements, statement))
                break
        else:
            calls.append(SharedCall((statement,)))
    return calls


def _fits(call: SharedCall, statement: Translated) -> bool:
    first = call.first
    alike = all(
        getattr(first, name) == getattr(statement, name)
        for name in ("call", "key", "order", "numbered", "changes")
    )
    if not alike or (first.changes and first.exact != statement.exact):
        return False
    if first.statement.table != statement.statement.table:
        return False
    if first.before.filters != statement.before.filters:
        return False
    windows = call.windows
    if any(windows.get(name, each) != each for name, each in statement.windows.items()):
        return False
    asked = {each.name for each in statement.measures}
    return asked == {each.name for each in call.measures} or (
        windows == statement.windows and not call.changes_only
    )
