"""Rows of a DataFrame to Python and back, as Arrow batches.

This uses Arrow functions of columns, not `mapInArrow`, which sends whole rows as structs: for 4M
rows of four columns, shuffled and sorted, `mapInArrow` took 3.4 s and a function of three columns
2.4 s. `mapInArrow` also asks Spark for columns, which the functions of `pyspark.pipelines` forbid.
Where a partition becomes a few rows, as in streams, it is faster (`docs/decisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, DataType, StructType

from windrow.spark.bridge.workers import own_python, sent

Array = np.ndarray[Any, Any]
#: from the batches of a partition to those of the result
BatchFunction = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
#: the same; None says that there is no result yet, so that Spark gets its rows back without one
BatchMaker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch | None]]
#: the columns of each batch; a single column is not in a tuple
_Columns = Iterator[tuple[pa.Array, ...]]


def answers_by_row(
    frame: Any, read: Sequence[str], function: BatchFunction, fields: StructType, name: str
) -> Any:
    """A column with a struct of answers for each row; columns that are not read stay in the JVM.

    Args:
        frame: the DataFrame, partitioned and sorted as the function needs it.
        read: the columns that the function gets.
        function: gives as many rows as it gets, in all.
        fields: the fields of the struct.
        name: what Spark's plans and its UI show.
    """

    def answer(columns: _Columns) -> Iterator[pa.Array]:
        for batch in function(_batches(columns, read)):
            yield batch.to_struct_array()

    return _applied(frame, answer, fields, name, read)


def answers_to_some_rows(
    frame: Any,
    read: Sequence[str],
    function: BatchFunction,
    asks: int,
    fields: StructType,
    name: str,
) -> Any:
    """A column with a list for each row: of one struct of answers, or empty.

    The arguments are as in `answers_by_row`, but the function gives answers only to the rows in
    which a column is true: that at the place `asks` of those read. It may give them later.
    """

    def answer(columns: _Columns) -> Iterator[pa.Array]:
        waiting: list[Array] = []

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in _batches(columns, read):
                waiting.append(batch.column(asks).to_numpy(zero_copy_only=False))
                yield batch

        for batch in function(batches()):
            asked = np.concatenate(waiting)
            offsets = np.append(0, np.cumsum(asked))
            # Rows behind the answered ones that ask nothing have their empty list already.
            rows = int(np.searchsorted(offsets, batch.num_rows, "right")) - 1
            waiting[:] = [asked[rows:]]
            if rows:
                places = pa.array(offsets[: rows + 1], pa.int32())
                yield pa.ListArray.from_arrays(places, batch.to_struct_array())

    return _applied(frame, answer, ArrayType(fields), name, read)


def map_partitions(
    frame: Any, read: Sequence[str], function: BatchMaker, result: StructType, name: str
) -> Any:
    """The rows that a function makes of each partition; the arguments are as in `answers_by_row`.

    A partition without rows gives none.
    """
    lists = _applied(frame, in_lists(function, read), ArrayType(result), name, read)
    return frame.select(lists.alias("rows")).select(F.inline("rows"))


def mapped(frame: Any, function: BatchFunction | BatchMaker, result: StructType, name: str) -> Any:
    """The rows that a function makes of each partition, where it reads all columns.

    This is `mapInArrow`, for a few rows that give many, or many that give a few. It asks Spark for
    the columns, so it is only for calls that may.
    """
    there = sent(function)

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (batch for batch in there(batches) if batch is not None)

    call.__name__ = name
    with own_python(frame.sparkSession):
        return frame.mapInArrow(call, result)


def in_lists(function: BatchMaker, read: Sequence[str]) -> Callable[[_Columns], Iterator[pa.Array]]:
    """The function as one that emits one list of result rows per input row; most are empty.

    A batch of the result is one list, at a row of the newest batch read, so lists stay short. The
    last row waits for what the function gives at the end.
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
        # If it were deterministic, Spark would move filters of the result below the windows, and
        # drop the sorts that they need.
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
