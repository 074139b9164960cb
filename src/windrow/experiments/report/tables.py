"""The claims of the papers as rows, for the pages, for programs and for the docs."""

from __future__ import annotations

from collections import Counter
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


def place_of(row: Judged) -> str:
    """Paper and figure of a claim, in words."""
    return f"{row.paper.citation}, {row.figure.title.partition(':')[0]}"


def as_records(rows: Iterable[Judged]) -> list[dict[str, str]]:
    """The claims for programs."""
    return [
        {
            "page": f"{row.paper.name}.html",
            "figure": row.figure.name,
            "place": place_of(row),
            **vars(row.verdict),
        }
        for row in rows
    ]


def counted(verdicts: Sequence[str]) -> str:
    """How many claims hold, in words.

    >>> counted(["holds", "in part", "holds"])
    'Of 3 claims, 2 hold, 1 hold in part.'
    """
    numbers = Counter(verdicts)
    order = ("holds", "a tie", "in part", "does not hold", "not measured")
    told = dict(
        zip(
            order,
            ("hold", "are ties", "hold in part", "do not hold", "were not measured"),
            strict=True,
        )
    )
    parts = [f"{numbers[each]} {told[each]}" for each in order if numbers[each]]
    return f"Of {len(verdicts)} claims, {', '.join(parts)}."
