"""What goes to a Spark task can be pickled as Spark does it."""

import pytest

from windrow.aggregations import CATALOGUE


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_aggregation(name: str) -> None:
    from pyspark import cloudpickle

    sent = cloudpickle.loads(cloudpickle.dumps(CATALOGUE[name]))
    assert sent.name == name
