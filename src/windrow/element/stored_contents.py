"""The contents of a stored window: the tree, the values that answers carry, and their header.

A commit waits for the blocks and then exchanges the header for a new one, in one step. So the store
always holds one header and all blocks that it mentions. Blocks whose events have left are deleted
after that. A process that opens the window continues from the header, and signs it with a mark of
its own. Blocks that were put after that header are written again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.algebra.failures import failures_named
from windrow.element.stored_algorithms import tree_of
from windrow.element.stored_header import Description, WindowHeader
from windrow.element.stored_program import StoredProgram
from windrow.element.stored_tree import SpilledTree
from windrow.element.stored_values import StoredValues, carried_layout
from windrow.errors import StoreError
from windrow.stores.blocks import WindowBlocks, Writer
from windrow.stores.contract import Key, Store
from windrow.stores.layout import MARK_BYTES, StorePlace, contents_of_header, header_to_bytes


class StoredContents:
    """The events of one window, in memory and in a store.

    Args:
        store: where the window is.
        key: where its header is.
        program: what it computes.
        description: what it is.
        found: the header's bytes, None for a new window.
    """

    def __init__(
        self,
        store: Store,
        key: Key,
        program: StoredProgram,
        description: Description,
        found: bytes | None,
    ) -> None:
        self._store, self._key, self._program = store, key, program
        self._description = description
        self._place = StorePlace(store, key)
        header = None if found is None else WindowHeader.from_bytes(self._place, found)
        me = Writer(0 if header is None else header.state.end, secrets.token_bytes(MARK_BYTES))
        writers = [me]
        if header is not None:
            writers = _still_needed([*header.writers, me], header.state.front)
        bits, partials = description.bits, program.partials
        values = carried_layout(program.inputs.schema, program.carried)
        self.blocks = WindowBlocks(store, key.namespace, partials.layout, values, bits, writers)
        self.tree = SpilledTree(tree_of(description.algorithm), partials, bits, self.blocks)
        self.values = StoredValues(values, bits, self.blocks)
        #: values before this event are of no answer any more
        self._values_from: int | None = None
        #: the header in the store, as far as this window knows
        self._committed = found
        if header is not None and found is not None:
            self._restore(header, found)
        self.commit()
        if header is not None:
            self.tree.delete_unfinished()
            self.values.delete_unfinished()

    def _restore(self, header: WindowHeader, found: bytes) -> None:
        stored, values = contents_of_header(self._place, found)
        count = self.tree.count_partials(header.state)
        layout = self._program.partials.layout
        self.tree.restore(header.state, layout.decoded(self._place, stored, count))
        self.values.restore(self._place, values, header.state.end)

    def drive(
        self, columns: list[pa.Array], answering: bool, between: Callable[[], None]
    ) -> list[pa.Array]:
        """Insert events, and answer after each if asked; `between` is called after each block."""
        size, program = len(columns[0]), self._program
        block = program.block(columns, self.tree.state.end)
        answers: Any = program.features.answers(size if answering else 0)
        written = program.features.written(answers)
        schema, begin = program.inputs.schema, self.tree.state.end
        carried = [columns[schema.get_field_index(name)] for name in program.carried]
        row, inserted = 0, 0
        self._values_from = self.tree.state.front if answering else None
        try:
            while row < size:
                with failures_named(program.name):
                    row = self.tree.advance(*block, *written, row, size, True, answering)
                count = self.tree.state.end - begin - inserted
                self.values.append([column[inserted : inserted + count] for column in carried])
                inserted += count
                between()
            return program.features.results(answers, self.values.take)
        finally:
            self._values_from = None

    def query(self) -> list[pa.Array]:
        """The answers of the window as it is."""
        program = self._program
        answers: Any = program.features.answers(1)
        block, written = program.no_block(), program.features.written(answers)
        with failures_named(program.name):
            self.tree.advance(*block, *written, 0, 1, False, True)
        return program.features.results(answers, self.values.take)

    def settle(self) -> None:
        """Finish what a policy was doing when the store failed."""
        if not self.tree.is_settled:
            program = self._program
            nothing: Any = program.features.answers(0)
            self.tree.settle(*program.no_block(), *program.features.written(nothing))

    def commit(self) -> None:
        """Write the blocks, then the header; then delete what only the old header needed."""
        self.tree.write_all()
        header = WindowHeader(self._description, self.tree.state, self.blocks.writers)
        partials = self._program.partials.layout.encoded(self.tree.partials())
        self._exchange(header_to_bytes(self._place, header.to_text(), partials, self.values.tail()))
        self.tree.delete_unused()
        front = self.tree.state.front
        self.values.delete_before(front if self._values_from is None else self._values_from)

    def _exchange(self, value: bytes) -> None:
        if value == self._committed:
            return
        if not self._store.exchange(self._key, self._committed, value):
            # A write that failed may have arrived all the same.
            found = self._store.get_many([self._key])[0]
            if not self._wrote(found) or not self._store.exchange(self._key, found, value):
                raise StoreError(
                    f"{self._store!r} holds another header at {self._key} than this window wrote; "
                    "it has been opened again since, and can be open for writing only once"
                )
        self._committed = value

    def _wrote(self, found: bytes | None) -> bool:
        """Whether this window has written a header that was found."""
        if found is None:
            return False
        header = WindowHeader.from_bytes(self._place, found)
        return header.writers[-1].mark == self.blocks.writers[-1].mark


def _still_needed(writers: list[Writer], front: int) -> list[Writer]:
    """The writers of blocks that hold events from `front` on, and the last."""
    return [
        writer
        for writer, following in zip(writers, [*writers[1:], None], strict=True)
        if following is None or following.since > max(front, writer.since)
    ]


def description_in(store: Store, key: Key) -> tuple[bytes | None, Description | None]:
    """The header of a window, and what it says the window is."""
    found = store.get_many([key])[0]
    if found is None:
        return None, None
    return found, WindowHeader.from_bytes(StorePlace(store, key), found).description
