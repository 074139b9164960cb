"""What `import windrow` may and may not load, and what tests may import."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

from windrow.cli.main import main

EXTRAS = [
    "pyspark", "pandas", "google.protobuf", "grpc", "matplotlib", "rich", "polars", "duckdb",
    "rocksdict", "redis",
]  # fmt: skip


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_import_windrow_loads_no_extra() -> None:
    loaded = run_python("import sys, windrow; print(*sorted(sys.modules))")
    assert "windrow" in loaded.split()
    assert not set(EXTRAS) & set(loaded.split())


@pytest.mark.parametrize("package", EXTRAS)
def test_import_windrow_works_without_the_extra(package: str) -> None:
    answer = run_python(
        f"import sys; sys.modules[{package!r}] = None\n"
        "import windrow as wr\n"
        "window = wr.Window(wr.max()); window.insert(5); print(window.query())"
    )
    assert answer.strip() == "5"


def test_tables_need_no_extra() -> None:
    answer = run_python(
        "import os, sys\n"
        "class Missing:\n"  # pyarrow looks for pandas, and minds a None among the modules
        "    def find_spec(self, name, *_):\n"
        f"        if name in {EXTRAS}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "os.environ['NUMBA_DISABLE_JIT'] = '1'\n"
        "import windrow as wr\n"
        "asked = {'order': 't', 'aggs': wr.sum('x')}\n"
        "print(wr.over({'t': [2, 1], 'x': [3, 4]}, windows=wr.rows(2), **asked)['sum_x'])\n"
        "rows = [{'t': 1, 'x': 3}, {'t': 2, 'x': 4}]\n"
        "print(wr.slide(rows, windows=wr.rows(2, every=1), **asked)['sum_x'])"
    )
    assert [word for word in answer.split() if word.strip(",").isdigit()] == ["7,", "4", "3,", "7"]


def test_help_of_the_command_needs_no_extra() -> None:
    blocked = "".join(f"sys.modules[{package!r}] = None\n" for package in EXTRAS)
    answer = run_python(
        f"import sys\n{blocked}"
        "from windrow.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass"
    )
    assert "demo" in answer


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    written = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert capsys.readouterr().out == f"windrow {written['project']['version']}\n"


@pytest.mark.parametrize(
    ("package", "command", "extra"),
    [
        ("rich", ["demo", "--rows", "10", "--output", "never-made"], "demo"),
        ("pyspark", ["state", "."], "spark"),
        ("pyspark", ["demo", "--output", "never-made"], "demo"),
    ],
)
def test_a_missing_extra_is_named(package: str, command: list[str], extra: str) -> None:
    answer = run_python(
        f"import sys; sys.modules[{package!r}] = None; sys.stderr = sys.stdout\n"
        "from windrow.cli.main import main\n"
        f"print(main({command}))"
    )
    assert answer.splitlines() == [
        f"windrow {command[0]} needs {package}: pip install 'windrow[{extra}]'",
        "1",
    ]
    assert not Path("never-made").exists()


@pytest.mark.parametrize(
    ("package", "made", "extra"),
    [
        ("rocksdict", "RocksDBStore('folder')", "rocksdb"),
        ("redis", "RedisStore('redis://')", "redis"),
    ],
)
def test_a_store_names_the_extra_that_it_needs(package: str, made: str, extra: str) -> None:
    answer = run_python(
        f"import sys; sys.modules[{package!r}] = None\n"
        "import windrow as wr\n"
        f"try: wr.stores.{made}\n"
        "except wr.StoreError as error: print(error)"
    )
    assert f"pip install 'windrow[{extra}]'" in answer


def test_numba_is_not_loaded_before_something_is_compiled() -> None:
    """It takes longer to load than all the rest, and a window of elements runs without it."""
    answer = run_python(
        "import sys, windrow as wr, windrow.testing\n"
        "window = wr.Window(wr.mean()); window.insert_many([1, 2]); window.query()\n"
        "wr.aggregation(name='a', identity=0, combine=lambda a, b: a + b)\n"
        "print({'numba', 'llvmlite', 'hypothesis'} & set(sys.modules))"
    )
    assert answer.strip() == "set()"


def test_import_is_light() -> None:
    """What takes time to load is loaded by those who use it: issue 18 allows 0.3 s in all."""
    heavy = [
        "numba", "llvmlite", "pandas", "polars", "duckdb", "pyspark", "hypothesis", "rich", "scipy",
        "matplotlib", "asyncio", "logging", "tempfile", "concurrent.futures", "numpy.polynomial",
        "windrow.api", "windrow.engine", "windrow.stream", "windrow.iterators", "windrow.element",
        "windrow.stores", "windrow.spark", "windrow.testing",
    ]  # fmt: skip
    loaded = run_python("import sys, windrow; print(*sorted(sys.modules))").split()
    assert not set(heavy) & set(loaded)


def test_everything_is_found_when_it_is_asked_for() -> None:
    answer = run_python(
        "import windrow as wr\n"
        "assert set(wr.__all__) <= set(dir(wr))\n"
        "for name in wr.__all__: getattr(wr, name)\n"
        "from windrow import *\n"
        "import windrow.stores; assert wr.stores is windrow.stores\n"
        "try: wr.ovre\n"
        "except AttributeError as error:\n"
        "    assert error.obj is wr  # so that Python can suggest a name\n"
        "    print(error)"
    )
    assert answer.strip() == "module 'windrow' has no attribute 'ovre'"


def test_the_first_call_of_a_warm_cache_is_light(tmp_path: Path) -> None:
    """numba is not loaded, and nothing makes pyarrow load pandas."""
    table = pa.table({"k": [1, 2, 1], "t": [1, 3, 2], "x": [3.0, None, 2.0]})
    path = str(tmp_path / "events.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    code = (
        "import sys, pyarrow as pa, windrow as wr\n"
        f"with pa.OSFile({path!r}) as file: table = pa.ipc.open_stream(file).read_all()\n"
        "wr.over(table, key='k', order='t', windows=wr.rows(2), aggs=wr.max('x'))\n"
        "print(*sorted(sys.modules))"
    )
    run_python(code)
    loaded = run_python(code).split()
    assert "windrow.engine.over_table" in loaded
    assert not {"numba", "pandas", "polars", "duckdb", "scipy"} & set(loaded)


def test_strategies_say_that_they_need_hypothesis() -> None:
    answer = run_python(
        "import sys; sys.modules['hypothesis'] = None\n"
        "import windrow.testing\n"
        "try: import windrow.testing.strategies\n"
        "except ImportError as error: print(error)"
    )
    assert answer.strip() == "windrow.testing.strategies needs hypothesis: pip install hypothesis"


def test_no_test_module_is_imported() -> None:
    """What several tests need is in `tests/support`, grouped by what it helps with."""
    found = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
                names = [f"{node.module}.{each.name}" for each in node.names]
                found += [
                    f"{path.name}: {name}"
                    for name in names
                    if ".test_" in name or ".conftest" in name
                ]
    assert found == []
