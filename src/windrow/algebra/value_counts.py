"""What an aggregation asks of the multiset of a window's values.

Order statistics and aggregations of different values have no small partial. Their monoids keep all
values, so every window can compute them, slowly. Beside it, a monoid says here what it asks. From
that, the algorithm `value_counts` answers rows much faster: it numbers the values of a block once
and keeps a count for each number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

#: how a quantile is found where it lies between two values
Interpolation = Literal["linear", "lower", "higher", "nearest", "midpoint"]
#: what rank equal values have
RankMethod = Literal["min", "max", "average", "dense"]


@dataclass(frozen=True)
class Question:
    """What is asked of the values of a window."""

    #: about the current row; one that a condition leaves out counts as null there
    of_current = False


@dataclass(frozen=True)
class Quantiles(Question):
    """The values below which shares of all lie."""

    shares: tuple[float, ...]
    interpolation: Interpolation
    several: bool

    @property
    def is_interpolated(self) -> bool:
        """Whether answers may lie between values, as numbers do."""
        return self.interpolation in ("linear", "midpoint")


@dataclass(frozen=True)
class Rank(Question):
    """The rank of the current row's value."""

    method: RankMethod
    descending: bool
    of_current = True


@dataclass(frozen=True)
class PercentRank(Question):
    """The share of the other values that are smaller than the current row's."""

    of_current = True


@dataclass(frozen=True)
class CountDistinct(Question):
    """How many different values there are."""


@dataclass(frozen=True)
class Distinct(Question):
    """What an aggregation answers of the different values, in the order of their first arrival."""

    aggregation: Any


@dataclass(frozen=True)
class Mode(Question):
    """The most frequent value; more different values than the limit raise."""

    limit: int | None = None


def place_of(share: float, count: int, interpolation: Interpolation) -> tuple[int, float]:
    """The place of a quantile among so many sorted values, and how far beyond it, from 0 to 1."""
    exact = share * (count - 1)
    below = min(math.floor(exact), count - 1)
    beyond = exact - below
    if interpolation == "linear" or not beyond:
        return below, beyond
    if interpolation == "midpoint":
        return below, 0.5
    if interpolation == "nearest":  # of two that are equally near, the even place, as numpy has it
        return round(exact), 0.0
    return (below, 0.0) if interpolation == "lower" else (below + 1, 0.0)


def between(lower: Any, upper: Any, beyond: float) -> float:
    """The number so far between two; an infinity stays one."""
    low, high = float(lower), float(upper)
    return low if not beyond or low == high else low * (1.0 - beyond) + high * beyond
