"""The pages of the report, as HTML that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from windrow.experiments.claims import NOT_IN_PAPER, number
from windrow.experiments.experiment import LATENCY_LABEL, SPIKE, Figure, Paper
from windrow.experiments.report.names import label_of
from windrow.experiments.report.plots import panel_plot
from windrow.experiments.report.tables import Judged, as_records, counted, judged, place_of
from windrow.experiments.results import FigurePoints, Results

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 0 1rem 4rem;
       color: #1b1f24; background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 3rem; }
a { color: #0a58a8; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.plots > div { flex: 1 1 28rem; max-width: 36rem; min-width: 0; }
svg.plot { width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dde3;
         vertical-align: top; }
.verdict { white-space: nowrap; font-weight: 600; }
.holds { color: #11692b; } .in-part, .a-tie { color: #8a5a00; } .does-not-hold { color: #a3161f; }
.not-measured { color: #5c6670; }
ul.claims { padding-left: 1.2rem; } ul.claims li { margin: .5rem 0; }
.quiet { color: #4c555f; font-size: .9rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
@media (max-width: 40rem) {
  table.claims thead { display: none; } table.claims tr { display: block; padding: .6rem 0;
    border-bottom: 1px solid #d8dde3; }
  table.claims td { display: block; border: 0; padding: .1rem 0; }
  td.paper:not(:empty)::before { content: "paper: "; } td.here::before { content: "here: "; }
}
"""


def write_report(
    folder: Path, papers: Sequence[Paper], results: Results, beside: Mapping[str, str] | None = None
) -> Path:
    """Write the pages, and `claims.json`; returns the first page.

    Args:
        folder: where they go.
        papers: those that have points.
        results: the points.
        beside: other pages that the first one leads to: what they are about, by their file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = judged(papers, results)
    for paper in papers:
        body = "\n".join(_paper(paper, results, rows))
        title = f"{paper.citation}: {paper.title}"
        (folder / f"{paper.name}.html").write_text(page(title, body), encoding="utf-8")
    front = folder / "index.html"
    body = "\n".join(_front(papers, results, rows, beside or {}))
    front.write_text(page("The papers' experiments, on this machine", body), encoding="utf-8")
    (folder / "claims.json").write_text(json.dumps(as_records(rows), indent=1) + "\n")
    return front


def page(title: str, body: str) -> str:
    """A page of the report."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


# The first page ----------------------------------------------------------------------------------


def _front(
    papers: Sequence[Paper], results: Results, rows: list[Judged], beside: Mapping[str, str]
) -> Iterator[str]:
    yield f"<p>{_about(results)}</p>"
    yield f"<p><strong>{counted([row.verdict.holds for row in rows])}</strong>"
    yield "A claim holds if it does at all points, within 3 %."
    yield "Factors are medians over the points, with the least and the most in brackets.</p>"
    yield "<ul>"
    for paper in papers:
        seconds = sum(results.figure(paper.name, each.name).seconds for each in paper.figures)
        yield (
            f'<li><a href="{paper.name}.html">{escape(paper.citation)}: {escape(paper.title)}</a> '
            f'<span class="quiet">{len(paper.figures)} figures, measured in {_duration(seconds)}'
            "</span></li>"
        )
    for file, about in beside.items():
        yield f'<li><a href="{file}">{escape(about)}</a></li>'
    yield "</ul>"
    yield "<h2>Claims</h2>"
    yield '<table class="claims"><thead><tr><th>Figure</th><th>The paper says</th>'
    yield "<th>Its factor</th><th>Here</th><th>Verdict</th></tr></thead><tbody>"
    for row in rows:
        verdict, link = row.verdict, f"{row.paper.name}.html#{row.figure.name}"
        yield (
            f'<tr><td><a href="{link}">{escape(place_of(row))}</a></td>'
            f"<td>{escape(verdict.claim)}</td><td class='paper'>{escape(verdict.paper)}</td>"
            f"<td class='here'>{escape(verdict.here)}</td>"
            f"<td>{_badge(verdict.holds)}</td></tr>"
        )
    yield "</tbody></table>"
    yield from _machine(results.run)


def _about(results: Results) -> str:
    run = results.run
    amount = {
        "tiny": "The grid is tiny: the numbers mean nothing.",
        "quick": "The grid is the quick one: fewer points and rounds than in the papers, and "
        "smaller windows. windrow bench --full measures all.",
        "full": "The grid is the full one.",
    }[run.get("grid", "quick")]
    return escape(
        f"windrow's implementations of the algorithms of five papers, measured anew as the papers "
        f"did. Contestants take turns in each round, and the median of the rounds counts; shaded "
        f"areas and thin lines show the spread. {amount}"
    )


def _badge(holds: str) -> str:
    return f'<span class="verdict {holds.replace(" ", "-")}">{holds}</span>'


