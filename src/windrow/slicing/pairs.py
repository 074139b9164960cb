"""Pairs: two slices per slide, cut where windows begin and where they end, and nowhere else.

paper       Krishnamurthy et al. 2006, as told in Shein et al. 2018, §2.1
needs       range and slide in the same unit
slices      2 per slide, 1 if the slide divides the range
partials    2 × (range div slide) + 1 per window, range / slide if the slide divides the range
ends        every window ends at an edge, so an answer is made of whole slices

Window ends lie range mod slide behind window starts. So the edges cut each slide into two: range
mod slide, and the rest. These are the longest slices that no window edge cuts. As long as every
window ends at an edge, there cannot be fewer. Cutty gives that up and has half as many.

      range 5, slide 3: slices of 2 and 1

      0   2 3   5 6   8
      |---|-|---|-|---|
      [---------)
            [---------)

If the range is less than the slide, the two slices are the window and its gap. The first is a whole
window, and no window needs the second.
"""

from __future__ import annotations

from windrow.slicing.periodic import PeriodicWindow
from windrow.slicing.slices import Slices

NAME = "pairs"


def slices(window: PeriodicWindow) -> Slices:
    """Edges at the starts and at the ends of windows."""
    return Slices(window.slide, tuple(sorted({window.offset, window.end_offset})))


def slices_per_slide(window: PeriodicWindow) -> int:
    """How many slices are filled between two answers."""
    return 2 if window.range % window.slide else 1


def partials_per_window(window: PeriodicWindow) -> int:
    """How many partials an answer is made of."""
    whole, rest = divmod(window.range, window.slide)
    return 2 * whole + 1 if rest else whole
