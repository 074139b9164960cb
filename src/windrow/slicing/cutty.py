"""Cutty: one slice per slide, cut only where windows begin.

paper       Carbone et al. 2016, as told in Shein et al. 2018, §2.1 and Zhang et al. 2021, §2.2
needs       a partial that can be read while its slice is still being filled
slices      1 per slide
partials    range div slide per window, and the running one unless the slide divides the range
ends        a window may end inside a slice; the running slice's partial is read there

A window's end needs no edge. When the end comes, the running slice holds exactly the window's last
events so far, and its partial is read as it stands. So there are half as many slices as with Pairs
when the slide does not divide the range. This has two prices. A
loop that fills slices has to stop at window ends as well as at edges, because a moment later the
running partial holds too much. And a slice that is already full cannot answer for a window that
ended inside it.

      range 5, slide 3: slices of 3

      0     3     6     9
      |-----|-----|-----|
      [---------)                slice 0, and slice 1 as it stands at 5
            [---------)          slice 1, and slice 2 as it stands at 8

If the range is less than the slide, a window is one reading of one running slice. The events from
there to the slice's end belong to no window: `PeriodicWindow.holds` tells them apart.
"""

from __future__ import annotations

from windrow.slicing.periodic import PeriodicWindow
from windrow.slicing.slices import Slices

NAME = "cutty"


def slices(window: PeriodicWindow) -> Slices:
    """Edges at the starts of windows."""
    return Slices(window.slide, (window.offset,))


def slices_per_slide(window: PeriodicWindow) -> int:
    """How many slices are filled between two answers."""
    return 1


def partials_per_window(window: PeriodicWindow) -> int:
    """How many partials an answer is made of, the running one included."""
    return -(-window.range // window.slide)
