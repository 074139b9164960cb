"""Contestants take turns; what is finished stays; a missing one leaves a gap."""

import json
import sys

import pytest

from windrow.errors import InvalidArgument
from windrow.experiments import machine
from windrow.experiments.experiment import Figure, Grid, Group, Missing, Paper
from windrow.experiments.results import Results
from windrow.experiments.run import measure, take_turns

TINY = Grid("tiny", peers=())
RUN = {"grid": "tiny", "seed": 1}


def missing():
    raise Missing("nobody has installed it")


def paper_of(log, stop_at=None):
    """Three groups of two contestants; the one at `stop_at` is interrupted."""

    def contestant(name, x):
        def prepare():
            def reading():
                if x == stop_at:
                    raise KeyboardInterrupt
                log.append((name, x))
                return float(x)

            return reading

        return prepare

    def groups(_grid):
        for x in (1, 2, 3):
            contestants = {"a": contestant("a", x), "b": contestant("b", x), "gone": missing}
            yield Group("panel", x, contestants)

    figure = Figure("fig_1", "Fig. 1: all", "found", "here", "x", "y", groups)
    return Paper("paper", "Somebody", "Title", "machine", (figure,))


def test_contestants_take_turns_and_every_other_round_goes_backwards():
    log = []
    group = next(iter(paper_of(log).figures[0].groups(TINY)))
    points = take_turns(group, 2)
    warm_up = [("a", 1), ("b", 1)]
    assert log == [*warm_up, ("a", 1), ("b", 1), ("b", 1), ("a", 1)]
    assert [point.rounds for point in points] == [(1.0, 1.0), (1.0, 1.0), ()]
    assert points[2].gap == "nobody has installed it"


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    path, log = tmp_path / "points.jsonl", []
    with pytest.raises(KeyboardInterrupt):
        measure([paper_of(log, stop_at=2)], TINY, Results(path, RUN))
    assert {x for _name, x in log} == {1}
    with path.open("a") as file:
        file.write('{"paper": "paper", "fig')  # the process was killed while it wrote
    log.clear()
    told = []
    results = Results(path, RUN)
    measure([paper_of(log)], TINY, results, told.append)
    assert {x for _name, x in log} == {2, 3}
    assert [(each.done, each.groups) for each in told] == [(1, 3), (2, 3)]
    assert told[0].seconds_left is None
    assert told[1].seconds_left is not None
    points = Results(path, RUN).figure("paper", "fig_1")
    assert [point.x for point in points.line("panel", "a")] == [1, 2, 3]
    assert points.gaps() == {"nobody has installed it": ["gone"]}
    for line in path.read_text().splitlines():
        json.loads(line)


def test_a_run_that_is_done_measures_nothing(tmp_path):
    log = []
    for _ in range(2):
        measure([paper_of(log)], TINY, Results(tmp_path / "points.jsonl", RUN))
    assert len(log) == 3 * 2 * 2


def test_points_of_another_machine_are_refused(tmp_path):
    Results(tmp_path / "points.jsonl", {**RUN, "machine": "here"})
    with pytest.raises(InvalidArgument, match=r"output: .* another machine"):
        Results(tmp_path / "points.jsonl", {**RUN, "machine": "elsewhere"})


def test_versions_of_peers_elsewhere_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("WINDROW_PATHWAY_PYTHON", sys.executable)
    monkeypatch.setenv("WINDROW_FLINK_PYTHON", str(tmp_path / "none"))
    monkeypatch.setattr(machine, "_ELSEWHERE", {"pathway": "pytest", "flink": "apache-flink"})
    found = machine.versions()
    assert found["pytest"] == pytest.__version__
    assert "apache-flink" not in found


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "points.jsonl"
    path.write_text('{"x": 1}\n')
    with pytest.raises(InvalidArgument, match="not a file of this command"):
        Results(path, RUN)
