"""Answers from counts of values, over spans of rows that come in batches.

Features that ask about all values of a window have no small partial (`algebra/value_counts.py`).
Whatever says which rows an answer is about, for them it is a span: its oldest row, and the row
behind its newest. A table is one block. Of batches, the rows that answers to come may hold go in
front of the next (`held_rows.py`); rows of earlier batches have negative numbers.

    extend          lay the next rows behind the rows held
    answers         go along spans: what enters is counted, what leaves is not any more
    forget_before   keep the rows that answers to come may hold
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.counted_windows import CountedAnswers, CountedColumns
from windrow.engine.held_rows import HeldRows
from windrow.engine.value_blocks import ValueBlocks
from windrow.planning.features import Feature
from windrow.work import sizes
from windrow.work.threads import even_pieces, in_threads

Array = np.ndarray[Any, Any]


class CountedSpans:
    """The features of a plan that are answered from counts of values, along one stream of rows.

    Attributes:
        rows_numbered: how many rows went through `extend`, held ones again each time.
    """

    def __init__(self, features: Sequence[Feature], threads: int = 1) -> None:
        """Start before the first row; `threads` is how many may work at once."""
        self._features, self._threads = features, threads
        reads = dict.fromkeys(name for feature in features for name in feature.reads)
        self._held = HeldRows(list(reads))
        self._columns = CountedColumns({})
        self._size = self.rows_numbered = 0
        #: of some windows, which of the rows held are in windows at all
        self._present: dict[str, Array] = {}

    @property
    def rows_held(self) -> int:
        """How many rows of earlier batches answers to come may hold."""
        return self._held.count

    def extend(self, columns: Mapping[str, pa.Array], size: int) -> None:
        """Lay the next rows behind those held."""
        if self._features:
            self._columns = CountedColumns(self._held.before(columns, size))
            self._size = self._held.count + size
            self.rows_numbered += self._size

    def answers(self, firsts: Array, stops: Array) -> dict[Feature, pa.Array]:
        """The answers to each feature over spans of rows; the newest row is the current one."""
        # A span without rows has no newest; any row will do, because its answer is not used.
        newest = np.clip(stops - 1, -self._held.count, self._size - self._held.count - 1)
        filled = firsts < stops
        return self._answers(firsts, stops, newest, None, None if filled.all() else filled)

    def answers_of_rows(
        self, window: str, spans: tuple[Array, Array], begin: int, present: Array | None
    ) -> dict[Feature, pa.Array]:
        """The answers to each feature for the rows from `begin` on, of which a span is given each.

        Rows of the newest batch that are not `present` are in no window of that name.
        """
        of_all = self._present_rows(window, present)
        currents = np.arange(begin, begin + len(spans[0]))
        return self._answers(*spans, currents, of_all, present)

    def answers_at(
        self, places: Array, spans: tuple[Array, Array], present: Array | None
    ) -> dict[Feature, pa.Array]:
        """The answers to each feature for some of the rows; of the others, nulls.

        `spans` and `present` are of all rows, and the places only grow.
        """
        firsts, stops = (each[places] for each in spans)
        answered = None if present is None else present[places]
        found = self._answers(firsts, stops, places, present, answered)
        at = np.full(self._size, -1)
        at[places] = np.arange(len(places))
        indices = pa.array(at, mask=at < 0)
        return {feature: column.take(indices) for feature, column in found.items()}

    def _answers(
        self, firsts: Array, stops: Array, currents: Array,
        present: Array | None, answered: Array | None,
    ) -> dict[Feature, pa.Array]:  # fmt: skip
        if not self._features:
            return {}
        count, held = len(firsts), self._held.count
        found = CountedAnswers(self._features, self._columns, present, count)
        firsts, stops, currents = firsts + held, stops + held, currents + held

        def answer(piece: tuple[int, int]) -> None:
            begin, end = piece
            own = firsts[begin:end], stops[begin:end], begin, end, currents[begin:end]
            found.answer_blocks(ValueBlocks(*own))

        if self._size:
            in_threads(answer, self._pieces(count), self._threads)
        return {feature: found.column_of(feature, answered) for feature in self._features}

    def _present_rows(self, window: str, present: Array | None) -> Array | None:
        """Which of the rows held and of the next are in windows of that name; None for all."""
        held = self._held.count
        before = self._present.get(window)
        if before is None and present is None:
            return None
        before = np.ones(held, np.bool_) if before is None else before
        present = np.ones(self._size - held, np.bool_) if present is None else present
        self._present[window] = np.concatenate([before[:held], present])
        return self._present[window]

    def _pieces(self, count: int) -> list[tuple[int, int]]:
        """The answers in as many pieces as there are threads to work on them."""
        wanted = max(min(self._threads, count, self._size // sizes.current().smallest_piece), 1)
        return even_pieces(count, wanted) if count else []

    def forget_before(self, front: int) -> None:
        """Drop the rows before one, counted from the first of the newest batch."""
        if self._features:
            before = self._size
            self._held.keep_from(front)
            dropped = before - self._held.count
            self._present = {name: rows[dropped:] for name, rows in self._present.items()}
