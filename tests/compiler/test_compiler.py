"""Kernels answer what their source answers, and are compiled once for all processes."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.algebra.equality import same

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parent.parent.parent
TABLE = pa.table({"n": [1, 2, 3, 4, 5], "x": [0.5, 4.0, 1.5, 3.0, 2.0]})


class Answered(NamedTuple):
    """What a process of `answering.py` left behind."""

    columns: dict[str, list[Any]]
    functions_compiled: int


class Process:
    """A process that answers questions on its own."""

    def __init__(self, questions: str, folder: Path, number: int = 0, **environment: str) -> None:
        self._path = folder / f"answers-{number}.arrow"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.compiler.answering", questions, str(self._path)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self) -> Answered:
        printed, complaint = self._process.communicate(timeout=300)
        assert self._process.returncode == 0, complaint
        with pa.memory_map(str(self._path)) as file:
            return Answered(pa.ipc.open_file(file).read_all().to_pydict(), int(printed))


def machine_code(cache: Path) -> dict[Path, int]:
    """The files of machine code, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*.bare")}


def kernels(cache: Path) -> list[Path]:
    return list(cache.glob("*.py"))


# Processes --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that begins empty and is shared by the tests of this section."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def compiled(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """The answers of the first process on that cache."""
    folder = tmp_path_factory.mktemp("first")
    return Process("many", folder, WINDROW_CACHE_DIR=str(cache)).result()


def test_a_compiled_kernel_answers_what_its_source_answers(compiled, tmp_path):
    plain = Process("many", tmp_path, NUMBA_DISABLE_JIT="1").result()
    assert compiled.functions_compiled > 0
    assert plain.functions_compiled == 0
    assert compiled.columns.keys() == plain.columns.keys()
    for name, column in compiled.columns.items():
        assert same(column, plain.columns[name]), name


def test_the_next_process_compiles_nothing(compiled, cache, tmp_path):
    before = machine_code(cache)
    again = Process("many", tmp_path, WINDROW_CACHE_DIR=str(cache)).result()
    assert again.functions_compiled == 0
    assert machine_code(cache) == before
    # The loops that sort the table by its keys have machine code of their own.
    assert len(before) == len(kernels(cache))
    assert sum("def combine" in path.read_text() for path in kernels(cache)) == 1
    assert all(same(again.columns[name], column) for name, column in compiled.columns.items())


def test_processes_that_start_at_once_on_an_empty_cache(tmp_path):
    cache = tmp_path / "cache"
    processes = [
        Process("few", tmp_path, number, WINDROW_CACHE_DIR=str(cache)) for number in range(4)
    ]
    answered = [process.result() for process in processes]
    n = answered[0].columns["n"]
    expected = [max(n[max(0, row - 6) : row + 1]) for row in range(len(n))]
    assert [each.columns["max_n"] for each in answered] == [expected] * 4
    assert sum(each.functions_compiled > 0 for each in answered) == 1
    assert len(machine_code(cache)) == len(kernels(cache)) == 1


# What users write -------------------------------------------------------------------------------


def total(name: str = "total", **functions: Any) -> Any:
    add: Callable[[Any, Any], Any] = lambda older, newer: older + newer  # noqa: E731
    return wr.aggregation(**{"name": name, "identity": 0, "combine": add, **functions})


def over(*measures: Any, table: pa.Table = TABLE) -> list[list[Any]]:
    """Answers over the newest two rows, one list for each measure."""
    found = wr.over(table, windows=wr.rows(2), aggs=measures)
    return [found[measure.name].to_pylist() for measure in measures]


