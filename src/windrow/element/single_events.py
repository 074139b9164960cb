"""Single events of a compiled window: they wait in typed memory until somebody asks.

What always holds: the window's events are those in the ring without the oldest `leaving`, followed
by `count` that wait. If more are to leave than the ring holds, the oldest that wait leave, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from windrow.algebra import arrays
from windrow.algebra.failures import FAILURES, named
from windrow.compiler.bound_code import BoundKernel
from windrow.element.compiled_program import CompiledProgram, Read, written
from windrow.engine.element_loops import ANSWERING, LEAVING, STOP
from windrow.errors import EmptyWindow, InvalidArgument

#: how many events wait at most
ROOM = 256


class SingleEvents:
    """The operations of one event, with all that they need at hand."""

    __slots__ = (
        "_answer", "_answers", "_bound", "_buffer", "_buffers", "_call", "_cells", "_columns",
        "_count", "_defined", "_gathered", "_grow", "_held", "_is_odd", "_leaving", "_nulls",
        "_number", "_numbers", "_program", "_size", "_slides", "_valid", "_validities", "_words",
    )  # fmt: skip

    def __init__(
        self,
        program: CompiledProgram,
        slides: bool,
        grow: Callable[[], None],
        size: Callable[[], int],
    ) -> None:
        """Make the buffers.

        Args:
            program: what events are, and what answers are.
            slides: whether a policy lets events leave.
            grow: makes room in the ring, and binds the kernel to it.
            size: tells how many events are in the ring.
        """
        self._program, self._slides, self._grow, self._size = program, slides, grow, size
        #: how many events wait, how many of all are to leave, and how many are in the ring
        self._count = self._leaving = self._held = 0
        self._answers = program.answers(1)
        values, defined = written(self._answers)
        self._answer: Any = _view(values[0]) if program.answers_as_numbers() else None
        #: whether the next query has to do more than to read a number
        self._is_odd = self._answer is None
        self._defined = _view(defined[0] if len(defined[0]) else np.ones(1, np.bool_))
        self._columns, self._validities = program.buffers(ROOM)
        places = program.places()
        #: where each input is written, and where it is said that it is valid
        self._buffers: list[memoryview] = []
        self._valid: list[memoryview | None] = []
        self._numbers: list[type] = []
        for place, valid in places or ():
            column = np.zeros(ROOM) if place is None else self._columns[place]
            self._buffers.append(_view(column))
            self._valid.append(None if valid is None else _view(self._validities[valid]))
            self._numbers.append(int if column.dtype.kind == "i" else float)
        # What a function of the user's takes is tried first.
        is_trusted = len(self._numbers) == 1 and not program.answer.aggregation.custom
        self._number = self._numbers[0] if is_trusted else None
        self._buffer: Any = self._buffers[0] if is_trusted else None
        #: the places of events with a null
        self._nulls: list[int] = []
        #: the events that wait, if they cannot be written as numbers
        self._gathered: list[tuple[Any, ...]] | None = [] if places is None else None

    @property
    def read(self) -> Read:
        """What the kernel reads."""
        columns, validities = self._columns, self._validities
        return tuple(map(arrays.read_only, columns)), tuple(map(arrays.read_only, validities))

    @property
    def answers(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What the kernel writes."""
        return written(self._answers)

    def bind(self, bound: BoundKernel, cells: memoryview) -> None:
        """Take the kernel with the ring as it is now."""
        self._bound, self._call, self._words = bound, bound.call, bound.words
        self._cells = cells

    def look(self) -> None:
        """See how many events there are, after others were inserted or evicted."""
        self._held = self._size()

    # One event -----------------------------------------------------------------------------------

    def insert(self, value: Any) -> None:
        """Write an event of one number."""
        if type(value) is self._number:
            count = self._count
            try:
                self._buffer[count] = value
            except ValueError:  # an integer of more than 64 bits
                self.insert_any(value)
                return
            self._count = count = count + 1
            if count == ROOM:
                self.settle()
        else:
            self.insert_any(value)

    def insert_any(self, *inputs: Any) -> None:
        """Check an event, and write it; a null is an event without a value."""
        inputs = self._program.checked_event(inputs)
        count = self._count
        if self._gathered is not None:
            self._gathered.append(inputs)
            self._is_odd = True
        else:
            for index, value in enumerate(inputs):
                valid = self._valid[index]
                if value is not None:
                    self._buffers[index][count] = self._numbers[index](value)
                elif valid is not None:
                    valid[count] = False
                    self._nulls.append(count)
                    self._is_odd = True
        self._count = count + 1
        if self._count == ROOM:
            self.settle()

    def evict(self) -> None:
        """Let the oldest event leave when somebody asks."""
        if self._leaving == self._held + self._count:
            raise EmptyWindow("evict: the window holds no events")
        self._leaving += 1

    def evict_settled(self) -> None:
        """The same where a policy decides how many events there are."""
        len(self)
        self.evict()

    def evict_many(self, count: int) -> None:
        """The same of many events; there must be as many."""
        self._leaving += count

    def query(self, *, range: int | None = None) -> Any:
        """The aggregate of all events in the window; None if they have no value."""
        if self._is_odd or range is not None:
            return self._query_odd(range)
        cells = self._cells
        cells[STOP] = count = self._count
        cells[LEAVING] = leaving = self._leaving
        if self._call(self._words):
            self._mend()
        else:
            self._held += count - leaving
            self._count = self._leaving = 0
        return self._answer[0] if self._defined[0] else None

    # Rarely --------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let events leave and enter that wait for it."""
        if self._count or self._leaving:
            self._cells[ANSWERING] = 0
            try:
                self._run()
            finally:
                self._cells[ANSWERING] = 1

    def _run(self) -> None:
        if self._gathered:
            self._write_gathered()
        self._cells[STOP], self._cells[LEAVING] = self._count, self._leaving
        if self._call(self._words):
            self._mend()
        else:
            self._forget()

    def _query_odd(self, range: int | None) -> Any:
        """The answer, where more is to be done than to read a number."""
        if range is not None:
            raise InvalidArgument("range: a compiled window answers for all its events")
        self._run()
        if self._answer is None:
            return self._program.python_answer(self._answers)
        return self._answer[0] if self._defined[0] else None

    def _mend(self) -> None:
        """Make room and go on, as long as that is what a call fails for."""
        while isinstance(self._bound.error(), MemoryError):
            self._grow()
            if not self._call(self._words):
                self._forget()
                return
        self._fail()

    def _forget(self) -> None:
        """Nothing waits any more."""
        self._held += self._count - self._leaving
        self._count = self._leaving = 0
        for place in self._nulls:
            for valid in self._valid:
                if valid is not None:
                    valid[place] = True
        self._nulls.clear()
        self._is_odd = self._answer is None

    def _fail(self) -> NoReturn:
        """Raise what the kernel raised.

        If it had done all but answer, the window is as it should be. Otherwise a function of the
        user's has failed among partials, and the window is of no use until it is cleared.
        """
        error = self._bound.error()
        if self._cells[STOP]:
            self._call = _fails
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
        return self._held + self._count - self._leaving


def _view(array: Any) -> memoryview:
    """An array whose numbers Python reads and writes fast."""
    return memoryview(array)


def _fails(_words: Any) -> bool:
    return True
