"""Kill a process that writes to a window, at random moments, and see what the next one finds.

    python -m tests.support.stores.killed --kills 500 --store /some/folder

A child opens the window, checks that it holds what a flush left, goes on with the stream from
there, and flushes now and then, until it is killed. What it has flushed it tells the parent, so
that the next child can be asked for it. The last child goes on to the end. The stream is the same
each time, and every answer of every child must be that of one window that was never interrupted, to
the last bit. The parent opens no store: a RocksDB has threads, and threads do not survive a fork.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import windrow as wr
from windrow.element.stored_window import StoredWindow
from windrow.stores import MemoryStore, Store, connect

#: more than one child gets done
PIECES_PER_KILL = 40
BLOCK = 16


class Piece(NamedTuple):
    """What is done with a window between two questions."""

    leaving: int
    events: np.ndarray
    flushes: bool


def stream(count: int) -> list[Piece]:
    """Pieces, the last of which flushes."""
    chance, pieces, held = np.random.default_rng(1), [], 0
    for number in range(count):
        most = held if chance.random() < 0.1 else min(held, 60)
        leaving = int(chance.integers(0, most + 1))
        events = chance.normal(size=int(chance.integers(1, 100)))
        held += len(events) - leaving
        pieces.append(Piece(leaving, events, number + 1 == count or bool(chance.random() < 0.2)))
    return pieces


def open_window(store: Store) -> StoredWindow:
    return wr.Window.open(
        store, "killed", wr.mean(), block=BLOCK, flush_every=None, flush_seconds=None
    )


def advance(window: StoredWindow, piece: Piece) -> float | None:
    window.evict_many(piece.leaving)
    window.insert_many(piece.events)
    answer: float | None = window.query()
    return answer


def go_on(address: str, pieces: list[Piece], answers: list[float | None], told: int) -> None:
    """What a child does: check, and go on to the end, telling what has been flushed."""
    ends = [0, *np.cumsum([len(piece.events) for piece in pieces]).tolist()]
    with connect(address) as store:
        window = open_window(store)
        done = ends.index(window.recovered)
        assert window.query() == (answers[done - 1] if done else None), "after opening"
        os.write(told, done.to_bytes(4))
        for number in range(done, len(pieces)):
            answer = advance(window, pieces[number])
            assert answer == answers[number], f"piece {number}: {answer} is not {answers[number]}"
            if pieces[number].flushes:
                window.flush()
                os.write(told, (number + 1).to_bytes(4))
        window.close()


def run_child(address: str, pieces: list[Piece], answers: list[float | None], told: int) -> None:
    status = 1
    try:
        go_on(address, pieces, answers, told)
        status = 0
    except BaseException as error:
        print(f"a child found something wrong: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def spawn(address: str, pieces: list[Piece], answers: list[float | None]) -> tuple[int, int]:
    heard, told = os.pipe()
    child = os.fork()
    if not child:
        run_child(address, pieces, answers, told)
    os.close(told)
    return child, heard


def last_told(heard: int) -> tuple[int | None, int | None]:
    """The first and the last number that a child told: what it found, and what it flushed."""
    with os.fdopen(heard, "rb") as pipe:
        said = pipe.read()
    numbers = [int.from_bytes(said[place : place + 4]) for place in range(0, len(said), 4)]
    return (numbers[0], numbers[-1]) if numbers else (None, None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--store", help="a folder, or the variable KILLED_STORE; else a new folder")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="windrow-killed-")
    address = arguments.store or os.environ.get("KILLED_STORE") or str(Path(folder) / "store")
    chance = random.Random(arguments.seed)
    pieces = stream(PIECES_PER_KILL * arguments.kills)
    with open_window(MemoryStore()) as untouched:  # compiles the kernel, too
        answers = [advance(untouched, piece) for piece in pieces]
    flushed, killed, kept_going = 0, 0, 0
    patience = 0.03
    for kill in range(arguments.kills + 1):
        child, heard = spawn(address, pieces, answers)
        if kill < arguments.kills:
            time.sleep(chance.uniform(0, 2 * patience))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        found, flushed_now = last_told(heard)
        if found is not None and found < flushed:
            print(f"seed {arguments.seed}: {flushed} pieces were flushed, {found} found")
            return 1
        flushed = flushed_now or flushed
        # Half the children are to be killed before they have told anything, half in their work.
        patience *= 0.85 if found is not None else 1.2
        kept_going += found is not None
        killed += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
            print(f"seed {arguments.seed}: a child failed after {killed} kills")
            return 1
    shutil.rmtree(folder)
    print(f"{killed} kills; {kept_going} children found the window and went on to {flushed}")
    return 0 if flushed == len(pieces) else 1


if __name__ == "__main__":
    sys.exit(main())
