"""pandas: columns are read one by one, and answers join the user's own frame.

A missing value of a numpy column (NaN, NaT, None) is null, as pandas means it. Nullable and
Arrow-backed columns say themselves what is missing; NaN is a number there. A level of the index is
named like a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.tables.contract import Like, Source, with_stand_ins
from windrow.tables.pandas_types import answers_to_pandas, key_to_pandas
from windrow.tables.text_keys import encoded_texts

#: from so many added columns on, pandas wants them joined at once
_MANY = 50


class PandasFrame(Source):
    """A DataFrame of pandas."""

    def __init__(self, frame: Any) -> None:
        if frame.columns.nlevels > 1:
            raise InvalidArgument(
                "data: columns of several levels have no single names; join them, as in "
                "frame.set_axis(frame.columns.map('_'.join), axis=1)"
            )
        self._frame = frame
        self._levels = {
            label: number
            for number, label in enumerate(frame.index.names)
            if isinstance(label, str)
        }
        # What is no string cannot be named.
        self._names = [label for label in frame.columns if isinstance(label, str)]
        self._names += self._levels
        self._counts = Counter(self._names)

    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """The columns that are read; others are stand-ins."""
        self._require_name_of_times(read)
        columns = {
            name: _to_arrow(self._values(name), name, name in keys)
            for name in read
            if self._counts[name] == 1
        }
        return with_stand_ins(self._names, columns, len(self._frame))

    def whole(self) -> pa.Table:
        """All columns that have names, and the levels of the index that do."""
        return self.arrow(self._names)

    def with_columns(self, answers: pa.Table, like: Like) -> Any:
        """The frame with more columns; its own columns and its index are as they were."""
        found = {
            name: answers_to_pandas(answers[name], like.get(name, ()))
            for name in answers.column_names
        }
        if len(found) >= _MANY:
            import pandas as pd

            return pd.concat([self._frame, pd.DataFrame(found, index=self._frame.index)], axis=1)
        # None: a copy that shares nothing that can be written, as DataFrame.assign makes it.
        frame = self._frame.copy(deep=None)
        for name, column in found.items():
            frame[name] = column
        return frame

    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> Any:
        """A frame with an index of its own; keys have the dtypes that they have in the data."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: key_to_pandas(answers[name], *self.types_of([name]))
                if name in keys
                else answers_to_pandas(answers[name], like.get(name, ()))
                for name in answers.column_names
            }
        )

    def _require_name_of_times(self, read: Collection[str]) -> None:
        """Say how an index of times is named, where it is what the call may want to read."""
        index = self._frame.index
        if index.nlevels > 1 or index.name is not None or index.dtype.kind != "M":
            return
        for name in read:
            if not self._counts[name]:
                raise InvalidArgument(
                    f"data: there is no column {name!r}; there are {', '.join(self._names)}. The "
                    "index holds times and has no name: give it one, as in frame.rename_axis('ts')"
                )

    def types_of(self, names: Collection[str]) -> tuple[Any, ...]:
        """The dtypes of columns."""
        return tuple(self._values(name).dtype for name in names if self._counts[name] == 1)

    def _values(self, name: str) -> Any:
        """The column or level of the index with that name."""
        if name in self._levels:
            return self._frame.index.get_level_values(self._levels[name])
        return self._frame[name]


def _to_arrow(values: Any, name: str, is_key: bool) -> Any:
    """A column as Arrow; values are not copied unless Arrow lays them out in another way."""
    if is_key and values.dtype == np.object_:
        texts = encoded_texts(values)
        if texts is not None:
            return texts
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"data: the column {name!r} of dtype {values.dtype} cannot be read: {error}"
        ) from None
