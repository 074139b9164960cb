"""How many kernels calls compile: counted, in processes and caches of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

_TABLE = """
import json, sys
import numpy as np, pyarrow as pa, windrow as wr
from windrow.compiler import machine_code

x, n = np.arange(600.0) % 7, np.arange(600)
table = pa.table({
    "k": ["a", "b"] * 300, "t": pa.array(n[::-1] * 1000, pa.timestamp("us")), "x": x,
    "i": n, "h": n.astype(np.int16), "f": x.astype(np.float32),
})
rows = wr.rows(50)

def compiled(call):
    before = len(machine_code.COMPILED)
    call()
    return [each.what for each in machine_code.COMPILED[before:]]
"""


def run(cache: Path, body: str) -> list[list[str]]:
    """What a new process prints that has this cache: what it compiled, call by call."""
    done = subprocess.run(
        [sys.executable, "-c", _TABLE + body], check=True, capture_output=True, text=True,
        env={**os.environ, "WINDROW_CACHE_DIR": str(cache)},
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_order_duplicates_and_narrow_types_compile_nothing(tmp_path: Path) -> None:
    first, *others = run(
        tmp_path,
        """
def over(*aggs, windows=rows):
    print(json.dumps(compiled(lambda: wr.over(table, order="t", windows=windows, aggs=aggs))))

over(wr.max("x"), wr.mean("x"), wr.max("i"))
over(wr.max("i"), wr.max("x"), wr.mean("x"))                # in another order
over(wr.mean("x"), wr.max("i"), wr.max("x"), wr.max("x").alias("again"))
over(wr.max("f"), wr.mean("f"), wr.max("h"))                # floats and integers of less bits
over(wr.mean("x"), wr.max("x"), wr.max("i"), windows=wr.rows(7))
""",
    )
    assert first.count("over_rows") == 1
    # A loop gathers the rows of each width: two of 2 and 4 bytes.
    assert others == [[], [], ["_gather", "_gather"], []]


def test_what_is_warmed_up_is_not_compiled_again(tmp_path: Path) -> None:
    arguments = """
over = {"order": "t", "windows": [rows, wr.time("100 ms")], "aggs": [wr.max("x"), wr.mean("x")]}
slide = {
    "key": "k", "order": "t", "windows": wr.time("100 ms", every="10 ms"), "aggs": wr.mean("x"),
}
"""
    warmed = run(
        tmp_path,
        arguments
        + """
for given in (over, slide):
    print(json.dumps(wr.warm_up(table.schema, **given).compiled))
print(json.dumps(wr.warm_up(table.schema, lateness="1 s", **slide).compiled))
print(json.dumps(wr.warm_up(table, **over).compiled))
""",
    )
    assert all(warmed[:3])
    assert warmed[3] == []
    found = run(
        tmp_path,
        arguments
        + """
ordered = table.sort_by("t")
print(json.dumps(compiled(lambda: wr.over(table, **over))))
print(json.dumps(compiled(lambda: wr.over(ordered, **over))))
print(json.dumps(compiled(lambda: wr.slide(table, **slide))))
batches = iter(ordered.to_batches(max_chunksize=100))
print(json.dumps(compiled(lambda: list(wr.slide(batches, lateness="1 s", **slide)))))
""",
    )
    assert found == [[]] * 4
