"""The tables of figures in README.md and docs/performance.md: `python -m benchmarks.page_tables`.

A row names a measurement of `results/`; its figure is the ratio that was measured last, as it is.
A table stands between two comments, and the rest of the page is left alone:

    <!-- figures: begin -->
    | work | alternative | times as fast |
    ...
    <!-- figures: end -->

`make bench` writes them again after each suite, and so does `make pages`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from windrow.experiments.report.tables import counted

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
EXPERIMENTS = ROOT / "docs" / "experiments"
_TABLE = re.compile(r"(?<=<!-- figures: begin -->\n).*?(?=<!-- figures: end -->)", re.DOTALL)


class Row(NamedTuple):
    """What a page says, and the measurement that it says it of."""

    work: str
    alternative: str
    suite: str
    measured: str  # the comparison's work
    against: str  # the beginning of what it is compared with
    on_readme: bool = False


_OVER = "over, 1,000,000 rows, 100 keys"
_SLIDE_600 = "slide, 4M rows, {} keys, 600:1"
ROWS = (
    Row("20 features of a million rows on Spark, windows of rows",
        "window functions, segment tree on", "spark",
        f"{_OVER}, 4 aggregations x 5 windows of rows", "window functions", True),
    Row("12 features of a million rows on Spark, windows of time",
        "window functions, segment tree on", "spark",
        f"{_OVER}, 4 aggregations x 3 windows of time", "window functions"),
    Row("max of 1,000 rows of 4 million without a key on Spark",
        "window function, default settings", "spark_builtin",
        "over, 4,000,000 rows, no key, max of 1000 rows", "window function, default"),
    Row("the same", "window function, segment tree on", "spark_builtin",
        "over, 4,000,000 rows, no key, max of 1000 rows", "window function, segment"),
    Row("max of 10 rows of 4 million on Spark, 100 keys",
        "window function, default settings", "spark_builtin",
        "over, 4,000,000 rows, 100 keys, max of 10 rows", "window function", True),
    Row("an aggregation of your own over 1,000 rows on Spark",
        "Arrow UDF over whole columns", "spark_user",
        "over, 500,000 rows, 100 keys, user-defined, 1000 rows",
        "Arrow UDF, whole columns", True),
    Row("max, mean and stddev of 500 seconds every second on Spark", "`F.window`", "spark_slide",
        "slide, 500 seconds every 1 second: max_x, mean_x, stddev_x", "F.window", True),
    Row("the same of 10 minutes every minute", "`F.window`", "spark_slide",
        "slide, 10 minutes every 1 minute: max_x, mean_x, stddev_x", "F.window", True),
    Row("median of 10,000 rows of a million on Spark, 100 keys",
        "`F.percentile` over a window, 2 of the keys", "spark_ranks",
        f"{_OVER}, median of 10,000 rows", "F.percentile"),
    Row("a stream on Spark: max and mean of a minute every second, 4 million events", "`F.window`",
        "streaming", "slide of 4,000,000 events, 60:1", "F.window", True),
    Row("the same of 500 seconds, 500,000 events", "`F.window`", "streaming",
        "slide of 500,000 events, 500:1", "F.window"),
    Row("20 features of 4 million rows in process, no key", "Polars", "tables",
        "over, 4M rows, 4 aggregations x 5 windows", "Polars", True),
    Row("20 features of 4 million shuffled rows in process, 10 keys", "Polars", "keyed_tables",
        "over, 4M rows, 10 keys, 20 features, shuffled", "Polars"),
    Row("600:1 slides of 4 million rows in process, 1,000 keys", "DuckDB, slices by hand",
        "slides", _SLIDE_600.format("1,000"), "DuckDB", True),
    Row("the same, 25 keys", "DuckDB, slices by hand", "slides", _SLIDE_600.format("25"), "DuckDB"),
    Row("median of 1,000 rows, of a million in process", "the fastest of pandas, Polars, DuckDB",
        "order_statistics", "median, window 1,000", "", True),
    Row("exact distinct count of 1,000 rows, of a million in process",
        "the fastest of pandas, Polars, DuckDB", "order_statistics",
        "exact distinct count, window 1,000", "", True),
    Row("a stream in one process, 60:1 slides, batches of 50,000",
        "the same events as a table", "iterators",
        "slide 60:1, 4,000,000 events in batches of 50,000", "the table"),
)  # fmt: skip


def ratio_of(row: Row) -> float:
    """The ratio that was measured last."""
    kept = json.loads((RESULTS / f"{row.suite}.json").read_text("utf-8"))
    found = [
        each["ratio"]
        for each in kept["comparisons"]
        if each["work"] == row.measured and each["against"].startswith(row.against)
    ]
    if len(found) != 1:
        raise LookupError(
            f"{row.suite}: {len(found)} comparisons are {row.measured!r}; one is needed"
        )
    return float(found[0])


def table(rows: tuple[Row, ...]) -> str:
    """The rows as a table of Markdown."""
    head = "| work | alternative | windrow is this many times as fast |\n|---|---|---|\n"
    lines = (f"| {row.work} | {row.alternative} | {_figure(ratio_of(row))} |\n" for row in rows)
    return head + "".join(lines)


def _figure(ratio: float) -> str:
    """Two digits, which is what a shared machine can tell."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def with_table(page: str, rows: tuple[Row, ...]) -> str:
    """A page with its table written anew."""
    written, count = _TABLE.subn(lambda _: table(rows), page)
    if count != 1:
        raise LookupError(f"the page has {count} places for figures; one is needed")
    return written


#: the pages, each with its rows
PAGES = {
    ROOT / "README.md": tuple(row for row in ROWS if row.on_readme),
    ROOT / "docs" / "performance.md": ROWS,
}


def findings() -> str:
    """What the run of the papers' experiments in docs/experiments/ found, as a table."""
    points = (EXPERIMENTS / "points-quick.jsonl").read_text("utf-8")
    first, *others = map(json.loads, points.splitlines())
    run, minutes = first["run"], sum(each.get("finished", 0.0) for each in others) / 60
    claims = json.loads((EXPERIMENTS / "claims.json").read_text("utf-8"))
    machine = run["machine"]
    lines = [
        counted([each["holds"] for each in claims])
        + f" The {run['grid']} grid, {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory']}; {minutes:.0f} minutes of measuring.",
        "",
        "| figure | the paper says | its factor | here | verdict |",
        "|---|---|---|---|---|",
    ]
    for each in claims:
        cells = (each[name] for name in ("place", "claim", "paper", "here", "holds"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_tables() -> None:
    """Write the tables of all pages."""
    for page, rows in PAGES.items():
        page.write_text(with_table(page.read_text("utf-8"), rows), "utf-8")
    page = ROOT / "docs" / "experiments.md"
    written, count = _TABLE.subn(lambda _: findings(), page.read_text("utf-8"))
    if count != 1:
        raise LookupError("docs/experiments.md has no place for its findings")
    page.write_text(written, "utf-8")


if __name__ == "__main__":
    write_tables()
