"""The report in docs/experiments/: `python -m benchmarks.report` writes it anew.

It has two parts. `windrow bench` measures what the papers did: its points are in
`points-quick.jsonl`, and the pages of the papers are made of them. The suites of this folder
measure what windrow has to be as fast as: their results are in `results/`, and the page of bars is
made of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, duration
from benchmarks.suites import SUITES
from windrow.experiments.claims import number
from windrow.experiments.papers import PAPERS
from windrow.experiments.report.pages import page, write_report
from windrow.experiments.results import Results

FOLDER = Path(__file__).parents[1] / "docs" / "experiments"
POINTS = FOLDER / "points-quick.jsonl"
BARS = "bars.html"
#: suites that went by the best round, until they are measured again
_BY_THE_BEST = frozenset({
    "kernels", "catalogue", "planner", "stores", "trees", "tables", "slides", "spark",
    "spark_builtin", "spark_columns", "spark_settings", "spark_slide", "spark_user", "streaming",
})  # fmt: skip


def run_of_the_docs() -> Results:
    """The points of the run that the docs show."""
    first = POINTS.read_text("utf-8").partition("\n")[0]
    return Results(POINTS, json.loads(first)["run"])


def bars_page() -> str:
    """What every suite measured last, beside its bars."""
    suites = {
        name: json.loads(path.read_text("utf-8"))
        for name in SUITES
        if (path := RESULTS / f"{name}.json").exists()
    }
    return page("windrow beside others: the bars of its benchmarks", "\n".join(_bars(suites)))


def _bars(suites: dict[str, dict[str, Any]]) -> Iterator[str]:
    barred = [each for kept in suites.values() for each in kept["comparisons"] if each["bar"]]
    met = sum(each["passes"] for each in barred)
    yield '<p><a href="index.html">The papers\' experiments</a></p>'
    yield "<p>Each line compares two ways to do the same work. The ratio is the other's time over "
    yield "windrow's, or what the title says: above 1, windrow is faster. A bar is the least ratio "
    yield "that is good enough. Contestants take turns, and the median of the rounds counts. "
    yield "<code>make bench</code> measures all of them.</p>"
    yield f"<p><strong>Of {len(barred)} bars, {met} are met.</strong></p>"
    for name, kept in suites.items():
        yield f'<h2 id="{name}">{escape(SUITES[name])}</h2>'
        yield f'<p class="quiet"><code>make bench BENCH_ARGS={name}</code>, Python '
        yield f"{kept['python']}, {kept['cores']} cores.{_counted(name, kept)}</p>"
        yield "<div class='scroll'><table><tr><th>Work</th><th>Beside</th><th>Ratio</th>"
        yield "<th>Bar</th><th>windrow takes</th><th>the other</th></tr>"
        yield from map(_line, kept["comparisons"])
        yield "</table></div>"


def _counted(name: str, kept: dict[str, Any]) -> str:
    if "counts" not in kept and name in _BY_THE_BEST:
        return " Measured before medians counted: these are the best rounds."
    return ""


def _line(each: dict[str, Any]) -> str:
    bar = ""
    if each["bar"]:
        verdict, style = ("met", "holds") if each["passes"] else ("missed", "does-not-hold")
        bar = f'{number(each["bar"])} <span class="verdict {style}">{verdict}</span>'
    cells = (
        escape(each["work"]),
        escape(each["against"]),
        number(each["ratio"]),
        bar,
        duration(each["seconds"]),
        duration(each["seconds_against"]),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def write_bars() -> None:
    """Write the page of bars."""
    (FOLDER / BARS).write_text(bars_page(), "utf-8")


def write() -> None:
    """Write all pages."""
    results = run_of_the_docs()
    papers = [
        paper
        for paper in PAPERS.values()
        if any(results.figure(paper.name, figure.name).points for figure in paper.figures)
    ]
    write_bars()
    about = "windrow beside other libraries: what make bench measures, and its bars"
    write_report(FOLDER, papers, results, {BARS: about})


if __name__ == "__main__":
    write()
