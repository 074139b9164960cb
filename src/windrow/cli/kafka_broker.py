"""A Kafka broker on this machine: one process in KRaft mode, on loopback, with a folder of its own.

It keeps its port and its folder, so it can be killed and started again with all that it has stored.
"""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

from windrow.cli.kafka_jars import KafkaJars, java
from windrow.errors import WindrowError

#: any identifier does for a cluster of one
_CLUSTER = "d2luZHJvdy1vbmUtbm9kZQ"
_SECONDS_TO_START = 120
#: by default the cleaner's buffer takes half of the memory, and at times the broker did not start
_SETTINGS = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={folder}/log
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=4194304
"""
_LOGGING = """\
<Configuration>
  <Appenders>
    <Console name="out" target="SYSTEM_OUT"><PatternLayout pattern="%d %p %c %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""


class KafkaBroker:
    """A broker; within `with` it runs.

    Args:
        folder: where it stores events; made if missing.
        jars: what `kafka_jars()` found.
    """

    def __init__(self, folder: Path, jars: KafkaJars) -> None:
        self._folder, self._jars = folder, jars
        self._port, controller = _free_ports()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._settings = folder / "server.properties"
        self._settings.write_text(
            _SETTINGS.format(port=self._port, controller=controller, folder=folder)
        )
        (folder / "log4j2.xml").write_text(_LOGGING)
        subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c"),
            check=True,
            capture_output=True,
        )

    @property
    def address(self) -> str:
        """What Kafka's clients call the bootstrap servers."""
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start the process and wait until it listens."""
        with (self._folder / "broker.log").open("ab") as log:
            # In a session of its own, Ctrl-C on a terminal does not reach it.
            self._process = subprocess.Popen(
                self._java("kafka.Kafka"), stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.kill()
        raise WindrowError(f"the Kafka broker did not start; see {self._folder / 'broker.log'}")

    def kill(self) -> None:
        """End the process at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> KafkaBroker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()  # nobody reads it again: an orderly end would take seconds

    def _java(self, program: str, *arguments: str) -> list[str]:
        return [
            java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-Dlog4j2.configurationFile={self._folder / 'log4j2.xml'}",
            "-cp", f"{self._jars.broker}/*:{self._jars.spark}/*",
            program, *arguments, str(self._settings),
        ]  # fmt: skip


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        for probe in (first, second):
            probe.bind(("127.0.0.1", 0))
        return int(first.getsockname()[1]), int(second.getsockname()[1])
