"""The catalogue for type checkers, for `__init__.pyi`: they cannot see what is found at run time.

python -m windrow.aggregations.stub > src/windrow/aggregations/__init__.pyi
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import windrow.aggregations
from windrow.discovery import modules_of

_WIDTH = 100
_OPENING = '''\
"""What type checkers know of the catalogue. `make pages` writes this file."""
'''
_CLOSING = """\
from windrow.algebra.aggregation import Aggregation

CATALOGUE: dict[str, Aggregation]
OFFERED: tuple[Aggregation, ...]
VARIANTS: tuple[Aggregation, ...]
"""


def stub() -> str:
    """The file."""
    names = "".join(f'    "{name}",\n' for name in windrow.aggregations.__all__)
    imports = "\n".join(_imports())
    return f"{_OPENING}\n{imports}\n{_CLOSING}\n__all__ = [\n{names}]\n"


def _imports() -> Iterator[str]:
    """An import for each file, with the names that it defines."""
    found: dict[str, list[str]] = {}
    for name in windrow.aggregations.__all__:
        found.setdefault(_home(name), []).append(name)
    for home in sorted(found):
        line = f"from {home} import {', '.join(found[home])}"
        if len(line) > _WIDTH:
            listed = "".join(f"    {name},\n" for name in found[home])
            line = f"from {home} import (\n{listed})"
        yield line


def _home(name: str) -> str:
    """The module that defines a name: the first in alphabetical order that has it."""
    value = getattr(windrow.aggregations, name)
    if isinstance(value, type):
        return value.__module__
    modules = modules_of(windrow.aggregations.__name__, windrow.aggregations.__path__)
    return next(each.__name__ for each in modules if vars(each).get(name) is value)


if __name__ == "__main__":
    sys.stdout.write(stub())
