"""A block tree whose full blocks lie in a store.

It loads the blocks that a kernel needs, and stores the blocks that a kernel has filled. The tree is
`windrow.algorithms.block_tree`, and the blocks are `windrow.stores.blocks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from windrow.algorithms import block_levels
from windrow.algorithms.block_levels import State
from windrow.element.stored_algorithms import BlockTree
from windrow.element.stored_partials import Partials
from windrow.stores.blocks import WindowBlocks
from windrow.stores.layout import Fields

Array = np.ndarray[Any, Any]
_NO_BLOCK = -1


class SpilledTree:
    """The tree of one window.

    Args:
        tree: the algorithm.
        partials: where partials are kept in memory, and the loop that inserts rows.
        bits: a block holds two to the power of `bits` partials.
        blocks: the window's blocks in a store.
    """

    def __init__(
        self, tree: BlockTree, partials: Partials, bits: int, blocks: WindowBlocks
    ) -> None:
        self._tree, self._kernel, self._memory = tree, partials.loop, partials.memory
        self._levels = tree.allocate(self._memory, bits)
        self._levels.blocks[:] = _NO_BLOCK
        for each in tree.beside(bits):
            self._fill(slice(each, each + 1), partials.identity)
        self._blocks = blocks
        self._bits = bits
        self.state = tree.empty(bits)
        #: the end up to which full blocks have been put
        self._put = 0
        #: for each level, the first block that may be in the store
        self._first = [0] * block_levels.levels_for(bits)
        #: the places of the partials that a kernel changes: of tails, and beside the tree
        self._singles = _singles(tree, bits)

    def __len__(self) -> int:
        return self.state.end - self.state.front

    @property
    def resident(self) -> int:
        """How many partials are in memory, at most."""
        levels = block_levels.levels_for(self._bits)
        return (4 * levels + self._blocks.resident) << self._bits

    def advance(
        self, columns: Any, validities: Any, answers: Any, defined: Any,
        begin: int, stop: int, inserting: bool, answering: bool,
    ) -> int:  # fmt: skip
        """Insert rows up to the end of a block, and return how far it got; or answer for no row."""
        self._put_full_blocks()
        self._load_heads()
        singles = self._partials(self._singles)
        try:
            self.state, row = self._kernel(
                *self._memory.workspace(), columns, validities, answers, defined,
                self._levels, self.state, begin, stop, inserting, answering,
            )  # fmt: skip
        except BaseException:
            self._take_back(singles)
            raise
        return int(row)

    def _take_back(self, singles: Fields) -> None:
        """Bring memory back to what the state says, after a user's function failed in a kernel.

        New nodes of tails lie behind the end, where they do no harm. Heads and suffixes may be half
        done, so they are made again.
        """
        self._fill(self._singles, singles)
        self._levels.blocks[:] = _NO_BLOCK
        self.state = self._tree.restored(self.state)

    @property
    def is_settled(self) -> bool:
        """Whether the policy, if there is one, has decided about every event."""
        return self.state.policy == block_levels.SETTLED

    def settle(self, columns: Any, validities: Any, answers: Any, defined: Any) -> None:
        """Finish what a policy was doing when the store failed; the arguments hold no rows."""
        while not self.is_settled:
            self.advance(columns, validities, answers, defined, -1, 0, False, False)

    def evict_many(self, count: int) -> None:
        """Drop the oldest events without reading them."""
        self.state = self._tree.evict_many(self.state, count)

    def write_all(self) -> None:
        """Wait until the store has every full block."""
        self._put_full_blocks()
        self._blocks.write_all()

    def delete_unused(self) -> None:
        """Delete the blocks of events that have left; no header may mention them any more."""
        for level, first in enumerate(self._first):
            head = block_levels.head_of(self.state, level)
            if first < head:
                self._blocks.delete_before(level, first, head)
                self._first[level] = head

    def delete_unfinished(self) -> None:
        """Delete the blocks that were put after the header of a recovered window."""
        for level in range(len(self._first)):
            self._blocks.delete_from(level, self._tail_of(level))

    # To and from a header ------------------------------------------------------------------------

    def partials(self) -> Fields:
        """The partials that only memory has: tails, totals, and those beside the tree."""
        parts = [self._partials(places) for places in _kept_places(self._tree, self.state)]
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    def count_partials(self, state: State) -> int:
        """How many partials a header of this state has."""
        return sum(places.stop - places.start for places in _kept_places(self._tree, state))

    def restore(self, state: State, partials: Fields) -> None:
        """Continue a window where a header left it."""
        begin = 0
        for places in _kept_places(self._tree, state):
            count = places.stop - places.start
            self._fill(places, tuple(array[begin : begin + count] for array in partials))
            begin += count
        self.state = self._tree.restored(state)
        self._put = state.end

    # Blocks --------------------------------------------------------------------------------------

    def _tail_of(self, level: int) -> int:
        """The block of a level that is being filled."""
        return self.state.end >> (self._bits * (level + 1))

    def _partials(self, places: slice | Array) -> Fields:
        return self._memory.partials(self._levels.nodes, places)

    def _fill(self, places: slice | Array, partials: Fields) -> None:
        self._memory.fill(self._levels.nodes, places, partials)

    def _put_full_blocks(self) -> None:
        """Put the tails that the last event has filled."""
        end = self.state.end
        if end == self._put:
            return
        level = 0
        while end and end & ((1 << self._bits) - 1) == 0:
            tail = self._partials(_places(self._bits, level, block_levels.TAIL))
            self._blocks.put(level, (end >> self._bits) - 1, tail)
            end >>= self._bits
            level += 1
        self._put = self.state.end

    def _load_heads(self) -> None:
        """Load the blocks that the kernel needs, to be ready or to go on asking the policy."""
        state = self.state
        for level in self._tree.heads_needed(state):
            block = block_levels.head_of(state, level)
            if self._tree.is_stale(state, self._levels, level, block):
                self._load(level, block)
        if state.policy == block_levels.ASKING:
            level = 0
            while (block := state.asked >> (self._bits * (level + 1))) != self._tail_of(level):
                if self._levels.blocks[block_levels.loaded(level)] != block:
                    self._load(level, block)
                level += 1

    def _load(self, level: int, block: int) -> None:
        """Make a block the head of its level, and read the next one ahead."""
        tail = self._tail_of(level)
        if block == tail:
            nodes = self._partials(_places(self._bits, level, block_levels.TAIL))
        else:
            nodes = self._blocks.get(level, block)
        self._fill(_places(self._bits, level, block_levels.HEAD), nodes)
        self._levels.blocks[block_levels.loaded(level)] = _NO_BLOCK if block == tail else block
        self._blocks.forget_before(level, block)
        if block + 1 < tail:
            self._blocks.read_ahead(level, block + 1)


def _places(bits: int, level: int, part: int) -> slice:
    """Where a part of a level is."""
    begin = block_levels.place(bits, level, part, 0)
    return slice(begin, begin + (1 << bits))


def _singles(tree: BlockTree, bits: int) -> Array:
    """Where all single partials are."""
    levels = range(block_levels.levels_for(bits))
    beside_tails = [each for level in levels for each in tree.single_of_tail(bits, level)]
    return np.array([*beside_tails, *tree.beside(bits)])


def _kept_places(tree: BlockTree, state: State) -> Iterator[slice]:
    """The places of what a header keeps: tails with their partials, and those beside the tree."""
    bits, level = state.bits, 0
    while nodes := state.end >> (bits * level):
        begin = block_levels.place(bits, level, block_levels.TAIL, 0)
        yield slice(begin, begin + (nodes & ((1 << bits) - 1)))
        for single in tree.single_of_tail(bits, level):
            yield slice(single, single + 1)
        level += 1
    for single in tree.beside(bits):
        yield slice(single, single + 1)
