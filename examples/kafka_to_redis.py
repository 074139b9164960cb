"""From Kafka to Redis: `spark-submit --packages ... examples/kafka_to_redis.py --help`.

An application asks for the windows of a user: `HGETALL spending:ann`. A batch that Spark does again
writes the same fields again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kafka_payments import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery

#: seconds after its last answer until a user is forgotten
KEPT = 7 * 24 * 3600


def start(writer: DataStreamWriter, server: str) -> StreamingQuery:
    """Write answers to a hash for each user."""
    from redis import Redis

    def serve(batch: DataFrame, _number: int) -> None:
        with Redis.from_url(server) as client, client.pipeline() as pipeline:
            for row in batch.toArrow().to_pylist():
                name = f"spending:{row['user']}"
                answer = {"spent": row["spent"], "payments": row["payments"]}
                pipeline.hset(name, row["window_start"].isoformat(), json.dumps(answer))
                pipeline.expire(name, KEPT)
            pipeline.execute()

    return writer.foreachBatch(serve).start()


if __name__ == "__main__":
    run(start, "server", "such as redis://localhost:6379/0")
