"""How answers leave Spark's stateful operator, with the counts that the query's progress shows.

Columns of plain values leave as they are. The operator takes columns of pandas. These may hold
Arrow's arrays, which it passes on untouched. Rows of counts go with them, and are taken out again
after the operator.

      column_0 | column_1 | counted | amount
      answers  | answers  |  null   |  null
       null    |  null    |    0    |  events of this step, and so on for each of `COUNTS`

Spark would take arrays, maps and structs apart, value by value. So if there are some, answers leave
as the bytes of Arrow batches, and a stage of its own makes columns of them. That stage starts when
all state is written: for 100,000 events in a batch it took 0.1 of 0.7 s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType

from windrow.planning.delivery import FINAL_ONLY, Delivery, late_rows
from windrow.spark.bridge.arrow_batches import BatchFunction
from windrow.spark.bridge.column_names import plain_names, renamed
from windrow.spark.bridge.progress import unique_title
from windrow.spark.bridge.schema import under_names
from windrow.spark.bridge.workers import own_python
from windrow.spark.streaming.watermark import MARK
from windrow.stream.batch_result import BatchResult

#: the counts of a step that the query's progress shows
COUNTS = ("events", "late", "untimed", "bytes_read", "bytes_written")


@dataclass(frozen=True)
class AnswerFormat:
    """The answers of a query, as columns.

    Attributes:
        title: what Spark's plans and progress call the work.
        result: the columns in Spark's types.
        schema: the columns in Arrow's types, as the shards give them.
        batches: from a table of answers to batches under the names of `plain_names`.
        watermarked: the column that goes on with the watermark, for other operators behind the
            query; None if there is none. In each batch its times are newer than the watermark of
            the batch before, and not newer than the batch's own.
        delivery: when answers are given, and what becomes of late events.
    """

    title: str
    result: StructType
    schema: pa.Schema
    batches: Callable[[pa.Table], Iterator[pa.RecordBatch]]
    watermarked: str | None
    delivery: Delivery = FINAL_ONLY

    @property
    def mode(self) -> str:
        """What Spark calls the way in which answers are given."""
        return "Update" if self.delivery.updates else "Append"

    def filled(self, step: BatchResult) -> list[pa.RecordBatch]:
        """The answers and the late events of a step, without empty batches."""
        tables = [self.delivery.rows(table, self.schema) for table in step.answers]
        tables += [late_rows(events, self.schema) for events in step.late_events]
        batches = (batch for table in tables for batch in self.batches(table))
        return [batch for batch in batches if batch.num_rows]


def delivered(answers: AnswerFormat, delivery: Delivery, events: pa.Schema) -> AnswerFormat:
    """The same answers with the columns that a delivery adds to them; `events` has all columns."""
    schema = delivery.columns(answers.schema, events)
    added = from_arrow_schema(pa.schema(list(schema)[len(answers.schema) :]))
    fields = [
        StructField(field.name, field.dataType, field.nullable or delivery.side, field.metadata)
        for field in answers.result
    ]
    # An answer that may be corrected is no event that an operator behind could wait for.
    watermarked = None if delivery.updates else answers.watermarked
    return replace(
        answers,
        result=StructType([*fields, *added]),
        schema=schema,
        watermarked=watermarked,
        delivery=delivery,
    )


class OperatorOutput(ABC):
    """How answers leave the operator."""

    #: the columns that leave the operator
    schema: StructType

    def __init__(self, answers: AnswerFormat) -> None:
        self._format = answers

    @abstractmethod
    def frames(self, step: BatchResult) -> Iterator[pd.DataFrame]:
        """The answers and counts of a step, inside the operator."""

    @abstractmethod
    def answers(self, moved: Any, delay: int) -> Any:
        """The answers as a DataFrame.

        Args:
            moved: what left the operator.
            delay: how far the watermark is behind the newest event, in milliseconds.
        """

    def _named(self, columns: Any, plain: Sequence[str], delay: int) -> Any:
        """Columns under the names of the result; one of them has the watermark.

        Spark's `eventTimeColumnName` would do the same, but fails for times before 1970, and is
        lost if answers leave as bytes.
        """
        return columns.select(
            *(
                F.col(stands_for).alias(name, metadata={MARK: delay})
                if name == self._format.watermarked
                else F.col(stands_for).alias(name)
                for stands_for, name in zip(plain, self._format.result.names, strict=True)
            )
        )


def output_of(answers: AnswerFormat) -> OperatorOutput:
    """The way for these answers to leave."""
    answers = replace(answers, title=unique_title(answers.title))
    nested = any(pa.types.is_nested(field.type) for field in answers.schema)
    return AsBytes(answers) if nested else AsColumns(answers)


class AsColumns(OperatorOutput):
    """Answers as columns, with a row for each count."""

    def __init__(self, answers: AnswerFormat) -> None:
        super().__init__(answers)
        self._names = [f"column_{place}" for place in range(len(answers.result))]
        # A row with a count has no answer.
        columns = [
            StructField(name, field.dataType)
            for name, field in zip(self._names, answers.result, strict=True)
        ]
        counts = [StructField("counted", IntegerType()), StructField("amount", LongType())]
        self.schema = StructType([*columns, *counts])

    def frames(self, step: BatchResult) -> Iterator[pd.DataFrame]:
        """A frame for each batch of answers, and one of counts."""
        for batch in self._format.filled(step):
            empty = [pa.nulls(batch.num_rows, pa.int32()), pa.nulls(batch.num_rows, pa.int64())]
            yield self._frame([*batch.columns, *empty])
        counts = pa.array([getattr(step, name) for name in COUNTS], pa.int64())
        nulls = [pa.nulls(len(COUNTS), field.type) for field in self._format.schema]
        yield self._frame([*nulls, pa.array(range(len(COUNTS)), pa.int32()), counts])

    def _frame(self, columns: Iterable[pa.Array]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                name: pd.Series(pd.arrays.ArrowExtensionArray(column))
                for name, column in zip(self.schema.names, columns, strict=True)
            }
        )

    def answers(self, moved: Any, delay: int) -> Any:
        """The rows that are not counts."""
        counts = [
            F.coalesce(F.sum(F.when(F.col("counted") == place, F.col("amount"))), F.lit(0))
            for place in range(len(COUNTS))
        ]
        observed = moved.observe(
            self._format.title,
            *(count.alias(name) for name, count in zip(COUNTS, counts, strict=True)),
        )
        return self._named(observed.where(F.col("counted").isNull()), self._names, delay)


class AsBytes(OperatorOutput):
    """Answers as the bytes of batches; the first has the counts beside it."""

    schema = StructType(
        [StructField("answers", BinaryType()), *(StructField(name, LongType()) for name in COUNTS)]
    )

    def frames(self, step: BatchResult) -> Iterator[pd.DataFrame]:
        """One frame, with a row for each batch of answers."""
        contents = [batch.serialize().to_pybytes() for batch in self._format.filled(step)]
        rows = contents or [None]
        counts = {name: [getattr(step, name)] + [0] * (len(rows) - 1) for name in COUNTS}
        yield pd.DataFrame({"answers": rows, **counts})

    def answers(self, moved: Any, delay: int) -> Any:
        """The rows that the bytes hold."""
        answers, plain = self._format, plain_names(self._format.result.names)
        take = unpacked(under_names(answers.schema, plain))
        take.__name__ = answers.title
        counts = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in COUNTS]
        observed = moved.observe(answers.title, *counts).to(self.schema)
        with own_python(moved.sparkSession):
            columns = observed.mapInArrow(take, renamed(answers.result, plain))
        return self._named(columns, plain, delay)


def unpacked(schema: pa.Schema) -> BatchFunction:
    """A function that takes answers out of the column `answers`."""

    def answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for payload in batch["answers"]:
                if payload.is_valid:
                    yield pa.ipc.read_record_batch(payload.as_buffer(), schema)

    return answers
