"""Find the modules of a package, so that adding a file is all it takes to add what it holds."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Sequence
from types import ModuleType


def modules_of(
    package: str,
    path: Iterable[str],
    first: Sequence[str] = (),
    without: Collection[str] = (),
) -> list[ModuleType]:
    """Import every module of a package, always in the same order.

    `pkgutil` asks the importer of each folder, so this also works in a zip file.

    Args:
        package: the package's `__name__`.
        path: the package's `__path__`.
        first: names of modules that come first; the others follow in alphabetical order.
        without: names of modules that are left alone.
    """
    found = {each.name for each in pkgutil.iter_modules(path) if not each.ispkg}
    others = sorted(found.difference(first, without))
    return [importlib.import_module(f"{package}.{name}") for name in (*first, *others)]
