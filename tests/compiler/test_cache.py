"""The folder of the kernels: one that cannot be written is named in the error."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

import windrow as wr
from windrow.compiler import cache


def test_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_CACHE_DIR", str(tmp_path / "new" / "kernels"))
    assert cache.directory().is_dir()


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    for wanted in (file, file / "folder"):
        monkeypatch.setenv("WINDROW_CACHE_DIR", str(wanted))
        with pytest.raises(wr.InvalidArgument, match=r"WINDROW_CACHE_DIR: .*file.*; name a folder"):
            cache.directory()


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root can write everywhere: what is asked is told otherwise."""
    monkeypatch.setenv("WINDROW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    with pytest.raises(wr.InvalidArgument, match="WINDROW_CACHE_DIR: kernels cannot be written to"):
        cache.directory()


@pytest.mark.compiled
def test_the_call_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("WINDROW_CACHE_DIR", str(file))
    # A kernel of functions that no other test has compiled.
    largest = wr.aggregation(
        name="of_this_test", identity=-7.25, combine=lambda older, newer: max(older, newer)
    )
    with pytest.raises(wr.InvalidArgument, match="WINDROW_CACHE_DIR: kernels cannot be written to"):
        wr.over(pa.table({"x": [1.0, 2.0]}), windows=wr.rows(2), aggs=largest("x"))
