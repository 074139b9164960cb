"""Nothing that a text says ends in anything but answers or a WindrowError."""

import ast
import tracemalloc
from pathlib import Path

import windrow
from tests.cql.fuzz import MOST_BYTES, examined, tables
from tests.support.cql.mutations import mutated_queries

_SOURCE = Path(windrow.__file__).parent


def test_mutated_queries_are_read_or_refused():
    given = tables()
    right = sum(examined(text, given) for text in mutated_queries(21, 1500))
    assert right > 20


def test_a_query_takes_little_memory():
    """What Python takes; `python -m tests.cql.fuzz` sees what the process takes, for many more."""
    given = tables()
    tracemalloc.start()
    try:
        for text in mutated_queries(22, 200):
            examined(text, given)
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES


def test_what_reads_queries_evaluates_no_python():
    files = [*(_SOURCE / "cql").glob("*.py"), *(_SOURCE / "algebra").glob("condition*.py")]
    assert len(files) > 10
    for path in files:
        named = {
            each.id for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Name)
        }
        assert not named & {"eval", "exec", "compile", "__import__", "import_module", "globals"}
