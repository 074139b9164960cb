"""Scores payments as their files come, and survives a kill:
`python examples/score_payments.py payments/ scores/`.

Files of `payments/` are read in the order of their names. Each batch of answers becomes one file of
`scores/`, under its number. A file appears under its name when it is whole, and only then the
stream commits: its state, and how many files it has read. So a process that is killed at any moment
leaves no half answers, and the next one writes the same file again or goes on behind it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr


def features(payments: Any, **stream: Any) -> Any:
    """What a card did before each payment: the function of the tutorial."""
    return wr.over(
        payments,
        key="card",
        order="ts",
        windows={"1h": wr.time("1 hour", closed="left"), "3d": wr.time("3 days", closed="left")},
        aggs=[
            wr.count(alias="n"),
            wr.sum("amount", alias="spent"),
            wr.max("amount", alias="top"),
        ],
        **stream,
    )


def score(incoming: Path, scores: Path) -> None:
    """Answer the files that are there and were not answered yet."""

    def payments(offset: int | None) -> Iterator[tuple[pa.Table, int]]:
        files = sorted(incoming.glob("*.parquet"))
        for number in range(offset or 0, len(files)):
            yield pq.read_table(files[number]), number + 1

    scores.mkdir(exist_ok=True)
    with features(payments, lateness="1 hour", checkpoint=scores / "state") as stream:
        for answers in stream:
            unfinished = scores / "unfinished"
            pq.write_table(pa.Table.from_batches([answers]), unfinished)
            unfinished.rename(scores / f"{stream.sequence:08}.parquet")
            stream.commit()


if __name__ == "__main__":
    score(Path(sys.argv[1]), Path(sys.argv[2]))
