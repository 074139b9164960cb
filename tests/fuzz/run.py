"""Draws calls, asks, compares, shrinks what is wrong, and prints it as a script.

    python -m tests.fuzz --seconds 60              # a minute, with a seed of today
    python -m tests.fuzz --seed 7 --seconds 60     # again
    python -m tests.fuzz --seed 7 --backends arrow --first 12 --examples 1   # one example

The example of a number depends on the seed, the backend and the number, and on nothing else: not on
the clock, nor on the examples before it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fuzz.backends import BACKENDS
from tests.fuzz.examine import Finding, drawn, examined
from tests.fuzz.shrink import script, shrunk


@dataclass(frozen=True)
class Found:
    """A difference, and how to see it again."""

    backend: str
    seed: int
    number: int
    text: str

    def __str__(self) -> str:
        again = f"--seed {self.seed} --backends {self.backend} --first {self.number} --examples 1"
        return f"# python -m tests.fuzz {again}\n{self.text}"


def search(
    seed: int, numbers: Iterator[tuple[str, int]], *, most: int = 5, shrinking: float = 60
) -> tuple[dict[str, int], list[Found]]:
    """Examine the examples of some numbers until so many are wrong; how many were examined."""
    counts: dict[str, int] = {}
    found: list[Found] = []
    for backend, number in numbers:
        example = drawn(backend, seed, number)
        finding: Finding | None = examined(example)
        counts[backend] = counts.get(backend, 0) + 1
        if finding is not None:
            text = script(*shrunk(example, finding, shrinking))
            found.append(Found(backend, seed, number, text))
            print(f"\n{found[-1]}", flush=True)
            if len(found) == most:
                break
    return counts, found


def by_number(backends: list[str], first: int, examples: int) -> Iterator[tuple[str, int]]:
    """As many examples of each backend."""
    return ((name, first + index) for name in backends for index in range(examples))


def by_clock(backends: list[str], first: int, seconds: float) -> Iterator[tuple[str, int]]:
    """Examples of all backends for some time, each with its share of it."""
    spent = dict.fromkeys(backends, 0.0)
    numbers = dict.fromkeys(backends, first)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = min(backends, key=lambda each: spent[each] / BACKENDS[each].share)
        began = time.monotonic()
        yield name, numbers[name]
        numbers[name] += 1
        spent[name] += time.monotonic() - began


def main(arguments: list[str] | None = None) -> int:
    """The number of differences is not zero: 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.split("\n")[0]
    )  # type: ignore[union-attr]
    parser.add_argument("--seconds", type=float, default=60, help="how long to search")
    parser.add_argument(
        "--seed", type=int, help="what examples are drawn from; a new one if not given"
    )
    parser.add_argument("--backends", default=",".join(BACKENDS), help="some of %(default)s")
    parser.add_argument("--first", type=int, default=0, help="the number of the first example")
    parser.add_argument("--examples", type=int, help="so many of each backend, whatever the time")
    given = parser.parse_args(arguments)
    seed = random.randrange(10**6) if given.seed is None else given.seed
    backends = given.backends.split(",")
    for name in backends:
        if name not in BACKENDS:
            parser.error(f"--backends: {name!r} is none of {', '.join(BACKENDS)}")
    numbers = (
        by_clock(backends, given.first, given.seconds)
        if given.examples is None
        else by_number(backends, given.first, given.examples)
    )
    counts, found = search(seed, numbers)
    examples = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"seed {seed}: {sum(counts.values())} examples ({examples}), {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
