"""One more file is one more aggregation, or one more algorithm: nothing else is edited.

The files are the examples of aggregations/README.md and algorithms/README.md. A copy of windrow has
them beside its own, and the tests of this suite run with the copy.
"""

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.support.registration.grown import PACKAGE, example_of, grow, run
from windrow.aggregations import CATALOGUE, OFFERED
from windrow.algorithms import ALGORITHMS

AGGREGATION, ALGORITHM = "sum_of_sizes", "recompute_backwards"


def measured() -> str:
    """The cost table, had a benchmark found the new algorithm ten times as fast as another."""
    table = json.loads((PACKAGE / "planning" / "costs.json").read_text())
    for aggregations in table.values():
        for algorithms in aggregations.values():
            curve = algorithms["two_stacks_lite"]
            algorithms[ALGORITHM] = {events: cost / 10 for events, cost in curve.items()}
    return json.dumps(table)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grow(
        tmp_path_factory.mktemp("grown"),
        {
            f"aggregations/{AGGREGATION}.py": example_of("aggregations"),
            f"algorithms/{ALGORITHM}.py": example_of("algorithms"),
        },
    )


def test_an_aggregation_is_one_file_of_at_most_15_lines() -> None:
    assert len(example_of("aggregations").splitlines()) <= 15


def test_both_are_found(grown: Path) -> None:
    code = f"""
import windrow as wr, windrow.aggregations, windrow.algorithms
from windrow.aggregations import CATALOGUE, OFFERED, reference, stub
from benchmarks import algorithms, catalogue
assert wr.{AGGREGATION} is windrow.aggregations.{AGGREGATION} is CATALOGUE["{AGGREGATION}"]
assert "{AGGREGATION}" in wr.__all__ and wr.{AGGREGATION} in OFFERED
assert "| `{AGGREGATION}(value)` | the sum of absolute values |" in reference.page()
assert "{AGGREGATION}: _" in stub.stub()
assert "{AGGREGATION}" in [each.name for each, _kinds in catalogue.subjects()]
assert "{ALGORITHM}" in windrow.algorithms.ALGORITHMS
assert "{ALGORITHM}" in [each.algorithm.NAME for each in algorithms.subjects()]
window = wr.Window(wr.{AGGREGATION}(), algorithm="{ALGORITHM}")
window.insert_many([3, -4])
print(window.query())
"""
    assert run(grown, "-c", code) == "7.0\n"


#: the tests that look for aggregations and algorithms themselves
LOOKING = (
    "algebra/test_laws.py",
    "aggregations/test_catalogue.py",
    "aggregations/test_types.py",
    "aggregations/test_times.py",
    "algorithms/test_conformance.py",
    "algorithms/test_registry.py",
    "stream/test_catalogue.py",
    "spark/test_pickling.py",
    "test_papers.py",
)


def test_the_tests_of_this_suite_find_both(grown: Path) -> None:
    """Laws, the oracle, every kind of column, conformance, invariants, streams, pickling."""
    shown = run(
        grown,
        *("-m", "pytest", "-v", "-p", "no:cacheprovider", "-m", "not spark and not compiled"),
        *("-k", f"{AGGREGATION} or {ALGORITHM}"),
        *(f"tests/{path}" for path in LOOKING),
    )
    passed = re.findall(r"^tests/(\S+?)::(\S+) PASSED", shown, re.MULTILINE)
    assert {path for path, _test in passed} == set(LOOKING)
    tests = {test for _path, test in passed}
    assert f"test_what_it_answers[{AGGREGATION}-float]" in tests
    assert f"test_every_window[{AGGREGATION}]" in tests
    assert f"test_order_and_grouping[{ALGORITHM}]" in tests


# The planner ------------------------------------------------------------------------------------

PLANNED = f"""
import pyarrow as pa, windrow as wr
table = pa.table({{"x": [1.0, 2.0]}})
(group,) = wr.plan(table, windows=wr.rows(1000), aggs=wr.sum("x")).to_dict()["groups"]
(window,) = group["windows"].values()
print(window["algorithm"])
print(window["ruled_out"].get("{ALGORITHM}"))
"""


def test_the_planner_leaves_out_what_was_not_measured(grown: Path) -> None:
    assert run(grown, "-c", PLANNED).splitlines()[1] == "it was not measured"


def test_the_planner_takes_what_was_measured(tmp_path: Path) -> None:
    grown = grow(
        tmp_path,
        {
            f"algorithms/{ALGORITHM}.py": example_of("algorithms"),
            "planning/costs.json": measured(),
        },
    )
    assert run(grown, "-c", PLANNED).splitlines() == [ALGORITHM, "None"]


# Spark ------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_it_works_on_spark(grown: Path, tmp_path: Path) -> None:
    """With a session of its own, whose workers find the copy."""
    code = f"""
import pathlib, windrow as wr
from windrow.spark.session import local_session
spark = local_session("registration", cores=1, log_file=pathlib.Path({str(tmp_path)!r}) / "log",
    **{{"spark.sql.shuffle.partitions": "1"}})
frame = spark.createDataFrame([(1, 3.0), (2, -4.0), (3, 5.0)], "ts long, x double")
asked = dict(order="ts", windows=wr.rows(2), aggs=wr.{AGGREGATION}("x"), algorithm="{ALGORITHM}")
print([row["{AGGREGATION}_x"] for row in wr.over(frame, **asked).sort("ts").collect()])
spark.stop()
"""
    assert run(grown, "-c", code).splitlines()[-1] == "[3.0, 7.0, 9.0]"


# Elsewhere --------------------------------------------------------------------------------------


def test_all_are_found_in_a_zip_file(tmp_path: Path) -> None:
    path = tmp_path / "windrow.zip"
    with zipfile.ZipFile(path, "w") as file:
        for each in PACKAGE.rglob("*"):
            if each.suffix in (".py", ".json"):
                file.write(each, each.relative_to(PACKAGE.parent))
    code = """
import windrow
from windrow.aggregations import CATALOGUE, OFFERED
from windrow.algorithms import ALGORITHMS
print(*(each.name for each in OFFERED))
print(*CATALOGUE)
print(*ALGORITHMS)
print(windrow.__file__)
"""
    offered, catalogue, algorithms, file = run(path, "-c", code).splitlines()
    assert file.startswith(str(path))
    assert offered.split() == [each.name for each in OFFERED]
    assert (catalogue.split(), algorithms.split()) == (list(CATALOGUE), list(ALGORITHMS))


# What is wrong is said --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        (
            "aggregations/wrong.py",
            example_of("aggregations").replace("sum_of_sizes = ", "sizes = "),
            "the aggregation 'sum_of_sizes' stands under the name 'sizes'",
        ),
        (
            "algorithms/wrong.py",
            'NAME = "wrong"\n',
            "windrow.algorithms.wrong is no algorithm: it has no GUARANTEES, State, FUNCTIONS",
        ),
        (
            "algorithms/wrong.py",
            "from windrow.algorithms.recompute import *\n",
            "windrow.algorithms.wrong is no algorithm: it is a second recompute",
        ),
    ],
    ids=["another name", "no functions", "a name twice"],
)
def test_a_file_that_is_wrong_is_refused(
    path: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match=re.escape(message)):
        run(grow(tmp_path, {path: text}), "-c", "import windrow.algorithms")
