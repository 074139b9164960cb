"""The five papers: one file for the figures of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from windrow.errors import InvalidArgument
from windrow.experiments.experiment import Paper
from windrow.experiments.papers.constant_time_2019 import CONSTANT_TIME
from windrow.experiments.papers.general_2015 import GENERAL
from windrow.experiments.papers.in_order_2021 import IN_ORDER
from windrow.experiments.papers.parallel_boundary_2021 import PARALLEL
from windrow.experiments.papers.slickdeque_2018 import SLICKDEQUE

#: in the order in which the report shows them
PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (IN_ORDER, SLICKDEQUE, GENERAL, CONSTANT_TIME, PARALLEL)
}


def chosen(names: Sequence[str] | None) -> list[Paper]:
    """The papers of some names, or some of their figures, as in `general_2015.fig_7`.

    Raises:
        InvalidArgument: there is no such paper or figure.
    """
    if not names:
        return list(PAPERS.values())
    wanted: dict[str, set[str]] = {}
    for name in names:
        paper_name, _, figure_name = name.partition(".")
        if paper_name not in PAPERS:
            raise InvalidArgument(
                f"only: no paper is called {name!r}; there are {', '.join(PAPERS)}"
            )
        known = {figure.name for figure in PAPERS[paper_name].figures}
        if figure_name and figure_name not in known:
            raise InvalidArgument(
                f"only: {paper_name} has no {figure_name!r}; there are {', '.join(sorted(known))}"
            )
        wanted.setdefault(paper_name, set()).update({figure_name} if figure_name else known)
    return [
        replace(paper, figures=tuple(each for each in paper.figures if each.name in figures))
        for paper in PAPERS.values()
        if (figures := wanted.get(paper.name))
    ]
