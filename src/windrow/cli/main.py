"""The command `windrow`: finds the subcommand and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from windrow import __version__
from windrow.errors import WindrowError

# A subcommand is a module of this package: see README.md beside this file.
SUBCOMMANDS = ("demo", "state")

#: packages that extras install: the module of a subcommand says which extra it needs
_IN_EXTRAS = ("pyspark", "pandas", "google", "matplotlib", "rich")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process when None)."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in _IN_EXTRAS:
            raise
        print(
            f"windrow {arguments.subcommand} needs {package}: "
            f"pip install 'windrow[{arguments.extra}]'",
            file=sys.stderr,
        )
        return 1
    except WindrowError as error:
        print(f"windrow {arguments.subcommand}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="windrow", description="Sliding-window aggregation.")
    parser.add_argument("--version", action="version", version=f"windrow {__version__}")
    subparsers = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
    for name in SUBCOMMANDS:
        module = import_module(f"windrow.cli.{name}")
        summary = (module.__doc__ or "").partition("\n")[0]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run, extra=module.EXTRA)
    return parser
