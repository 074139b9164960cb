"""Aggregations that take each different value once, under names of their own.

`.over_distinct()` does the same to any aggregation of one column (see `algebra/distinct.py`).
"""

from windrow.aggregations.counts import count as _count
from windrow.aggregations.sums import sum as _sum
from windrow.algebra.distinct import over_distinct

count_distinct = over_distinct(_count)
sum_distinct = over_distinct(_sum)
