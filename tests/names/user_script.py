"""Calls as users write them, right and wrong. `test_typing.py` has mypy check them; none is run.

Every wrong line says which error it has, and mypy complains of those that have none.
"""

from datetime import timedelta

import windrow as wr


def right(table: object) -> None:
    aggs: list[wr.Measure] = [
        wr.max("x"),
        wr.count(),
        wr.top_k("x", 3),
        wr.top_k("x", k=3, alias="largest"),
        wr.arg_max("x", "at"),
        wr.arg_max("x", key=abs),
        wr.quantile("x", [0.1, 0.9], interpolation="lower"),
        wr.rank("x", "dense", True),
        wr.ewm_mean("x", 10),
        wr.ewm_mean("x", "t", half_life=timedelta(minutes=1)),
        wr.collect("x", limit=3).where("x > 3").alias("few"),
        wr.time_since_last("x > 3"),
    ]
    windows = [
        wr.rows(3, min_rows=2, of="values"),
        wr.time("1h", closed="left", ties="peers"),
        wr.policy(lambda total, oldest: oldest < total, of=wr.max("x"), oldest="half"),
    ]
    wr.over(table, order="t", windows=windows, aggs=aggs, prefer="memory", algorithm="daba")
    wr.slide(
        table,
        order="t",
        windows=wr.calendar("1 week", week_start="sunday"),
        aggs=wr.mean("x"),
        empty="emit",
    )
    wr.plan(windows=windows[0], aggs=aggs, call="over")
    aggregation: wr.Aggregation = wr.max
    wr.Window(aggregation)
    wr.Window(wr.top_k(3), algorithm="two_stacks", prefer="latency")
    wr.Window(wr.arg_max())


def wrong_aggregations() -> None:
    wr.max("x", "y")  # type: ignore[call-arg]
    wr.max(3)  # type: ignore[arg-type]
    wr.max("x", name="m")  # type: ignore[call-arg]
    wr.top_k("x")  # type: ignore[call-overload]
    wr.top_k("x", kk=3)  # type: ignore[call-overload]
    wr.top_k("x", k="3")  # type: ignore[call-overload]
    wr.weighted_mean("x")  # type: ignore[call-overload]
    wr.variance("x", populaton=True)  # type: ignore[call-arg]
    wr.rank("x", method="densest")  # type: ignore[arg-type]
    wr.quantile("x", 0.5, interpolation="lowest")  # type: ignore[call-overload]
    wr.top_q("x")  # type: ignore[attr-defined]
    own = wr.aggregation(name="own", identity=0, combine=lambda older, newer: older + newer)
    own("x", alias="y").alias("z")
    own("x", k=3)  # type: ignore[call-arg]


def wrong_windows() -> None:
    wr.time("1h", closed="rigth")  # type: ignore[arg-type]
    wr.time("1h", ties="peer")  # type: ignore[arg-type]
    wr.rows(3, min_rows=2, of="nulls")  # type: ignore[arg-type]
    wr.calendar("1 week", week_start="sun")  # type: ignore[arg-type]
    wr.policy(lambda total, oldest: True, of=wr.max("x"), oldest="third")  # type: ignore[arg-type]


def wrong_calls(table: object) -> None:
    rows, aggs = wr.rows(3), wr.max("x")
    wr.over(table, windows=rows, aggs=aggs, prefer="speed")  # type: ignore[arg-type]
    wr.over(table, windows=rows, aggs=aggs, algorithm="dabba")  # type: ignore[arg-type]
    wr.over(table, windows=rows, aggs="max")  # type: ignore[arg-type]
    wr.slide(table, order="t", windows=rows, aggs=aggs, empty="all")  # type: ignore[arg-type]
    wr.plan(windows=rows, aggs=aggs, call="sort")  # type: ignore[arg-type]
    wr.Window(wr.max, algorithm="dabba")  # type: ignore[arg-type]
