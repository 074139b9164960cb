"""What all tests share: one Spark session for the whole run, and how hypothesis is set."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.support.examples import SEEDS, USUAL
from tests.support.parts import PARTS, may_be_in, part_of
from tests.support.spark.state_store import (
    BY_FILE_SYSTEM,
    CHANGELOG,
    CHECKPOINT_FILES,
    PROVIDER,
    ROCKSDB,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: the first call of a kernel compiles it, and the machines of a CI are shared.
# The same examples in each run, so that a change is judged by what it changed; `make seeds` draws
# others, more of them, and prints the lines that reproduce a failure.
_COMMON = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("windrow", derandomize=True, max_examples=USUAL, **_COMMON)
hypothesis.settings.register_profile("seeds", print_blob=True, max_examples=SEEDS, **_COMMON)
hypothesis.settings.load_profile("windrow")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test` runs all parts of the tests at once, each in a process of its own."""
    parser.addoption("--part", choices=PARTS, help="run one part of the tests only")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that have no test of the part."""
    part = config.getoption("part")
    if part and collection_path.suffix == ".py" and not may_be_in(part, collection_path):
        return True
    return None


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among what was imported: it took a twentieth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take one part if asked; leave out what is about machine code where none is made."""
    from windrow.compiler.machine_code import is_enabled

    if part := config.getoption("part"):
        taken = [item for item in items if part_of(item) == part]
        config.hook.pytest_deselected(items=[item for item in items if part_of(item) != part])
        items[:] = taken
    if not is_enabled():
        skip = pytest.mark.skip(reason="kernels are not compiled: unset NUMBA_DISABLE_JIT")
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(skip)


# Java's first compiler and its plainest collector: Spark's many small jobs are over before better
# code and more threads pay. With one compiler Java keeps 48 MB of code, which the tests outgrow: it
# would throw code away and compile it again. Spark's classes are well-formed: nobody verifies them.
# Processes that tests start get it too.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
)


#: what says whether kernels are compiled
SWITCH = "NUMBA_DISABLE_JIT"
SESSION = pytest.StashKey["SparkSession"]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run kernels as the plain Python they are written in, unless a test is marked `compiled`.

    A kernel takes as long to compile as a hundred tests take. Spark's workers are told too.
    """
    value = "0" if item.get_closest_marker("compiled") else "1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SWITCH, value)
        if session := item.session.stash.get(SESSION, None):
            patch.setitem(session.sparkContext.environment, SWITCH, value)
        return (yield)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile nothing, in a module that is marked `compiled`."""
    monkeypatch.setenv(SWITCH, "1")


@pytest.fixture(scope="session")
def spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator["SparkSession"]:
    """A session on this machine, in UTC; a test that changes its settings puts them back."""
    from windrow.spark.session import local_session

    os.environ.pop("PYSPARK_PYTHON", None)  # the shell may name another Python
    folder = tmp_path_factory.mktemp("spark")
    session = local_session(
        "windrow tests",
        cores=2,
        log_file=folder / "spark.log",
        **{
            "spark.python.daemon.module": "tests.support.spark.daemon",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            CHECKPOINT_FILES: BY_FILE_SYSTEM,
        },
    )
    session.sparkContext.environment[SWITCH] = os.environ[SWITCH]
    request.session.stash[SESSION] = session
    yield session
    session.stop()


@pytest.fixture
def streaming(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session of all tests, with the state store that streams need, and two partitions."""
    changed = {PROVIDER: ROCKSDB, CHANGELOG: "true", "spark.sql.shuffle.partitions": "2"}
    before = {name: spark.conf.get(name, None) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    yield spark
    for name, old in before.items():
        if old is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, old)
