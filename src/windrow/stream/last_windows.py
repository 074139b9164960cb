"""The last window of each key that had an answer, kept where windows without events are answered.

They are answered together with the next answer of their key: only then it is known that they lie
between two of its windows, as in a table. A key may come back at any time, so its last window is
kept for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.empty_windows import UNKNOWN, EmptyWindows
from windrow.planning.slide_plan import SlidePlan

Array = np.ndarray[Any, Any]

#: when they are final, in words
EMPTY_FINAL = "windows without events, with the next answer of their key"


class LastWindows:
    """The last windows of one name, by key.

    Attributes:
        columns: the columns to keep of each key, with their types.
    """

    def __init__(self, plan: SlidePlan, name: str, place: int) -> None:
        """`place` is the window's number, for the names of columns."""
        self._plan, self._name, self._column = plan, name, f"window_{place}"
        self._empty = EmptyWindows(plan, name)
        self.columns: dict[str, pa.DataType] = {self._column: pa.int64()}

    def filled(
        self, kept: Mapping[str, pa.Array], table: pa.Table, names: Array, keys: Array
    ) -> tuple[pa.Table, Array, dict[str, pa.Array]]:
        """The answers with windows without events among them, their keys; and what to keep now.

        Args:
            kept: the columns of all keys, null where there is no answer yet.
            table: the answers.
            names: which windows they are of.
            keys: for each answer, the number of its key; the answers of a key are in order.
        """
        before = kept[self._column].fill_null(UNKNOWN).to_numpy()
        ((table, all_keys),) = self._empty.among(table, names, keys, before, self._require)
        last = before.copy()
        last[keys] = names
        return table, all_keys, {self._column: pa.array(last, mask=last == UNKNOWN)}

    def _require(self, answers: int) -> None:
        given = f"with windows without events, a batch gives {self._name!r}"
        self._plan.require_few(answers, 0, given)
