"""A query answers what the Python calls answer, on every kind of table."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr

pytestmark = pytest.mark.usefixtures("interpreted")

ROWS = 40
CALLS = pa.table(
    {
        "ts": [dt.datetime(2026, 5, 1) + dt.timedelta(minutes=7 * row) for row in range(ROWS)],
        "len": [float(row * 7 % 11) for row in range(ROWS)],
        "caller": [f"caller {row % 5}" for row in range(ROWS)],
        "region": ["eu" if row % 3 else "us" for row in range(ROWS)],
        "price": [row % 4 for row in range(ROWS)],
        "left": [row % 6 == 5 for row in range(ROWS)],
        "mileage": [row * 3 for row in range(ROWS)],
    }
)


def run(text: str, calls=CALLS, **given):
    return wr.cql(text, calls=calls, **given).run()


def over(windows, *aggs, key=None, calls=CALLS):
    return wr.over(calls, key=key, order="ts", windows=windows, aggs=aggs)


def slide(windows, *aggs, key=None, calls=CALLS, **arguments):
    return wr.slide(calls, key=key, order="ts", windows=windows, aggs=aggs, **arguments)


# The papers ---------------------------------------------------------------------------------------


def test_figure_1_of_the_reactive_aggregator():
    found = run(
        """Select IStream(Max(len) As mxl,
                   MaxCount(len) As num,
                   ArgMax(len, caller) As who)
           From Calls [Range 24 Hours Slide 1 Minute]"""
    )
    expected = slide(
        wr.time("24 hours", every="1 minute"),
        wr.max("len").alias("mxl"),
        wr.max_count("len").alias("num"),
        wr.arg_max("len", "caller").alias("who"),
        changes_only=True,
    )
    assert found.equals(expected)


def test_queries_of_the_introductions():
    # 001: the average revenue and the margin of each stock, for clients with ranges of their own.
    hour, day = run(
        """SELECT AVG(len) AS revenue, SUM(len - price) / SUM(len) AS margin
           FROM calls [RANGE 1 HOUR SLIDE 10 MINUTES] GROUP BY region;
           SELECT AVG(len) AS revenue, SUM(len - price) / SUM(len) AS margin
           FROM calls [RANGE 1 DAY SLIDE 10 MINUTES] GROUP BY region"""
    )
    margins = CALLS.append_column("margin", wr_minus("len", "price"))
    for found, length in ((hour, "1 hour"), (day, "1 day")):
        sums = slide(
            wr.time(length, every="10 minutes"), wr.mean("len"), wr.sum("margin"), wr.sum("len"),
            key="region", calls=margins,
        )  # fmt: skip
        assert found["revenue"].equals(sums["mean_len"])
        for got, margin, total in zip(
            *(each.to_pylist() for each in (found["margin"], sums["sum_margin"], sums["sum_len"])),
            strict=True,
        ):
            assert got == (margin / total if total else None)
    # 003: the hottest of the last so many readings; 002: the average of the last 1,000 trades.
    assert run("SELECT MAX(len) FROM calls [ROWS 1000]")["max_len"].equals(
        over(wr.rows(1000), wr.max("len"))["max_len"]
    )


def wr_minus(name, other):
    return pa.array(
        one - two
        for one, two in zip(CALLS[name].to_pylist(), CALLS[other].to_pylist(), strict=True)
    )


# Windows ------------------------------------------------------------------------------------------

SMALL = wr.policy(lambda total, oldest: total - oldest > 30, of=wr.sum("len"))
WINDOWS = [
    ("ROWS 5", wr.rows(5), "over"),
    ("ROWS 5 SLIDE 2", wr.rows(5, every=2), "slide"),
    ("ROWS 5 SLIDE 1 HOUR", wr.rows(5, every="1 hour"), "slide"),
    ("RANGE 1 HOUR ON ts", wr.time("1 hour"), "over"),
    ("RANGE 1 HOUR 30 MINUTES SLIDE 20 MINUTES", wr.time("90 min", every="20 min"), "slide"),
    ("RANGE '1h', closed => 'both'", wr.time("1h", closed="both"), "over"),
    ("DELTA mileage 10", wr.delta("mileage", 10), "over"),
    ("DELTA mileage 10 SLIDE 3 ROWS", wr.delta("mileage", 10, every=3), "slide"),
    ("PUNCTUATED BY left", wr.punctuated("left"), "slide"),
    ("PUNCTUATED BY left SLIDE 1", wr.punctuated("left"), "over"),
    ("SESSION 10 MINUTES", wr.session("10 minutes"), "slide"),
    ("POLICY small", SMALL, "over"),
    ("CALENDAR 1 MONTH", wr.calendar("1 month"), "over"),
    ("CALENDAR 1 DAY SLIDE 1 DAY", wr.calendar("1 day"), "slide"),
    ("UNBOUNDED", wr.expanding(), "over"),
    ("UNBOUNDED SLIDE 4", wr.expanding(every=4), "slide"),
    ("ROWS 5, min_rows => 3", wr.rows(5, min_rows=3), "over"),
]


@pytest.mark.parametrize(("text", "window", "call"), WINDOWS, ids=[each[0] for each in WINDOWS])
def test_a_window_in_brackets_is_that_of_the_python_call(text, window, call):
    found = run(f"SELECT MAX(len), COUNT(*) FROM calls [{text}] GROUP BY region", small=SMALL)
    made = (over if call == "over" else slide)(window, wr.max("len"), wr.count(), key="region")
    assert found.equals(made.select(found.column_names))
    partitioned = run(
        f"SELECT MAX(len), COUNT(*) FROM calls [PARTITION BY region {text}]", small=SMALL
    )
    assert partitioned.equals(found)


def test_a_statement_without_a_window_is_about_the_whole_table():
    found = run("SELECT region, COUNT(*) FROM calls GROUP BY region")
    assert found.equals(slide(wr.whole(), wr.count(), key="region"))


def test_several_windows_of_a_statement_have_names():
    found = run("SELECT MAX(len) - MIN(len) AS spread FROM calls [ROWS 3] AS few, [ROWS 9] AS many")
    top = over({"few": wr.rows(3), "many": wr.rows(9)}, wr.max("len"), wr.min("len"))
    assert found.column_names == ["ts", "spread_few", "spread_many"]
    for name in ("few", "many"):
        spread = [
            one - other
            for one, other in zip(
                top[f"max_len_{name}"].to_pylist(), top[f"min_len_{name}"].to_pylist(), strict=True
            )
        ]
        assert found[f"spread_{name}"].to_pylist() == spread
    found = run("SELECT COUNT(*) FROM calls [ROWS 4 SLIDE 2] AS few, [ROWS 8 SLIDE 4] AS many")
    windows = {"few": wr.rows(4, every=2), "many": wr.rows(8, every=4)}
    assert found.equals(slide(windows, wr.count()))


def test_rows_without_times_keep_their_order():
    table = CALLS.drop_columns(["ts"])
    found = run("SELECT FIRST(len) FROM calls [ROWS 3]", table)
    assert (
        found["first_len"].to_pylist() == over(wr.rows(3), wr.first("len"))["first_len"].to_pylist()
    )
    found = run("SELECT FIRST(len) FROM calls [ROWS 3 SLIDE 3]", table)
    assert found["window_end"].to_pylist()[:2] == [2, 5]


# Expressions --------------------------------------------------------------------------------------


def test_expressions_before_and_after():
    found = run(
        """SELECT SUM(len * price) AS total, SUM(len * price) / COUNT(*) AS each,
                  MAX(len) FILTER (WHERE price > 1) AS dear, COUNT(DISTINCT caller) AS callers,
                  COUNT_IF(price = 2) AS twos, QUANTILE(len, 0.25) AS low, caller, 1 AS one
           FROM calls [ROWS 6] WHERE price < 3 GROUP BY region HAVING total > 20 AND price <> 0"""
    )
    kept = CALLS.filter(pa.array(each < 3 for each in CALLS["price"].to_pylist()))
    products = [
        a * b for a, b in zip(*(kept[n].to_pylist() for n in ("len", "price")), strict=True)
    ]
    twos = [each == 2 for each in kept["price"].to_pylist()]
    kept = kept.append_column("product", pa.array(products)).append_column("two", pa.array(twos))
    made = over(
        wr.rows(6), wr.sum("product").alias("total"), wr.count(),
        wr.max("len").where("price > 1").alias("dear"),
        wr.count("caller").over_distinct().alias("callers"),
        wr.count_if("two").alias("twos"), wr.quantile("len", 0.25).alias("low"),
        key="region", calls=kept,
    )  # fmt: skip
    rows = [row for row in made.to_pylist() if row["total"] > 20 and row["price"] != 0]
    expected = [
        {
            "region": row["region"], "ts": row["ts"], "total": row["total"],
            "each": row["total"] / row["count"], "dear": row["dear"], "callers": row["callers"],
            "twos": row["twos"], "low": row["low"], "caller": row["caller"], "one": 1,
        }
        for row in rows
    ]  # fmt: skip
    assert len(expected) > 5
    assert found.to_pylist() == expected


def test_istream_leaves_out_what_did_not_change():
    every = run(
        "SELECT RSTREAM(MAX(len) - MIN(len) AS spread) FROM calls [ROWS 3 SLIDE 1] GROUP BY region"
    )
    found = run("SELECT ISTREAM(MAX(len) - MIN(len) AS spread) FROM calls [ROWS 3] GROUP BY region")
    before: dict = {}
    expected = []
    for row in every.to_pylist():
        if before.get(row["region"]) != row["spread"]:
            expected.append(row)
        before[row["region"]] = row["spread"]
    assert len(expected) < every.num_rows
    assert sorted(found.to_pylist(), key=str) == sorted(expected, key=str)


GAPS = pa.table({"ts": pa.array([0, 1, 2, 5, 6, 20], pa.timestamp("s")), "x": [5, 5, 5, 5, 5, 4]})


@pytest.mark.parametrize(
    "window", ["RANGE 1 SECOND SLIDE 1 SECOND", "RANGE 2 SECONDS SLIDE 2 SECONDS"]
)
@pytest.mark.parametrize("select", ["MAX(x) AS top", "MAX(x) + 0 AS top"])
def test_istream_answers_again_after_an_empty_window(window: str, select: str):
    # Figure 1 of Tangwongsan et al. 2015: a group without events has no row in the relation.
    found = run(f"SELECT ISTREAM({select}) FROM calls [{window}]", GAPS)
    slide = int(window.split()[-2])
    seconds = found["window_start"].cast(pa.int64())
    held = sorted({second // slide for second in GAPS["ts"].cast(pa.int64()).to_pylist()})
    news = [each * slide for each in held if each - 1 not in held]
    assert seconds.to_pylist() == news


def test_istream_by_days_and_by_seconds_at_once():
    days = [dt.datetime(2024, month, 1) for month in (1, 2, 3, 5, 6)]
    table = pa.table({"ts": pa.array(days, pa.timestamp("s")), "x": [1, 1, 1, 1, 1]})
    text = (
        "SELECT ISTREAM(MAX(x) {} AS top) FROM calls [CALENDAR 1 MONTH SLIDE 1 MONTH] AS months, "
        "[RANGE 1 DAY SLIDE 1 DAY] AS days"
    )
    found, same = (run(text.format(each), table) for each in ("+ 0", ""))
    months = found.filter(pa.compute.equal(found["window"], "months"))
    assert [each.month for each in months["window_start"].to_pylist()] == [1, 5]
    assert found.num_rows == 7
    assert found.equals(same)


def test_istream_answers_again_after_having_was_false():
    table = pa.table({"ts": pa.array(range(6), pa.timestamp("s")), "x": [5, 5, 1, 5, None, 5]})
    found = run(
        "SELECT ISTREAM(MAX(x) AS top) FROM calls [ROWS 1] HAVING COUNT(x) > 0 AND top > 3", table
    )
    assert found["top"].to_pylist() == [5, 5, 5]


def test_names_in_any_case_and_of_ones_own():
    largest = wr.aggregation(
        name="largest", identity=float("-inf"), lift=lambda x: x, combine=max, lower=lambda x: x
    )
    text = "select Largest(len), AVG(len), max_count(len), MaxCount(price) from CALLS [rows 3]"
    found = run(text, largest=largest)
    assert found.column_names == [
        "ts",
        "largest_len",
        "mean_len",
        "max_count_len",
        "max_count_price",
    ]
    assert found["largest_len"].equals(over(wr.rows(3), wr.max("len"))["max_len"])


# Sharing, kinds of tables, plans ------------------------------------------------------------------


def test_statements_about_the_same_rows_share_a_call():
    query = wr.cql(
        """SELECT MAX(len) FROM calls [ROWS 3] GROUP BY region;
           SELECT COUNT(*) FROM calls [ROWS 3] GROUP BY region;
           SELECT MAX(len) AS top FROM calls [ROWS 9] WHERE price > 1 GROUP BY region;
           SELECT MAX(len) + 1 AS more FROM calls [ROWS 20] WHERE price > 1 GROUP BY region""",
        calls=CALLS,
    )
    plan = query.plan().to_dict()["calls"]
    assert [len(each["statements"]) for each in plan] == [2, 2]
    one, two, three, four = query.run()
    made = over(wr.rows(3), wr.max("len"), wr.count(), key="region")
    assert one["max_len"].equals(made["max_len"])
    assert two.column_names == ["region", "ts", "count"]
    assert two["count"].equals(made["count"])
    kept = CALLS.filter(pa.array(each > 1 for each in CALLS["price"].to_pylist()))
    tops = over([wr.rows(9), wr.rows(20)], wr.max("len"), key="region", calls=kept)
    assert three["top"].equals(tops["max_len_rows_9"])
    assert four["more"].to_pylist() == [each + 1 for each in tops["max_len_rows_20"].to_pylist()]


def test_every_kind_of_table_is_answered_in_kind():
    text = (
        "SELECT region, SUM(len * 2) AS double FROM calls [ROWS 3] WHERE price > 0 GROUP BY region"
    )
    expected = run(text).to_pydict()
    assert run(text, CALLS.to_pandas())["double"].tolist() == expected["double"]
    frame = pl.from_arrow(CALLS)
    assert run(text, frame).to_dict(as_series=False) == expected
    lazy = run(text, frame.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().to_dict(as_series=False) == expected
    assert isinstance(run(text, CALLS.to_pandas()), pd.DataFrame)
    assert run(text, CALLS.to_pydict()).to_pydict() == expected


def test_a_plan_says_what_comes_before_and_after():
    text = (
        "SELECT SUM(len * 2) / COUNT(*) AS m FROM calls [ROWS 3 ON ts] WHERE price > 0 HAVING m > 1"
    )
    for query in (wr.cql(text, calls=CALLS), wr.cql(text)):
        said = str(query.plan())
        assert said.startswith("SELECT SUM(len * 2) / COUNT(*) AS m\nFROM calls [ROWS 3 ON ts]")
        assert "First: keep the rows where price > 0" in said
        assert "First: compute len * 2 of each row" in said
        assert "over: 1 window, ordered by ts" in said
        assert "Then: keep the answers where" in said
    with pytest.raises(wr.InvalidArgument, match="pass the tables in"):
        wr.cql(text).run()
