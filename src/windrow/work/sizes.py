"""Sizes that decide how work is cut, and never what is answered.

Tests set them to almost nothing, so that what happens to many rows happens to a few:

    with sizes.using(cores=4, smallest_piece=2):
        ...
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Held = TypeVar("Held", bound="DataclassInstance")


@dataclass(frozen=True)
class Sizes:
    """How work is cut.

    Attributes:
        cores: how many threads work at once; None for one on every core of this process.
        smallest_piece: fewer rows or answers than this are not worth a thread.
        smallest_helped: fewer rows than this are not worth a helper (`engine/helper_thread.py`).
        smallest_sorted: fewer rows than this are not worth a sort (`engine/counted_windows.py`).
        smallest_scattered: fewer answers than this go to their places at once, however far apart
            these are (`engine/lines.py`).
        most_lines: so many rows, at most, are there as lines at once; a line takes 64 bytes.
        window_capacity: how many partials a kernel's window has room for at first.
        largest_first_capacity: a window of rows gets its whole room at once, up to so many rows.
        plain_capacity: how many partials a window in plain Python has room for at first.
        fewest_shared: fewer ranges of rows than this go through a pass each
            (`planning/shared_ranges.py`).
        shared_tile: how many rows of a pass for many ranges are answered at once.
        events_before_code: after so many events, code of its own pays for a window in plain Python
            (`compiler/plain_code.py`), which takes up to a few tenths of a second to make.
        spanned_rows: of how many rows the spans are found at once, before their windows answer.
        slice_capacity: how many slices a stream of batches has room for at first.
        most_answers: how many answers a batch gives at once; one that gives more is halved.
        smallest_block: batches are gathered until they have so many rows, where a block of rows is
            numbered (`engine/held_rows.py`).
        small_data: data of fewer bytes is work for one task of Spark, which reads as much in one.
        smallest_chunk: fewer rows are not worth a task of Spark.
        key_sample: sampling fraction for finding keys with very many rows, and places to cut.
        dense_slice: with so many rows in a slice, combining them before the shuffle pays.
        smallest_kept: arrays of fewer bytes are not worth being kept for later ones
            (`work/memory.py`).
        most_kept: how many bytes of arrays that nobody holds any more are kept for later ones; None
            for what `WINDROW_KEPT_BYTES` says.
        payload_bytes: how many bytes of events go to a shard of a stream at once.
    """

    cores: int | None = None
    smallest_piece: int = 2**15
    smallest_helped: int = 2**10
    smallest_sorted: int = 2**13
    smallest_scattered: int = 2_000_000
    most_lines: int = 2**22
    window_capacity: int = 2**8
    largest_first_capacity: int = 2**20
    plain_capacity: int = 2**4
    fewest_shared: int = 5
    shared_tile: int = 2**11
    events_before_code: int = 2**12
    spanned_rows: int = 2**18
    slice_capacity: int = 2**10
    most_answers: int = 2**20
    smallest_block: int = 2**16
    small_data: int = 2**27
    smallest_chunk: int = 2**16
    key_sample: float = 0.1
    dense_slice: float = 4.0
    smallest_kept: int = 2**20
    most_kept: int | None = None
    payload_bytes: int = 2**26


class Adjustable(Generic[Held]):
    """Sizes that hold for this process, and that a `with` changes for a while."""

    def __init__(self, sizes: Held) -> None:
        self._current = sizes

    def current(self) -> Held:
        """The sizes that hold now."""
        return self._current

    @contextmanager
    def using(self, **changes: Any) -> Iterator[None]:
        """Change some sizes inside the `with`, for every thread of this process."""
        before = self._current
        self._current = replace(before, **changes)
        try:
            yield
        finally:
            self._current = before


_SIZES = Adjustable(Sizes())
current, using = _SIZES.current, _SIZES.using
