"""Every figure of every paper is measured on a tiny grid, and stands in the report."""

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from windrow.cli.main import main
from windrow.errors import InvalidArgument
from windrow.experiments.contestants import numbers
from windrow.experiments.experiment import Grid, Missing
from windrow.experiments.papers import PAPERS, chosen
from windrow.experiments.peers import cpp_ring, peers, rolling_rate
from windrow.experiments.report.pages import write_report
from windrow.experiments.results import Results
from windrow.experiments.run import describe, measure

#: a peer that runs, and one that is nowhere installed with the others
GRID = Grid("tiny", peers=("polars", "flink"))


@pytest.fixture
def interpreted_everywhere(monkeypatch):
    """Also in the processes that measure memory; and no Flink of the machine's."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.delenv("WINDROW_FLINK_PYTHON", raising=False)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_every_figure_is_in_the_report(paper, tmp_path, interpreted_everywhere):
    results = Results(tmp_path / "points.jsonl", describe(GRID))
    measure([paper], GRID, results)
    front = write_report(tmp_path, [paper], results)
    page = (tmp_path / f"{paper.name}.html").read_text()
    claims = json.loads((tmp_path / "claims.json").read_text())
    for figure in paper.figures:
        points = results.figure(paper.name, figure.name)
        if figure.name == "fig_8" and paper.name == "parallel_boundary_2021":
            assert not points.points  # it is about Spark, which is not among the peers
            continue
        assert any(point.rounds for point in points.points), figure.name
        assert f'<h2 id="{figure.name}">' in page
        judged = [each for each in claims if each["figure"] == figure.name]
        assert len(judged) == len(figure.claims)
    assert page.count("<svg") >= len(paper.figures) - 1
    for headline in paper.abstract:
        assert headline.says in page
    assert f'href="{paper.name}.html"' in front.read_text()


def test_an_abstract_rests_on_claims_of_figures():
    for paper in PAPERS.values():
        claims = {(figure.name, claim.says) for figure in paper.figures for claim in figure.claims}
        for headline in paper.abstract:
            assert (headline.figure, headline.claim) in claims, headline
    assert len(PAPERS["slickdeque_2018"].abstract) >= 4


def test_a_missing_peer_leaves_a_gap_and_a_line(tmp_path, interpreted_everywhere):
    (paper,) = chosen(["in_order_2021.fig_10"])
    results = Results(tmp_path / "points.jsonl", describe(GRID))
    measure([paper], GRID, results)
    write_report(tmp_path, [paper], results)
    assert (
        "Gap for Flink (peer): flink is not installed"
        in (tmp_path / "in_order_2021.html").read_text()
    )
    points = results.figure("in_order_2021", "fig_10")
    assert points.line("sum, whole tables", "Polars")
    assert not points.line("sum, whole tables", "Flink")


def test_names_of_papers_and_figures_are_checked():
    (paper,) = chosen(["general_2015.fig_7", "general_2015.table_3"])
    assert [figure.name for figure in paper.figures] == ["table_3", "fig_7"]
    assert [each.name for each in chosen(None)] == list(PAPERS)
    with pytest.raises(InvalidArgument, match="no paper is called 'general'"):
        chosen(["general"])
    with pytest.raises(InvalidArgument, match="general_2015 has no 'fig_70'"):
        chosen(["general_2015.fig_70"])


def test_the_command_lists_and_refuses(capsys, tmp_path):
    assert main(["bench", "--list"]) == 0
    assert "slickdeque_2018.fig_15" in capsys.readouterr().out
    output = ["--output", str(tmp_path)]
    assert main(["bench", "--peers", "excel", *output]) == 2
    assert main(["bench", "--debs-2012", str(tmp_path / "none"), *output]) == 2
    assert "there is no such file" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("c++") is None, reason="install a C++ compiler, such as g++")
@pytest.mark.parametrize("function", cpp_ring.FUNCTIONS)
def test_the_ring_in_cpp_answers_right(function):
    values, extent = numbers(64), 7
    answers = np.zeros(64)
    cpp_ring.sliding(function, values, extent, 64, answers)()
    expected = {
        "sum": np.sum,
        "max": np.max,
        "geometric mean": lambda window: np.exp(np.log(window).mean()),
    }[function]
    # After 64 rounds on a ring of values, place `row` answers the window that ends at it.
    twice = np.concatenate([values, values])
    for row in range(64):
        window = twice[64 + row - extent + 1 : 64 + row + 1]
        assert answers[row] == pytest.approx(expected(window))


@pytest.mark.parametrize("peer", peers(["bottleneck", "numbagg", "pandas", "polars", "duckdb"]))
def test_peers_run_or_are_missing(peer):
    prepare = rolling_rate(peer, "sum", np.arange(100.0), 10)
    if importlib.util.find_spec(peer.NAME.lower()) is None:
        with pytest.raises(Missing, match="is not installed"):
            prepare()
    else:
        assert prepare()() > 0


def test_the_run_of_the_docs_is_whole():
    folder = Path(__file__).parents[2] / "docs" / "experiments"
    claims = json.loads((folder / "claims.json").read_text())
    text = (folder.parent / "experiments.md").read_text()
    for claim in claims:
        page = (folder / claim["page"]).read_text()
        assert f'id="{claim["figure"]}"' in page
        assert f"| {claim['place']} | {claim['claim']} |" in text
