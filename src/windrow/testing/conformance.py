"""Conformance: a window answers what recomputation from scratch answers, after every operation.

A trace is a list of operations, made by `windrow.testing.strategies.traces` or by hand. Whatever
algorithm and aggregation are joined, the same traces must pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close, same
from windrow.algebra.kinds import Kind
from windrow.algorithms import ALGORITHMS, Algorithm, AlgorithmName, find, require_applicable
from windrow.algorithms.plain_memory import CHUNK, PLAIN_SLOTS
from windrow.compiler.slots import Partial
from windrow.element.window import Window
from windrow.engine.plain_window import PlainWindow
from windrow.errors import EmptyWindow, NotApplicable
from windrow.testing.subject import Subject, is_finite, quietly


@dataclass(frozen=True)
class Operation:
    """One step of a trace.

    Attributes:
        name: insert, insert_many, evict, evict_many, query or clear.
        inputs: the events that are inserted.
        count: how many events are to be evicted.
    """

    name: str
    inputs: tuple[Any, ...] = ()
    count: int = 0

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.inputs)) or self.count or ''})"


def check_algorithm(
    algorithm: Algorithm | str,
    aggregation: Aggregation,
    trace: Sequence[Operation],
    kinds: Sequence[Kind] | None = None,
) -> None:
    """Check an algorithm's source, as it stands, on the partials of an aggregation.

    After every operation the query must equal the fold of the window's events, and the algorithm's
    invariants must hold. A pair that the algorithm refuses must be refused when it is asked for.
    An algorithm that needs an inverse promises nothing once it had to subtract an infinity or a
    NaN from a partial that is not exact, so it gets none.

    Args:
        algorithm: one of `windrow.algorithms.ALGORITHMS`, or its name.
        aggregation: one of the catalogue, or of your own.
        trace: what to do; more events cannot be evicted than there are, so fewer are.
        kinds: the kinds of the aggregation's inputs; by default `ANY`, as in `wr.Window`.

    Raises:
        AssertionError: an answer or an invariant is wrong; the message shows the step.

    >>> import windrow as wr
    >>> trace = [Operation("insert_many", (4, 5, 3)), Operation("evict"), Operation("insert", (1,))]
    >>> check_algorithm("two_stacks_lite", wr.max, trace)
    """
    algorithm = find(algorithm) if isinstance(algorithm, str) else algorithm
    subject = Subject(aggregation, kinds)
    monoid = subject.monoid
    if algorithm.refuses(monoid.traits, monoid.inverse is not None) is not None:
        _check_refusal(algorithm, subject)
        return
    equal = same if monoid.traits.exact else subject.equal
    load = PLAIN_SLOTS["load"]
    window = PlainWindow(algorithm, subject)
    # Short of a chunk's end, so that even a short trace crosses it.
    window.state = window.functions["empty"](window.ring, CHUNK - 8)
    lifted = iter(subject.lift_all(given for step in trace for given in step.inputs))
    events: list[Partial] = []
    finite = _subtracts_rounded(algorithm, subject)
    for number, step in enumerate(trace):
        inserted = [next(lifted) for _ in step.inputs]
        if finite:
            inserted = list(filter(is_finite, inserted))
        with quietly():
            _take(step, window, inserted, events)
            found, expected = window.query(), subject.fold(events)
        at = f"{algorithm.NAME} of {subject} after step {number}, {step!r}"
        assert len(window) == len(events), f"{at}: {len(window)} events, not {len(events)}"
        assert equal(found, expected), f"{at}: query() is {found!r}, recomputed {expected!r}"
        try:
            with quietly():
                algorithm.check_invariants(
                    window.state, window.ring, events, load, subject.fold, equal
                )
        except AssertionError as broken:
            raise AssertionError(f"{at}: {broken}") from None


def _subtracts_rounded(algorithm: Algorithm, subject: Subject) -> bool:
    """Whether the algorithm takes events out of partials that are rounded."""
    traits = subject.monoid.traits
    return not traits.exact and algorithm.refuses(traits, False) is not None


def _take(
    step: Operation, window: PlainWindow, inserted: list[Partial], events: list[Partial]
) -> None:
    """One operation, on the window and on the list that it is compared with."""
    for partial in inserted:
        window.insert(partial)
    events += inserted
    if step.name == "evict" and events:
        window.evict()
        del events[0]
    elif step.name == "evict_many":
        count = min(step.count, len(events))
        window.evict_many(count)
        del events[:count]
    elif step.name == "clear":
        window.clear()
        events.clear()


def _check_refusal(algorithm: Algorithm, subject: Subject) -> None:
    """A pair that cannot work is refused by name, of both."""
    name = subject.aggregation.name
    outside = set(subject.kinds) == {Kind.ANY} and ALGORITHMS.get(algorithm.NAME) is algorithm
    try:
        if outside:
            Window(subject.aggregation, algorithm=algorithm.NAME)
        else:
            require_applicable(algorithm, name, subject.monoid)
    except NotApplicable as refusal:
        message = str(refusal)
    else:
        raise AssertionError(f"{algorithm.NAME} refuses {subject}, and yet it may be asked for")
    assert algorithm.NAME in message, f"{message!r} does not name {algorithm.NAME}"
    assert name in message, f"{message!r} does not name {name}"


def check_window(
    aggregation: Aggregation,
    trace: Sequence[Operation],
    algorithm: AlgorithmName | None = None,
    types: Sequence[pa.DataType] | None = None,
) -> None:
    """Check `wr.Window` from the outside: answers, nulls, its length and what it refuses.

    Args:
        aggregation: one of the catalogue, or of your own.
        trace: what to do; too many events to evict must raise `wr.EmptyWindow` and change nothing.
        algorithm: the name of an algorithm; by default the planner chooses one.
        types: the types of the aggregation's inputs, to check the compiled window.

    Raises:
        AssertionError: an answer, the length or a refusal is wrong; the message shows the step.

    >>> import windrow as wr
    >>> check_window(wr.mean, [Operation("insert", (4,)), Operation("evict"), Operation("evict")])
    """
    subject = Subject(aggregation, None if types is None else list(map(Kind.of, types)))
    equal = same if subject.monoid.traits.exact else close
    finite = algorithm is not None and _subtracts_rounded(find(algorithm), subject)
    # A subject of typed inputs counts values, not events.
    roles = [] if types is None else [entry.name for entry in aggregation.inputs]
    measure = aggregation(*roles)
    window = Window(measure, algorithm=algorithm, exact=not finite, types=types)
    inputs: list[Any] = []
    for number, step in enumerate(trace):
        if finite:
            kept = zip(step.inputs, map(is_finite, subject.lift_all(step.inputs)), strict=True)
            step = replace(step, inputs=tuple(given for given, keep in kept if keep))
        _take_outside(step, window, inputs, several=len(subject.kinds) > 1)
        found, expected = window.query(), subject.answer(inputs)
        if subject.monoid.members and found is not None:
            found = tuple(found.values())
        at = f"{window!r} after step {number}, {step!r}"
        assert len(window) == len(inputs), f"{at}: it should hold {len(inputs)} events"
        assert equal(found, expected), f"{at}: query() is {found!r}, recomputed {expected!r}"


def _take_outside(step: Operation, window: Window, inputs: list[Any], *, several: bool) -> None:
    leaving = {"evict": 1, "evict_many": step.count, "clear": len(inputs)}.get(step.name, 0)
    if step.name == "insert":
        for given in step.inputs:
            window.insert(*(given if several else (given,)))
    elif step.name == "insert_many":
        window.insert_many(step.inputs)
    elif step.name != "query":
        arguments = (step.count,) if step.name == "evict_many" else ()
        try:
            getattr(window, step.name)(*arguments)
        except EmptyWindow:
            assert leaving > len(inputs), f"{window!r} refuses {step!r}"
            leaving = 0
        else:
            assert leaving <= len(inputs), f"{window!r} takes {step!r}"
    inputs += step.inputs
    del inputs[:leaving]
