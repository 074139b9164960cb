"""Single events of a compiled window: they wait in typed memory until somebody asks.

What always holds: the window's events are those in the ring without the oldest `LEAVING`, followed
by `COUNT` that wait. If more are to leave than the ring holds, the oldest that wait leave, too.

Both numbers stand on a desk of words. Where events are numbers, `insert`, `evict` and `query` are
functions of machine code (`compiler/event_calls.py`), and the methods here do what is rare. Where
there is no machine code, and for other events, they do all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from windrow.algebra.failures import FAILURES, named
from windrow.compiler import event_calls
from windrow.compiler.event_calls import COUNT, HELD, ODD, Fallbacks, Places
from windrow.compiler.event_calls import LEAVING as GOING
from windrow.element.arguments import going
from windrow.element.compiled_program import CompiledProgram, Read, written
from windrow.element.compiled_ring import CompiledRing
from windrow.engine.element_loops import ANSWERING, LEAVING, STOP
from windrow.errors import EmptyWindow, InvalidArgument

#: how many events wait at most
ROOM = 256


class SingleEvents:
    """The operations of one event, with all that they need at hand."""

    def __init__(self, program: CompiledProgram, ring: CompiledRing, slides: bool) -> None:
        """Make the buffers.

        Args:
            program: what events are, and what answers are.
            ring: where events are that do not wait.
            slides: whether a policy lets events leave.
        """
        self._program, self._ring, self._slides = program, ring, slides
        #: the desk, as machine code writes it and as Python does
        self._words = np.zeros(event_calls.DESK, np.int64)
        self._desk = self._words.data
        self._columns, self._validities = program.buffers(ROOM)
        self._answers = program.answers(1)
        values, defined = written(self._answers)
        self._number = values[0] if program.answers_as_numbers() else None
        self._defined = defined[0] if len(defined[0]) else np.ones(1, np.bool_)
        places = program.places()
        #: where each input is written, and where it is said that it is valid
        self._buffers: list[Any] = []
        self._valid: list[Any] = []
        for place, valid in places or ():
            self._buffers.append(np.zeros(ROOM) if place is None else self._columns[place])
            self._valid.append(None if valid is None else self._validities[valid])
        #: the places of events with a null
        self._nulls: list[int] = []
        #: the events that wait, if they cannot be written as numbers
        self._gathered: list[tuple[Any, ...]] | None = [] if places is None else None
        self.bind()

    def bind(self) -> None:
        """Take the kernel with the ring as it is now."""
        self._bound = self._ring.bound(*self._read(), *written(self._answers))
        if self._bound.address is not None:
            address, words = self._bound.address, self._bound.words
            event_calls.bind(self._words, address, words, self._ring.cells)

    def _read(self) -> Read:
        """What the kernel reads."""
        return tuple(self._columns), tuple(self._validities)

    def look(self) -> None:
        """See how many events there are, after others were inserted or evicted."""
        self._desk[HELD] = self._ring.size()

    def calls(self) -> dict[str, Callable[..., Any]]:
        """What to call for one event."""
        evict = self.evict_settled if self._slides else self.evict
        calls: dict[str, Any] = {"insert": self.insert, "evict": evict, "query": self.query}
        # What a function of the user's takes is tried first.
        if (
            len(self._buffers) == 1
            and self._number is not None
            and self._bound.address is not None
            and not self._program.features.checked
            and event_calls.is_possible()
        ):
            places = Places(self._words, self._buffers[0], self._number, self._defined)
            fallbacks = Fallbacks(
                self.insert, self.settle, self.evict, self._evict_checked, self.query, self._mended
            )
            coded = event_calls.event_calls(places, fallbacks, ROOM, STOP, LEAVING)
            if self._slides:  # how many events there are, the policy says first
                del coded["evict"], coded["evict_many"]
            calls |= coded
        return calls

    # One event -----------------------------------------------------------------------------------

    def insert(self, *inputs: Any) -> None:
        """Check an event, and write it; a null is an event without a value."""
        inputs = self._program.checked_event(inputs)
        if self._desk[COUNT] == ROOM:  # a kernel failed when they were to enter
            self.settle()
        count = self._desk[COUNT]
        if self._gathered is not None:
            self._gathered.append(inputs)
        else:
            for index, value in enumerate(inputs):
                valid = self._valid[index]
                if value is not None:
                    self._buffers[index][count] = value
                elif valid is not None:
                    valid[count] = False
                    self._nulls.append(count)
                    self._desk[ODD] = 1
        self._desk[COUNT] = count + 1
        if count + 1 == ROOM:
            self.settle()

    def evict(self) -> None:
        """Let the oldest event leave when somebody asks."""
        desk = self._desk
        if desk[GOING] == desk[HELD] + desk[COUNT]:
            raise EmptyWindow("evict: the window holds no events")
        desk[GOING] += 1

    def evict_settled(self) -> None:
        """The same where a policy decides how many events there are."""
        len(self)
        self.evict()

    def evict_many(self, count: int) -> None:
        """The same of many events; there must be as many."""
        self._desk[GOING] += count

    def _evict_checked(self, count: Any) -> None:
        """The same of a number that may be anything."""
        self.evict_many(going(count, len(self)))

    def query(self, *, range: int | None = None) -> Any:
        """The aggregate of all events in the window; None if they have no value."""
        if range is not None:
            raise InvalidArgument("range: a compiled window answers for all its events")
        self._run()
        return self._answer()

    # Rarely --------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let events leave and enter that wait for it."""
        if self._desk[COUNT] or self._desk[GOING]:
            self._ring.cells[ANSWERING] = 0
            try:
                self._run()
            finally:
                self._ring.cells[ANSWERING] = 1

    def _run(self) -> None:
        if self._gathered:
            self._write_gathered()
        cells = self._ring.cells
        cells[STOP], cells[LEAVING] = self._desk[COUNT], self._desk[GOING]
        if self._bound.call(self._bound.words):
            self._mend()
        else:
            self._forget()

    def _answer(self) -> Any:
        """The answer that the kernel has written, as Python has it."""
        if self._number is None:
            return self._program.python_answer(self._answers)
        return self._number[0].item() if self._defined[0] else None

    def _mended(self) -> Any:
        """The answer, after a call failed."""
        self._mend()
        return self._answer()

    def _mend(self) -> None:
        """Make room and go on, as long as that is what a call fails for."""
        while isinstance(self._bound.error(), MemoryError):
            self._ring.grow()
            self.bind()
            if not self._bound.call(self._bound.words):
                self._forget()
                return
        self._fail()

    def _forget(self) -> None:
        """Nothing waits any more."""
        desk = self._desk
        desk[HELD] += desk[COUNT] - desk[GOING]
        desk[COUNT] = desk[GOING] = 0
        for place in self._nulls:
            for valid in self._valid:
                if valid is not None:
                    valid[place] = True
        self._nulls.clear()
        desk[ODD] = 0

    def _fail(self) -> NoReturn:
        """Raise what the kernel raised.

        If it had done all but answer, the window is as it should be. Otherwise a function of the
        user's has failed among partials, and the window is of no use until it is cleared.
        """
        error = self._bound.error()
        if self._ring.cells[STOP]:
            self._desk[ODD] = 1
            self._bound.call = _fails
        else:
            self._forget()
        if isinstance(error, FAILURES):
            raise named(self._program.name, error) from error
        raise error

    def _write_gathered(self) -> None:
        """Write events that are no numbers of Python into the buffers."""
        assert self._gathered is not None
        events, self._gathered[:] = list(self._gathered), []
        for buffers, found in zip(
            (self._columns, self._validities), self._program.block_of_events(events), strict=True
        ):
            for buffer, numbers in zip(buffers, found, strict=True):
                buffer[: len(numbers)] = numbers

    def __len__(self) -> int:
        if self._slides:
            self.settle()
            self.look()
        return self._desk[HELD] + self._desk[COUNT] - self._desk[GOING]


def _fails(_words: Any) -> bool:
    return True
