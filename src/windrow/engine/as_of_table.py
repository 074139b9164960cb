"""`as_of` on tables in this process, on all its cores.

1. Number the keys of the queries. Events of other keys are left out (`matching.py`).
2. Sort queries and events by key and order.
3. Answer the sorted block (`as_of_block.py`), and put the answers in the order of the queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.as_of_block import AsOfBlock, AsOfKernels
from windrow.engine.gathering import gather, inverse
from windrow.engine.matching import Matched, matched
from windrow.planning.as_of_plan import AsOfPlan
from windrow.work.threads import cores

Array = np.ndarray[Any, Any]


def as_of_table(
    queries: pa.Table, sources: Sequence[pa.Table], plans: Sequence[AsOfPlan]
) -> pa.Table:
    """The columns that all plans add, for the queries in their order."""
    answers = zip(sources, plans, strict=True)
    found = [column for events, plan in answers for column in _answers(queries, events, plan)]
    fields = [field for plan in plans for field in plan.output_fields]
    return pa.Table.from_arrays(found, schema=pa.schema(fields))


def _answers(queries: pa.Table, events: pa.Table, plan: AsOfPlan) -> list[pa.Array]:
    """The answers of one source to the queries, in their order."""
    names = dict.fromkeys(name for feature in plan.features for name in feature.reads)
    nullable = {name for name in names if events[name].null_count}
    return answers_to(queries, events, AsOfKernels(plan, nullable), plan.order[1:], cores())


def answers_to(
    queries: pa.Table,
    events: pa.Table,
    kernels: AsOfKernels,
    ties: Sequence[str] = (),
    threads: int = 1,
) -> list[pa.Array]:
    """The answers to queries, in their order.

    Args:
        queries: the columns of the key, and the moments.
        events: the columns of the key, the times and what features read.
        kernels: of the plan.
        ties: the columns that order events of one time; without them they are in order.
        threads: how many may work at once.
    """
    found = _matched(queries, events, kernels.plan, ties)
    columns = {name: arrow.whole(events[name]) for name in kernels.input_columns}

    def taken(places: Array | None) -> Mapping[str, pa.Array]:
        rows = found.rows(places)
        if rows is None:
            return columns
        return dict(zip(columns, gather(list(columns.values()), rows), strict=True))

    answers = AsOfBlock(kernels, taken, found.moments, threads).answers()
    if found.queries is None:
        return answers
    return gather(answers, inverse(found.queries))


def _matched(
    queries: pa.Table, events: pa.Table, plan: AsOfPlan, broken_by: Sequence[str]
) -> Matched:
    """Queries and events sorted, in the types in which they compare."""

    def both(name: str, data_type: pa.DataType) -> tuple[pa.Array, pa.Array]:
        one, other = (arrow.whole(table[name]).cast(data_type) for table in (queries, events))
        return one, other

    keys = [both(*each) for each in zip(plan.key, plan.key_types, strict=True)]
    ties = [arrow.whole(events[name]) for name in broken_by]
    query_keys, event_keys = [one for one, _ in keys], [other for _, other in keys]
    orders = both(plan.order[0], plan.order_type)
    edges = [plan.edges_of(name) for name in plan.windows]
    return matched(query_keys, event_keys, *orders, ties, edges)
