"""Value counts: answers from the multiset of a window's values.

paper      none; median filters by sorted blocks (Suomela 2014) come nearest
order      first in, first out; both ends of a window move along sorted rows
requires   an answer that depends on the values of the window alone, such as a median
insert     one bit or one count
evict      the same
query      a quantile moves a pointer by one value; a rank counts bits; others look at one number
space      some integers for each row of a block

Order statistics and distinct counts have no small partial: a monoid's window would hold all values
in every partial. But they are invertible over the multiset of values, and a count rounds nothing.
So a block of rows is numbered once. A row enters a window as its number and leaves as its number.

    rows of a block     ...a-------------------------b...     answered: a to b
                  base--|                            |--end   rows that their windows hold

    places     rows in the order of their values (`value_orders`)
    bits       the places in the window (`ranked_bits`)

A quantile is a pointer to a place: a row that enters or leaves below it moves it by one bit. A rank
counts bits. A distinct count needs no numbers at all: a row counts if the last row before with an
equal value is outside the window. The mode is a tournament of counts over rows that are the
first of their value in the window.

A block holds a few windows, so its numbers stay in the cache. What two blocks share is sorted
twice.

Invariants, between two answers, for a window of the rows from `first` to `stop`:

1. The bits are the places of the rows that count.
2. A pointer stands at a set bit, and `below` of them are lower.
3. A count of different values is the number of rows that count and whose value is not in the
   window before them.
4. The leaf of the tournament at a row is how often its value is in the window, if the row is the
   first of its value there; else it is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.ranked_bits import at

NAME = "value_counts"
#: it answers the rows of whole blocks, and has no insert and evict to call one by one
OF_BLOCKS = True
GUARANTEES = Guarantees(Growth.LOGARITHMIC, lambda events: events)

# Blocks ------------------------------------------------------------------------------------------


def current_of(currents: Any, row: int, origin: int) -> Any:
    """The row that an answer is about: itself, if there are no others."""
    return currents[row - origin] if len(currents) else np.int64(row)


def base_of(firsts: Any, currents: Any, begin: int, end: int, origin: int) -> Any:
    """The oldest row that a block looks at: its own, or one of its windows' (rows may return)."""
    base = current_of(currents, begin, origin)
    for row in range(begin, end):
        base = min(base, firsts[at(row - origin)])
    return base


def end_of(stops: Any, currents: Any, begin: int, end: int, origin: int) -> Any:
    """The row behind the newest that a block looks at."""
    last = current_of(currents, end - 1, origin) + 1
    for row in range(begin, end):
        last = max(last, stops[at(row - origin)])
    return last


def widest_window(firsts: Any, stops: Any) -> Any:
    """The most rows that a window holds."""
    most = np.int64(0)
    for index in range(len(firsts)):
        most = max(most, stops[at(index)] - firsts[at(index)])
    return most


def widest_block(
    firsts: Any, stops: Any, currents: Any, origin: int, begin: int, end: int, size: int
) -> Any:
    """The most rows that a block looks at, if each answers so many."""
    most = np.int64(0)
    for first in range(begin, end, size):
        stop = min(first + size, end)
        base = base_of(firsts, currents, first, stop, origin)
        most = max(most, end_of(stops, currents, first, stop, origin) - base)
    return most
