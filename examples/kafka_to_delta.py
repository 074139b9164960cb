"""From Kafka to Delta Lake: `spark-submit --packages ... examples/kafka_to_delta.py --help`.

The package `deltalake` writes the table, without Delta's jars. A commit carries the number of its
batch, so a batch that Spark does again is left out if it was committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_payments import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery


def start(writer: DataStreamWriter, table: str) -> StreamingQuery:
    """Append answers to a table."""
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    def append(batch: DataFrame, number: int) -> None:
        # Also of a batch that is left out: the query's state is kept when the batch is run.
        answers = batch.toArrow()
        # The query of this checkpoint: a new checkpoint counts its batches anew.
        query = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        if DeltaTable.is_deltatable(table):
            done = DeltaTable(table).transaction_version(query)
            if done is not None and done >= number:
                return
        committed = CommitProperties(app_transactions=[Transaction(query, number)])
        write_deltalake(table, answers, mode="append", commit_properties=committed)

    return writer.foreachBatch(append).start()


if __name__ == "__main__":
    run(start, "table", "folder or address of the table, such as s3://lake/spending")
