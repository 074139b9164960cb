"""From Kafka to Iceberg: `spark-submit --packages ... examples/kafka_to_iceberg.py --help`.

The package `pyiceberg` writes the table, without Iceberg's jars. It finds the catalog in
`.pyiceberg.yaml` or in variables such as `PYICEBERG_CATALOG__LAKE__URI`. A snapshot carries the
number of its batch, so a batch that Spark does again is left out if it was committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_payments import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery


def start(writer: DataStreamWriter, table: str) -> StreamingQuery:
    """Append answers to a table of a catalog."""
    from pyiceberg.catalog import load_catalog

    catalog_name, _, name = table.partition(".")
    catalog = load_catalog(catalog_name)
    catalog.create_namespace_if_not_exists(name.partition(".")[0])

    def append(batch: DataFrame, number: int) -> None:
        # Also of a batch that is left out: the query's state is kept when the batch is run.
        answers = batch.toArrow()
        # The query of this checkpoint: a new checkpoint counts its batches anew.
        query = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        answers = batch.toArrow()
        target = catalog.create_table_if_not_exists(name, answers.schema)
        if last_batch(target, query) < number:
            target.append(answers, snapshot_properties={f"windrow.{query}": str(number)})

    return writer.foreachBatch(append).start()


def last_batch(table: Any, query: str) -> int:
    """The newest batch of a query that is in the table; -1 if there is none."""
    name = f"windrow.{query}"
    found = [each.summary.get(name) for each in table.snapshots() if each.summary is not None]
    numbers = [int(number) for number in found if number is not None]
    return max(numbers, default=-1)


if __name__ == "__main__":
    run(start, "table", "catalog, namespace and table, such as lake.metrics.spending")
