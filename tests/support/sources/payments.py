"""Payments for the examples, out of order, and how they get into a topic."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from windrow.cli.kafka_topic import Topic

NINE = datetime(2026, 5, 4, 9, tzinfo=UTC)
#: no payment comes later than this
LATENESS = timedelta(minutes=5)


def payments(seed: int, count: int) -> pa.Table:
    """Payments of two hours; neighbours come in any order."""
    random = np.random.default_rng(seed)
    seconds = np.sort(random.integers(0, 7200, count))
    late = np.argsort(np.arange(count) + random.integers(0, 5, count))
    # Quarters add up to the same sum in any order.
    return pa.table(
        {
            "user": [f"u{each}" for each in random.integers(0, 7, count)],
            "ts": pa.array(
                [NINE + timedelta(seconds=int(each)) for each in seconds[late]],
                pa.timestamp("us", "UTC"),
            ),
            "amount": random.integers(0, 400, count) / 4,
        }
    )


def last_payment() -> pa.Table:
    """A payment long after the others: with it all their windows are final."""
    return pa.table(
        {
            "user": ["last"],
            "ts": pa.array([NINE + timedelta(days=1)], pa.timestamp("us", "UTC")),
            "amount": [1.0],
        }
    )


def send(topic: Topic, events: pa.Table) -> None:
    """Send events, each once, as the examples expect them."""
    from confluent_kafka import Producer

    producer = Producer(
        {"bootstrap.servers": topic.brokers, "enable.idempotence": True, "log_level": 3}
    )
    for row in events.to_pylist():
        message = json.dumps({**row, "ts": row["ts"].isoformat()})
        producer.produce(topic.name, key=str(row["user"]), value=message)
        producer.poll(0)
    left = producer.flush(120)
    assert not left, f"{left} events did not arrive"
