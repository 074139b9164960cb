"""Rows of a DataFrame to Python and back, as batches of Arrow.

By Arrow functions of columns, not by `mapInArrow`, which hands over whole rows as structs: for 4M
rows of four columns, shuffled and sorted, that took 3.4 s, and a function of three columns 2.4 s.
Nor is Spark asked for columns, as by `mapInArrow`, so this works in the functions of
`pyspark.pipelines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, DataType, StructType

from windrow.spark.bridge.workers import own_python, sent

#: from the batches of a partition to those of the result
Function = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
#: the same; None says that there is no result yet, so that what was read need not wait for one
Maker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch | None]]
#: the columns of each batch; a single column is not in a tuple
_Columns = Iterator[tuple[pa.Array, ...]]


def answers_by_row(
    frame: Any, read: Sequence[str], function: Function, fields: StructType, name: str
) -> Any:
    """A column with a struct of answers to each row; what is not read never leaves the JVM.

    Args:
        frame: the DataFrame, its rows in partitions and in order as the function is to see them.
        read: the columns that it sees.
        function: gives as many rows as it gets, in all.
        fields: those of the struct.
        name: what Spark's plans and its UI say that is done.
    """

    def answer(columns: _Columns) -> Iterator[pa.Array]:
        for batch in function(_batches(columns, read)):
            yield batch.to_struct_array()

    return _applied(frame, answer, fields, name, read)


def mapped(frame: Any, read: Sequence[str], function: Maker, result: StructType, name: str) -> Any:
    """The rows that a function makes of each partition; arguments as of `answers_by_row`.

    A partition without rows has no place for answers.
    """
    lists = _applied(frame, in_lists(function, read), ArrayType(result), name, read)
    return frame.select(lists.alias("rows")).select(F.inline("rows"))


def in_lists(function: Maker, read: Sequence[str]) -> Callable[[_Columns], Iterator[pa.Array]]:
    """The function as one that gives a list of result rows for every row, nearly always none.

    A batch of the result is one list, in place of a row of the newest batch of the source, so that
    lists stay short. The last row waits for what the function answers at the end.
    """

    def answer(columns: _Columns) -> Iterator[pa.Array]:
        waiting = newest = 0
        answered: list[pa.RecordBatch] = []

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal waiting, newest
            for batch in _batches(columns, read):
                newest = batch.num_rows
                waiting += newest
                yield batch

        for batch in function(batches()):
            rows = waiting - newest
            if batch is not None:
                answered.append(batch)
                rows = max(rows, 1)
            rows = min(rows, waiting - 1)
            if rows > 0:
                yield _list_and_empty_ones(answered, rows)
                waiting, answered = waiting - rows, []
        if waiting:
            yield _list_and_empty_ones(answered, waiting)

    return answer


def _applied(
    frame: Any,
    function: Callable[[_Columns], Iterator[pa.Array]],
    result: DataType,
    name: str,
    read: Sequence[str],
) -> Any:
    """The column that a function of columns makes."""
    there = sent(function)

    def call(columns: _Columns) -> Iterator[pa.Array]:
        return there(columns)  # type: ignore[no-any-return]

    call.__name__ = name
    made = arrow_udf(call, result)  # type: ignore[call-overload]
    with own_python(frame.sparkSession):
        # Were it deterministic, Spark would take filters of the result into the windows, and sorts
        # away from below them.
        return made.asNondeterministic()(*read)


def _batches(columns: _Columns, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for each in columns:
        arrays = list(each) if isinstance(each, tuple) else [each]
        yield pa.RecordBatch.from_arrays(arrays, names=list(names))


def _list_and_empty_ones(batches: Sequence[pa.RecordBatch], lists: int) -> pa.Array:
    if not batches:
        return pa.nulls(lists)
    values = pa.concat_batches(batches).to_struct_array()
    offsets = pa.array([0] + [len(values)] * lists, pa.int32())
    return pa.ListArray.from_arrays(offsets, values)
