"""A process of its own for test_compiler.py: answers fixed questions, and tells what it compiled.

    python -m tests.support.compiler.answering many ANSWERS.arrow

writes the answers to many questions, or to few, and prints how many functions numba compiled.
"""

import sys

import numpy as np
import pyarrow as pa

import windrow as wr

ROWS = 300


def table() -> pa.Table:
    chance = np.random.default_rng(7)
    x = chance.integers(-40, 40, ROWS) / 8
    x[chance.random(ROWS) < 0.05] = np.nan
    x[chance.random(ROWS) < 0.03] = np.inf
    return pa.table(
        {
            "key": pa.array(chance.integers(0, 3, ROWS)),
            "ts": pa.array(np.cumsum(chance.integers(0, 4, ROWS)), pa.timestamp("s")),
            "x": pa.array(x, mask=chance.random(ROWS) < 0.1),
            "n": pa.array(chance.integers(-9, 9, ROWS)),
        }
    )


def few() -> pa.Table:
    """One small kernel."""
    return wr.over(table(), windows=wr.rows(7), aggs=wr.max("n"))


def many() -> pa.Table:
    """Floats with nulls and integers without, fields that are shared, conditions, positions."""
    return wr.over(
        table(),
        key="key",
        order="ts",
        windows=wr.time("5 seconds"),
        aggs=[
            wr.mean("x"),
            wr.variance("x"),
            wr.max("x"),
            wr.arg_max("x", "n"),
            wr.sum("n"),
            wr.product("n"),
        ],
    )


def main(questions: str, path: str) -> None:
    from numba.core import event

    with event.install_recorder("numba:compile") as compiled:
        found = {"few": few, "many": many}[questions]()
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, found.schema) as writer:
        writer.write_table(found)
    print(len(compiled.buffer))


if __name__ == "__main__":
    main(*sys.argv[1:])
