"""`make bench`: run the suites, print ratios, keep the raw results."""

from __future__ import annotations

import argparse
import importlib
import sys
from fnmatch import filter as matching
from itertools import chain

from benchmarks.harness import keep, show
from benchmarks.page_tables import write_tables

SUITES = {
    "kernels": "Block kernels, 4M events (ratio: cumsum's time over windrow's)",
    "algorithms": "Every algorithm (ratio: the time of a ring in C++ over windrow's)",
    "ranges": "64 ranges of rows in one pass (ratio: the time of a pass for each over that of one)",
    "window": "wr.Window (ratio: the other's time over windrow's)",
    "catalogue": "Every compiled aggregation, window 4,096 (ratio: million rounds per second)",
    "planner": "The planned algorithm (ratio: the best algorithm's time over the planned one's)",
    "parallel": "A helper's thread (ratio: the other algorithm's time over parallel_boundary's)",
    "stores": "Windows in a store (ratio: the time in memory over the time in the store)",
    "trees": "Monoid trees (ratio: the other's time over the tree's)",
    "command_line": "The command line (ratio: the other's time over windrow's)",
    "start": "The start of a process (ratio: the other's time over windrow's)",
    "compiling": "Kernels, compiled (ratio: CPU seconds of the revision before over now)",
    "tables": "Arrow tables in process",
    "small_jobs": "A small job from pandas (ratio: the other's time over windrow's)",
    "keyed_tables": "Arrow tables with keys in process, rows in order and not",
    "order_statistics": "Order statistics over Arrow tables in process",
    "as_of": "Features as of moments, in process, against DuckDB",
    "around": "Windows that end elsewhere than at their row (ratio: trailing over this one)",
    "slides": "Sliding windows over Arrow tables in process",
    "shared_answers": "Many windows over shared slices (ratio: a pass for each over one pass)",
    "iterators": "Streams in one process (ratio: the other's time over the stream's)",
    "spark": "Spark batch, many features",
    "spark_as_of": "Spark batch, features as of moments",
    "spark_keyed": "Spark batch, a million rows of 100 keys",
    "spark_builtin": "Spark batch, one built-in function",
    "spark_ranks": "Spark batch, medians and exact distinct counts",
    "spark_slide": "Spark batch, sliding windows",
    "spark_user": "Spark batch, an aggregation of one's own",
    "spark_columns": "Spark batch, columns that no window needs (ratio: beside over across)",
    "spark_settings": "Spark batch, settings of the session (ratio: the usual time over this one)",
    "streaming": "Spark streams, against Spark's own windows",
    "streaming_steady": "Spark streams that run, batch by batch, against Spark's own and Flink",
    "streaming_restart": "Spark streams, a query with 1 GiB of state started again",
    "spark_memory": "Spark batch, a key of any size in bounded memory",
}


_HELP = f"names or patterns such as 'spark*'; all by default: {', '.join(SUITES)}"


def _suites(pattern: str) -> list[str]:
    found = matching(SUITES, pattern)
    if not found:
        raise argparse.ArgumentTypeError(f"no suite is called {pattern}")
    return found


def main() -> int:
    """Run the named suites, all by default; the exit code tells whether every bar was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", type=_suites, default=[list(SUITES)], help=_HELP)
    met = True
    for suite in chain.from_iterable(parser.parse_args().suites):
        comparisons = importlib.import_module(f"benchmarks.{suite}").run()
        show(SUITES[suite], comparisons)
        keep(suite, comparisons)
        print(f"  kept in benchmarks/results/{suite}.json")
        met = met and all(each.passes for each in comparisons)
    write_tables()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
