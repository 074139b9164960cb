"""One way to measure: turns, every other round backwards, and the median of the rounds."""

import statistics

import pytest
from benchmarks import harness, report, suites
from benchmarks.harness import Comparison

from windrow.experiments import rounds
from windrow.experiments.papers import PAPERS
from windrow.experiments.rounds import in_turns, median_time, median_times, times_in_turns


def contestants(log):
    def contestant(name):
        def run():
            log.append(name)
            return len(log)

        return run

    return {name: contestant(name) for name in ("a", "b")}


def test_every_other_round_goes_backwards_and_warming_up_does_not_count():
    log = []
    found = in_turns(contestants(log), rounds=2, warm_up=1)
    assert log == ["b", "a", "a", "b", "b", "a"]
    assert found == {"a": [3, 6], "b": [4, 5]}


def test_a_contestant_rests_before_it_runs(monkeypatch):
    log = []
    monkeypatch.setattr(rounds.time, "sleep", lambda seconds: log.append(seconds))
    in_turns(contestants(log), rounds=1, warm_up=0, rest=3.0)
    assert log == [3.0, "a", 3.0, "b"]
    log.clear()
    in_turns(contestants(log), rounds=1, warm_up=0)
    assert log == ["a", "b"]


def test_the_median_of_the_rounds_counts(monkeypatch):
    now = [0.0]
    steps = iter([5.0, 1.0, 9.0])

    def run():
        now[0] += next(steps)

    monkeypatch.setattr(rounds.time, "perf_counter", lambda: now[0])
    assert median_times({"a": run}, rounds=3, warm_up=0) == {"a": 5.0}
    steps = iter([2.0, 2.0])
    assert times_in_turns({"a": run}, rounds=2, warm_up=0) == {"a": [2.0, 2.0]}
    steps = iter([100.0, 1.0, 2.0, 3.0, 4.0])
    assert median_time(run, budget=10.0) == statistics.median([1.0, 2.0, 3.0, 4.0])


def test_every_suite_has_a_title_and_a_module():
    folder = harness.RESULTS.parent
    assert all((folder / f"{name}.py").is_file() for name in suites.SUITES)
    for kept in harness.RESULTS.glob("*.json"):
        assert kept.stem in suites.SUITES or kept.stem == "costs"


def test_the_page_of_bars_is_made_of_the_results_and_led_to():
    assert (report.FOLDER / report.BARS).read_text("utf-8") == report.bars_page()
    assert f'href="{report.BARS}"' in (report.FOLDER / "index.html").read_text("utf-8")


def test_the_report_of_the_docs_has_all_papers():
    results = report.run_of_the_docs()
    for paper in PAPERS.values():
        for figure in paper.figures:
            assert results.figure(paper.name, figure.name).points, f"{paper.name}.{figure.name}"


@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (3.0, False)])
def test_a_result_says_that_medians_count(seconds, met, tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    kept = harness.keep("tables", [Comparison("work", "other", seconds, 4.0, bar=2.0)])
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert '"counts": "median"' in kept.read_text()
    page = report.bars_page()
    assert f"Of 1 bars, {int(met)} are met." in page
    assert ("missed" in page) is not met
    assert "best rounds" not in page
