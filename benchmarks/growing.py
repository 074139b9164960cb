"""A window that grows event by event: how long single rounds take.

In plain Python a window's queue grows chunk by chunk. A compiled window doubles its ring and copies
what it holds. A round inserts an event and asks for the answer. Each kind of window takes its
rounds twice: from one event on, and with room for all of them, which it got by holding as many
before.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import in_turns

EVENTS = 2**20
REPEATS = 5
#: the 99.99th percentile leaves out so many of a million rounds: 104
SHOWN = (50, 99, 99.9, 99.99, 99.999)


def run() -> list[Comparison]:
    """Measure all."""
    return list(_growing())


def _growing() -> Iterator[Comparison]:
    values = np.random.default_rng(4).normal(size=EVENTS).tolist()
    for kind, types in (("compiled", "float64"), ("plain Python", None)):
        contestants = {
            "grows": partial(_of_new_window, types, values, has_room=False),
            "has room": partial(_of_new_window, types, values, has_room=True),
        }
        taken = in_turns(contestants, REPEATS, warm_up=0)
        middle = {how: _middle(rounds) for how, rounds in taken.items()}
        for how, percentiles in middle.items():
            shown = ", ".join(
                f"p{share:g} {nanoseconds:,.0f}"
                for share, nanoseconds in zip((*SHOWN, 100), percentiles, strict=True)
            )
            print(f"  {kind}, {how}: {shown} ns", flush=True)
        for place, share in enumerate(SHOWN):
            if share in (50, 99.99):
                yield Comparison(
                    f"p{share:g} of a round, {kind}, grows to {EVENTS:,}", "the same, has room",
                    middle["grows"][place] / 1e9, middle["has room"][place] / 1e9,
                )  # fmt: skip


def _of_new_window(types: Any, values: list[float], has_room: bool) -> Any:
    """The nanoseconds of each round of a window, which may have room for all of them."""
    window = wr.Window(wr.max(), types=types)
    if has_room:
        window.insert_many(values)
        window.evict_many(EVENTS)
    return _rounds(window, values)


def _rounds(window: wr.Window, values: list[float]) -> Any:
    """The nanoseconds of each round."""
    taken = array("q", bytes(8 * len(values)))
    insert, query, clock = window.insert, window.query, time.perf_counter_ns
    for place, value in enumerate(values):
        if place & 0xFFFF == 0:  # its operations may have become code of their own
            insert, query = window.insert, window.query
        started = clock()
        insert(value)
        query()
        taken[place] = clock() - started
    return np.frombuffer(taken, np.int64)


def _middle(rounds: list[Any]) -> list[float]:
    """Each percentile and the maximum, the median over all repeats."""
    found = [[*np.percentile(each, SHOWN), each.max()] for each in rounds]
    return np.median(found, axis=0).tolist()
