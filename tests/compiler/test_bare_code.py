"""Kernels from the cache are loaded and called without numba, with the same answers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from windrow.compiler import bare_code, machine_code
from windrow.compiler.argument_types import numba_version, types_in_words

pytestmark = pytest.mark.compiled

#: rows, arrays of arrays, value counts, slices, results that are states, and an exception
CALLS = """
import sys
import numpy as np, pyarrow as pa, windrow as wr
rows = np.arange(50)
columns = {"t": rows.astype("M8[s]"), "k": rows % 3, "n": rows * 5 % 13}
table = pa.table({**columns, "x": (rows * 7 % 11).astype(float)})
call = {"order": "t", "key": "k"}
print(wr.over(table, windows=wr.rows(4), aggs=[wr.max("x"), wr.mean("x")], **call).to_pydict())
print(wr.over(table, windows=wr.time("9s"), aggs=wr.top_k("x", 2), **call).to_pydict())
print(wr.over(table, windows=wr.rows(5), aggs=wr.median("n"), **call).to_pydict())
print(wr.slide(table, windows=wr.time("6s", every="2s"), aggs=wr.sum("n"), **call).to_pydict())
try:
    wr.over(pa.table({"n": [2**62] * 3}), windows=wr.rows(3), aggs=wr.sum("n"))
except wr.AggregateOverflow as error:
    print(error)
