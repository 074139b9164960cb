"""The same call, on every kind of data that windrow takes.

Each backend is a function from a call and a source of chance to the result as an Arrow table, with
the call that it is the answer to: sorting and splitting change the order of rows, and late events
are dropped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa

import windrow as wr
from tests.fuzz.calls import Call
from tests.fuzz.columns import TIMES
from tests.fuzz.draw import ALL, SPARK_TYPES, Profile
from tests.fuzz.inside import Asked, batches
from tests.fuzz.on_spark import spark_stream, spark_table
from tests.fuzz.streams import shard

#: each combination of types and aggregations is a kernel, which takes a second to compile
FEW_KERNELS = Profile(
    types=("pa.int64()", "pa.float64()", "pa.bool_()", "pa.timestamp('us')", "pa.string()"),
    times=("pa.timestamp('us')",),
    most_rows=60,
)
IN_PANDAS = tuple(name for name in ALL if "view" not in name)
#: Polars has no seconds, one kind of text and no dates of milliseconds
POLARS_TIMES = tuple(name for name in TIMES if "'s'" not in name and "date64" not in name)
IN_POLARS = tuple(
    name
    for name in ALL
    if not any(
        each in name for each in ("'s'", "date64", "string", "binary", "256", "time32", "time64")
    )
)
#: what Spark has as well; times of streams lie so far apart that watermarks, in milliseconds, move
SPARK_TIMES = ("pa.timestamp('us', 'UTC')", "pa.date32()")
STREAMED = Profile(
    SPARK_TYPES,
    SPARK_TIMES,
    ordered=True,
    timed=True,
    chunked=False,
    pace=1000,
    ahead=False,
)


@dataclass(frozen=True)
class Backend:
    """A way to ask.

    Attributes:
        run: from a call and chance to the result.
        profile: the calls it takes.
        share: of the time of a run.
        prepare: how its table is made of the Arrow table `table`, in a script.
        inside: whether the call is not one that users make, or needs a session and files.
        ordered: whether answers come in order.
        compiled: whether kernels are compiled.
        in_process: whether all is done in this process.
    """

    run: Callable[[Call, Random], Asked]
    profile: Profile
    share: float
    prepare: str = ""
    inside: bool = False
    ordered: bool = True
    compiled: bool = False
    in_process: bool = True


def asked(call: Call, data: Any) -> Asked:
    """What `wr.over` or `wr.slide` answers."""
    result = getattr(wr, call.function)(data, **call.arguments())
    return call, result if isinstance(result, pa.Table) else pa.table(result)


@contextmanager
def interpreted(is_on: bool = True) -> Iterator[None]:
    """Run kernels as the Python they are written in: random calls would compile for hours."""
    before = os.environ.get("NUMBA_DISABLE_JIT")
    os.environ["NUMBA_DISABLE_JIT"] = "1" if is_on else "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["NUMBA_DISABLE_JIT"]
        else:
            os.environ["NUMBA_DISABLE_JIT"] = before


def arrow(call: Call, _random: Random) -> Asked:
    return asked(call, call.table())


def reader(call: Call, _random: Random) -> Asked:
    return asked(call, call.table().to_reader())


def pandas(call: Call, _random: Random) -> Asked:
    import pandas as pd

    return asked(call, call.table().to_pandas(types_mapper=pd.ArrowDtype))


def polars(call: Call, _random: Random) -> Asked:
    import polars as pl

    _, result = asked(call, pl.from_arrow(call.table()))
    # Its texts are views, whose answers are of no type in particular.
    columns = {
        name: replace(column, type="pa.string_view()") if column.kind == "text" else column
        for name, column in call.columns.items()
    }
    return replace(call, columns=columns), result.cast(_without_views(result.schema))


def _without_views(schema: pa.Schema) -> pa.Schema:
    """The types that answers had before they became Polars'."""
    plain = {pa.binary_view(): pa.binary(), pa.string_view(): pa.string()}
    return pa.schema([field.with_type(plain.get(field.type, field.type)) for field in schema])


BACKENDS: dict[str, Backend] = {
    "arrow": Backend(arrow, Profile(), 0.3),
    "compiled": Backend(arrow, FEW_KERNELS, 0.15, compiled=True),
    "reader": Backend(reader, Profile(algorithms=False), 0.05, "table = table.to_reader()"),
    "pandas": Backend(
        pandas,
        Profile(types=IN_PANDAS, algorithms=False),
        0.05,
        "import pandas as pd\ntable = table.to_pandas(types_mapper=pd.ArrowDtype)",
    ),
    "polars": Backend(
        polars,
        Profile(types=IN_POLARS, times=POLARS_TIMES, algorithms=False),
        0.05,
        "import polars as pl\ntable = pl.from_arrow(table)",
    ),
    "batches": Backend(batches, Profile(chunked=False), 0.15, inside=True),
    "shard": Backend(shard, STREAMED, 0.1, inside=True, ordered=False),
    "spark": Backend(
        spark_table,
        Profile(SPARK_TYPES, SPARK_TIMES, ordered=True, chunked=False, pace=1),
        0.1,
        inside=True,
        ordered=False,
        in_process=False,
    ),
    "stream": Backend(spark_stream, STREAMED, 0.1, inside=True, ordered=False, in_process=False),
}
