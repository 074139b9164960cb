"""State of a stream as bytes that were written once.

`python -m tests.support.stream.frozen` writes them.

They are what a windrow of some layout left in its checkpoints. A later one has to go on from them,
or to refuse them because of their version. So after a change of the layout, raise `VERSION`, write
a file of the new layout beside the old ones, and say in `test_upgrades.py` which of the
two happens to each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import windrow as wr
from tests.support.stream.events import events
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import VERSION
from windrow.stream.updates.over_updates import OverUpdates
from windrow.stream.updates.slide_updates import SlideUpdates

FOLDER = Path(__file__).parents[2] / "stream" / "states"
#: what came before the state was written, with the watermark of each batch in milliseconds
BEFORE = [(events(1, 100, 160, 200), 0), (events(2, 150, 200, 200), 145_000)]
#: what comes after it
AFTER = [(events(3, 192, 240, 100), 190_000), (events(4, 500, 501, 1), 10**9)]
ASKED: dict[str, Any] = {
    "key": ["user", "zone"], "order": ["ts", "place", "n"],
    "aggs": [wr.max("x"), wr.sum("n"), wr.arg_max("x", "place")], "wish": Wish(),
}  # fmt: skip
SLID = {
    "20s": wr.time("20 seconds", every="5 seconds"),
    "1m": wr.time("1 minute", every="1 second"),
}
TRAILING = {"20s": wr.time("20 seconds"), "1m": wr.time("1 minute")}
ROWS = {"9": wr.rows(9, every=4), "visit": wr.session("20 seconds")}
COUNTED = {"3": wr.rows(3), "100": wr.rows(100)}
CALLS = ("slide", "over", "rows", "counted")
#: calls that came with layout 4
LATER = ("slide_updates", "over_updates")
#: calls that came with layout 5
LATEST = ("slide_in_any_order", "slide_updates_of_events")


def query(call: str) -> StreamQuery:
    """The query whose state was written."""
    schema = BEFORE[0][0].schema
    names = set(schema.names)
    if call in LATER:
        asked = {**ASKED, "order": "ts"}
        if call == "over_updates":
            return OverUpdates(resolve_over(schema, windows=TRAILING, **asked), names, shards=1)
        slid = resolve_slide(schema, windows=SLID["20s"], changes_only=False, **asked)
        return SlideUpdates(slid, names, shards=1)
    if call == "slide_updates_of_events":
        asked = {**ASKED, "aggs": [wr.median("x"), wr.count_distinct("n"), wr.last("place")]}
        slid = resolve_slide(schema, windows=SLID["20s"], changes_only=False, **asked)
        return SlideUpdates(slid, names, shards=1)
    if call == "slide_in_any_order":
        aggs = [wr.max("x"), wr.sum("n")]
        slid = resolve_slide(schema, windows=SLID, changes_only=False, **{**ASKED, "aggs": aggs})
        return StreamSlide(slid, names, shards=1)
    if call in ("slide", "rows"):
        windows = SLID if call == "slide" else ROWS
        slid = resolve_slide(schema, windows=windows, changes_only=False, **ASKED)
        return StreamSlide(slid, names, shards=1)
    trailing = TRAILING if call == "over" else COUNTED
    return StreamOver(resolve_over(schema, windows=trailing, **ASKED), names, shards=1)


def read(call: str, layout: int) -> Memory:
    """The state of a layout."""
    table = pa.ipc.open_file(FOLDER / f"{call}_{layout}.arrow").read_all()
    return Memory(zip(table["number"].to_pylist(), table["content"].to_pylist(), strict=True))


def write(call: str) -> None:
    """Write the state of the present layout."""
    storage, asked = Memory(), query(call)
    # Of a few events, cells are written, too.
    with sizes.using(cells_gain=0):
        for batch, watermark in BEFORE:
            asked.advance(storage, [batch], watermark)
    table = pa.table({"number": list(storage), "content": list(storage.values())})
    with pa.ipc.new_file(FOLDER / f"{call}_{VERSION}.arrow", table.schema) as file:
        file.write_table(table)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in (*CALLS, *LATER, *LATEST):
        write(each)
