"""Kill the processes of streams, many times: `python -m tests.support.stream.kills --kills 300`.

Some sessions run at once, each a round after the other. A round is a query that reads a topic of
Kafka, in which Python workers, executors, the driver and the broker are killed in any order. At its
end its answers are compared. It stops by itself: after so many kills, or so many minutes, nothing
more is killed, and the rounds that run come to their end. The last line says how it went. What was
written by a round that went wrong is kept.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import pyarrow as pa

from tests.support.sources.payments import send
from tests.support.stream.crashing import QUERIES
from tests.support.stream.events import events
from tests.support.stream.kafka_events import A_BATCH, KafkaEvents
from tests.support.stream.kill_rounds import Stuck, compare, finish, killed
from windrow.cli.kafka_broker import KafkaBroker
from windrow.cli.kafka_jars import KafkaJars, kafka_jars
from windrow.cli.kafka_topic import Topic

#: so many that starts, which take most of the time, are few for a kill
BATCHES = 26
KILLS_A_ROUND = 20
#: how often each is killed; a driver takes longest to start again
OFTEN = {"worker": 3, "executor": 2, "driver": 1, "broker": 2}
#: kills after which the pace is printed
SAID = 25


@dataclass
class Tally:
    """What all sessions have done, and whether they go on."""

    goal: int
    begin: float
    deadline: float
    kills: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    answers: int = 0
    wrong: int = 0
    stuck: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def goes_on(self) -> bool:
        """Whether more is killed."""
        return self.kills.total() < self.goal and time.monotonic() < self.deadline

    def note_kill(self, kind: str) -> None:
        """Count a kill, and say now and then how many there were."""
        with self.lock:
            self.kills[kind] += 1
            total = self.kills.total()
            if total % SAID == 0:
                minutes = (time.monotonic() - self.begin) / 60
                print(f"{total} kills after {minutes:.1f} minutes", flush=True)

    def note_round(self, name: str, answers: int) -> None:
        """Count a round whose answers were compared."""
        with self.lock:
            self.rounds[name] += 1
            self.answers += answers

    def note_failure(self, error: Exception) -> None:
        """Count a round that did not come to its end, or not to the right one."""
        with self.lock:
            if isinstance(error, Stuck):
                self.stuck += 1
            else:
                self.wrong += 1

    def summary(self) -> str:
        """One line."""
        by_kind = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kills.items()))
        by_query = ", ".join(f"{name} {count}" for name, count in sorted(self.rounds.items()))
        return (
            f"{self.kills.total()} kills ({by_kind}), {self.rounds.total()} rounds ({by_query}), "
            f"{self.answers:,} answers compared, {self.wrong} rounds wrong, "
            f"{self.stuck} given up because nothing went on"
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="kills")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=2, help="how many run at once")
    parser.add_argument("--minutes", type=float, default=60, help="nothing is killed later")
    parser.add_argument("--seed", type=int, default=0, help="of the events, the kills and pauses")
    given = parser.parse_args(arguments)
    seeds = [given.seed + 10_000 * number for number in range(given.sessions)]
    begin = time.monotonic()
    tally = Tally(given.kills, begin, begin + 60 * given.minutes)
    folder, jars = Path(tempfile.mkdtemp(prefix="windrow-kills-")), kafka_jars()
    with ThreadPoolExecutor(given.sessions) as pool:
        try:
            sessions = [
                pool.submit(session, folder / str(seed), jars, seed, tally) for seed in seeds
            ]
            for each in sessions:
                each.result()
        except KeyboardInterrupt:
            tally.goal = 0  # rounds that run come to their end
            raise
        finally:
            minutes = (time.monotonic() - begin) / 60
            print(f"{tally.summary()}; {minutes:.1f} minutes, {given.sessions} sessions")
    if tally.wrong or tally.stuck:
        print(f"kept: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def session(folder: Path, jars: KafkaJars, seed: int, tally: Tally) -> None:
    """Rounds one after the other, with a broker of their own."""
    with KafkaBroker(folder / "broker", jars) as broker:
        while tally.goes_on():
            own = folder / f"round-{seed}"
            own.mkdir()
            name = list(QUERIES)[seed % len(QUERIES)]
            try:
                done, answers = run_round(own, name, broker, jars, seed, tally)
            except Exception as error:
                tally.note_failure(error)
                print(f"round {seed}, {name}: failed\n{traceback.format_exc()}", flush=True)
            else:
                tally.note_round(name, answers)
                print(f"round {seed}, {name}: {', '.join(done)}; {answers} answers", flush=True)
                shutil.rmtree(own)
            seed += 1


def run_round(
    folder: Path, name: str, broker: KafkaBroker, jars: KafkaJars, seed: int, tally: Tally
) -> tuple[list[str], int]:
    """Those that were killed, and how many answers were right."""
    chance = random.Random(seed)
    batches = [
        events(seed * BATCHES + each, 100 + 30 * each, 130 + 30 * each, A_BATCH)
        for each in range(BATCHES)
    ]
    topic = Topic(broker.address, f"events-{seed}")
    topic.make(partitions=1)  # a batch of Spark is a batch of these
    send(topic, pa.concat_tables([*batches, events(0, 1000, 1001, 1)]))
    KafkaEvents(topic.brokers, topic.name, jars.of_connector()).say(folder)
    kinds = chance.choices(list(OFTEN), list(OFTEN.values()), k=KILLS_A_ROUND)
    wanted = takewhile(lambda kind: tally.goes_on(), kinds)
    done = killed(folder, name, wanted, chance, broker, tally.note_kill)
    finish(folder, name)
    return done, compare(folder, name, pa.concat_tables(batches))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
