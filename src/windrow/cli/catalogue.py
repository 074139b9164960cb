"""List aggregations and algorithms, or tell all about one."""

from __future__ import annotations

import argparse
import sys
import textwrap

from windrow.cli.main import CallError

#: it needs nothing but the core
EXTRA = "spark"
EXAMPLES = """examples:
  windrow catalogue
  windrow catalogue quantile
  windrow catalogue daba_lite
"""
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow catalogue`."""
    parser.add_argument("name", nargs="?", help="an aggregation or an algorithm")


def run(arguments: argparse.Namespace) -> int:
    """Print the catalogue, or one entry of it."""
    print("\n".join(_all() if arguments.name is None else _one(arguments.name)))
    return 0


def _all() -> list[str]:
    from windrow.aggregations import OFFERED
    from windrow.algorithms import ALGORITHMS

    aggregations = {each.name: each.summary for each in OFFERED}
    algorithms = {name: _card(name)[0] for name in ALGORITHMS}
    return [
        _heading("Aggregations"), *_listed(aggregations), "",
        _heading("Algorithms"), *_listed(algorithms),
    ]  # fmt: skip


def _one(name: str) -> list[str]:
    from windrow.algebra.signatures import help_text
    from windrow.algorithms import ALGORITHMS
    from windrow.cql.names import catalogue
    from windrow.cql.tokens import suggestion

    aggregation = catalogue().get(name.lower().replace("_", ""))
    if aggregation is not None:
        needed = [each.name for each in aggregation.inputs][: max(1, aggregation.columns_needed)]
        call = f"{aggregation.name.upper()}({', '.join(needed)})"
        example = f'windrow run -e "SELECT {call} FROM t [ROWS 100]" --input t=file.csv'
        return [help_text(aggregation), "", "Example:", f"    {example}"]
    if name.lower() in ALGORITHMS:
        return _card(name.lower())
    known = [*catalogue(), *ALGORITHMS]
    raise CallError(f"there is no aggregation or algorithm {name!r}{suggestion(name, known)}")


def _card(name: str) -> list[str]:
    """What an algorithm's file says of it."""
    from importlib import import_module

    card = import_module(f"windrow.algorithms.{name}").__doc__ or name
    return card.strip().splitlines()


def _listed(entries: dict[str, str]) -> list[str]:
    width = max(map(len, entries)) + 2
    return [
        textwrap.fill(f"  {name.ljust(width)}{text}", _WIDTH, subsequent_indent=" " * (width + 2))
        for name, text in entries.items()
    ]


def _heading(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text
