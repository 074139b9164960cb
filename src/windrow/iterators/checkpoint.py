"""`wr.Checkpoint`: where a stream keeps what a restarted process goes on from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from windrow.algebra.durations import NANOSECONDS, nanoseconds
from windrow.errors import InvalidArgument
from windrow.stores import shown
from windrow.stores.contract import Store, checked_namespace

AtEnd = Literal["answer", "wait"]

#: the name of a stream that has a place of its own
NAME = "stream"


@dataclass(frozen=True)
class Checkpoint:
    """Where a stream keeps its state, and what it does by itself.

    `checkpoint="folder"` is short for `checkpoint=wr.Checkpoint("folder")`.

    Args:
        place: a folder, in which RocksDB keeps the state; the address of a Redis server; or a store
            of `wr.stores`.
        name: the stream's name there. Streams of different names can share a store.
        auto_commit: True to commit before each batch of the input, or how often at most, as in
            "5 seconds". The stream commits when you ask for the next answers: all that it gave
            before count as safe then. By default it commits when you call `commit()`, and only
            then.
        at_end: "answer" answers what is left when the input ends, as on a table. "wait" leaves it
            in the checkpoint: the next process goes on with more input.

    Raises:
        InvalidArgument: if an argument is wrong.

    Example:
        >>> import windrow as wr
        >>> wr.Checkpoint("state", auto_commit="5 seconds")
        Checkpoint('state', name='stream', auto_commit='5 seconds', at_end='answer')
    """

    place: str | Path | Store
    name: str = NAME
    auto_commit: bool | str | timedelta = False
    at_end: AtEnd = "answer"

    def __repr__(self) -> str:
        """The checkpoint, without credentials of its address."""
        place = repr(self.place if isinstance(self.place, Store) else shown(self.place))
        return (
            f"Checkpoint({place}, name={self.name!r}, auto_commit={self.auto_commit!r}, "
            f"at_end={self.at_end!r})"
        )

    def __post_init__(self) -> None:
        if not isinstance(self.place, str | Path | Store) or not str(self.place):
            raise InvalidArgument(
                f"checkpoint: give a folder, an address or a store of wr.stores, not {self.place!r}"
            )
        checked_namespace("name", self.name)
        if not isinstance(self.auto_commit, bool):
            nanoseconds(self.auto_commit, "auto_commit")
        if self.at_end not in get_args(AtEnd):
            raise InvalidArgument(f"at_end: give 'answer' or 'wait', not {self.at_end!r}")

    @property
    def interval(self) -> float | None:
        """How many seconds pass from one commit of the stream's own to the next; None without."""
        if isinstance(self.auto_commit, bool):
            return 0.0 if self.auto_commit else None
        return nanoseconds(self.auto_commit, "auto_commit") / NANOSECONDS["second"]


def checkpoint_of(given: Any) -> Checkpoint | None:
    """The checkpoint that an argument `checkpoint=` means; None for none."""
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)
