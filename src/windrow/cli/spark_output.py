"""The folder that Spark writes answers to, which appears under its name only when it is complete.

.answers.part17    Spark writes
.answers.old17     what was there before, while names change
answers            what was there before; then the new answers
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windrow.cli.inputs import DataError, blaming
from windrow.cli.main import CallError


def require_new_folder(path: str, overwrite: bool) -> None:
    """Refuse what is there, unless it is answers that may be replaced."""
    target = Path(path)
    if target.is_file():
        raise DataError(f"{path}: it is a file; Spark writes a folder")
    if target.is_dir():
        if not overwrite:
            raise CallError(f"{path}: it exists; give --overwrite to replace it")
        others = [each.name for each in target.iterdir() if not each.name.startswith(_OF_SPARK)]
        if others:
            raise CallError(
                f"{path}: --overwrite replaces answers of Spark, and this folder holds "
                f"{min(others)}; name another"
            )
    if not target.absolute().parent.is_dir():
        raise DataError(f"{path}: there is no folder {target.parent}")


#: how the names of files begin that Spark writes
_OF_SPARK = ("part-", "_", ".")


@contextmanager
def output_folder(path: str) -> Iterator[str]:
    """A folder to write to; it takes the place of what was there if the block does not fail."""
    target = Path(path).resolve()
    part, old = (
        target.with_name(f".{target.name}.{kind}{os.getpid()}") for kind in ("part", "old")
    )
    try:
        yield str(part)
        with blaming(path):
            if target.exists():
                target.rename(old)
            try:
                part.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
