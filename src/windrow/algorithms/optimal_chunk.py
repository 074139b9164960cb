"""The optimal chunk of the boundary aggregators (Zhang et al. 2021, §4.3).

A window of range r that slides by s has ⌊r/s⌋ slices. The stream is cut into chunks of b slices. At
a boundary, a thread begins to compute the lcs of the chunk, from its newest slice to its oldest,
while the next chunk is accumulated. The window that begins at the second slice of the chunk is the
first that needs the lcs. By then b - 2 combines must be done (window 1 of figure 2). If the chunk
is longer, they are not, and the window waits. If the chunk is shorter than half of the window, the
window spans more chunks. The optimal chunk is the longest for which no window waits; then a window
spans at most three chunks.

`wr.slide` cuts chunks by them for `parallel_boundary` (`windrow.engine.slice_windows`). Slices are
there before their windows are answered, so time passes by combines, and the unit is one slice.
Elsewhere both boundary aggregators find the chunk without knowing range and slide: in a window of n
slices that slides by one, a chunk with more than half of the window has ⌊n/2⌋ + 1 slices, which is
b* of theorem 1.
"""

from __future__ import annotations

from windrow.errors import InvalidArgument


def optimal_chunk_of_rows(range: int, slide: int = 1) -> int:
    """Theorem 1: slices per chunk, for a range and a slide in events.

    Events come as fast as they are combined, so the time that is left to compute an lcs is the
    number of events that come until then.

    >>> optimal_chunk_of_rows(10, 2), optimal_chunk_of_rows(2**20)
    (4, 524289)
    """
    slices = _slices(range, slide)
    rest = range % slide
    if slices <= slide + rest + 1:
        return slices
    return (slide * (slices + 1) + rest + 1) // (slide + 1)


def optimal_chunk_of_time(range: float, slide: float, combine: float) -> int:
    """Theorem 2: slices per chunk, for a range, a slide and the time of a combine.

    Give all three in one unit, as whole numbers of nanoseconds. As floats, a slide that divides the
    range may seem not to.

    An lcs has as much time as passes until its first window: the slides in between, and a combine
    for each answer in between. If the slide does not divide the range, a window ends later by the
    rest, and there is one more answer. (The paper multiplies that rest by the slide, which would
    be the square of a time.)

    >>> optimal_chunk_of_time(3600 * 10**9, 10**9, 150)
    3600
    >>> optimal_chunk_of_time(3600 * 10**9, 10**9, 10**9)
    2401
    """
    if combine <= 0:
        raise InvalidArgument(f"combine: a combine takes some time, not {combine!r}")
    slices = _slices(range, slide)
    rest = range % slide
    late = rest + combine if rest else 0
    if slices <= (slide + 2 * combine + late) / combine:
        return slices
    return int((slices * (slide + combine) + slide + 2 * combine + late) // (slide + 2 * combine))


def _slices(range: float, slide: float) -> int:
    if not 0 < slide <= range:
        raise InvalidArgument(f"slide: a slide is above 0 and at most the range, not {slide!r}")
    return int(range // slide)
