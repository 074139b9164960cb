"""A query as the page shows it: figures of its newest batches, and lines of its answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from windrow.cli.page import spark_checkpoint
from windrow.cli.page.answers import Answers
from windrow.cli.page.places import Places, places_in
from windrow.cli.page.stream_checkpoint import StreamCommits
from windrow.errors import WindrowError
from windrow.iterators.checkpoint import NAME
from windrow.stream.progress_log import Batch, newest

#: batches that the page shows
MOST_BATCHES = 120
#: batches that the rate of events is taken over
_OF_RATE = 10


class Watched:
    """The files of one query; may be asked from several threads."""

    def __init__(
        self,
        given: Sequence[Path],
        key: tuple[str, ...] | None = None,
        time: str | None = None,
        name: str = NAME,
        rest: float = 5,
    ) -> None:
        """The query of these files; after a look at them, none is made for `rest` times as long."""
        self._given, self._key, self._time = given, key, time
        self._name, self._rest = name, rest
        self._lock = threading.Lock()
        self._places = Places()
        self._answers: Answers | None = None
        self._commits: StreamCommits | None = None
        self._figures: dict[str, Any] = {}
        self._look_again = 0.0

    def figures(self) -> dict[str, Any]:
        """What the page shows beside the lines, as JSON values."""
        with self._lock:
            begun = time.monotonic()
            if begun >= self._look_again:
                try:
                    self._figures = self._look()
                except (WindrowError, OSError) as error:
                    self._figures = {
                        "problem": str(error),
                        "batches": [],
                        "keys": [],
                        "columns": [],
                    }
                ended = time.monotonic()
                self._look_again = ended + self._rest * (ended - begun)
            return self._figures

    def line(self, key: str, column: str, width: int) -> list[tuple[float, float]]:
        """The line of a key."""
        self.figures()
        with self._lock:
            return [] if self._answers is None else self._answers.line(key, column, width)

    def _look(self) -> dict[str, Any]:
        places = places_in(self._given)
        if places.answers != self._places.answers:
            self._answers = None
        if places.stream != self._places.stream:
            self._commits = None
        self._places = places
        if places.answers is not None:
            self._answers = self._answers or Answers(places.answers, self._key, self._time)
            self._answers.look()
        if places.stream is not None:
            self._commits = self._commits or StreamCommits(places.stream, self._name)
            self._commits.look(MOST_BATCHES)
        batches = self._batches()
        answers = self._answers
        return {
            "places": places.names,
            "now": time.time(),
            "batches": [vars(batch) for batch in batches],
            "rate": rate_of(batches),
            "totals": self._commits.totals if self._commits else None,
            "rows": None if answers is None else answers.rows,
            "until": None if answers is None else answers.until,
            "keys": [] if answers is None else sorted(answers.keys),
            "columns": [] if answers is None else answers.columns,
        }

    def _batches(self) -> list[Batch]:
        """The batches that the log tells of; of those that it lacks, what the checkpoint says."""
        places = self._places
        if self._commits is not None:
            return self._commits.batches
        found: dict[int, Batch] = {}
        query = ""
        if places.spark is not None:
            query = spark_checkpoint.query_id(places.spark)
            found = {
                each.number: each for each in spark_checkpoint.batches(places.spark, MOST_BATCHES)
            }
        if places.log is not None:
            logged = newest(places.log, MOST_BATCHES)
            # A log may be older than the checkpoint, or be that of several queries.
            query = query or (logged[-1].query if logged else "")
            told = {each.number: each for each in logged if each.query == query}
            if told:  # it says how much state is in use; the checkpoint also has what was
                found = {n: replace(each, state_bytes=None) for n, each in found.items()}
            found |= told
        return [found[number] for number in sorted(found)][-MOST_BATCHES:]


def rate_of(batches: Sequence[Batch]) -> float | None:
    """Events a second over the newest batches; None if nothing tells how many came."""
    last = [each for each in batches[-_OF_RATE - 1 :] if each.events is not None]
    if not last:
        return None
    begun = last[0].ended - (last[0].seconds or 0)
    if last[0].seconds is None:  # it is not known when the first began: leave it out
        last = last[1:]
    passed = last[-1].ended - begun if last else 0
    return sum(each.events or 0 for each in last) / passed if passed > 0 else None
