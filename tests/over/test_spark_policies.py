"""Slide policies on Spark give the answers of the process."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

import windrow as wr
from tests.support.over.policies import POLICIES, expected, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_over(spark: "SparkSession") -> None:
    numbers = [None if n > 12 else int(n) for n in np.random.default_rng(5).integers(0, 14, 300)]
    own = wr.policy(lambda total, oldest: total - oldest >= 20, of=wr.sum("x"))
    rows = table(numbers, 3)
    question = {
        "key": "key",
        "order": "t",
        "windows": {"own": own, "joined": POLICIES["joined"][0]},
        "aggs": [wr.count(), wr.max("x")],
    }
    found = wr.over(spark.createDataFrame(rows.to_pandas()), **question).orderBy("t").toArrow()
    here = wr.over(rows, **question)
    assert found["count_joined"].to_pylist() == list(map(len, expected("joined", numbers, 3)))
    for name in ("count_own", "max_x_own", "count_joined"):
        assert found[name].to_pylist() == here[name].to_pylist()
