"""What the sinks of the examples hold, read without Spark."""

import importlib.util
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.cli.kafka_topic import Topic
from windrow.cli.sink import CommittedFiles

EXAMPLES = Path(__file__).parents[3] / "examples"


class Answer(NamedTuple):
    user: str
    window_start: datetime
    spent: float
    payments: int


def spending(events: pa.Table) -> pa.Table:
    """What the examples ask, of a table."""
    spec = importlib.util.spec_from_file_location("payments", EXAMPLES / "kafka_payments.py")
    assert spec is not None
    assert spec.loader is not None
    shared = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shared)
    answers: pa.Table = shared.spending(events)
    return answers


def answers_of(table: pa.Table | None) -> list[Answer]:
    """The answers of a table, in order."""
    assert table is not None
    rows = table.select(list(Answer._fields)).to_pylist()
    found = [Answer(**row) for row in rows]
    return sorted(each._replace(window_start=in_utc(each.window_start)) for each in found)


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC; Spark's Parquet files have no time zone, and mean UTC."""
    return datetime.fromtimestamp(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp(), UTC)


def iceberg_catalog(folder: Path) -> str:
    """Make a catalog `lake` for this process and those that it starts; the name of a table."""
    folder.mkdir()
    os.environ["PYICEBERG_CATALOG__LAKE__TYPE"] = "sql"
    os.environ["PYICEBERG_CATALOG__LAKE__URI"] = f"sqlite:///{folder}/catalog.db"
    os.environ["PYICEBERG_CATALOG__LAKE__WAREHOUSE"] = f"file://{folder}"
    return "spending"


def in_parquet(folder: str) -> list[Answer]:
    return answers_of(CommittedFiles(Path(folder)).take())


def in_postgres(database: str) -> list[Answer]:
    import psycopg

    with psycopg.connect(database) as connection:
        found = connection.execute(f"SELECT {_columns()} FROM spending").fetchall()
    return [Answer(user, in_utc(start), *rest) for user, start, *rest in found]


def _columns() -> str:
    return ", ".join(f'"{name}"' for name in Answer._fields)


def in_redis(server: str) -> list[Answer]:
    from redis import Redis

    found = []
    with Redis.from_url(server, decode_responses=True) as client:
        for name in client.scan_iter("spending:*"):
            assert client.ttl(name) > 0
            user = name.removeprefix("spending:")
            answers: dict[str, str] = client.hgetall(name)
            for start, answer in answers.items():
                found.append(Answer(user, datetime.fromisoformat(start), **json.loads(answer)))
    return found


def in_delta(table: str) -> list[Answer]:
    from deltalake import DeltaTable

    return answers_of(DeltaTable(table).to_pyarrow_table())


def in_iceberg(table: str) -> list[Answer]:
    from pyiceberg.catalog import load_catalog

    catalog, _, name = table.partition(".")
    return answers_of(load_catalog(catalog).load_table(name).scan().to_arrow())


READ: dict[str, Callable[[str], list[Any]]] = {
    "kafka_to_parquet": in_parquet,
    "kafka_to_postgres": in_postgres,
    "kafka_to_redis": in_redis,
    "kafka_to_delta": in_delta,
    "kafka_to_iceberg": in_iceberg,
}


def messages_of(topic: Topic, count: int) -> list[dict[str, Any]]:
    """The first messages of a topic with one partition."""
    from confluent_kafka import Consumer

    settings = {"bootstrap.servers": topic.brokers, "group.id": "tests", "log_level": 3,
                "auto.offset.reset": "earliest"}  # fmt: skip
    consumer = Consumer(settings)
    consumer.subscribe([topic.name])
    found = list[dict[str, Any]]()
    while len(found) < count:
        taken = consumer.consume(count - len(found), timeout=120)
        assert taken, f"only {len(found)} messages"
        assert not any(each.error() for each in taken)
        found += [json.loads(each.value()) for each in taken]
    consumer.close()
    return found
