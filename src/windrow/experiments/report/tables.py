"""The claims of the papers as rows, for the pages, for programs and for the docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from windrow.experiments.claims import Verdict
from windrow.experiments.experiment import Figure, Paper
from windrow.experiments.results import Results


class Judged(NamedTuple):
    """A claim of a figure, and what became of it here."""

    paper: Paper
    figure: Figure
    verdict: Verdict


def judged(papers: Sequence[Paper], results: Results) -> list[Judged]:
    """All claims of some papers."""
    return [
        Judged(paper, figure, claim.judge(points, figure.higher_is_better))
        for paper in papers
        for figure in paper.figures
        if (points := results.figure(paper.name, figure.name)).points
        for claim in figure.claims
    ]


def markdown(rows: Iterable[Judged]) -> str:
    """A table for the docs."""
    lines = ["| figure | the paper | its factor | here | verdict |", "|---|---|---|---|---|"]
    for paper, figure, verdict in rows:
        place = f"{paper.citation}, {figure.title.partition(':')[0]}"
        cells = (place, verdict.claim, verdict.paper, verdict.here, verdict.holds)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def counted(rows: Sequence[Judged]) -> str:
    """How many claims hold, in words.

    >>> counted([])
    'No claim was judged.'
    """
    if not rows:
        return "No claim was judged."
    numbers: dict[str, int] = {}
    for row in rows:
        numbers[row.verdict.holds] = numbers.get(row.verdict.holds, 0) + 1
    order = ("holds", "in part", "does not hold", "not measured")
    told = {"holds": "hold", "in part": "hold in part", "does not hold": "do not hold",
            "not measured": "were not measured"}  # fmt: skip
    parts = [f"{numbers[each]} {told[each]}" for each in order if each in numbers]
    return f"Of {len(rows)} claims, {', '.join(parts)}."
