"""Spark's daemon of Python workers, which imports what they need before it makes them.

A worker is a fork of the daemon. Spark's own has imported almost nothing, so that each worker takes
a second to import pandas and windrow, and the tests of the session make a hundred.
"""

import pkgutil

import pandas  # noqa: F401
from pyspark.daemon import manager

import windrow.spark

for module in pkgutil.walk_packages(windrow.spark.__path__, "windrow.spark."):
    __import__(module.name)

if __name__ == "__main__":
    manager()
