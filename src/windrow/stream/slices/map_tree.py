"""The amortized monoid tree over maps, with its nodes in a shard's storage.

      nodes    [       map of 0-1      ][       map of 2-3      ]
      leaves   [ block 0  ][ block 1   ][ block 2  ][ block 3   ]      by slice

A leaf is a block of cells: those of neighbouring slices that became final together. The nodes above
hold maps with one cell for each key. A node is written once. So a block brings about one node more,
whatever the window's range, and what a window holds between two blocks is read in at most
3 log2(n) nodes.

The tree is that of `windrow.algorithms.amortized_monoid_tree`. Its combine puts the folding of maps
off: a partial is a tuple of maps, older first, which are folded when a node is written. It keeps no
partial of the whole window, as it would in memory, because every batch would have to write it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from windrow.algorithms import amortized_monoid_tree as tree
from windrow.algorithms.levels import lowest_bit, node_at
from windrow.compiler.linking import link
from windrow.engine.maps import SLICE, Maps
from windrow.stream.header import GroupState
from windrow.stream.state import NODE, ShardBlocks, block_number

#: several maps, older first, that make up one
Partial = tuple[pa.RecordBatch, ...]


class HeldMaps(NamedTuple):
    """What some windows hold of a tree, and the first block that a later window may hold."""

    maps: list[pa.RecordBatch]
    front: int


class MapTree:
    """The blocks of cells of one group of windows, and the tree over them."""

    def __init__(self, maps: Maps, blocks: ShardBlocks, group: int, state: GroupState) -> None:
        self._maps, self._blocks, self._group = maps, blocks, group
        #: where the tree begins and ends; it changes as blocks come and go
        self.state = state
        self._functions = link(tree.FUNCTIONS, {**_SLOTS, "load": _load, "store": _store})

    def block(self, number: int) -> pa.RecordBatch:
        """The cells of a leaf, by slice."""
        return self.load(node_at(number, 1))

    def append(self, cells: pa.RecordBatch) -> None:
        """Append a leaf of cells, whose slices are newer than all others."""
        front, end = self.state.front, self.state.end
        before = tree.State(front, end, end, 0, (), ())
        self._functions["insert"](before, self._ring, (cells,))
        self.state.end = end + 1

    def between(self, begin: int, stop: int) -> Partial:
        """The maps of the blocks from `begin` to before `stop`, older first."""
        if begin >= stop:
            return ()
        maps: Partial = self._functions["between"](self, begin, stop, self.state.end, tree.LATE)
        return maps

    def held(self, front: int, first: int, following: int) -> HeldMaps:
        """What windows hold that begin at the slices from `first` to before `following`.

        All of them hold every slice from `following` on, so nodes serve that part. No block before
        `front` is read. Later windows do not need blocks that end before `following`.
        """
        maps: list[pa.RecordBatch] = []
        block, end = front, self.state.end
        while block < end:
            cells = self.block(block)
            oldest, newest = cells[SLICE][0].as_py(), cells[SLICE][-1].as_py()
            if oldest >= following:
                break
            if newest >= first:
                maps.append(cells)
            block += 1
            if newest < following:
                front = block
        return HeldMaps([*maps, *self.between(block, end)], front)

    def drop(self, begin: int, stop: int) -> None:
        """Delete the blocks from `begin` to before `stop`, and all nodes that begin at them."""
        for block in range(begin, stop):
            width = 1
            while block % width == 0 and (width == 1 or block + 2 * width <= self.state.end + 1):
                self._blocks.delete(self._place(node_at(block, width)))
                width *= 2

    # What the tree reads and writes --------------------------------------------------------------

    def load(self, position: int) -> pa.RecordBatch:
        """The map of a node; a leaf's is not folded."""
        return self._blocks.load(self._place(position), self._maps.schema)

    def store(self, position: int, partial: Partial) -> None:
        """Write a node: a leaf as it is, others as one map."""
        is_leaf = lowest_bit(position) == 1
        node = partial[0] if is_leaf else self._maps.fold(partial)
        self._blocks.store(self._place(position), node)

    @property
    def _ring(self) -> tree.Forest:
        return tree.Forest(self, None)

    def _place(self, position: int) -> int:
        return block_number(NODE, self._group, position)


def _load(nodes: MapTree, position: int) -> Partial:
    return (nodes.load(position),)


def _store(nodes: MapTree, position: int, partial: Partial) -> None:
    nodes.store(position, partial)


def _identity() -> Partial:
    return ()


def _combine(older: Partial, newer: Partial) -> Partial:
    return older + newer


_SLOTS: dict[str, Any] = {"identity": _identity, "combine": _combine}
