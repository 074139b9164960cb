"""What an experiment is: a paper, its figures, and who competes at which point of them.

    Paper      in_order_2021
      Figure   fig_10: throughput by window, three panels
        Group  panel "sum", x = 4,096: contestants that take turns, round after round
          Contestant   "daba_lite": prepared once, then asked for a reading each round

A reading is a number, or the quantiles of many (`QUANTILES`). A contestant that cannot compete
raises `Missing`: the plot has a gap there and the report says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from windrow.experiments.claims import Claim

Reading = float | list[float]
#: what is timed in each round
Round = Callable[[], Reading]
#: what makes ready, and is not timed
Contestant = Callable[[], Round]

GridName = Literal["tiny", "quick", "full"]
Value = TypeVar("Value")

#: the quantiles that a reading of latencies holds, from the fastest round to the slowest
QUANTILES = (
    0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0,
)  # fmt: skip

#: in the place of a quantile, and behind them in a reading: the slowest of some thousand rounds,
#: the median over many times as many. What an algorithm does regularly is in there, and
#: interruptions of the machine, which are rarer, are not
SPIKE = 2.0

#: of all random numbers
SEED = 2021


#: what latencies are in
LATENCY_LABEL = "nanoseconds of a round"


class Missing(Exception):  # a reason to leave a gap, and no error of windrow's users
    """Why a contestant cannot compete here."""


@dataclass(frozen=True)
class Grid:
    """How much is measured.

    `tiny` is for tests, `quick` for a first look, `full` for what the papers measured, as far as a
    usual machine has the memory for it.

    Attributes:
        name: which of the three.
        peers: files of `peers/` that compete; None for all.
    """

    name: GridName = "quick"
    peers: tuple[str, ...] | None = None

    def pick(self, tiny: Value, quick: Value, full: Value) -> Value:
        """The value for this grid."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.name]

    def some(self, values: Sequence[Value]) -> Sequence[Value]:
        """All of the values; in a tiny grid the first two, as each takes a kernel or two."""
        return values[:2] if self.name == "tiny" else values

    @property
    def rounds(self) -> int:
        """How many rounds count."""
        return self.pick(1, 5, 15)

    @property
    def events(self) -> int:
        """How many events a round of a fast contestant takes, a power of two."""
        return self.pick(2**6, 2**16, 2**20)

    def windows(self, smallest: int, quick: int, full: int, step: int = 2) -> list[int]:
        """Windows of powers of two, `step` exponents apart, up to 2 to the `quick` or `full`."""
        largest = self.pick(smallest + 2, quick, full)
        apart = self.pick(step, step, 1)
        exponents = [*range(smallest, largest + 1, apart)]
        if exponents[-1] != largest:
            exponents.append(largest)
        return [2**exponent for exponent in exponents]


@dataclass(frozen=True)
class Group:
    """Contestants that take turns.

    Attributes:
        panel: the part of the figure, such as an aggregation.
        x: where on the figure's axis, or the name of a row of a table.
        contestants: by the name that the plot shows.
        rounds: how many rounds count, if not as many as the grid says.
    """

    panel: str
    x: float | str
    contestants: Mapping[str, Contestant]
    rounds: int | None = None


@dataclass(frozen=True)
class Figure:
    """A figure or a table of a paper.

    Attributes:
        name: of the figure in files and options, as in `fig_10`.
        title: what it is about, with its number in the paper.
        found: what the paper's figure shows, in a sentence or two.
        here: how the measurement here differs from the paper's.
        x_label, y_label: what the axes mean, with units.
        groups: who competes, for a grid.
        claims: what the paper says of the figure, to be judged by the numbers.
        higher_is_better: of the readings.
        shape: how it is drawn.
        x_scale, y_scale: of the axes.
    """

    name: str
    title: str
    found: str
    here: str
    x_label: str
    y_label: str
    groups: Callable[[Grid], Iterable[Group]]
    claims: Sequence[Claim] = ()
    higher_is_better: bool = True
    shape: Literal["lines", "latencies", "bars"] = "lines"
    x_scale: Literal["log", "linear"] = "log"
    y_scale: Literal["log", "linear"] = "log"


@dataclass(frozen=True)
class Headline:
    """What a paper's abstract claims, and the claim of a figure that says the same.

    Attributes:
        says: in the abstract's words.
        figure: the name of the figure.
        claim: what that figure's claim says.
    """

    says: str
    figure: str
    claim: str


@dataclass(frozen=True)
class Paper:
    """The evaluation of a paper.

    Attributes:
        name: in files and options, as in `in_order_2021`.
        citation: authors and year, as docs/papers.md has them.
        title: of the paper.
        setting: what the paper measured on.
        figures: in the order of the paper.
        abstract: what its abstract claims, in numbers.
    """

    name: str
    citation: str
    title: str
    setting: str
    figures: Sequence[Figure]
    abstract: Sequence[Headline] = ()
