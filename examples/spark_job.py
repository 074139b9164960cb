"""A Spark job that is tested without Spark: `python examples/spark_job.py`.

`spending` is the job. It takes what it is given: a Spark table, a streaming DataFrame, or, in a
test, a list of batches.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import windrow as wr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2026, 5, 4, 9)
PAYMENTS = [
    ("ann", START, 5.0),
    ("bob", START + timedelta(minutes=2), 8.0),
    ("ann", START + timedelta(minutes=4), 2.0),
    ("ann", START + timedelta(minutes=12), 4.0),
]


def spending(payments: Any, **stream: Any) -> Any:
    """What each user spent in ten minutes, every five."""
    return wr.slide(
        payments,
        key="user",
        order="ts",
        windows=wr.time("10 minutes", every="5 minutes"),
        aggs=[wr.sum("amount", alias="spent"), wr.count(alias="payments")],
        **stream,
    )


def without_spark() -> list[dict[str, Any]]:
    """The job as a test runs it: one batch for each micro-batch."""
    batches = [{"user": [user], "ts": [ts], "amount": [amount]} for user, ts, amount in PAYMENTS]
    return [
        row for answers in spending(batches, lateness="1 minute") for row in answers.to_pylist()
    ]


def on_spark(spark: SparkSession) -> list[dict[str, Any]]:
    """The job on a Spark table."""
    table = spark.createDataFrame(PAYMENTS, "user string, ts timestamp, amount double")
    return [row.asDict() for row in spending(table).orderBy("user", "window_start").collect()]


def main() -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for row in on_spark(spark):
        print(row["user"], row["window_start"], row["spent"], row["payments"])


if __name__ == "__main__":
    main()
