"""`make bench`: run the suites, print ratios, keep the raw results."""

from __future__ import annotations

import argparse
import importlib
import sys
from fnmatch import filter as matching
from itertools import chain

from benchmarks.harness import keep, show
from benchmarks.page_tables import write_tables
from benchmarks.report import write_bars
from benchmarks.suites import SUITES

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
        if comparisons:
            keep(suite, comparisons)
            print(f"  kept in benchmarks/results/{suite}.json")
        met = met and all(each.passes for each in comparisons)
    write_tables()
    write_bars()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
