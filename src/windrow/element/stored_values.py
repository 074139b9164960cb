"""The values that answers of a stored window carry, such as the merchant of the largest amount.

A partial holds the position of an event in place of such a value. Positions count from the first
event that ever was. So the values lie in blocks of their own, numbered like the blocks of events.
Only an answer reads one. The values of the events that are in no full block yet are in memory, and
in the header.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import StoreError
from windrow.stores.blocks import VALUES_LEVEL, WindowBlocks
from windrow.stores.layout import StorePlace, ValueLayout

#: how many blocks stay in memory once they were read
_KEPT_BLOCKS = 4


class StoredValues:
    """The values of some columns of a window's events; of no column, it does nothing."""

    def __init__(self, layout: ValueLayout, bits: int, blocks: WindowBlocks) -> None:
        self._layout, self._bits, self._blocks = layout, bits, blocks
        self._tail: list[pa.Array] = [pa.array([], field.type) for field in layout.schema]
        #: how many events there have been
        self._end = 0
        #: the first block that may be in the store
        self._first = 0
        self._read: dict[int, tuple[pa.Array, ...]] = {}

    @property
    def is_needed(self) -> bool:
        """Whether answers carry any value."""
        return bool(self._layout.schema.names)

    def append(self, columns: Sequence[pa.Array]) -> None:
        """Add the values of events, at most to the end of a block; store a block that is full."""
        if not self.is_needed:
            return
        self._end += len(columns[0])
        joined = [
            pa.concat_arrays([tail, column])
            for tail, column in zip(self._tail, columns, strict=True)
        ]
        if len(joined[0]) == 1 << self._bits:
            self._blocks.put(VALUES_LEVEL, (self._end >> self._bits) - 1, tuple(joined))
            joined = [column[:0] for column in joined]
        self._tail = joined

    def take(self, name: str, positions: pa.Array) -> pa.Array:
        """The values of a column at positions, null where there is none."""
        place = self._layout.schema.get_field_index(name)
        known = np.asarray(positions.is_valid())
        wanted = np.asarray(positions.fill_null(0), np.int64)
        if wanted.min(initial=0) < 0 or wanted.max(initial=-1) >= max(self._end, 1):
            raise StoreError(f"{self._blocks.store!r} holds a partial with an impossible position")
        numbers = wanted >> self._bits
        blocks = np.unique(numbers[known])
        pieces = [self._block(int(number))[place] for number in blocks]
        if not pieces:
            return pa.nulls(len(positions), self._layout.schema.field(name).type)
        starts = np.searchsorted(blocks, numbers) << self._bits
        indices = starts + (wanted & ((1 << self._bits) - 1))
        return pa.concat_arrays(pieces).take(pa.array(indices, mask=~known))

    def _block(self, number: int) -> tuple[pa.Array, ...]:
        if number == self._end >> self._bits:
            return tuple(self._tail)
        found = self._read.pop(number, None) or self._blocks.get(VALUES_LEVEL, number)
        self._read[number] = found
        while len(self._read) > _KEPT_BLOCKS:
            del self._read[next(iter(self._read))]
        return found

    def delete_before(self, front: int) -> None:
        """Delete the values of events that have left; no header may mention them any more."""
        head = front >> self._bits
        if self.is_needed and self._first < head:
            self._blocks.delete_before(VALUES_LEVEL, self._first, head)
            self._first = head

    def delete_unfinished(self) -> None:
        """Delete the blocks that were put after the header of a recovered window."""
        if self.is_needed:
            self._blocks.delete_from(VALUES_LEVEL, self._end >> self._bits)

    def tail(self) -> bytes:
        """The values that are in no full block, for the header."""
        return self._layout.encoded(tuple(self._tail)) if self.is_needed else b""

    def restore(self, place: StorePlace, body: memoryview, end: int) -> None:
        """Continue where a header left the values."""
        self._end = end
        if self.is_needed:
            self._tail = list(self._layout.decoded(place, body, end & ((1 << self._bits) - 1)))
        elif len(body):
            raise place.damaged("it holds values that no answer carries")


def carried_layout(schema: pa.Schema, names: Sequence[Any]) -> ValueLayout:
    """How the values of some columns of events are written."""
    return ValueLayout(pa.schema([schema.field(name) for name in names]))
