"""The command `windrow`, up to where it is known what it has to do.

It is beside the package `windrow` and imports nothing of it: `import windrow` loads Arrow and the
catalogue, which `windrow --help` needs none of. Whatever does more is `windrow.cli`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: what `windrow --help` says of each subcommand; tests/cli compares it with their modules
SUMMARIES = {
    "run": "Answer a query over files: one command, no Python.",
    "explain": "Say what a query would do, and why.",
    "catalogue": "List aggregations and algorithms, or tell all about one.",
    "state": "Show what the state of a stream holds, from its checkpoint.",
    "watch": "Show a running query on a page of this machine: rates, batches, late events, state, charts.",  # noqa: E501
    "demo": "Watch windows over a live stream of sensor readings on local Spark; a chart at the end.",  # noqa: E501
    "bench": "Measure again what five papers measured, beside other libraries, and write a report.",
    "completion": "Print a script that completes the command in bash, zsh or fish.",
}
_HELP = """usage: windrow [-h] [--version] SUBCOMMAND ...

Sliding-window aggregation.

subcommands:
{subcommands}

options:
  -h, --help     show this help
  --version      show the version

examples:
  windrow run -e "SELECT AVG(price) FROM trades [ROWS 100] GROUP BY stock" --input trades=trades.csv
  windrow explain -e "SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE ON ts]"
  windrow catalogue quantile

`windrow SUBCOMMAND --help` tells more of each.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process when None)."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] in (["-h"], ["--help"]):
        width = max(map(len, SUMMARIES)) + 2
        lines = (f"  {name.ljust(width)} {text}" for name, text in SUMMARIES.items())
        print(_HELP.format(subcommands="\n".join(lines)), end="")
        return 0
    try:
        from windrow.cli.main import main as whole_command

        return whole_command(arguments)
    except KeyboardInterrupt:
        return 130
