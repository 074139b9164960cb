"""The values of a column that answers to come may carry."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine import columns as arrow

#: values are joined into one piece when they are in more pieces than this
_MOST_CHUNKS = 64


class KeptValues:
    """The values of a column from the oldest window's front on, found by position.

    Values that no window needs are cut off at once. Their memory is given back when the pieces are
    joined. So the values of the windows are held, and of at most 64 batches more.
    """

    def __init__(self) -> None:
        """Nothing yet; the first value has position zero."""
        self._chunks: list[pa.Array] = []
        self._first_position = 0

    def append(self, values: pa.Array) -> None:
        """Add the values of the positions that follow."""
        self._chunks.append(values)
        if len(self._chunks) > _MOST_CHUNKS:
            self._chunks = [pa.concat_arrays(self._chunks)]

    def take(self, positions: pa.Array) -> pa.Array:
        """The values at positions."""
        if self._first_position:
            offset = pa.scalar(self._first_position, pa.int64())
            positions = pc.subtract(positions, offset)
        if len(self._chunks) == 1:
            return self._chunks[0].take(positions)
        return arrow.whole(pa.chunked_array(self._chunks).take(positions))

    def forget_before(self, position: int) -> None:
        """Drop values that lie before a position."""
        while self._chunks and self._first_position + len(self._chunks[0]) <= position:
            self._first_position += len(self._chunks.pop(0))
        if self._chunks:
            self._chunks[0] = self._chunks[0].slice(position - self._first_position)
            self._first_position = position