"""


def test_a_warm_cache_needs_no_numba() -> None:
    asked = CALLS + "print('numba' in sys.modules, file=sys.stderr)"
    runs = [
        subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    with_numba = "import numba\n" + CALLS
    by_numba = subprocess.run(
        [sys.executable, "-c", with_numba], capture_output=True, text=True, check=True
    )
    assert runs[0].stdout == runs[1].stdout == by_numba.stdout
    assert runs[1].stdout.endswith("sum(n): a sum left the range of 64-bit integers\n")
    assert runs[1].stderr.strip() == "False"


class Place(NamedTuple):
    first: int
    share: float


def moved(place: Any, numbers: Any, by: Any, twice: Any) -> Any:
    if by < 0:
        raise ValueError("backwards")
    total = 0.0
    for number in numbers[0]:
        total += number * by
    return Place(place.first + len(numbers[1]), total), 2 if twice else 1


ARGUMENTS = (Place(3, 0.5), (np.arange(4.0), np.zeros((2, 3), np.int32)), 2, True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    signature = tuple(map(numba.typeof, ARGUMENTS))
    compiled = numba.njit(_nrt=False, no_cfunc_wrapper=True, cache=False)(moved)
    compiled.compile(signature)
    result = compiled.overloads[signature]
    result.library._compiled_object = result.library._codegen._tm.emit_object(
        result.library._final_module
    )
    result.library._object_caching_enabled = True
    place = tmp_path_factory.mktemp("kept") / "kernel.py"
    bare_code.keep(place, result)
    return compiled, place


def test_it_answers_as_numba_does(kept: tuple[Any, Path]) -> None:
    compiled, place = kept
    bare = bare_code.load(place)
    assert bare is not None
    answer = bare(*ARGUMENTS)
    assert answer == compiled(*ARGUMENTS) == (Place(5, 12.0), 2)
    assert type(answer[0]) is Place
    with pytest.raises(ValueError, match="backwards"):
        bare(*ARGUMENTS[:2], -1, True)


@pytest.mark.parametrize(
    "wrong", [np.arange(4), np.arange(8.0)[::2], np.zeros((2, 2))], ids=["type", "gaps", "shape"]
)
def test_it_refuses_other_arrays(kept: tuple[Any, Path], wrong: Any) -> None:
    bare = bare_code.load(kept[1])
    assert bare is not None
    with pytest.raises(TypeError, match="the kernel takes 1-dimensional arrays of float64"):
        bare(ARGUMENTS[0], (wrong, ARGUMENTS[1][1]), *ARGUMENTS[2:])


def test_a_damaged_file_counts_as_missing(kept: tuple[Any, Path], tmp_path: Path) -> None:
    (whole,) = kept[1].parent.glob("*.bare")
    data = whole.read_bytes()
    for damaged in (b"", data[:7], data[:100], data[:-1], data[:50] + b"?" + data[51:]):
        (tmp_path / whole.name).write_bytes(damaged)
        assert bare_code.load(tmp_path / "kernel.py") is None


def test_code_of_another_processor_counts_as_missing(
    kept: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bare_code, "_processor", lambda: 7)
    assert bare_code.load(kept[1]) is None


def test_what_needs_numba_is_not_kept(tmp_path: Path) -> None:
    """A kernel that allocates counts references by functions of numba."""
    signature = (numba.float64[::1],)
    compiled = numba.njit(cache=False)(lambda numbers: (numbers + 1.0).sum())
    compiled.compile(signature)
    result = compiled.overloads[signature]
    result.library._compiled_object = b"code"
    result.library._object_caching_enabled = True
    bare_code.keep(tmp_path / "kernel.py", result)
    assert list(tmp_path.iterdir()) == []


def next_number(number: Any) -> Any:
    return number + 1


def next_small_number(number: Any) -> Any:
    return np.int32(number + 1)  # numbers of 32 bits take numba's wrapper


@pytest.mark.parametrize(("function", "is_bare"), [(next_number, True), (next_small_number, False)])
def test_a_kernel_is_compiled_once_for_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any, is_bare: bool
) -> None:
    """With numba's wrapper and numba's files only if it needs them."""
    monkeypatch.setenv("WINDROW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine_code, "LOADED", {})
    options = {"_nrt": False, "error_model": "numpy"}
    before = len(machine_code.COMPILED)
    for _process in range(2):
        made = machine_code.load_or_compile(
            "next", "# next\n", lambda _path: function, (numba.int64,), options
        )
        assert made(4) == 5
        assert isinstance(made, bare_code.BareKernel) == is_bare
    assert [each.name for each in machine_code.COMPILED[before:]] == ["next"]
    assert bool(list(tmp_path.rglob("*.nbi"))) != is_bare
    assert bool(list(tmp_path.rglob("*.bare"))) == is_bare


def test_words_tell_types_apart_as_numba_does() -> None:
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    examples: list[Any] = [
        1, 2**63, True, 1.0, None, np.int64(1), np.int32(1), np.bool_(True), np.float32(1),
        np.zeros(3), read_only, np.zeros(6)[::2], np.zeros((2, 2)), np.zeros((2, 2)).T,
        np.zeros(3, np.int64), np.zeros(3, "M8[s]"), np.zeros(3, "M8[us]"),
        (), (1,), (1, 2), (1, 2.0), ((1,), 2), Place(1, 2.0), (np.zeros(3), np.zeros(3)),
    ]  # fmt: skip
    words = [types_in_words((each,)) for each in examples]
    known = [numba.typeof(each) for each in examples]
    for one, its_words in zip(known, words, strict=True):
        for other, others_words in zip(known, words, strict=True):
            assert one == other or its_words != others_words


def test_the_version_is_found_without_loading_numba() -> None:
    code = "import sys; from windrow.compiler.argument_types import *\nprint(numba_version())"
    told = subprocess.run(
        [sys.executable, "-c", code + "\nassert 'numba' not in sys.modules"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == numba.__version__ == numba_version()


def test_the_module_of_a_users_function_may_be_gone(tmp_path: Path) -> None:
    """Found: numba imports that module to load a kernel, and the answer came from plain Python."""
    code = """
import numba, pyarrow as pa, windrow as wr
own = wr.aggregation(name="own", identity=0, combine=lambda older, newer: older + newer)
print(wr.over(pa.table({"x": [1, 2, 3]}), windows=wr.rows(2), aggs=own("x"))["own_x"].to_pylist())
"""
    for name in ("here_today", "gone_tomorrow"):
        module = tmp_path / f"{name}.py"
        module.write_text(code)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", f"import {name}"],
            cwd=tmp_path, env={**os.environ, "WINDROW_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout, done.returncode) == ("[1, 3, 5]\n", 0), done.stderr
        module.unlink()
