"""What the algorithms cost, as measured by `make bench BENCH_ARGS=algorithms`.

The table holds nanoseconds per event for a few aggregations, algorithms and numbers of events.
Between two measured windows a cost is interpolated, and beyond the largest it goes on growing at
the same rate. An aggregation that was not measured costs as much as the measured one whose combine
is most like its own. A product costs the sum of its parts. That is close enough to compare
algorithms, which is all that the planner needs.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from math import log2

from windrow.algebra.monoid import Monoid

#: nanoseconds by the number of events in a window
Curve = dict[int, float]

#: how windows moved when they were measured: one row in and one out, or growing and shrinking
SLIDING, VARYING = "sliding", "varying"
#: growing and shrinking by one event at a time, in plain Python
PLAIN = "plain"
#: nothing leaves them
GROWING = "growing"
#: rows that have left come back
RETURNING = "returning"
#: ending elsewhere than at their row: it is known beforehand from which row to which they go
SPANNED = "spanned"

#: Windows of rows fill up for every key before they slide. Without a share for that, large windows
#: of sums and deviations went to sequential_boundary, which took 1.4 times as long as the best.
_SHARES = {
    SLIDING: ((0.75, SLIDING), (0.25, VARYING)),
    VARYING: ((1.0, VARYING),),
    GROWING: ((1.0, VARYING),),
    RETURNING: ((1.0, VARYING),),
    SPANNED: ((1.0, VARYING),),
    PLAIN: ((1.0, PLAIN),),
}


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, Curve]]]:
    """Curves, by how windows moved, aggregation and algorithm."""
    text = files(__package__).joinpath("costs.json").read_text()
    return {
        driven: {
            aggregation: {
                algorithm: {int(events): cost for events, cost in curve.items()}
                for algorithm, curve in algorithms.items()
            }
            for aggregation, algorithms in aggregations.items()
        }
        for driven, aggregations in json.loads(text).items()
    }


def likeness(name: str, monoid: Monoid, driven: str) -> str:
    """The measured aggregation whose costs stand for those of another."""
    measured = _table()[_SHARES[driven][0][1]]
    if name in measured:
        return name
    if any(field.width for field in monoid.fields) and "bloom" in measured:
        return "bloom"
    if len(monoid.fields) > 1 and "stddev" in measured:
        return "stddev"
    return "max" if monoid.traits.selective else "sum"


def nanoseconds(
    algorithm: str, likenesses: Iterable[str], events: int, driven: str
) -> float | None:
    """About what an event costs in a window of `events`; None if it was not measured."""
    total = 0.0
    for aggregation in likenesses:
        for share, curves in _SHARES[driven]:
            curve = _table()[curves][aggregation].get(algorithm)
            if curve is None:
                return None
            total += share * _interpolated(curve, events)
    return total


def _interpolated(curve: Curve, events: int) -> float:
    """The cost between two measured windows, which grows evenly with each doubling."""
    measured = sorted(curve)
    if events <= measured[0]:
        return curve[measured[0]]
    place = min(bisect_left(measured, events), len(measured) - 1)
    smaller, larger = measured[place - 1], measured[place]
    share = (log2(events) - log2(smaller)) / (log2(larger) - log2(smaller))
    cost = curve[smaller] + share * (curve[larger] - curve[smaller])
    return cost if share <= 1 else max(cost, curve[larger])
