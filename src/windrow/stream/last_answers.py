"""The last answer of each key, kept where only changes are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.answer_tables import changes
from windrow.planning.slide_plan import SlidePlan

Array = np.ndarray[Any, Any]


class LastAnswers:
    """The last answers of one window, by key: a column that says whether there is one, and others.

    Attributes:
        columns: the columns to keep of each key, with their types.
    """

    def __init__(self, plan: SlidePlan, name: str, place: int) -> None:
        """`place` is the window's number, for the names of columns."""
        self._plan, self._step = plan, plan.steps.get(name)
        self._window = f"window_{place}"
        self._known = f"answered_{place}"
        #: for each feature that is answered, the column that has its answer
        answered = sorted({feature for _output, feature in plan.outputs})
        self._last = {each: f"answer_{place}_{each}" for each in answered}
        self.columns: dict[str, pa.DataType] = {
            self._known: pa.bool_(),
            **{column: plan.features[each].type for each, column in self._last.items()},
        }
        if self._step:
            self.columns[self._window] = pa.int64()

    def changed(
        self,
        kept: Mapping[str, pa.Array],
        table: pa.Table,
        keys: Array,
        names: Array | None = None,
    ) -> tuple[pa.Table, dict[str, pa.Array]]:
        """The answers that differ from that of the window before of their key; and what to keep.

        Args:
            kept: the columns of all keys, null where there is no answer yet.
            table: the answers.
            keys: for each answer, the number of its key; the answers of a key are in order.
            names: which windows of a schedule they are of, if it has one.
        """
        known = kept[self._known].is_valid().to_numpy(zero_copy_only=False)
        before = np.flatnonzero(known)
        columns = {
            output: pa.concat_arrays(
                [kept[self._last[feature]].take(pa.array(before)), arrow.whole(table[output])]
            )
            for output, feature in self._plan.outputs
        }
        runs = np.concatenate([before, keys])
        order = np.argsort(runs, kind="stable")
        placed = pa.table(columns).take(pa.array(order))
        named: tuple[Array, int] | tuple[()] = ()
        if self._step:
            windows = pa.concat_arrays(
                [kept[self._window].take(pa.array(before)), pa.array(names, pa.int64())]
            )
            columns[self._window] = windows
            named = windows.to_numpy()[order], self._step
        changed = changes(self._plan, placed, runs[order], *named)
        new = order[changed & (order >= len(before))] - len(before)
        latest = np.full(len(known), -1)
        latest[runs[order]] = order
        indices = pa.array(latest, mask=latest < 0)
        taken = {self._last[feature]: output for output, feature in self._plan.outputs}
        if self._step:
            taken[self._window] = self._window
        return table.take(pa.array(np.sort(new))), {
            self._known: pa.array(latest >= 0, mask=latest < 0),
            **{column: columns[each].take(indices) for column, each in taken.items()},
        }
