"""A process beside the live demo that writes what the machines report, a file every half second.

With a topic of Kafka it sends the same readings there, too.

Reports go through a network. Most readings are in the file of their half second; some come one file
later, out of order, and a few come so late that their windows have been answered.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import defaultdict
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from windrow.cli import sensors
from windrow.cli.kafka_topic import Sender, Topic
from windrow.errors import WindrowError

#: seconds between two files
_EVERY = 0.5
#: the files of ten minutes are kept; the query is never that far behind
_FILES_KEPT = 1_200
#: by how many files readings are delayed, and what share of them
_DELAYS = {0: 0.98, 1: 0.019_99, 30: 0.000_01}


@dataclass(frozen=True)
class Pace:
    """How much is reported: by how many machines, and how much faster than real ones."""

    machines: int
    seed: int
    speed: float

    @property
    def lateness(self) -> str:
        """How late a reading may come: readings that come one file later are in time."""
        return f"{2 * _EVERY * self.speed:g} seconds"


class PlantProcess:
    """The process; within `with` it writes to a folder, and to a topic if one is given."""

    def __init__(self, folder: Path, pace: Pace, topic: Topic | None = None) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share the socket to Spark
        self._stop = context.Event()
        self._failure, failure = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_report, args=(folder, pace, topic, self._stop, failure), daemon=True
        )

    def __enter__(self) -> PlantProcess:
        self._process.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._process.join()

    def require_alive(self) -> None:
        """Raise what went wrong in the process, if something did."""
        if self._failure.poll():
            raise WindrowError(f"the readings could not be written: {self._failure.recv()}")


def _report(
    folder: Path, pace: Pace, topic: Topic | None, stop: Event, failure: Connection
) -> None:
    # Ctrl-C reaches all processes of a terminal; the demo says when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plant, network = sensors.Plant(pace.machines, pace.seed), _Network(pace.seed)
    demo = multiprocessing.parent_process()
    assert demo is not None
    try:
        sender = Sender(topic) if topic else None
        begin, number = time.monotonic(), 0
        while not stop.wait(begin + number * _EVERY - time.monotonic()) and demo.is_alive():
            moment = sensors.START_US + int((number + 1) * _EVERY * pace.speed * 1e6)
            delivered = network.delivered(number, plant.until(moment))
            _write(delivered, folder, number)
            if sender:
                sender.send(delivered)
            _path(folder, number - _FILES_KEPT).unlink(missing_ok=True)
            number += 1
    except (OSError, WindrowError) as error:
        failure.send(str(error))


class _Network:
    """Delivers readings, not all of them at once."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng([seed, 7])
        self._on_the_way: dict[int, list[pa.Table]] = defaultdict(list)

    def delivered(self, now: int, readings: pa.Table) -> pa.Table:
        """The readings that arrive now, of these and of earlier ones."""
        delays = self._random.choice(list(_DELAYS), len(readings), p=list(_DELAYS.values()))
        for delay in _DELAYS:
            self._on_the_way[now + delay].append(readings.filter(pa.array(delays == delay)))
        return pa.concat_tables(self._on_the_way.pop(now))


def _write(readings: pa.Table, folder: Path, number: int) -> None:
    """Write a file that appears when it is whole."""
    path = _path(folder, number)
    hidden = path.with_name(f".{path.name}")
    pq.write_table(readings, hidden, compression="zstd")
    hidden.rename(path)


def _path(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}.parquet"
