"""What a shard's state holds, found from its blocks alone: `windrow state` shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.maps import SLICE
from windrow.engine.sorting import arrange
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices, slices_of
from windrow.stream.header import ShardHeader
from windrow.stream.state import (
    CELLS_SCHEMA,
    DESCRIPTION,
    GIVEN,
    GIVEN_SCHEMA,
    HEADER,
    KEY,
    LEDGER,
    LEDGER_SCHEMA,
    NODE,
    OPEN_CELLS,
    ORDER,
    ROWS,
    ROWS_SCHEMA,
    SEGMENT,
    SLICES,
    TOTALS,
    TOTALS_SCHEMA,
    WAITING,
    WAITING_SCHEMA,
    WINDOWS,
    WINDOWS_SCHEMA,
    block_number,
    content_of,
    group_of,
    integers_of,
    kind_of,
)
from windrow.windows import ticks

Array = np.ndarray[Any, Any]

_NANOSECONDS_IN_A_SECOND = 10**9


@dataclass(frozen=True)
class Summary:
    """What a shard's state holds.

    Attributes:
        query: the description of the query, line by line.
        keys: how many keys have cells, totals, rows, entries in the ledger or waiting events.
        blocks: how many blocks there are, of all kinds.
        bytes: how large they are.
        waiting: how many events are not final for all groups of windows; those that wait as one
            partial count as one.
        oldest, newest: when the oldest slice that is kept begins and the newest slice with events
            ends, in seconds since the epoch; None if there is none.
    """

    query: list[str]
    keys: int
    blocks: int
    bytes: int
    waiting: int
    oldest: float | None
    newest: float | None


def summary(blocks: Mapping[int, bytes]) -> Summary:
    """Summarize the blocks of a shard."""
    waiting = _batches(blocks, WAITING, WAITING_SCHEMA)
    header = ShardHeader.decoded(_content(blocks, HEADER))
    cells, rows = _of_cells(blocks, NODE), _of_rows(blocks, ROWS_SCHEMA, ROWS, SEGMENT)
    given = _of_rows(blocks, GIVEN_SCHEMA, GIVEN)
    begun = _of_cells(blocks, OPEN_CELLS)  # by the time at which their slice begins
    # Where answers are given at once, nothing waits.
    cells_waiting = begun.keys if header.waiting.blocks else []
    totals = _of_totals(blocks) + _of_windows(blocks)
    spans = []
    for group in range(len(header.groups)):
        tick, slices = slices_of(integers_of(_content(blocks, SLICES, group)))
        numbers = [each for kept in (cells, rows, given) for each in kept.slices.get(group, [])]
        numbers += [slices.slice_of(times) for times in begun.slices.get(group, [])]
        numbers += [
            slices.slice_of(np.array([each.first, each.last])) for each in header.waiting.blocks
        ]
        if numbers:
            spans.append(_span(np.concatenate(numbers), slices, tick))
    key = json.loads(_schema(blocks, WAITING_SCHEMA).metadata[KEY])
    return Summary(
        _query(blocks),
        _distinct(
            cells.keys,
            begun.keys,
            rows.keys,
            given.keys,
            totals,
            [batch.select(key) for _owner, batch in waiting],
        ),
        len(blocks),
        sum(map(len, blocks.values())),
        sum(batch.num_rows for batch in (*(batch for _group, batch in waiting), *cells_waiting)),
        min((begin for begin, _end in spans), default=None),
        max((end for _begin, end in spans), default=None),
    )


def shards_told(blocks: Mapping[int, bytes]) -> int:
    """Among how many shards keys are spread, as one of them says."""
    return int(_query(blocks)[0].removeprefix("shards="))


def _query(blocks: Mapping[int, bytes]) -> list[str]:
    return _content(blocks, DESCRIPTION).decode().split("\n")


class _Kept(NamedTuple):
    """The keys of final events that are kept, and their slices by group."""

    keys: list[pa.RecordBatch]
    slices: dict[int, list[Array]]


def _of_cells(blocks: Mapping[int, bytes], kind: int) -> _Kept:
    if block_number(CELLS_SCHEMA) not in blocks:
        return _Kept([], {})
    key = sum(name.startswith("key_") for name in _schema(blocks, CELLS_SCHEMA).names)
    slices: dict[int, list[Array]] = {}
    keys = []
    for owner, batch in _batches(blocks, kind, CELLS_SCHEMA):
        slices.setdefault(owner, []).append(batch[SLICE].to_numpy())
        keys.append(batch.select(range(1, key + 1)))
    return _Kept(keys, slices)


def _of_totals(blocks: Mapping[int, bytes]) -> list[pa.RecordBatch]:
    """The keys that have totals. A total is as old as its key, so its slices say nothing."""
    if block_number(TOTALS_SCHEMA) not in blocks:
        return []
    key = sum(name.startswith("key_") for name in _schema(blocks, TOTALS_SCHEMA).names)
    found = _batches(blocks, TOTALS, TOTALS_SCHEMA)
    return [batch.select(range(1, key + 1)) for _owner, batch in found]


def _of_windows(blocks: Mapping[int, bytes]) -> list[pa.RecordBatch]:
    """The keys whose last windows are kept."""
    if block_number(WINDOWS_SCHEMA) not in blocks:
        return []
    key = sum(name.startswith("key_") for name in _schema(blocks, WINDOWS_SCHEMA).names)
    found = _batches(blocks, WINDOWS, WINDOWS_SCHEMA)
    return [batch.select(range(key)) for _owner, batch in found]


def _of_rows(blocks: Mapping[int, bytes], schema_kind: int, *kinds: int) -> _Kept:
    """The rows in blocks of some kinds, if their schema says which columns are the key."""
    roles = None
    if block_number(schema_kind) in blocks:
        roles = _schema(blocks, schema_kind).metadata
    if roles is None:
        return _Kept([], {})
    key, order = json.loads(roles[KEY]), roles[ORDER].decode()
    slices: dict[int, list[Array]] = {}
    keys = []
    batches = [each for kind in kinds for each in _batches(blocks, kind, schema_kind)]
    for owner, batch in batches:
        if order:
            slices.setdefault(owner, []).append(ticks.times(batch[order]))
        keys.append(batch.select(key))
    if ROWS in kinds and block_number(LEDGER_SCHEMA) in blocks:
        entries = _batches(blocks, LEDGER, LEDGER_SCHEMA)
        keys += [batch.select(range(len(key))) for _owner, batch in entries]
    return _Kept(keys, slices)


def _content(blocks: Mapping[int, bytes], kind: int, group: int = 0) -> bytes:
    """The content of a block of a kind that a group has once."""
    number = block_number(kind, group)
    return content_of(number, blocks.get(number))


def _schema(blocks: Mapping[int, bytes], kind: int, group: int = 0) -> pa.Schema:
    """The columns of a group's blocks; if it has none of its own, those of the first group."""
    own = group if block_number(kind, group) in blocks else 0
    return pa.ipc.read_schema(pa.py_buffer(_content(blocks, kind, own)))


