"""What the tests of streams on Spark share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture
def streaming(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session of all tests, with the state store that streams need, and two partitions."""
    changed = {PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"}
    before = {name: spark.conf.get(name) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    yield spark
    for name, old in before.items():
        spark.conf.set(name, old)
