"""Say what a query would do, and why."""

from __future__ import annotations

import argparse
import json

from windrow.cli.inputs import Input, inputs_of, with_types
from windrow.cli.run import add_query, query_text, tables_of
from windrow.errors import InvalidArgument

#: it needs nothing but the core
EXTRA = "spark"
EXAMPLES = """examples:
  windrow explain -e "SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE ON ts]"
  windrow explain hourly.cql --input calls=calls.parquet --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow explain`."""
    add_query(parser)
    parser.add_argument("--json", action="store_true", help="the plan as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; with an input, for its columns."""
    from windrow.cql.query import cql

    text = query_text(arguments)
    tables = {}
    inputs: list[Input] = []
    if arguments.input:
        inputs = inputs_of(
            arguments.input,
            tables_of(text),
            arguments.input_format,
            arguments.types,
            arguments.encoding,
        )
        tables = {each.name: each.batches().schema.empty_table() for each in inputs}
    try:
        plan = cql(text, **tables).plan()
    except InvalidArgument as error:
        raise with_types(error, inputs) from None
    print(json.dumps(plan.to_dict(), indent=2) if arguments.json else plan)
    return 0
