"""What the names of a query stand for: aggregations, tables, policies, columns."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from windrow.aggregations import OFFERED
from windrow.algebra.aggregation import Aggregation
from windrow.cql.tokens import refusal, suggestion
from windrow.cql.tree import Aggregate, Name
from windrow.errors import InvalidArgument
from windrow.windows import Window

#: what SQL calls aggregations of the catalogue
_ALSO = {
    "avg": "mean", "average": "mean", "std": "stddev", "stddevsamp": "stddev", "var": "variance",
    "varsamp": "variance", "corr": "correlation", "covarsamp": "covariance", "every": "all",
    "some": "any", "arrayagg": "collect",
}  # fmt: skip


@dataclass(frozen=True)
class Names:
    """What was passed in beside a text: tables, aggregations and policies, each by its name."""

    text: str
    tables: Mapping[str, Any]
    aggregations: Mapping[str, Aggregation]
    policies: Mapping[str, Window]

    @classmethod
    def of(cls, text: str, given: Mapping[str, Any]) -> Names:
        """The names given; what is no aggregation and no window is a table."""
        aggregations = {name: each for name, each in given.items() if isinstance(each, Aggregation)}
        policies = {name: each for name, each in given.items() if isinstance(each, Window)}
        rest = given.keys() - aggregations.keys() - policies.keys()
        tables = {name: each for name, each in given.items() if name in rest}
        return cls(text, tables, aggregations, policies)

    def fail(self, place: int, reason: str) -> InvalidArgument:
        """An error about a place in the text."""
        return refusal(self.text, place, reason)

    def table(self, name: Name) -> Any:
        """The table of a name, in upper or lower case."""
        return self._found(self.tables, name.name, "table", name.place)

    def policy(self, name: str, place: int) -> Window:
        """The policy of a name."""
        found: Window = self._found(self.policies, name, "policy", place)
        return found

    def _found(self, known: Mapping[str, Any], name: str, kind: str, place: int) -> Any:
        if name in known:
            return known[name]
        alike = [each for each in known if each.lower() == name.lower()]
        if len(alike) == 1:
            return known[alike[0]]
        given = f"there are {', '.join(known)}" if known else f"pass it in as {name}=..."
        near = suggestion(name, known)
        raise self.fail(place, f"there is no {kind} {name!r}; {given}{near}")

    def aggregation(self, aggregate: Aggregate) -> Aggregation:
        """The aggregation of a name: the user's own, or of the catalogue, however it is spelt."""
        if aggregate.name in self.aggregations:
            return self.aggregations[aggregate.name]
        plain = _plain(aggregate.name)
        for name, found in self.aggregations.items():
            if _plain(name) == plain:
                return found
        known = catalogue()
        if plain in known:
            return known[plain]
        offered = [*self.aggregations, *(each.name for each in OFFERED), *_ALSO]
        near = suggestion(aggregate.name, offered) or "; `windrow catalogue` lists them"
        raise self.fail(aggregate.place, f"there is no aggregation {aggregate.name!r}{near}")

    def require_columns(self, names: Collection[Name], columns: Collection[str]) -> None:
        """Refuse a column that is not there."""
        for each in names:
            if each.name not in columns:
                near = suggestion(each.name, columns)
                listed = ", ".join(list(columns)[:20]) + ", ..." * (len(columns) > 20)
                raise self.fail(
                    each.place, f"there is no column {each.name!r}; there are {listed}{near}"
                )


@functools.cache
def catalogue() -> dict[str, Aggregation]:
    """The catalogue by plain names, which have no case and no underscores, and SQL's names."""
    known = {_plain(each.name): each for each in OFFERED}
    return known | {name: known[meant] for name, meant in _ALSO.items()}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
