"""The command `windrow`: finds the subcommand and runs it.

Exit codes: 0, all is well; 1, the data or the machine; 2, the call.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from windrow import __version__
from windrow.errors import InvalidArgument, WindrowError
from windrow_command import SUMMARIES

# A subcommand is a module of this package: see README.md beside this file.
SUBCOMMANDS = tuple(SUMMARIES)

#: packages that extras install: the module of a subcommand says which extra it needs
_IN_EXTRAS = ("pyspark", "pandas", "google", "matplotlib", "rich", "confluent_kafka")

#: the arguments that the command or its query gives, and not a file
_OF_THE_CALL = ("cql:", "lateness:", "order:", "windows:")


class CallError(WindrowError):
    """The call of the command is wrong, and not its data."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process when None)."""
    arguments = parser().parse_args(argv)
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
    except CallError as error:
        _say(arguments, str(error))
        return 2
    except InvalidArgument as error:
        _say(arguments, str(error))
        return 2 if str(error).startswith(_OF_THE_CALL) else 1
    except WindrowError as error:
        _say(arguments, str(error))
        return 1
    except BrokenPipeError:  # whoever read the answers has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # such as a folder that nobody may look into
        _say(arguments, f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return 1
    except KeyboardInterrupt:
        return 130


def _say(arguments: argparse.Namespace, problem: str) -> None:
    # A line of a file may hold codes that a terminal would follow.
    shown = "".join(
        each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}"
        for each in problem
    )
    print(f"windrow {arguments.subcommand}: {shown}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    whole = argparse.ArgumentParser(prog="windrow", description="Sliding-window aggregation.")
    whole.add_argument("--version", action="version", version=f"windrow {__version__}")
    subparsers = whole.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
    for name in SUBCOMMANDS:
        module = import_module(f"windrow.cli.{name}")
        summary = (module.__doc__ or "").partition("\n")[0]
        subparser = subparsers.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run, extra=module.EXTRA)
    return whole
