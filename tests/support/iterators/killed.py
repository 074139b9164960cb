"""Kill a process that answers a stream, at random moments, and compare all answers.

    python -m tests.support.iterators.killed --kills 100 --query all

A child opens the stream with its checkpoint, reads the source from the offset that it finds, puts
each batch of answers into a file that is named by its sequence number, and commits now and then,
until it is killed. The last child goes on to the end. Then the files must hold what one process
answers that was never killed: the same batches, each once, equal to the last bit. A batch that is
written again must be what it was before. Whatever a child has committed it tells the parent, and
the next child must find it. The parent opens no store: a RocksDB has threads, and threads do not
survive a fork.
"""

import argparse
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.stores import MemoryStore

#: more than one child gets done
BATCHES_PER_KILL = 12
EVENTS = 60


def source(count: int, offset: int | None) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches of events up to three seconds out of order, some later than that, each its offset."""
    for number in range(offset or 0, count):
        chance = np.random.default_rng(number)
        behind = chance.choice([0, 1, 2, 3, 30], EVENTS, p=[0.4, 0.2, 0.2, 0.15, 0.05])
        times = (10_000 + 2 * number + chance.random(EVENTS) - behind) * 1e6
        yield (
            pa.record_batch(
                {
                    "k": chance.integers(0, 5, EVENTS),
                    "ts": pa.array(times.astype(np.int64)).cast(pa.timestamp("us")),
                    "v": chance.normal(size=EVENTS),
                }
            ),
            number + 1,
        )


#: answers at once, and late events among them
UPDATES = {"emit": "updates", "allowed_lateness": "8 seconds", "late": "side"}
#: one of each way to keep state: slices, rows, and totals beside slices; and updates of both calls
QUERIES: dict[str, dict[str, Any]] = {
    "slide": {
        "windows": {"time": wr.time("20 seconds", every="2 seconds"), "visit": wr.session("150ms")},
        "aggs": [wr.sum("v"), wr.count()],
    },
    "over": {
        "windows": {"time": wr.time("9 seconds"), "all": wr.expanding(), "rows": wr.rows(7)},
        "aggs": [wr.sum("v"), wr.count()],
    },
    "slide-updates": {
        "windows": wr.time("20 seconds", every="2 seconds"),
        "aggs": [wr.sum("v"), wr.last("v")],
        **UPDATES,
    },
    "over-updates": {
        "windows": {"time": wr.time("9 seconds"), "rows": wr.rows(7)},
        "aggs": [wr.sum("v"), wr.median("v")],
        **UPDATES,
    },
}


def answers_of(query: str, batches: Any, checkpoint: str | MemoryStore) -> wr.Stream:
    call = getattr(wr, query.removesuffix("-updates"))
    return call(
        batches, key="k", order="ts", lateness="4 seconds", checkpoint=checkpoint, **QUERIES[query]
    )


def go_on(query: str, folder: Path, count: int, address: str, told: int) -> None:
    """What a child does: answer to the end, writing answers, committing now and then."""
    with answers_of(query, lambda offset: source(count, offset), address) as stream:
        os.write(told, (stream.offset or 0).to_bytes(4))
        for answers in stream:
            path = folder / f"{stream.sequence:08}"
            if path.exists():
                with pa.ipc.open_stream(path) as reader:
                    assert_same(reader.read_all(), answers, stream.sequence)
            with pa.ipc.new_stream(folder / "unfinished", answers.schema) as writer:
                writer.write_batch(answers)
            (folder / "unfinished").rename(path)
            if stream.sequence % 3 == 0:
                stream.commit()
                os.write(told, stream.offset.to_bytes(4))
        stream.commit()
        os.write(told, stream.offset.to_bytes(4))


def assert_same(found: pa.Table, answers: pa.RecordBatch, sequence: int) -> None:
    same = found.equals(pa.Table.from_batches([answers]))
    assert same, f"batch {sequence} of answers is not what it was"


def run_child(told: int, *work: Any) -> None:
    status = 1
    try:
        go_on(*work, told)
        status = 0
    except BaseException as error:
        print(f"a child found something wrong: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def spawn(*work: Any) -> tuple[int, int]:
    heard, told = os.pipe()
    child = os.fork()
    if not child:
        run_child(told, *work)
    os.close(told)
    return child, heard


def heard_from(heard: int) -> list[int]:
    """The offsets that a child told: what it found, and what it committed."""
    with os.fdopen(heard, "rb") as pipe:
        said = pipe.read()
    return [int.from_bytes(said[place : place + 4]) for place in range(0, len(said), 4)]


def compare(query: str, folder: Path, count: int) -> int:
    """Compare the files with the answers of one process; the number of batches of answers."""
    # Without a checkpoint, windows may be kept in another way, and sums round otherwise.
    stream, number = answers_of(query, source(count, None), MemoryStore()), 0
    for number, answers in enumerate(stream, 1):
        with pa.ipc.open_stream(folder / f"{number:08}") as reader:
            assert_same(reader.read_all(), answers, number)
    assert len(list(folder.iterdir())) == number, "there are answers that one process does not give"
    assert stream.late, "no event was late"
    return number


def kill(query: str, kills: int, address: str, folder: Path, chance: random.Random) -> str:
    count = BATCHES_PER_KILL * kills
    for _ in answers_of(query, source(40, None), MemoryStore()):
        pass  # compiles the kernels
    committed, killed, went_on, patience = 0, 0, 0, 0.05
    for number in itertools.count():
        child, heard = spawn(query, folder, count, address)
        if number < kills:
            time.sleep(chance.uniform(0, 2 * patience))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        offsets = heard_from(heard)
        assert not offsets or offsets[0] >= committed, f"{committed} committed, {offsets[0]} found"
        # Half the children are to be killed before they have told anything, half in their work.
        patience *= 0.85 if len(offsets) > 1 else 1.2
        went_on += len(offsets) > 1
        committed = max([committed, *offsets])
        killed += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status):
            assert not os.WEXITSTATUS(status), f"a child failed after {killed} kills"
            if number >= kills:
                break
    batches = compare(query, folder, count)
    return f"{killed} kills; {went_on} children committed; {batches} batches of answers are equal"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--query", choices=[*QUERIES, "all"], default="slide")
    parser.add_argument("--store", help="the address of an empty Redis; else a new folder")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    arguments = parser.parse_args()
    for query in QUERIES if arguments.query == "all" else [arguments.query]:
        folder = Path(tempfile.mkdtemp(prefix="windrow-killed-"))
        (folder / "answers").mkdir()
        chance = random.Random(arguments.seed)
        print(f"{query}, seed {arguments.seed}: ", end="", flush=True)
        address = arguments.store or str(folder / "checkpoint")
        print(kill(query, arguments.kills, address, folder / "answers", chance), flush=True)
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
