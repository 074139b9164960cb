"""Windows that suit an aggregation."""

import windrow as wr
from windrow.algebra.aggregation import Aggregation
from windrow.windows import Window


def rows_for(aggregation: Aggregation, count: int) -> Window:
    """So many rows that end at the current one, or begin there if it looks ahead."""
    return wr.rows(before=0, after=count - 1) if looks_ahead(aggregation) else wr.rows(count)


def looks_ahead(aggregation: Aggregation) -> bool:
    """Whether it refuses windows that end at the current row."""
    return aggregation.current == "oldest"
