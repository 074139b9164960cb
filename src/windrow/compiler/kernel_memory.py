"""Where kernels keep partials: one array per field."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from windrow.compiler.product_source import HELD, HELD_FROM, SCRATCH
from windrow.compiler.slots import Ring
from windrow.work.room import sparse_rows

if TYPE_CHECKING:
    from windrow.algebra.product import Product

Array = np.ndarray[Any, Any]


class KernelMemory:
    """Rings for the partials of a product, and the workspace of their rows.

    A ring is a tuple of arrays, one per field: of numbers, or, for a wide field, of the numbers of
    rows in the workspace. Rows keep their numbers when the workspace grows.

    Several windows may share the rows, so that each reads the rings of the others; the partials of
    its state each of them holds in rows of its own (see `for_window`).
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        #: of each wide field the rows so far, of which the first is the identity
        self._rows: dict[int, Array] = {}
        #: how many rows there are to be when a kernel is called
        self._wanted: dict[int, int] = {}
        for place, entry in enumerate(product.fields):
            if entry.width:
                self._rows[place] = product.identity_of(place)[np.newaxis].astype(entry.dtype)
                self._wanted[place] = HELD_FROM
        self._own_turns()

    def for_window(self) -> KernelMemory:
        """The same rows, for a window whose state lives beside those of others."""
        window = copy(self)
        window._own_turns()
        return window

    def _own_turns(self) -> None:
        """Rows to hold the partials of one state in; and whose turn it is."""
        self._turns = np.zeros(1 + HELD // 2, np.int64)
        self._helpers_turns = np.full(1 + HELD // 2, SCRATCH)
        for place in self._rows:
            held = self._more_rows(place, HELD + 1)
            first = held[0] + held[0] % 2
            self._turns[1:] = np.arange(first, first + HELD, 2)

    def queue(self, capacity: int) -> Ring:
        """Room for so many partials."""
        return tuple(
            self._more_rows(place, capacity) if entry.width else np.zeros(capacity, entry.dtype)
            for place, entry in enumerate(self._product.fields)
        )

    array = queue

    def integers(self, capacity: int) -> Ring:
        """Room for so many integers."""
        return np.zeros(capacity, np.int64)

    counters = integers

    def partials(self, ring: Ring, places: slice | Array) -> tuple[Array, ...]:
        """Copies of the partials at some places of a ring, one array per field."""
        return tuple(
            (self._copied(place, numbers[places]) if entry.width else numbers[places].copy())
            for place, (entry, numbers) in enumerate(zip(self._product.fields, ring, strict=True))
        )

    def _copied(self, place: int, numbers: Array) -> Array:
        """Copies of rows; zeros where a counted row means nothing, so that equal rows are equal."""
        rows = self._room(place)[numbers]
        if self._product.fields[place].counted:
            rows[np.arange(rows.shape[1]) > rows[:, :1]] = 0
        return rows

    def fill(self, ring: Ring, places: slice | Array, partials: tuple[Array, ...]) -> None:
        """Write partials, one array per field, to some places of a ring."""
        for place, (entry, numbers) in enumerate(zip(self._product.fields, ring, strict=True)):
            if entry.width:
                self._room(place)[numbers[places]] = partials[place]
            else:
                numbers[places] = partials[place]

    def workspace(self) -> tuple[Any, ...]:
        """The first argument of a kernel on rows; no argument if there are none."""
        return ((*map(self._room, self._rows), self._turns),) if self._rows else ()

    def helpers_workspace(self) -> tuple[Any, ...]:
        """The same for a kernel on a second thread, which combines and stores and holds nothing."""
        return ((*map(self._room, self._rows), self._helpers_turns),) if self._rows else ()

    def _more_rows(self, place: int, count: int) -> Array:
        first = self._wanted[place]
        self._wanted[place] = first + count
        return np.arange(first, first + count)

    def _room(self, place: int) -> Array:
        """The rows of a field, as many as are wanted.

        Rows that no kernel has written take no memory: they are not touched, and what is in scratch
        rows between two kernels nobody reads.
        """
        rows, wanted = self._rows[place], self._wanted[place]
        if len(rows) < wanted:
            self._rows[place] = self._larger(place, rows, wanted)
        return self._rows[place]

    def _larger(self, place: int, rows: Array, wanted: int) -> Array:
        if not self._product.fields[place].counted:
            larger = np.empty((wanted, rows.shape[1]), rows.dtype)
            larger[0] = rows[0]
            larger[HELD_FROM : len(rows)] = rows[HELD_FROM:]
            return larger
        # Algorithms copy places that they have not written: zeros say that nothing is in use there.
        larger = sparse_rows(wanted, rows.shape[1], rows.dtype)
        larger[0] = rows[0]
        for number in range(HELD_FROM, len(rows)):
            kept = slice(1 + rows[number, 0])
            larger[number, kept] = rows[number, kept]
        return larger
