"""`wr.Window.open`: a window whose events lie in a store, and that outlasts the process.

The window is a tree of blocks (`windrow.algorithms.block_tree`). Full blocks go to the store. The
header holds the rest: what is not in a full block, and where the window begins and ends
(`stored_contents.py`). Here is what you call, and when the window flushes by itself.
"""

from __future__ import annotations

import time
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.element.arguments import going
from windrow.element.stored_algorithms import StoredAlgorithm, checked_algorithm
from windrow.element.stored_contents import StoredContents, description_in
from windrow.element.stored_header import header_key
from windrow.element.stored_measures import Asked, measures_of
from windrow.element.stored_program import StoredProgram
from windrow.element.typed_inputs import Types
from windrow.errors import EmptyWindow, InvalidArgument, StoreError
from windrow.stores import share
from windrow.stores.contract import Store, checked_namespace
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
        aggregation: Asked | None = None,
        *,
        types: Types | None = None,
        policy: PolicyWindow | None = None,
        algorithm: StoredAlgorithm | None = None,
        block: int = 256,
        flush_every: int | None = 1_000_000,
        flush_seconds: float | None = 10.0,
    ) -> None:
        """Open or create a window; see `wr.Window.open`."""
        self._key = header_key(checked_namespace("name", name))
        bits = _bits(block)
        if algorithm is not None:
            algorithm = checked_algorithm(algorithm)
        self._flush_every = _at_least("flush_every", flush_every, 1)
        self._flush_seconds = _at_least("flush_seconds", flush_seconds, 0)
        self._own_store = not isinstance(store, Store)
        self._store = store if isinstance(store, Store) else share(store)
        try:
            found, stored = description_in(self._store, self._key)
            measures = measures_of(aggregation, stored, name)
            if stored is not None:
                algorithm, bits = algorithm or checked_algorithm(stored.algorithm), stored.bits
            self._program = StoredProgram(
                measures, types, policy, algorithm or "amortized_monoid_tree", stored
            )
            description = self._program.description(bits)
            if stored is not None:
                description.require(stored, self._store, self._key)
            self._contents = StoredContents(
                self._store, self._key, self._program, description, found
            )
        except BaseException:
            if self._own_store:
                self._store.close()
            raise
        self._tree = self._contents.tree
        self._gathered: list[tuple[Any, ...]] = []
        self._slides = policy is not None
        self._closed = False
        #: the last answer, and where the window began and ended then
        self._answered: tuple[tuple[int, int], list[pa.Array]] | None = None
        #: how many events had been inserted at the flush that the window continues from
        self.recovered = self._tree.state.end
        self._flushed_events, self._flushed_at = self.recovered, time.monotonic()

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
                a table with a column for each, or a list of tuples. If events are rows, a table, a
                mapping from columns to arrays, or a list of mappings.
        """
        self._catch_up()
        self._drive(self._program.inputs.columns(events), answering=False)

    def answer_many(self, events: Any) -> pa.Array | pa.Table:
        """Add events, oldest first, and answer after each; if events are rows, by a table.

        >>> import windrow as wr
        >>> window = wr.Window.open(wr.stores.MemoryStore(), "doc", wr.max())
        >>> window.answer_many([4, 5, 3]).to_pylist()
        [4.0, 5.0, 5.0]
        """
        self._catch_up()
        columns = self._drive(self._program.inputs.columns(events), answering=True)
        names = self._program.names
        return columns[0] if names is None else pa.table(columns, names)

    def evict(self) -> None:
        """Drop the oldest event."""
        if not len(self):
            raise EmptyWindow("evict: the window holds no events")
        self.evict_many(1)

    def evict_many(self, count: int) -> None:
        """Drop the oldest `count` events, without reading them."""
        self._require_open()
        events = going(count, len(self))
        if events:
            self._catch_up()
            self._tree.evict_many(events)

    def query(self) -> Any:
        """The aggregate of all events in the window; None if they have no value.

        The answer is kept. If you ask again before an event comes or leaves, nothing is computed
        or read.
        """
        self._catch_up()
        extent = self._tree.state.front, self._tree.state.end
        if self._answered is None or self._answered[0] != extent:
            self._answered = extent, self._contents.query()
        answers = [column[0].as_py() for column in self._answered[1]]
        names = self._program.names
        return answers[0] if names is None else dict(zip(names, answers, strict=True))

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
            self._contents.blocks.close()
            if self._own_store:
                self._store.close()

    def __enter__(self) -> StoredWindow:
        self._require_open()
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
        return f"<{held}: {self._program.name}, {self._key.namespace!r} in {self._store!r}>"

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
        self._contents.settle()
        if self._gathered:
            try:
                self._drive_gathered(len(self._gathered))
            except StoreError:
                raise
            except Exception:
                self._drive_to_failure()

    def _drive_gathered(self, count: int) -> None:
        """Run the first gathered events through the window."""
        events = self._program.inputs.columns_of(self._gathered[:count])
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

    def _drive(self, columns: list[pa.Array], answering: bool) -> list[pa.Array]:
        pieces = [
            self._contents.drive(
                [column.slice(begin, _PIECE) for column in columns], answering, self._flush_if_late
            )
            for begin in range(0, len(columns[0]), _PIECE)
        ]
        if not pieces:
            pieces = [self._contents.drive(columns, answering, self._flush_if_late)]
        return [pa.concat_arrays(parts) for parts in zip(*pieces, strict=True)]

    # Flushing ------------------------------------------------------------------------------------

    def _is_late(self) -> bool:
        """Whether it is time for a flush."""
        since = self.inserted - self._flushed_events
        if self._flush_every is not None and since >= self._flush_every:
            return True
        waited = time.monotonic() - self._flushed_at
        return self._flush_seconds is not None and waited >= self._flush_seconds

    def _flush_if_late(self) -> None:
        if self._is_late():
            self._commit()

    def _commit(self) -> None:
        self._contents.commit()
        self._flushed_events, self._flushed_at = self._tree.state.end, time.monotonic()


def _bits(block: int) -> int:
    if not isinstance(block, Integral) or not 4 <= block <= 2**16 or block & (block - 1):
        raise InvalidArgument(f"block: give a power of two from 4 to {2**16}, not {block!r}")
    return int(block).bit_length() - 1


def _at_least(argument: str, number: Any, least: int) -> Any:
    valid = isinstance(number, Real) and not isinstance(number, bool)
    if number is not None and not (valid and number >= least):
        raise InvalidArgument(f"{argument}: give a number from {least} on, or None, not {number!r}")
    return number
