"""Events and queries of `as_of` as rows of one stream.

key, order, ties   of both; ties order events, and are null in queries
inputs             what features read of events, null in queries
asks               true for queries
query.*            the other columns of queries, null in events
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import InvalidArgument
from windrow.planning.as_of_plan import AsOfPlan


@dataclass(frozen=True, eq=False)
class AskedRows:
    """The columns of a stream of events and queries.

    Attributes:
        plan: what is asked.
        queries: the columns of a query.
    """

    plan: AsOfPlan
    queries: pa.Schema

    def require_alike(self) -> None:
        """Refuse keys and moments of different types: both are in one column."""
        for argument, names in (("key", self.plan.key), ("order", self.plan.order[:1])):
            for name in names:
                asked, told = self.queries.field(name).type, self.plan.schema.field(name).type
                if asked != told:
                    raise InvalidArgument(
                        f"{argument}: {name!r} is {asked} in the queries and {told} in the events; "
                        "on streams they have one type, so cast one of them"
                    )

    @cached_property
    def told(self) -> list[str]:
        """The columns of events that go along; the key comes first."""
        plan = self.plan
        inputs = [name for feature in plan.features for name in feature.reads]
        return list(dict.fromkeys([*plan.key, *plan.order, *inputs]))

    @cached_property
    def asked(self) -> dict[str, str]:
        """The columns of queries by their names, as they are called here."""
        shared = {*self.plan.key, self.plan.order[0]}
        return {
            name: name if name in shared else f"{self._prefix}{name}" for name in self.queries.names
        }

    @property
    def asks(self) -> str:
        """The column that is true for queries."""
        return self._prefix

    @cached_property
    def _prefix(self) -> str:
        prefix = "query."
        while any(name.startswith(prefix) for name in self.told):
            prefix += "."
        return prefix

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """All columns, and their types."""
        types = {name: self.plan.schema.field(name).type for name in self.told}
        types[self.asks] = pa.bool_()
        return types | {self.asked[field.name]: field.type for field in self.queries}

    def split(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The events and the queries among rows, in their order."""
        asks = rows[self.asks]
        events = rows.select(self.told).filter(pc.invert(asks))
        return events, rows.select(list(self.asked.values())).filter(asks)
