"""Events into Kafka, windrow, answers into a sink, killed in the middle: every answer comes once.

The jobs are those of `examples/`, all in one Spark session. Its process is killed by SIGKILL when
each sink has a batch that Spark has not committed, and the broker with it. Both are started again.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.sources import sinks
from tests.support.sources.payments import LATENESS, last_payment, payments, send
from tests.support.sources.postgres import postgres_server, programs
from tests.support.stores.fixtures import redis_server
from tests.support.stores.server import Server
from windrow.cli import sensors
from windrow.cli.kafka_broker import KafkaBroker
from windrow.cli.kafka_jars import JarsNotFound, KafkaJars, kafka_jars
from windrow.cli.kafka_topic import Sender, Topic

__all__ = ["redis_server"]

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
TOPIC = "payments"
#: two batches of 300
EVENTS = 600
HANG_IN = 1
#: seconds until something has to happen
PATIENCE = 400


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    for package in ("confluent_kafka", "deltalake", "psycopg", "pyiceberg"):
        pytest.importorskip(package, reason=f"no {package}: run 'make setup'")
    if programs() is None:
        pytest.skip("no PostgreSQL server: install it, e.g. 'apt-get install postgresql'")
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="module")
def targets(
    tmp_path_factory: pytest.TempPathFactory, redis_server: Server, postgres: str
) -> dict[str, str]:
    """By the name of an example, where its answers go."""
    folder = tmp_path_factory.mktemp("sinks")
    return {
        "kafka_to_postgres": postgres,
        "kafka_to_redis": redis_server.address,
        "kafka_to_delta": str(folder / "delta"),
        "kafka_to_iceberg": f"lake.metrics.{sinks.iceberg_catalog(folder / 'iceberg')}",
        # Killed without help, so it comes last: when it begins, the others hang.
        "kafka_to_parquet": str(folder / "parquet"),
    }


class Job:
    """The queries, in a process of their own that can be killed."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        file = folder / "settings.json"
        file.write_text(json.dumps({"folder": str(folder), **settings}))
        self._errors = folder / "errors.log"
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.sources.job", str(file)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
            stderr=self._errors.open("w"),
            start_new_session=True,
        )

    def wait_for(self, path: Path) -> None:
        deadline = time.monotonic() + PATIENCE
        while not path.exists():
            assert self._process.poll() is None, self._errors.read_text()
            assert time.monotonic() < deadline, f"no {path}"
            time.sleep(0.02)

    def kill(self) -> None:
        with suppress(ProcessLookupError):  # all have ended
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def finish(self) -> None:
        try:
            assert self._process.wait(timeout=PATIENCE) == 0, self._errors.read_text()
        finally:
            self.kill()


@pytest.fixture(scope="module")
def jars() -> KafkaJars:
    try:
        return kafka_jars()
    except JarsNotFound as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, jars: KafkaJars) -> Iterator[KafkaBroker]:
    with KafkaBroker(tmp_path_factory.mktemp("broker"), jars) as running:
        yield running


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory,
    targets: dict[str, str],
    jars: KafkaJars,
    broker: KafkaBroker,
) -> list[sinks.Answer]:
    """All answers; after the job was killed and started again, the sinks should have them."""
    folder = tmp_path_factory.mktemp("job")
    events = payments(seed=1, count=EVENTS)
    settings: dict[str, Any] = {
        "topic": TOPIC, "jars": jars.of_connector(), "targets": targets,
        "brokers": broker.address, "lateness": f"{LATENESS.total_seconds():g} seconds",
    }  # fmt: skip
    topic = Topic(broker.address, TOPIC)
    topic.make()
    send(topic, events)
    job = Job(folder, hang_in=HANG_IN, **settings)
    try:
        for name in targets:
            sign = f"{name}-hangs"
            if name == "kafka_to_parquet":
                sign = f"{name}-state/offsets/{HANG_IN}"
            job.wait_for(folder / sign)
    finally:
        job.kill()
    broker.kill()
    for name in targets:
        assert not (folder / f"{name}-state/commits/{HANG_IN}").exists(), name
    broker.start()
    send(topic, last_payment())
    Job(folder, hang_in=None, **settings).finish()
    return sinks.answers_of(sinks.spending(events))


@pytest.mark.parametrize("name", sinks.READ)
def test_every_answer_once(
    name: str, expected: list[sinks.Answer], targets: dict[str, str]
) -> None:
    assert sorted(sinks.READ[name](targets[name])) == expected


def test_what_the_demo_sends_stays_after_a_crash(broker: KafkaBroker) -> None:
    topic = Topic(broker.address, "readings")
    topic.make(partitions=1)
    sent = next(sensors.readings(200, machines=2))
    Sender(topic).send(sent)
    broker.kill()
    broker.start()
    found = sinks.messages_of(topic, count=200)
    assert [row["mf01"] for row in found] == sent["mf01"].to_pylist()
    moments = [datetime.fromisoformat(row["ts"]) for row in found]
    assert moments == sent["ts"].to_pylist()
