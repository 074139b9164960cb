"""All windows of a stretch of time, one by one: what the arithmetic is checked against."""

from collections.abc import Iterator

from hypothesis import strategies as st

from windrow.slicing import PeriodicWindow


def enumerated(window: PeriodicWindow, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Every (start, end) of a window that touches [low, high], edges included."""
    for start in range(low - window.range, high + 1):
        if start % window.slide == window.offset:
            yield start, start + window.range


def edges_of(window: PeriodicWindow, low: int, high: int) -> set[int]:
    """Every start and end in [low, high)."""
    edges = {edge for pair in enumerated(window, low, high) for edge in pair}
    return {edge for edge in edges if low <= edge < high}


def periodic_windows(longest: int = 40) -> st.SearchStrategy[PeriodicWindow]:
    """Small windows of every shape: sampling, tumbling, sliding, dividing or not."""
    extents = st.integers(1, longest)
    shapes = st.one_of(
        st.tuples(extents, extents),
        extents.map(lambda extent: (extent, extent)),
        st.tuples(st.integers(1, 6), st.integers(1, 8)).map(lambda sl: (sl[0] * sl[1], sl[0])),
    )
    return st.builds(
        lambda shape, offset: PeriodicWindow(shape[0], shape[1], offset),
        shapes,
        st.integers(-100, 100),
    )


def intervals() -> st.SearchStrategy[tuple[int, int]]:
    """Stretches [low, high) around zero, also empty ones."""
    return st.tuples(st.integers(-150, 150), st.integers(0, 120)).map(
        lambda drawn: (drawn[0], drawn[0] + drawn[1])
    )
