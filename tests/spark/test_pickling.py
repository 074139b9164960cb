"""What goes to a Spark task can be pickled as Spark does it."""

import re
import subprocess
import sys

import pytest

from windrow.aggregations import CATALOGUE
from windrow.algebra.distinct import over_distinct
from windrow.algebra.kinds import Kind


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_aggregation(name: str) -> None:
    from pyspark import cloudpickle

    sent = cloudpickle.loads(cloudpickle.dumps(CATALOGUE[name]))
    assert sent.name == name


@pytest.mark.parametrize(
    "name", [name for name, each in CATALOGUE.items() if each.inputs[0].digest]
)
def test_sketches_one_value_at_a_time(name: str) -> None:
    """Over different values digests are not made of whole columns."""
    from pyspark import cloudpickle

    monoid = over_distinct(CATALOGUE[name]).monoid_for((Kind.INTEGER,))
    sent = cloudpickle.loads(cloudpickle.dumps(monoid))
    partial = monoid.combine(monoid.lift(3), monoid.lift(4))
    assert repr(sent.lower(partial)) == repr(monoid.lower(partial))


def test_the_process_that_is_asked_for_states_imports_nothing_of_ours() -> None:
    from pyspark import cloudpickle

    from windrow.spark.streaming.pickled_processor import pickled
    from windrow.spark.streaming.processor import ShardProcessor

    processor = pickled(ShardProcessor("token", lambda: None, None, None, 1, False))  # type: ignore[arg-type]
    script = """
import pickle, sys
processor = pickle.load(sys.stdin.buffer)
class Handle:
    getMapState = staticmethod(print)
processor.init(Handle)
print([name for name in ("windrow", "numba", "pandas", "pyarrow") if name in sys.modules])
"""
    asked = subprocess.run(
        [sys.executable, "-c", script], input=cloudpickle.dumps(processor), capture_output=True
    )
    states, imported = asked.stdout.decode().splitlines()
    assert re.findall(r"'(\w+)'", states) == ["number", "content"], asked
    assert imported == "[]"