def _batches(
    blocks: Mapping[int, bytes], kind: int, schema_kind: int
) -> list[tuple[int, pa.RecordBatch]]:
    """The blocks of a kind, each with its group."""
    schemas: dict[int, pa.Schema] = {}
    found = []
    for number, data in blocks.items():
        if kind_of(number) == kind:
            group = group_of(number)
            schema = schemas.setdefault(group, _schema(blocks, schema_kind, group))
            content = pa.py_buffer(content_of(number, data))
            found.append((group, pa.ipc.read_record_batch(content, schema)))
    return found


def _span(numbers: Array, slices: Slices | CalendarSlices, tick: int) -> tuple[float, float]:
    """When slices of these numbers begin and end, in seconds."""
    begin = int(slices.starts(numbers.min(keepdims=True))[0])
    end = int(slices.ends(numbers.max(keepdims=True))[0])
    return begin * tick / _NANOSECONDS_IN_A_SECOND, end * tick / _NANOSECONDS_IN_A_SECOND


def _distinct(*tables: list[pa.RecordBatch]) -> int:
    """The number of different keys; every batch has the columns of the key, in order."""
    batches = [batch for each in tables for batch in each if batch.num_rows]
    if not batches:
        return 0
    names = batches[0].schema.names
    table = pa.Table.from_batches([batch.rename_columns(names) for batch in batches])
    keys = [table[name].combine_chunks() for name in names]
    _permutation, starts = arrange(keys, [], table.num_rows)
    return len(starts) - 1
