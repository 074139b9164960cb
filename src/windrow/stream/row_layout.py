"""Row layouts: which columns of final events are kept, and what the ledger says of their keys.

Rows and counted rows (`rows/`, `counts/`) share them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.planning.over_plan import OverPlan
from windrow.stream.state import KEY, ORDER


@dataclass(frozen=True)
class RowLayout:
    """What is kept of rows and keys.

    Attributes:
        key, order: the columns of the key, and those that order its events.
        rows: the columns of a row.
        ledger: the columns of the ledger; the key comes first, as `key_0`, `key_1` and so on.
    """

    key: Sequence[str]
    order: Sequence[str]
    rows: pa.Schema
    ledger: pa.Schema

    @classmethod
    def of(
        cls,
        key: Sequence[str],
        order: Sequence[str],
        kept: Sequence[str],
        types: Mapping[str, pa.DataType],
        ledger: Mapping[str, pa.DataType],
    ) -> RowLayout:
        """Lay out rows of the key and `kept` columns, and a ledger of the key and `ledger`."""
        names = list(dict.fromkeys([*key, *kept]))
        roles = {KEY: json.dumps(key), ORDER: order[0] if order[0] in names else ""}
        keys = [(f"key_{place}", types[name]) for place, name in enumerate(key)]
        return cls(
            key,
            order,
            pa.schema([(name, types[name]) for name in names], roles),
            pa.schema([*keys, *ledger.items()], roles),
        )

    @property
    def timed(self) -> str | None:
        """The column that says when an event was, None if it is not kept."""
        return self.order[0] if self.order[0] in self.rows.names else None


def kept_columns(plan: OverPlan) -> list[str]:
    """The columns of a row that `over` keeps beside the key."""
    kept = [*plan.window_columns, *(each for f in plan.features for each in f.reads)]
    # A batch has to have a column to have rows.
    return kept if plan.key or kept else [plan.order[0]]


def columns_kept(*schemas: pa.Schema) -> str:
    """What is kept, as a line of the query's description."""
    kept = [f"{field.name}: {field.type}" for schema in schemas for field in schema]
    return f"rows=[{', '.join(kept)}]"


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """No rows."""
    return pa.RecordBatch.from_pylist([], schema)
