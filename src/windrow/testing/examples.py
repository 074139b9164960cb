"""Small examples for laws: runs of events, tried from the shortest on and cut down when found."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from windrow.errors import InvalidArgument
from windrow.testing.subject import Event, Subject

#: inputs of which every combination is tried, one input for each argument
_ALL_OF = 5
#: and random runs on top, of at most so many inputs
_SAMPLES = 100
_LONGEST_RUN = 4

Run = list[Event]


def valued_events(subject: Subject, inputs: Iterable[Any]) -> Run:
    """The events of inputs that are not null: a null is no value, and never lifted."""
    events = [event for event in subject.events(inputs) if event is not None]
    if not events:
        raise InvalidArgument("inputs: at least one input that is not null is needed")
    return events


def examples(events: Run, arguments: int) -> Iterator[list[Run]]:
    """Runs of events, one for each argument of a law, the shortest first."""
    choices: list[Run] = [[], *([event] for event in events[:_ALL_OF])]
    yield from (list(runs) for runs in itertools.product(choices, repeat=arguments))
    # The same examples every time: a law that breaks should break again.
    chance = random.Random(len(events))
    samples = [
        [chance.choices(events, k=chance.randrange(_LONGEST_RUN + 1)) for _ in range(arguments)]
        for _ in range(_SAMPLES)
    ]
    yield from sorted(samples, key=lambda runs: sum(map(len, runs)))


def cut_down(
    runs: Sequence[Run], broken_by: Callable[[Sequence[Run]], str | None]
) -> Sequence[Run]:
    """Leave out one event after the other, as long as what is left is still an example."""
    for index, run in enumerate(runs):
        for place in range(len(run)):
            fewer = [*runs[:index], run[:place] + run[place + 1 :], *runs[index + 1 :]]
            if broken_by(fewer) is not None:
                return cut_down(fewer, broken_by)
    return runs


def shown(value: Any) -> str:
    """A value as one would write it: numbers without the names of numpy's types."""
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return value


def shown_run(run: Run) -> str:
    """A run of events; of those that have only one value, the values."""
    return shown([event[0] if len(event) == 1 else event for event in run])
