"""Spark's daemon of Python workers, which imports what they need before it makes them.

A worker is a fork of the daemon. Spark's own has imported almost nothing, so that each worker takes
a second to import pandas and windrow, and the tests of the session make a hundred. Where Spark runs
a plain Python of its own choice, without these packages, this daemon is Spark's.
"""

import contextlib
import pkgutil

from pyspark.daemon import manager

with contextlib.suppress(ImportError):
    import pandas  # noqa: F401

    import windrow.spark

    for module in pkgutil.walk_packages(windrow.spark.__path__, "windrow.spark."):
        __import__(module.name)

if __name__ == "__main__":
    manager()
