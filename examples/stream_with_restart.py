"""A stream that is broken off and goes on: `python examples/stream_with_restart.py`.

The source can be read again from an offset, as a log can. The stream commits its state and the
offset in one step. So after a restart it goes on where it was, and every answer comes once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta

import windrow as wr

START = datetime(2026, 5, 4, 9)
LOG = [
    {"ts": [START + timedelta(seconds=20 * number)], "celsius": [20.0 + number % 4]}
    for number in range(12)
]


def from_log(offset: int | None) -> Iterator[tuple[dict[str, list[object]], int]]:
    """Batches from an offset on, each with the offset behind it."""
    for number in range(offset or 0, len(LOG)):
        yield LOG[number], number + 1


def process(folder: str, batches_of_answers: int | None = None) -> list[str]:
    """What one process answers before it is broken off."""
    printed = []
    with wr.slide(
        from_log,
        order="ts",
        windows=wr.time("1 minute", every="1 minute"),
        aggs=[wr.max("celsius"), wr.count()],
        lateness="5 seconds",
        checkpoint=folder,
    ) as stream:
        for answers in stream:
            printed += [
                f"{row['window_end']:%H:%M}  {row['max_celsius']}  {row['count']}"
                for row in answers.to_pylist()
            ]
            stream.commit()  # the answers are safe: on to the next
            if stream.sequence == batches_of_answers:
                break
    return printed


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("first process ", *process(folder, batches_of_answers=2), sep="\n  ")
        print("second process", *process(folder), sep="\n  ")


if __name__ == "__main__":
    main()
