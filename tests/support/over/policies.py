"""Slide policies by their definition: which of a list of events stay, every part asked about."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr

#: from the events of a window to how many of the oldest leave
Leaving = Callable[[list[Any]], int]


def too_many(limit: int) -> Leaving:
    return lambda events: max(len(events) - limit, 0)


def too_large_a_sum(limit: float) -> Leaving:
    """The events from which on the sum is more than a limit; a null adds nothing."""

    def leaving(events: list[Any]) -> int:
        count = 0
        for index in range(len(events)):
            rest = [number for number in events[index:] if number is not None]
            if events[index] is not None and not sum(rest) <= limit:
                count = index + 1
        # Nulls behind what leaves leave with it.
        while 0 < count < len(events) and events[count] is None:
            count += 1
        return count

    return leaving


def before_largest(events: list[Any]) -> int:
    values = [-math.inf if number is None else number for number in events]
    return before(events, values.index(max(values)))


def before(events: list[Any], place: int) -> int:
    """What leaves before a place: all, unless it is nothing but nulls."""
    return 0 if all(event is None for event in events[:place]) else place


def before_longest_run(events: list[Any]) -> int:
    """The first of the longest runs of rising values begins here; nulls are not there."""
    places = [index for index, number in enumerate(events) if number is not None]
    longest, begin, length = 0, 0, 0
    for order, place in enumerate(places):
        rises = order > 0 and events[places[order - 1]] < events[place]
        length = length + 1 if rises else 1
        if length > longest:
            longest, begin = length, order - length + 1
    return before(events, places[begin]) if places else 0


def first_of(*rules: Leaving) -> Leaving:
    return lambda events: max(rule(events) for rule in rules)


POLICIES: dict[str, tuple[Any, Leaving]] = {
    "events": (wr.policies.at_most_events(4), too_many(4)),
    "sum": (wr.policies.at_most_sum(10, "x"), too_large_a_sum(10)),
    "max": (wr.policies.since_max("x"), before_largest),
    "run": (wr.policies.since_longest_run("x"), before_longest_run),
    "joined": (
        wr.policies.since_max("x") | wr.policies.at_most_events(3),
        first_of(before_largest, too_many(3)),
    ),
}


def windows(leaving: Leaving, events: list[Any]) -> Iterator[list[Any]]:
    """The window after each event."""
    held: list[Any] = []
    for event in events:
        held = [*held, event]
        held = held[leaving(held) :]
        yield held


NUMBERS = st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=40)
NAMES = st.sampled_from(sorted(POLICIES))


def table(numbers: list[Any], keys: int = 1) -> pa.Table:
    """Rows whose keys come in turns."""
    rows = range(len(numbers))
    return pa.table(
        {
            "key": pa.array([row % keys for row in rows], pa.int64()),
            "t": pa.array(rows, pa.int64()),
            "x": pa.array(numbers, pa.float64()),
        }
    )


def expected(name: str, numbers: list[Any], keys: int = 1) -> list[list[Any]]:
    """The window of each row of `table`."""
    found: list[list[Any]] = [[]] * len(numbers)
    for key in range(keys):
        found[key::keys] = windows(POLICIES[name][1], numbers[key::keys])
    return found


def values(window: list[Any]) -> list[float] | None:
    """What `collect` answers."""
    return [float(number) for number in window if number is not None] or None
