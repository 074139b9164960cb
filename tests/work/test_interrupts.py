"""Ctrl-C comes through, however long a kernel would run."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from windrow.work import pace
from windrow.work.threads import in_threads

#: how long a process may take to compile its kernels, or to see a signal, before the test fails
PATIENCE = 120


@pytest.mark.compiled
def test_calls_are_interrupted_in_their_kernels() -> None:
    # Found: a call ignored Ctrl-C until its kernel had returned.
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.work.interrupted"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            for _call in ("over", "slide"):
                assert process.stdout.readline() == "begun\n"
                time.sleep(1)  # it is in its kernel by then; earlier would be right, too
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n"
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which goes on when a test says so."""
    now = [0.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    return now


def test_pieces_are_as_large_as_they_are_quick(clock: list[float]) -> None:
    rows, begin, found = pace.Pace(), 0, []
    for seconds in (0.0, 0.001, 0.004, 0.016, 0.064, 0.3, 0.07):
        clock[0] += seconds
        end = rows.end(begin, 10**9)
        found.append((end - begin) // 2**12)
        begin = end
    assert found == [1, 4, 16, 64, 64, 16, 16]
    assert rows.end(10**9 - 5, 10**9) == 10**9


def test_pieces_that_are_not_done_are_not_larger(clock: list[float]) -> None:
    # Found: a kernel that came back for room, again and again, got all rows at once.
    rows = pace.Pace()
    assert [rows.end(0, 10**9) for _call in range(9)] == [2**12] * 9
    assert rows.end(2**12 + 1, 10**9) == 2**12 + 1 + 2**14


@pytest.mark.parametrize("failing", [0, 1])
def test_other_threads_stop_when_one_fails(failing: int) -> None:
    both = threading.Barrier(2)

    def work(number: int) -> None:
        rows = pace.Pace()
        both.wait()  # each item has a thread of its own
        if number == failing:
            raise KeyboardInterrupt
        while True:  # for ever, unless somebody stops it
            rows.end(0, 1)

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(2), 2)
