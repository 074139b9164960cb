"""What the algorithms cost, as `make bench BENCH_ARGS=algorithms` measured it.

The table holds nanoseconds per event for a few aggregations, algorithms and numbers of events. What
lies between two measured windows is interpolated, and beyond the largest a cost goes on growing as
it did before. An aggregation that was not measured costs as the measured one whose combine is most
like its own, and a product costs the sum of its parts: close enough to tell algorithms apart, which
is all that the planner asks of it.
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

#: how windows were driven: by rows with one in and one out, or growing and shrinking
SLIDING, VARYING = "sliding", "varying"
#: the same with one event at a time, in plain Python
PLAIN = "plain"

#: Windows of rows are filled for every key before they slide. With no share for it, large windows
#: of sums and deviations went to sequential_boundary, which took 1.4 times as long as the best.
_SHARES = {
    SLIDING: ((0.75, SLIDING), (0.25, VARYING)),
    VARYING: ((1.0, VARYING),),
    PLAIN: ((1.0, PLAIN),),
}


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, Curve]]]:
    """Curves by how windows were driven, aggregation and algorithm."""
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
    measured = _table()[driven]
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
    """What an event costs in a window of so many, about; None if it was not measured."""
    total = 0.0
    for aggregation in likenesses:
        for share, curves in _SHARES[driven]:
            curve = _table()[curves][aggregation].get(algorithm)
            if curve is None:
                return None
            total += share * _interpolated(curve, events)
    return total


def _interpolated(curve: Curve, events: int) -> float:
    """Between two measured windows, a cost is taken to grow evenly with each doubling."""
    measured = sorted(curve)
    if events <= measured[0]:
        return curve[measured[0]]
    place = min(bisect_left(measured, events), len(measured) - 1)
    smaller, larger = measured[place - 1], measured[place]
    share = (log2(events) - log2(smaller)) / (log2(larger) - log2(smaller))
    cost = curve[smaller] + share * (curve[larger] - curve[smaller])
    return cost if share <= 1 else max(cost, curve[larger])
