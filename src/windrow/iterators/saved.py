"""What a checkpoint holds beside the blocks of shards, and where all of it lies in a store.

      level      block
      0, 1, ...  number    a block of a shard (see `stream.state`)
      254        0         the columns of a batch of the input
      254        1         answers that were not given yet, if there were any at the commit
      255        0         the record: offset, progress, and who writes

A commit writes what changed of it in one exchange of the record, so a store holds one commit or the
next and nothing between. The record names its writer. Another process that opens the checkpoint
signs the record with a mark of its own, and the exchanges of the first one fail from then on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from windrow.errors import IncompatibleState, StoreError
from windrow.stores.contract import Key
from windrow.stores.sealed import Place, seal, unseal
from windrow.stream.state import CheckpointPlace

#: the levels of keys behind those of shards
_BESIDE, _RECORD = 254, 255
#: how many shards have levels for their blocks
MOST_SHARDS = _BESIDE


def namespace_of(name: str) -> str:
    """The namespace of a stream, which no window in the same store has by chance."""
    return f"stream {name}"


@dataclass(frozen=True)
class SavedPlace(CheckpointPlace):
    """A part of a checkpoint that is no block of a shard."""

    version = 1

    key: Key
    holds: str

    def encoded(self) -> bytes:
        """The key."""
        return self.key.encoded()

    def of_another_layout(self, version: int) -> IncompatibleState:
        """The checkpoint was written by another windrow."""
        return IncompatibleState(
            f"checkpoint: it has layout {version}, and this windrow knows layout {self.version}; "
            "go on with the windrow that wrote it, or give a new checkpoint"
        )

    def _broken(self, problem: str) -> StoreError:
        return StoreError(
            f"checkpoint: its part that holds {self.holds} {problem}. Restore the checkpoint from "
            "a copy; or give a new one, and read the source from its beginning"
        )


def record_place(namespace: str) -> SavedPlace:
    """Where the record lies."""
    return SavedPlace(Key(namespace, _RECORD, 0), "the record")


def columns_place(namespace: str) -> SavedPlace:
    """Where the columns of the input lie."""
    return SavedPlace(Key(namespace, _BESIDE, 0), "the columns of the input")


def pending_place(namespace: str) -> SavedPlace:
    """Where answers lie that were not given yet."""
    return SavedPlace(Key(namespace, _BESIDE, 1), "answers that were not given yet")


@dataclass
class Record:
    """What a commit says in words and numbers.

    Attributes:
        writer: the mark of the process that wrote it.
        commits: how many commits there were, by all processes.
        has_pending: whether there are answers that were not given yet.
        blocks: for each shard, how many blocks it has and the sum of their numbers.
        progress: how far the stream had come (see `run.Progress`).
    """

    writer: str
    commits: int = 0
    has_pending: bool = False
    blocks: list[list[int]] = field(default_factory=list)
    progress: dict[str, Any] = field(default_factory=dict)

    def sealed(self, place: Place) -> bytes:
        """The record as bytes."""
        return seal(place, json.dumps(asdict(self), sort_keys=True).encode())

    @classmethod
    def unsealed(cls, place: Place, value: bytes) -> Record:
        """The record that was written as these bytes."""
        return cls(**json.loads(bytes(unseal(place, value))))


def sealed_schema(place: Place, schema: pa.Schema) -> bytes:
    """Columns as bytes."""
    return seal(place, schema.serialize().to_pybytes())


def unsealed_schema(place: Place, value: bytes | None) -> pa.Schema:
    """The columns that were written as these bytes."""
    return pa.ipc.read_schema(pa.py_buffer(bytes(unseal(place, value))))


def sealed_batches(place: Place, batches: list[pa.RecordBatch]) -> bytes:
    """Batches of the same columns as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return seal(place, sink.getvalue().to_pybytes())


def unsealed_batches(place: Place, value: bytes | None) -> list[pa.RecordBatch]:
    """The batches that were written as these bytes."""
    reader = pa.ipc.open_stream(pa.py_buffer(bytes(unseal(place, value))))
    return list(reader)