def over_compiled(*measures: Any, table: pa.Table = TABLE) -> list[list[Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", wr.PlainPythonWarning)
        return over(*measures, table=table)


def scaled(factor: int) -> Any:
    return total(lift=lambda x: x * factor)


def twice(x: Any) -> Any:
    return 2 * x


def twice_and_one(x: Any) -> Any:
    return twice(x) + 1


def test_lambdas_from_one_line_are_told_apart_by_what_they_close_over():
    assert over_compiled(scaled(2)("n")) == [[2, 6, 10, 14, 18]]
    assert over_compiled(scaled(3)("n")) == [[3, 9, 15, 21, 27]]


def test_functions_may_call_functions():
    def thrice(x: Any) -> Any:
        return x + twice(x)

    def of_closure(x: Any) -> Any:
        return thrice(x)

    found = over_compiled(
        total("of_globals", lift=twice_and_one)("n"), total("of_closure", lift=of_closure)("n")
    )
    assert found == [[3, 8, 12, 16, 20], [3, 9, 15, 21, 27]]


def test_kernels_of_the_same_text_and_other_functions_are_told_apart():
    """The third column was answered by the kernel of the first call."""
    table = pa.table({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    first, last = wr.first, wr.last
    assert over(first("a"), last("b"), first("c"), table=table) == [[1, 1], [3, 4], [5, 5]]
    assert over(first("a"), last("b"), last("c"), table=table) == [[1, 1], [3, 4], [5, 6]]


def test_rows_of_arrays_are_compiled():
    def lift(n: int) -> Any:
        row = np.zeros(3, np.int64)
        row[n % 3] = 1
        return row

    histogram = wr.aggregation(
        name="fullest",
        identity=np.zeros(3, np.int64),
        lift=lift,
        combine=lambda older, newer: older + newer,
        lower=lambda partial: partial.max(),
    )
    table = pa.table({"n": [0, 3, 1, 2, 5, 5]})
    assert over_compiled(histogram("n"), table=table) == [[1, 2, 1, 1, 2, 2]]


def test_windows_may_have_no_answer_though_nothing_is_null():
    """A kernel raised `expected int64, got None`, and asked no condition where nothing is null."""
    answered = total("a", lower=lambda partial: partial if partial > 4 else None, output=pa.int64())
    defined = total("d", defined=lambda partial: partial > 4)
    assert over_compiled(answered("n"), defined("n")) == [[None, None, 5, 7, 9]] * 2


def test_a_division_by_zero_raises_as_in_plain_python():
    share = total("share", lower=lambda partial: 1 / (partial - 7))
    with pytest.raises(ZeroDivisionError):
        over(share("n"))


def test_what_numba_cannot_compile_runs_as_plain_python_with_a_warning():
    def digits(partial: int) -> int:
        return len(f"{partial:03d}")

    with pytest.warns(wr.PlainPythonWarning) as caught:
        assert over(total("digits", lower=digits)("n")) == [[3, 3, 3, 3, 3]]
    message = str(caught[0].message)
    assert message.startswith("digits runs as plain Python, far slower than compiled, because")
    assert "format spec in f-strings not supported" in message
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "combine",
    [
        lambda older, newer: older + newer + len({"a"} & {"b"}),  # an AssertionError inside numba
        lambda older, newer: sum(each for each in (older, newer)),
        lambda older, newer: TABLE.num_columns - 2 + older + newer,
    ],
)
def test_whatever_way_numba_fails_in_the_answers_are_right(combine):
    with pytest.warns(wr.PlainPythonWarning):
        assert over(total(combine=combine)("n")) == [[1, 3, 5, 7, 9]]


def quarter_of_many(partial: Any) -> Any:
    return partial if partial < 6 else partial / 4


def test_an_integer_answer_that_turns_into_a_float_is_not_cut_off():
    """The example had an integer for its answer, so 7 / 4 became 1."""
    with (
        pytest.warns(wr.PlainPythonWarning, match="there may be floats; let identity, lift"),
        pytest.raises(wr.InvalidAggregation, match=r"no int64: .*1\.75.* give output="),
    ):
        over(total(lower=quarter_of_many)("n"))
    told = total(lower=quarter_of_many, output=pa.float64())
    assert over_compiled(told("n")) == [[1, 3, 5, 1.75, 2.25]]


def test_an_integer_partial_that_turns_into_a_float_is_not_cut_off():
    turning = total(
        combine=lambda older, newer: older + newer if newer < 4 else (older + newer) / 4,
        output=pa.float64(),
        check=False,  # not associative, and told to compile all the same
    )
    with pytest.warns(wr.PlainPythonWarning, match="there may be floats; let identity, lift"):
        assert over(turning("n")) == [[1, 3, 5, 1.75, 2.25]]


def test_integers_stay_exact_where_the_identity_is_a_float():
    """As floats these two would be one number."""
    largest = wr.aggregation(
        name="largest", identity=-np.inf, combine=lambda a, b: b if b > a else a
    )
    table = pa.table({"n": [2**53, 2**53 + 1]})
    with pytest.warns(wr.PlainPythonWarning, match=r"identity=-2\*\*63"):
        assert over(largest("n"), table=table) == [[2**53, 2**53 + 1]]
    whole = wr.aggregation(name="whole", identity=-(2**63), combine=lambda a, b: b if b > a else a)
    assert over_compiled(whole("n"), table=table) == [[2**53, 2**53 + 1]]


def test_kernels_are_compiled_again_once_the_variable_is_gone(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        numba.config.reload_config()
    new = total(combine=lambda older, newer: older + newer + 0)
    assert over_compiled(new("n")) == [[1, 3, 5, 7, 9]]
