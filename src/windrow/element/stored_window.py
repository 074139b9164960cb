"""`wr.Window.open`: a window whose events lie in a store, and that outlasts the process.

The window is a block tree (`windrow.algorithms.block_tree`). Full blocks go to the store. The
header holds the rest: what is not in a full block, and where the window begins and ends.

A flush waits for the blocks and then exchanges the header for a new one, in one step. So the store
always holds one header and all blocks that it mentions. Blocks whose events have left are deleted
after that. A process that opens the window continues from the header, and signs it with a mark of
its own. Blocks that were put after that header are written again.
"""

from __future__ import annotations

import secrets
import time
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.failures import failures_named
from windrow.element.stored_header import WindowHeader, header_key
from windrow.element.stored_kernels import StoredProgram, measure_of
from windrow.element.stored_tree import SpilledTree
from windrow.element.typed_inputs import Types
from windrow.engine.feature_columns import FeatureAnswers
from windrow.errors import EmptyWindow, InvalidArgument, StoreError
from windrow.stores import share
from windrow.stores.blocks import WindowBlocks, Writer
from windrow.stores.contract import Store, checked_namespace
from windrow.stores.layout import MARK_BYTES, StorePlace
from windrow.windows import PolicyWindow

#: how many rows run through the window at once
_PIECE = 2**18
#: how many single events gather before they run through the window
_GATHERED = 1024


