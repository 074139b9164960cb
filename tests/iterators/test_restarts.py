"""Any stream whose process dies again and again gives what one process gives, each answer once."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, WAITING_SMALL
from tests.support.stream.strategies import (
    WITH_OBJECTS,
    any_around,
    any_sliding,
    any_trailing,
    clocks,
    streams,
)
from windrow.stores import MemoryStore
from windrow.stream import sizes

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

#: what a process does after each batch of answers
LIVES = st.lists(st.sampled_from(["commit", "go on", "die"]), max_size=12)


def answers_of(call: Any, example: Iterated, checkpoint: Any) -> wr.Stream:
    def source(offset: list[int] | None) -> Iterator[tuple[pa.Table, list[int]]]:
        (begin,) = offset or [0]
        for number in range(begin, len(example.batches)):
            yield example.batches[number], [number + 1]

    late = f"{example.lateness} milliseconds"
    stream: wr.Stream = call(
        source, **example.stream.arguments, lateness=late, checkpoint=checkpoint
    )
    return stream


def restarted(call: Any, example: Iterated, lives: list[str]) -> list[str]:
    """The answers as text, for NaN is not equal to itself."""
    store, given, does = MemoryStore(), {}, iter(lives)
    while True:
        with answers_of(call, example, store) as stream:
            for answers in stream:
                text = repr(answers.to_pylist())
                assert given.setdefault(stream.sequence, text) == text
                done = next(does, "commit")
                if done == "commit":
                    stream.commit()
                elif done == "die":
                    break
            else:
                return list(given.values())


def check(call: Any, example: Iterated, lives: list[str]) -> None:
    with sizes.using(slices_in_a_block=2, **BINS_SMALL, **WAITING_SMALL):
        whole = answers_of(call, example, MemoryStore())
        expected = [repr(answers.to_pylist()) for answers in whole]
        assert restarted(call, example, lives) == expected


@given(iterated([streams(any_trailing), streams(any_around, WITH_OBJECTS)]), LIVES)
@examples(12)
def test_over(example: Iterated, lives: list[str]) -> None:
    check(wr.over, example, lives)


@given(iterated([streams(clocks), streams(any_sliding)]), LIVES)
@examples(12)
def test_slide(example: Iterated, lives: list[str]) -> None:
    check(wr.slide, example, lives)


@given(iterated([streams(clocks), streams(clocks, WITH_OBJECTS)]), LIVES)
@examples(12)
def test_updates(example: Iterated, lives: list[str]) -> None:
    """Each revision once, and late events as rows."""
    check(partial(wr.slide, emit="updates", late="side"), example, lives)
