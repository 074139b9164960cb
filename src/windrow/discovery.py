"""Find the modules of a package, so that adding a file is all it takes to add what it holds."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable
from types import ModuleType


def modules_of(
    package: str, path: Iterable[str], without: Collection[str] = ()
) -> dict[str, ModuleType]:
    """Import every module of a package, by name, in alphabetical order.

    `pkgutil` asks the importer of each folder, so this also works in a zip file.

    Args:
        package: the package's `__name__`.
        path: the package's `__path__`.
        without: modules that are left alone.
    """
    names = sorted(each.name for each in pkgutil.iter_modules(path) if not each.ispkg)
    return {
        name: importlib.import_module(f"{package}.{name}") for name in names if name not in without
    }
