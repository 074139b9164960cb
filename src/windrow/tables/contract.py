"""What a kind of table has to do.

```
 data ── source_of ──> Source ── arrow(read) ──> pa.Table ── engine ──> answers, a pa.Table
                          |                                                 |
 over, as_of   data and   <── with_columns(answers, like) ──────────────────+
               answers                                                      |
 slide         answers    <── of_same_kind(answers, like, keys) ────────────+
```

A source reads only the columns that a call names. It alone knows the library that the data comes
from, and it is made only of such data: nothing here is imported that the data has not imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

#: for each answer, the types that the columns it is made of have in their own library
Like: TypeAlias = Mapping[str, tuple[Any, ...]]


class Source(ABC):
    """Data of one kind. Rows are read from it, and answers become data of its kind."""

    @abstractmethod
    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """All columns and rows as Arrow, in their order.

        Args:
            read: the columns whose values are needed. Others may be stand-ins: null in every row.
            keys: the columns of the key; they may come as dictionaries.
            returned: whether `with_columns` follows, which returns the rows that were read.
        """

    @abstractmethod
    def with_columns(self, answers: pa.Table, like: Like) -> Any:
        """The data as it is, with more columns: an answer for each of its rows."""

    @abstractmethod
    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> Any:
        """Answers as data of this kind. `keys` are columns of the data, and keep their types."""

    def types_of(self, names: Collection[str]) -> tuple[Any, ...]:
        """The types that columns have in their own library; none if Arrow's types say it all."""
        return ()


def with_stand_ins(names: list[str], columns: Mapping[str, Any], size: int) -> pa.Table:
    """A table of those names; columns that are not given are null in every row, at no cost."""
    stand_in = pa.nulls(size)
    if not names:  # a table that is made of no columns would have no rows
        return pa.table({"": stand_in}).select([])
    return pa.Table.from_arrays([columns.get(name, stand_in) for name in names], names)
