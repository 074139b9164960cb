"""Panes: slices of one length, the greatest common divisor of range and slide.

paper       Li et al. 2005, as told in Shein et al. 2018, §2.1
needs       range and slide in the same unit
slices      slide / gcd per slide
partials    range / gcd per window
ends        every window ends at an edge, so an answer is made of whole slices

Every window edge is a multiple of the gcd away from every other, so no edge cuts a slice of that
length. All slices are equally long: a slice's number is one division, and a window always holds the
same number of slices. The price comes when the slide does not divide the range. Then the gcd may be
far smaller than either (1 for a range of 1000 and a slide of 999), and most edges are edges of no
window.

      range 6, slide 4: gcd 2

      0   2   4   6   8  10  12
      |---|---|---|---|---|---|
      [-----------)
              [-----------)
"""

from __future__ import annotations

import math

from windrow.slicing.periodic import PeriodicWindow
from windrow.slicing.slices import Slices

NAME = "panes"


def slices(window: PeriodicWindow) -> Slices:
    """Edges at every multiple of the gcd from a window's start."""
    length = math.gcd(window.range, window.slide)
    return Slices(length, (window.offset % length,))


def slices_per_slide(window: PeriodicWindow) -> int:
    """How many slices are filled between two answers."""
    return window.slide // math.gcd(window.range, window.slide)


def partials_per_window(window: PeriodicWindow) -> int:
    """How many partials an answer is made of."""
    return window.range // math.gcd(window.range, window.slide)