def _machine(run: dict[str, Any]) -> Iterator[str]:
    yield "<h2>Machine</h2><div class='scroll'><table>"
    told = {
        **run.get("machine", {}),
        "windrow": run.get("windrow", ""),
        "seed": run.get("seed", ""),
        "data": ", ".join(run.get("data", [])),
    }
    told["load of the minute before it began"] = run.get("busy")
    told["began"] = run.get("began", "")
    told["versions"] = ", ".join(f"{name} {text}" for name, text in run.get("versions", {}).items())
    for name, text in told.items():
        if text not in (None, ""):
            yield f"<tr><th>{escape(str(name))}</th><td>{escape(str(text))}</td></tr>"
    yield "</table></div>"


# A paper -----------------------------------------------------------------------------------------


def _paper(paper: Paper, results: Results, rows: list[Judged]) -> Iterator[str]:
    yield '<p><a href="index.html">All papers</a></p>'
    yield f"<p>The paper measured on: {escape(paper.setting)}</p>"
    yield from _abstract(paper, rows)
    for figure in paper.figures:
        points = results.figure(paper.name, figure.name)
        yield f'<h2 id="{figure.name}">{escape(figure.title)}</h2>'
        yield f"<p><strong>The paper found:</strong> {escape(figure.found)}</p>"
        yield f"<p><strong>Here:</strong> {escape(figure.here)}</p>"
        yield '<div class="plots">'
        for panel in points.panels:
            if plot := panel_plot(figure, points, panel):
                yield f"<div>{plot}</div>"
        yield "</div>"
        yield from _verdicts(figure, rows)
        yield from _gaps(points)
        yield from _numbers(figure, points)


def _abstract(paper: Paper, rows: list[Judged]) -> Iterator[str]:
    """What the abstract claims, beside what was measured."""
    verdicts = {(row.figure.name, row.verdict.claim): row for row in rows if row.paper is paper}
    found = [
        (headline, verdicts[headline.figure, headline.claim])
        for headline in paper.abstract
        if (headline.figure, headline.claim) in verdicts
    ]
    if not found:
        return
    yield '<h2 id="abstract">What its abstract claims</h2>'
    yield '<table class="claims"><thead><tr><th>The abstract</th><th>Figure</th>'
    yield "<th>Here</th><th>Verdict</th></tr></thead><tbody>"
    for headline, row in found:
        place = row.figure.title.partition(":")[0]
        yield (
            f"<tr><td>{escape(headline.says)}</td>"
            f'<td><a href="#{row.figure.name}">{escape(place)}</a></td>'
            f"<td class='here'>{escape(row.verdict.here)}</td>"
            f"<td>{_badge(row.verdict.holds)}</td></tr>"
        )
    yield "</tbody></table>"


def _verdicts(figure: Figure, rows: list[Judged]) -> Iterator[str]:
    mine = [row.verdict for row in rows if row.figure is figure]
    if not mine:
        return
    yield '<ul class="claims">'
    for verdict in mine:
        paper = f" (paper: {escape(verdict.paper)})" if verdict.paper else ""
        if verdict.paper == NOT_IN_PAPER:
            paper = f" ({NOT_IN_PAPER})"
        why = f" {escape(verdict.why)}" if verdict.why else ""
        yield (
            f"<li>{_badge(verdict.holds)}: {escape(verdict.claim)}{paper}. "
            f"Here: {escape(verdict.here)}.{why}</li>"
        )
    yield "</ul>"


def _gaps(points: FigurePoints) -> Iterator[str]:
    for reason, series in points.gaps().items():
        names = ", ".join(label_of(name) for name in series)
        yield f'<p class="quiet">Gap for {escape(names)}: {escape(reason)}.</p>'


def _numbers(figure: Figure, points: FigurePoints) -> Iterator[str]:
    yield f"<details><summary>Numbers ({_duration(points.seconds)})</summary>"
    for panel in points.panels:
        x = list(dict.fromkeys(point.x for point in points.points if point.panel == panel))
        heads = "".join(f"<th>{escape(_x(each))}</th>" for each in x)
        is_latency = any(p.has_quantiles for p in points.points if p.panel == panel)
        unit = LATENCY_LABEL if is_latency else figure.y_label
        yield f"<div class='scroll'><table><caption>{escape(panel)}: {escape(unit)}, "
        yield f"median (least to most)</caption><tr><th>{escape(figure.x_label)}</th>{heads}</tr>"
        for series in points.series(panel):
            found = {point.x: point for point in points.line(panel, series)}
            cells = "".join(f"<td>{_cell(found.get(each))}</td>" for each in x)
            yield f"<tr><th>{escape(label_of(series))}</th>{cells}</tr>"
        yield "</table></div>"
    yield "</details>"


def _cell(point: Any) -> str:
    if point is None:
        return ""
    middle = number(point.median)
    if point.has_quantiles:
        high, spike = number(point.quantile(0.99)), number(point.quantile(SPIKE))
        return f"{middle}; 99 %: {high}; spike: {spike}; slowest: {number(point.quantile(1.0))}"
    return f"{middle} ({number(point.low)} to {number(point.high)})"


def _x(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,g}" if value < 1 else f"{value:,.12g}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} minutes"
