"""From Kafka to PostgreSQL: `spark-submit --packages ... examples/kafka_to_postgres.py --help`.

A batch is one transaction. Spark does a batch again if it was broken off, and then `ON CONFLICT`
replaces the rows that are there: a window has one row, whatever happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_payments import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery

TABLE = """
    CREATE TABLE IF NOT EXISTS spending (
        "user" text, window_start timestamptz, window_end timestamptz, spent double precision,
        payments bigint, PRIMARY KEY ("user", window_start)
    )"""
UPSERT = """
    INSERT INTO spending VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT ("user", window_start) DO UPDATE
    SET window_end = EXCLUDED.window_end, spent = EXCLUDED.spent, payments = EXCLUDED.payments"""
COLUMNS = ["user", "window_start", "window_end", "spent", "payments"]


def start(writer: DataStreamWriter, database: str) -> StreamingQuery:
    """Write answers to the table `spending` of a database."""
    import psycopg

    with psycopg.connect(database) as connection:
        connection.execute(TABLE)

    def upsert(batch: DataFrame, _number: int) -> None:
        # Arrow keeps the time zone, which rows of Spark do not.
        rows = batch.select(COLUMNS).toArrow().to_pylist()
        with psycopg.connect(database) as connection, connection.cursor() as cursor:
            cursor.executemany(UPSERT, [tuple(row.values()) for row in rows])

    return writer.foreachBatch(upsert).start()


if __name__ == "__main__":
    run(start, "database", "such as postgresql://me@localhost/metrics")