class StoredWindow:
    """A window in a store; `wr.Window.open` makes one.

    A crash loses the insertions and evictions since the last flush: those of at most `flush_every`
    events or `flush_seconds`. The clock is read when you insert.
    """

    def __init__(
        self,
        store: Store | str | Path,
        name: str,
        aggregation: Aggregation | Measure | None = None,
        *,
        types: Types | None = None,
        policy: PolicyWindow | None = None,
        block: int = 256,
        flush_every: int | None = 1_000_000,
        flush_seconds: float | None = 10.0,
    ) -> None:
        """Open or create a window; see `wr.Window.open`."""
        self._key = header_key(checked_namespace("name", name))
        bits = _bits(block)
        self._flush_every = _at_least("flush_every", flush_every, 1)
        self._flush_seconds = _at_least("flush_seconds", flush_seconds, 0)
        self._own_store = not isinstance(store, Store)
        self._store = store if isinstance(store, Store) else share(store)
        self._place = StorePlace(self._store, self._key)
        try:
            self._open(aggregation, types, policy, bits)
        except BaseException:
            if self._own_store:
                self._store.close()
            raise

    def _open(
        self,
        aggregation: Aggregation | Measure | None,
        types: Types | None,
        policy: PolicyWindow | None,
        bits: int,
    ) -> None:
        found = self._store.get_many([self._key])[0]
        header = None if found is None else WindowHeader.from_bytes(self._place, found)
        stored = None if header is None else header.description
        name = self._key.namespace
        self._program = StoredProgram(measure_of(aggregation, stored, name), types, policy, stored)
        self._description = self._program.description(bits if stored is None else stored.bits)
        if stored is not None:
            self._description.require(stored, self._store, self._key)
        me = Writer(0 if header is None else header.state.end, secrets.token_bytes(MARK_BYTES))
        writers = [me]
        if header is not None:
            writers = _still_needed([*header.writers, me], header.state.front)
        bits = self._description.bits
        self._layout = self._program.layout
        self._blocks = WindowBlocks(self._store, name, self._layout, bits, writers)
        self._tree = SpilledTree(self._program.product, self._program.kernel, bits, self._blocks)
        self._gathered: list[tuple[Any, ...]] = []
        self._slides = policy is not None
        self._closed = False
        #: the header in the store, as far as this window knows
        self._committed = found
        if header is not None and found is not None:
            count = SpilledTree.count_partials(header.state)
            partials = self._layout.partials_of_header(self._place, found, count)
            self._tree.restore(header.state, partials)
        #: how many events had been inserted at the flush that the window continues from
        self.recovered = self._tree.state.end
        self._commit()
        if header is not None:
            self._tree.delete_unfinished()

    @property
    def inserted(self) -> int:
        """The number of events that have ever been inserted."""
        return self._tree.state.end + len(self._gathered)

    @property
    def resident(self) -> int:
        """How many partials are in memory at most; this does not grow with the window."""
        return self._tree.resident

    def insert(self, *inputs: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        self._require_open()
        self._gathered.append(self._program.inputs.event(inputs))
        if len(self._gathered) >= _GATHERED or self._is_late():
            self._catch_up()

    def insert_many(self, events: Any) -> None:
        """Add events, oldest first, at compiled speed.

        Args:
            events: an array of numpy or Arrow, or a list. If the aggregation has several inputs,
                a table with a column for each, or a list of tuples.
        """
        self._catch_up()
        self._drive(self._program.inputs.columns(events), answering=False)

    def answer_many(self, events: Any) -> pa.Array:
        """Add events, oldest first, and answer after each.

        >>> import windrow as wr
        >>> window = wr.Window.open(wr.stores.MemoryStore(), "doc", wr.max())
        >>> window.answer_many([4, 5, 3]).to_pylist()
        [4.0, 5.0, 5.0]
        """
        self._catch_up()
        return self._drive(self._program.inputs.columns(events), answering=True)

    def evict(self) -> None:
        """Drop the oldest event."""
        if not len(self):
            raise EmptyWindow("evict: the window holds no events")
        self.evict_many(1)

    def evict_many(self, count: int) -> None:
        """Drop the oldest `count` events, without reading them."""
        self._require_open()
        if not isinstance(count, Integral) or count < 0:
            raise InvalidArgument(f"count: a number of events is 0, 1, 2, ..., not {count!r}")
        held = len(self)
        if count > held:
            raise EmptyWindow(
                f"evict_many: {count} events are to leave, but the window holds {held}"
            )
        if count:
            self._catch_up()
            self._tree.evict_many(int(count))

    def query(self) -> Any:
        """The aggregate of all events in the window; None if they have no value."""
        self._catch_up()
        answers = self._program.answers(1)
        with failures_named(self._program.aggregation.name):
            self._tree.advance(*self._program.no_events(), *_written(answers), 0, 1, False, True)
        return self._program.result(answers)[0].as_py()

    def clear(self) -> None:
        """Drop all events."""
        self.evict_many(len(self))

    def flush(self) -> None:
        """Wait until the store holds the window as it is now."""
        self._catch_up()
        self._commit()

    def close(self) -> None:
        """Flush, and release the store. You cannot use the window any more.

        Closing again does nothing.
        """
        if self._closed:
            return
        try:
            self.flush()
        finally:
            self._closed = True
            self._blocks.close()
            if self._own_store:
                self._store.close()

    def __enter__(self) -> StoredWindow:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        self._require_open()
        if self._slides:
            # The policy decides how many stay, and has not seen the gathered events.
            self._catch_up()
        return len(self._tree) + len(self._gathered)

    def __repr__(self) -> str:
        held = "Closed window" if self._is_closed else f"Window of {len(self)} events"
        return (
            f"<{held}: {self._program.aggregation.name}, "
            f"{self._key.namespace!r} in {self._store!r}>"
        )

    @property
    def _is_closed(self) -> bool:
        return self._closed or self._store.closed

    def _require_open(self) -> None:
        if self._is_closed:
            what = "window" if self._closed else "store of the window"
            raise StoreError(
                f"the {what} {self._key.namespace!r} in {self._store!r} is closed; open it again "
                "with wr.Window.open(...)"
            )

    # Events --------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Finish what a policy was doing, and run the gathered events through the window."""
        self._require_open()
        if not self._tree.is_settled:
            self._tree.settle(*self._program.no_events(), *_written(self._program.answers(0)))
        if self._gathered:
            try:
                self._drive_gathered(len(self._gathered))
            except StoreError:
                raise
            except Exception:
                self._drive_to_failure()

    def _drive_gathered(self, count: int) -> None:
        """Run the first gathered events through the window."""
        inputs, gathered = self._program.inputs, self._gathered[:count]
        events = inputs.columns(
            gathered if len(inputs.types) > 1 else [value for (value,) in gathered]
        )
        before = self._tree.state.end
        try:
            self._drive(events, answering=False)
        finally:
            del self._gathered[: self._tree.state.end - before]

    def _drive_to_failure(self) -> None:
        """Run gathered events one by one, and leave out the event that a function refuses.

        Otherwise it would block every event behind it, and every flush.
        """
        while self._gathered:
            event = self._gathered[0]
            try:
                self._drive_gathered(1)
            except StoreError:
                raise
            except Exception as error:
                del self._gathered[0]
                error.add_note(
                    f"the window {self._key.namespace!r} has left out the event {event!r}, which "
                    "was inserted before"
                )
                raise

    def _drive(self, columns: list[pa.Array], answering: bool) -> pa.Array:
        pieces = []
        for begin in range(0, len(columns[0]), _PIECE):
            piece = [column.slice(begin, _PIECE) for column in columns]
            pieces.append(self._drive_piece(piece, answering))
        return pa.concat_arrays(pieces or [self._program.result(self._program.answers(0))])

    def _drive_piece(self, piece: list[pa.Array], answering: bool) -> pa.Array:
        size = len(piece[0])
        block = self._program.block(piece)
        answers = self._program.answers(size if answering else 0)
        row = 0
        while row < size:
            with failures_named(self._program.aggregation.name):
                row = self._tree.advance(*block, *_written(answers), row, size, True, answering)
            if self._is_late():
                self._commit()
        return self._program.result(answers)

    # Flushing ------------------------------------------------------------------------------------

    def _is_late(self) -> bool:
        """Whether it is time for a flush."""
        since = self.inserted - self._flushed_events
        if self._flush_every is not None and since >= self._flush_every:
            return True
        waited = time.monotonic() - self._flushed_at
        return self._flush_seconds is not None and waited >= self._flush_seconds

    def _commit(self) -> None:
        """Write the blocks, then the header; then delete what only the old header needed."""
        self._tree.write_all()
        header = WindowHeader(self._description, self._tree.state, self._blocks.writers)
        value = self._layout.header_to_bytes(self._place, header.to_text(), self._tree.partials())
        self._exchange(value)
        self._flushed_events, self._flushed_at = self._tree.state.end, time.monotonic()
        self._tree.delete_unused()

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
        return header.writers[-1].mark == self._blocks.writers[-1].mark


def _written(answers: FeatureAnswers) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(answers.values), tuple(answers.defined)


def _still_needed(writers: list[Writer], front: int) -> list[Writer]:
    """The writers of blocks that hold events from `front` on, and the last."""
    return [
        writer
        for writer, following in zip(writers, [*writers[1:], None], strict=True)
        if following is None or following.since > max(front, writer.since)
    ]


def _bits(block: int) -> int:
    if not isinstance(block, Integral) or not 4 <= block <= 2**16 or block & (block - 1):
        raise InvalidArgument(f"block: give a power of two from 4 to {2**16}, not {block!r}")
    return int(block).bit_length() - 1


def _at_least(argument: str, number: Any, least: int) -> Any:
    valid = isinstance(number, Real) and not isinstance(number, bool)
    if number is not None and not (valid and number >= least):
        raise InvalidArgument(f"{argument}: give a number from {least} on, or None, not {number!r}")
    return number
