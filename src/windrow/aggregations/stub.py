'''The catalogue for type checkers, for `__init__.pyi`: they cannot see what is found at run time.

python -m windrow.aggregations.stub > src/windrow/aggregations/__init__.pyi

Each aggregation has a class of its own there, whose call has the aggregation's columns and
parameters:

    class _TopK(Aggregation):
        """The list of the `k` largest values, largest first."""

        @overload
        def __call__(self, value: str, /, k: int, *, alias: str | None = None) -> Measure: ...
        @overload
        def __call__(self, k: int, *, alias: str | None = None) -> Measure: ...

    top_k: _TopK

A call names all columns that are needed, or none of them, for `wr.Window`.
'''

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from inspect import Parameter, formatannotation

import windrow.aggregations
from windrow.aggregations import OFFERED
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.signatures import parameters_of, without_modules

_WIDTH = 100
_OPENING = '''\
"""What type checkers know of the catalogue. `make pages` writes this file."""

# A call takes an aggregation's own columns and parameters, and not any, as that of the class does.
# mypy: disable-error-code="override"

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, overload

from windrow.aggregations.count_min import CountMin
from windrow.aggregations.membership import BloomFilter
from windrow.algebra.aggregation import Aggregation, Measure
'''
_CLOSING = """\
CATALOGUE: dict[str, Aggregation]
OFFERED: tuple[Aggregation, ...]
VARIANTS: tuple[Aggregation, ...]
"""


def stub() -> str:
    """The file."""
    offered = sorted(OFFERED, key=lambda each: each.name)
    classes = "\n".join("\n".join(_class(each)) + "\n" for each in offered)
    # Last, because some of them are called like types and functions of Python.
    values = "".join(f"{each.name}: {_class_name(each)}\n" for each in offered)
    names = "".join(f'    "{name}",\n' for name in windrow.aggregations.__all__)
    return f"{_OPENING}\n{classes}\n{values}\n{_CLOSING}\n__all__ = [\n{names}]\n"


def _class_name(aggregation: Aggregation) -> str:
    return "_" + "".join(word.capitalize() for word in aggregation.name.split("_"))


def _class(aggregation: Aggregation) -> Iterator[str]:
    """The class of an aggregation, line by line."""
    yield f"class {_class_name(aggregation)}(Aggregation):"
    summary = f'"""{aggregation.summary[0].upper()}{aggregation.summary[1:]}.'
    lines = textwrap.wrap(summary, _WIDTH - 8)
    yield from (f"    {line}" for line in lines[:-1])
    if len(lines) == 1:
        yield f'    {lines[0]}"""\n'
    else:
        yield f'    {lines[-1]}\n    """\n'
    calls = list(_calls(aggregation))
    for call in calls:
        if len(calls) > 1:
            yield "    @overload"
        yield call


def _calls(aggregation: Aggregation) -> Iterator[str]:
    """Its calls, by how many columns they name."""
    parameters = parameters_of(aggregation)
    least, most = aggregation.columns_needed, len(aggregation.inputs)
    needs_more = any(each.default is each.empty for each in parameters)
    if least <= 1 and not needs_more:
        yield _call(aggregation, parameters, most, may_lack_columns=True)
        return
    for count in (*range(most, least - 1, -1), 0):
        yield _call(aggregation, parameters, count)


def _call(
    aggregation: Aggregation,
    parameters: list[Parameter],
    count: int,
    may_lack_columns: bool = False,
) -> str:
    default = " = ..." if may_lack_columns else ""
    columns = [f"{entry.name}: str{default}" for entry in aggregation.inputs[:count]]
    taken = ["self", *columns, *(["/"] if columns else []), *map(_parameter, parameters)]
    taken += ["*", "alias: str | None = None"]
    line = f"    def __call__({', '.join(taken)}) -> Measure: ..."
    if len(line) <= _WIDTH:
        return line
    inner = f"        {', '.join(taken)}"
    if len(inner) > _WIDTH:
        inner = "".join(f"        {each},\n" for each in taken).removesuffix("\n")
    return f"    def __call__(\n{inner}\n    ) -> Measure: ..."


def _parameter(parameter: Parameter) -> str:
    kind = without_modules(formatannotation(parameter.annotation))
    text = f"{parameter.name}: {kind}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}"
    return text.replace("'", '"')


if __name__ == "__main__":
    sys.stdout.write(stub())
