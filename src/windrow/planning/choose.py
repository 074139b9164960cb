"""Which algorithm serves a window: one chain, in one place.

1. If the user names an algorithm, it is taken, or refused if it cannot be right.
2. A window from which nothing leaves is one running partial.
3. A window of time that ends elsewhere than at its row is answered by blocks of rows, which
   two_stacks can do (`algorithms/stack_spans.py`), if partials are a few numbers and "throughput"
   is preferred.
4. Algorithms that cannot serve the aggregation are ruled out. Each says itself why.
5. Algorithms that are right only without rounding are ruled out, unless `exact=False`.
6. Algorithms that were not measured, or that need a core of their own, are ruled out. If a window
   answers for several ranges, so are those that cannot, or only for one range after the other. If
   rows come back to a window, so are those that cannot answer for a part of it.
7. `prefer` decides among the rest. "throughput" takes the fastest by the measured cost table,
   "latency" the fastest of those with the best bound on their slowest round, "memory" the one that
   keeps least. If two are within a fifth of each other, the second criterion decides: memory, or
   speed for "memory". A window that holds one event or one slice is recomputed, because there is
   nothing to combine: the table's cost of such windows is that of keeping what is never used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from windrow.algebra.literals import require_one_of
from windrow.algebra.monoid import Monoid, Traits
from windrow.algebra.product import Product
from windrow.algorithms import (
    ALGORITHMS,
    RUNNING,
    Algorithm,
    AlgorithmName,
    find_form,
    value_counts,
    why_not,
)
from windrow.algorithms.guarantees import Growth
from windrow.errors import InvalidArgument, NotApplicable
from windrow.planning import costs

#: what the planner optimizes
Preference = Literal["throughput", "latency", "memory"]
#: the number of events in a window if it is not known
ASSUMED_EVENTS = 4096
#: the size of a tuple of a few numbers in plain Python
OBJECT_BYTES = 100
#: two_stacks keeps two partials for each event of a window, and twice that in blocks
MOST_BYTES_IN_BLOCKS = 128
#: the algorithm with work for a second thread, and how long a combine takes at least where it pays
#: (`make bench BENCH_ARGS=parallel`)
HELPED, HELPED_FROM = "parallel_boundary", 50.0
#: measurements on shared machines show no finer differences
TOLERANCE = 0.2

#: a number for each algorithm, by its name
Figures = Mapping[str, float]

_NO_PART = "it cannot answer for a part of its window"
_WORST = {
    Growth.CONSTANT: "a constant number of combines in its slowest round",
    Growth.LOGARITHMIC: "a logarithmic number of combines in its slowest round",
    Growth.LINEAR: "as many combines as the window has events in its slowest round",
}


@dataclass(frozen=True)
class Wish:
    """What a caller asks of the planner.

    Attributes:
        algorithm: the name of an algorithm; None to have one chosen.
        prefer: "throughput", "latency" or "memory".
        exact: whether an event that left must leave nothing behind.
    """

    algorithm: AlgorithmName | None = None
    prefer: Preference = "throughput"
    exact: bool = True

    def __post_init__(self) -> None:
        require_one_of(Preference, "prefer", self.prefer)
        if not isinstance(self.exact, bool):
            raise InvalidArgument(f"exact: True or False, not {self.exact!r}")

    @property
    def counts_values(self) -> bool:
        """Whether features that ask for value counts are answered from those."""
        return self.algorithm in (None, value_counts.NAME)


@dataclass(frozen=True)
class Served:
    """What an algorithm has to serve: one aggregation or a product of several.

    Attributes:
        name: its name in messages.
        likenesses: the measured aggregations that stand for its parts; see `costs`.
        partial_bytes: the size of a partial; a guess if it is a Python object.
        driven: how its windows move: one of those in `costs`.
        exact_integers: whether it rounds nothing if all values are integers, which is known only
            when they come.
        grows: whether nothing leaves its windows.
        returns: whether rows that have left come back: a window answers over a part of its rows.
        spanned: whether it is known beforehand from which row to which each window goes.
    """

    name: str
    traits: Traits
    invertible: bool
    likenesses: tuple[str, ...]
    partial_bytes: int
    driven: str
    exact_integers: bool = False
    grows: bool = False
    returns: bool = False
    spanned: bool = False

    @classmethod
    def plain(cls, name: str, monoid: Monoid, driven: str = costs.PLAIN) -> Served:
        """An aggregation in plain Python."""
        like = costs.likeness(name, monoid, costs.PLAIN)
        return cls(
            name,
            monoid.traits,
            monoid.inverse is not None,
            (like,),
            OBJECT_BYTES,
            costs.PLAIN,
            grows=driven == costs.GROWING,
            returns=driven == costs.RETURNING,
        )

    @classmethod
    def compiled(
        cls, name: str, aggregations: Sequence[str], product: Product, driven: str
    ) -> Served:
        """A product of aggregations, compiled."""
        likenesses = []
        for index, _places in product.combining:
            # The parts that count values come after the parts that the call asks for.
            part = aggregations[index] if index < len(aggregations) else "count"
            likenesses.append(costs.likeness(part, product.members[index].monoid, driven))
        partial_bytes = sum(field.nbytes for field in product.fields)
        return cls(
            name,
            product.traits,
            product.is_invertible,
            tuple(likenesses),
            partial_bytes,
            driven,
            grows=driven == costs.GROWING,
            returns=driven == costs.RETURNING,
            spanned=driven == costs.SPANNED,
        )


@dataclass(frozen=True)
class Choice:
    """An algorithm, and why.

    Attributes:
        events: the number of events in a window that it was chosen for.
        nanoseconds: about what an event costs; None if it was not measured.
        others: the other algorithms that would serve, with what an event costs.
        ruled_out: the algorithms that would not serve, with the reason.
    """

    algorithm: Algorithm
    served: Served
    why: str
    events: int
    nanoseconds: float | None
    others: dict[str, float]
    ruled_out: dict[str, str]

    @property
    def partials(self) -> int:
        """The most partials that a window keeps."""
        return self.algorithm.GUARANTEES.partials(self.events)

    @property
    def bytes(self) -> int:
        """The most bytes that a window takes."""
        return _bytes(self.algorithm, self.served, self.events)


def choose(
    served: Served, wish: Wish, events: int | None = None, *, shared: bool = False
) -> Choice:
    """The algorithm that the user names, if it can serve; else the best one.

    Args:
        served: the aggregation.
        wish: what the user asks for.
        events: about how many events a window holds, if that is known.
        shared: whether the window answers for several ranges.
    """
    events = events or ASSUMED_EVENTS
    if wish.algorithm is not None:
        exact = wish.exact and not served.exact_integers
        named = find_form(wish.algorithm, served.name, served.traits, served.invertible, exact)
        if served.returns and not offers(named, "query_range"):
            raise NotApplicable(
                f"{named.NAME} cannot serve {served.name}: {_NO_PART}, and rows come back to "
                "windows of the calendar"
            )
        return Choice(
            named, served, "it was asked for", events, _cost(named, served, events), {}, {}
        )
    if served.grows:
        why = "nothing leaves the window, so one partial is enough"
        return Choice(RUNNING, served, why, events, None, {}, {})
    if (
        served.spanned
        and wish.prefer == "throughput"
        and served.partial_bytes <= MOST_BYTES_IN_BLOCKS
    ):
        why = "it answers windows that end elsewhere than at their row in blocks of rows"
        return Choice(ALGORITHMS["two_stacks"], served, why, events, None, {}, {})
    measured: dict[str, float] = {}
    ruled_out: dict[str, str] = {}
    for name, algorithm in ALGORITHMS.items():
        cost = _cost(algorithm, served, events)
        reason = _why_not(algorithm, served, wish, shared)
        if reason is None and cost is not None:
            measured[name] = cost
        else:
            ruled_out[name] = reason or "it was not measured"
    at_once = [name for name in measured if offers(ALGORITHMS[name], "query_ranges")]
    if shared and at_once:
        for name in measured.keys() - at_once:
            ruled_out[name] = "it answers its ranges one after the other"
            del measured[name]
    if events == 1 and wish.prefer == "throughput" and "recompute" in measured:
        chosen, why = ALGORITHMS["recompute"], "a window of one has nothing to combine"
    else:
        kept = {name: _bytes(ALGORITHMS[name], served, events) for name in measured}
        chosen = ALGORITHMS[_PREFERRED[wish.prefer](measured, kept)]
        why = _WHY[wish.prefer].format(worst=_WORST[chosen.GUARANTEES.worst])
    cost = measured.pop(chosen.NAME)
    return Choice(chosen, served, why, events, cost, measured, ruled_out)


def helped(choice: Choice, combine: float) -> Choice:
    """The choice where a second core is free: PBA, if a combine takes so many nanoseconds.

    Its thread takes 2 combines for each row of a block, and no other takes less than 3.
    """
    if combine < HELPED_FROM:
        return choice
    others = choice.others | {choice.algorithm.NAME: choice.nanoseconds or 3 * combine}
    ruled_out = {name: why for name, why in choice.ruled_out.items() if name != HELPED}
    why = f"a combine takes {combine:.0f} ns, and a second core takes part in blocks of events"
    return replace(
        choice,
        algorithm=ALGORITHMS[HELPED],
        why=why,
        nanoseconds=2 * combine,
        others=others,
        ruled_out=ruled_out,
    )


def combine_of(served: Served) -> float:
    """About how many nanoseconds a combine takes, by the cost table."""
    return (_cost(ALGORITHMS["sequential_boundary"], served, ASSUMED_EVENTS) or 0.0) / 3


def _cost(algorithm: Algorithm, served: Served, events: int) -> float | None:
    return costs.nanoseconds(algorithm.NAME, served.likenesses, events, served.driven)


def _why_not(algorithm: Algorithm, served: Served, wish: Wish, shared: bool) -> str | None:
    """Why an algorithm is ruled out; None if it is not."""
    refusal = why_not(algorithm, served.traits, served.invertible, wish.exact)
    if refusal is not None:
        return refusal
    if (shared or served.returns) and not offers(algorithm, "query_range"):
        return _NO_PART
    if hasattr(algorithm, "HELPER"):
        return "it needs a second core, and tables keep all cores busy already"
    return None


def offers(algorithm: Algorithm, operation: str) -> bool:
    """Whether an algorithm has an operation beyond those that all have."""
    return any(function.__name__ == operation for function in algorithm.FUNCTIONS)


def _bytes(algorithm: Algorithm, served: Served, events: int) -> int:
    kept = algorithm.GUARANTEES
    return served.partial_bytes * kept.partials(events) + 8 * kept.positions * events


# What `prefer` means ------------------------------------------------------------------------------


def _fastest(costs: Figures, kept: Figures) -> str:
    return _least(costs, kept)


def _steadiest(costs: Figures, kept: Figures) -> str:
    bound = min(ALGORITHMS[name].GUARANTEES.worst for name in costs)
    steady = [name for name in costs if ALGORITHMS[name].GUARANTEES.worst == bound]
    return _least({name: costs[name] for name in steady}, kept)


def _smallest(costs: Figures, kept: Figures) -> str:
    return _least(kept, costs)


def _least(first: Figures, second: Figures) -> str:
    """The algorithm with the least first figure; among those close to it, the least second."""
    limit = (1 + TOLERANCE) * min(first.values())
    return min((name for name in first if first[name] <= limit), key=lambda name: second[name])


_PREFERRED = {"throughput": _fastest, "latency": _steadiest, "memory": _smallest}
_WHY = {
    "throughput": "it is the fastest of those that serve, by the cost table",
    "latency": "it is the fastest of those with {worst}",
    "memory": "it is the fastest of those that keep least",
}
