"""The names that the linker fills in.

Algorithms and drivers are written against these names as if they were ordinary functions.
`windrow.compiler.linking` gives each algorithm the functions of one aggregation and each driver the
functions of one algorithm, so one source serves compiled kernels and plain Python alike. Called
without linking, they raise.
"""

from typing import Any, NoReturn

Partial = Any
Ring = Any
State = Any


def _unlinked(name: str) -> NoReturn:
    raise RuntimeError(f"{name}() was called before the linker supplied it")


# What an aggregation supplies to an algorithm.


def identity() -> Partial:
    """The partial of no events."""
    _unlinked("identity")


def combine(older: Partial, newer: Partial) -> Partial:
    """The partial of two neighbouring runs of events, older on the left."""
    _unlinked("combine")


def inverse(total: Partial, oldest: Partial) -> Partial:
    """The partial of a run of events without its oldest part."""
    _unlinked("inverse")


def same(left: Partial, right: Partial) -> bool:
    """Whether two partials are equal in every field."""
    _unlinked("same")


def verdict(total: Partial, oldest: Partial) -> int:
    """What a slide policy says of the oldest part of a window: 1 if it leaves, 0 if it stays.

    And -1 if it cannot tell, because that part has no values.
    """
    _unlinked("verdict")


# What memory supplies: partials, and integers, by position. In plain Python a queue grows by
# itself and forgets what is released; in a kernel positions wrap around at the capacity.


def capacity(ring: Ring) -> int:
    """How many partials fit."""
    _unlinked("capacity")


def load(ring: Ring, position: int) -> Partial:
    """The partial stored at a position."""
    _unlinked("load")


def store(ring: Ring, position: int, partial: Partial) -> None:
    """Keep a partial at a position."""
    _unlinked("store")


def load_at(ring: Ring, place: int) -> Partial:
    """The partial at a place of memory that does not wrap around; of numbers alone."""
    _unlinked("load_at")


def store_at(ring: Ring, place: int, partial: Partial) -> None:
    """Keep a partial at a place of memory that does not wrap around; of numbers alone."""
    _unlinked("store_at")


def release(ring: Ring, position: int) -> None:
    """Let go of all that stands before a position."""
    _unlinked("release")


def load_integer(integers: Ring, position: int) -> int:
    """The integer stored at a position."""
    _unlinked("load_integer")


def store_integer(integers: Ring, position: int, integer: int) -> None:
    """Keep an integer at a position."""
    _unlinked("store_integer")


# What memory supplies to algorithms that share integers between threads; see `algebra.words`.


def watch(words: Ring, place: int) -> int:
    """The word at a place, and all that was written before it was published."""
    _unlinked("watch")


def publish(words: Ring, place: int, word: int) -> None:
    """Write a word for other threads to see, after all that was written before."""
    _unlinked("publish")


def claim(words: Ring, place: int, expected: int, word: int) -> bool:
    """Write a word if it is as expected, which only one of two threads finds."""
    _unlinked("claim")


def pause(attempt: int) -> None:
    """Let time pass before a word is watched again, the more attempts the more."""
    _unlinked("pause")


# What an algorithm supplies to a driver.


def empty(ring: Ring, position: int) -> State:
    """A window with no events, whose first event will stand at `position`."""
    _unlinked("empty")


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    _unlinked("has_room")


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    _unlinked("resize")


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """The window with one more event at its newest end."""
    _unlinked("insert")


def insert_at_time(state: State, ring: Ring, time: int, partial: Partial) -> State:
    """The window with one more event, behind all that are not later."""
    _unlinked("insert_at_time")


def insert_first(state: State, ring: Ring, time: int, partial: Partial) -> State:
    """The same of the first of many events whose times do not decrease."""
    _unlinked("insert_first")


def insert_next(state: State, ring: Ring, time: int, partial: Partial) -> State:
    """The same of the next of them."""
    _unlinked("insert_next")


def finish(ring: Ring) -> None:
    """Bring the window in order, after the last of them."""
    _unlinked("finish")


def evict(state: State, ring: Ring) -> State:
    """The window without its oldest event."""
    _unlinked("evict")


def evict_many(state: State, ring: Ring, count: int) -> State:
    """The window without so many of its oldest events; it holds at least as many."""
    _unlinked("evict_many")


def query(state: State, ring: Ring) -> Partial:
    """The partial of all events in the window."""
    _unlinked("query")


# What a tree supplies to a driver of windows with a policy.


def query_range(state: State, ring: Ring, count: int) -> Partial:
    """The partial of the newest `count` events of the window."""
    _unlinked("query_range")


def query_ranges(state: State, ring: Ring) -> None:
    """Write the answers of the ranges that were registered, beside the window."""
    _unlinked("query_ranges")


def leaving(state: State, ring: Ring) -> int:
    """How many of the oldest events leave by the policy."""
    _unlinked("leaving")


def half_leaving(state: State, ring: Ring) -> int:
    """As many events as the older half has, if it leaves by the policy, or 0."""
    _unlinked("half_leaving")


# What a table's columns supply to a driver.


def lift_row(columns: Any, validities: Any, row: int) -> Partial:
    """The partial of one row."""
    _unlinked("lift_row")


def lower_row(answers: Any, defined: Any, row: int, partial: Partial) -> None:
    """Write the answers of one row, and whether it has any."""
    _unlinked("lower_row")


def deliver(
    drafts: Any, noted: Any, answers: Any, defined: Any, place: int, begin: int, count: int
) -> None:
    """Copy the answers of the rows from `begin` to `count` of a draft to their places.

    Call `settle_copies` of `windrow.compiler.past_cache` at the end.
    """
    _unlinked("deliver")
