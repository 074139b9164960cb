"""About a minute of the fuzzer, always the same examples; `make fuzz` draws others."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.fuzz import aggregates, backends
from tests.fuzz.backends import BACKENDS, arrow
from tests.fuzz.calls import Call
from tests.fuzz.catalogue import catalogue
from tests.fuzz.examine import drawn
from tests.fuzz.run import by_clock, by_number, main, search
from windrow.aggregations import OFFERED

SEED = 15
IN_PROCESS = {"arrow": 200, "reader": 40, "pandas": 40, "polars": 40, "batches": 120, "shard": 80}


def check(backend: str, examples: int) -> None:
    counts, found = search(SEED, by_number([backend], 0, examples), most=1)
    assert not found, found[0]
    assert counts == {backend: examples}


@pytest.mark.parametrize(("backend", "examples"), IN_PROCESS.items())
def test_in_process(backend: str, examples: int) -> None:
    check(backend, examples)


@pytest.mark.compiled
def test_compiled() -> None:
    check("compiled", 8)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("backend", "examples"), [("spark", 6), ("stream", 2)])
def test_on_spark(backend: str, examples: int) -> None:
    check(backend, examples)


# The fuzzer itself -------------------------------------------------------------------------------


def test_every_aggregation_takes_part() -> None:
    assert catalogue().keys() == {"own", *(each.name for each in OFFERED)}
    assert aggregates.FUNCTIONS.keys() == catalogue().keys()
    asked = {m.name for number in range(300) for m in drawn("arrow", SEED, number).call.aggs}
    assert asked == catalogue().keys()


def test_a_number_always_gives_the_same_example() -> None:
    for backend in BACKENDS:
        assert drawn(backend, 3, 4) == drawn(backend, 3, 4)
        assert drawn(backend, 3, 4) != drawn(backend, 3, 5)
        assert drawn(backend, 3, 4) != drawn(backend, 4, 4)


def forgetful(call: Call, random: Random) -> backends.Asked:
    """A defect: windows of three rows and more lose the oldest."""
    windows = tuple(
        replace(each, arguments=(each.arguments[0] - 1,))
        if each.kind == "rows" and each.arguments and each.arguments[0] >= 3
        else each
        for each in call.windows
    )
    return call, arrow(replace(call, windows=windows), random)[1]


def test_what_is_found_is_small_and_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(BACKENDS, "arrow", replace(BACKENDS["arrow"], run=forgetful))
    assert main(["--seed", "9", "--backends", "arrow", "--examples", "40"]) == 1
    shown = capsys.readouterr().out
    assert "seed 9: " in shown
    first = shown.split("# python -m tests.fuzz --seed 9 --backends arrow --first ")[1]
    number, _, script = first.partition(" --examples 1\n")
    assert "# expected" in script
    assert "# got" in script
    # Three rows are needed to see it, and one measure.
    assert script.count(".alias(") == 1
    assert script.count("wr.rows(") == 1
    names: dict[str, Any] = {}
    exec(script, names)
    assert names["table"].num_rows <= 3
    assert main(["--seed", "9", "--backends", "arrow", "--first", number, "--examples", "1"]) == 1


def test_by_the_clock_every_backend_gets_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("tests.fuzz.run.time.monotonic", lambda: now[0])
    spent = {"arrow": 0.0, "spark": 0.0}
    for backend, _number in by_clock(list(spent), 0, 100):
        took = 3.0 if backend == "spark" else 0.25
        now[0] += took
        spent[backend] += took
    share = BACKENDS["arrow"].share / BACKENDS["spark"].share
    assert spent["arrow"] / spent["spark"] == pytest.approx(share, rel=0.15)
