"""Which algorithm serves a window: one chain, in one place."""

from __future__ import annotations

from windrow import algorithms
from windrow.algebra.monoid import Monoid


def choose(
    aggregation: str, monoid: Monoid, wanted: str | None = None, *, shared: bool = False
) -> algorithms.Algorithm:
    """The algorithm that the user named, if it can serve, or the best that there is.

    With `shared`, the window is to answer for several ranges.
    """
    traits, invertible = monoid.traits, monoid.inverse is not None
    if wanted is not None:
        name = wanted
    elif not shared:
        name = "two_stacks_lite"
    elif traits.selective or (invertible and traits.exact):
        name = "slick_deque"
    else:
        name = "flat_fat"
    return algorithms.find_form(name, aggregation, traits, invertible)
