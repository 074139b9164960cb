"""The other side of a page, answered by an interpreter that has the other library.

    ```sql
    SELECT ...
    ```
    ```python
    wr.slide(...)
    ```

The other side is SQL of Flink, or Python marked as `python tempo`. The block with windrow's call
follows the one with the other library's. The last example of each is compared. Rows have no order,
and columns are compared by their places.
"""

import doctest
import json
import os
import re
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.docs.pairs import rows_of

BLOCK = re.compile(r"^```(?P<info>[^\n]+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Pair(NamedTuple):
    other: str  # what the other library is asked
    windrow: list[Any]  # what windrow answers


def pairs_of(page: Path, info: str, namespace: dict[str, Any]) -> list[Pair]:
    """The blocks of the other library, each with the answer of windrow's block behind it."""
    pairs, asked = [], None
    for block in BLOCK.finditer(page.read_text("utf-8")):
        if block["info"] == info:
            asked = block["code"]
        elif block["info"] == "python":
            value = _last_value(block["code"], namespace)
            if asked is not None:
                pairs.append(Pair(asked, sorted_rows(rows_of(value))))
            asked = None
    return pairs


def first_block(page: Path, info: str) -> str:
    """The first block of a language: what comes before all questions."""
    return next(
        block["code"] for block in BLOCK.finditer(page.read_text("utf-8")) if block["info"] == info
    )


def answers_of(variable: str, package: str, program: str, told: Any) -> Any:
    """What a program answers in the interpreter that an environment variable names.

    It gets JSON on its standard input, and the last line that it prints is JSON.
    """
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"set {variable} to a Python that has {package}: see tests/README.md")
    ran = subprocess.run(
        [python, "-c", program], input=json.dumps(told), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.strip().splitlines()[-1])


def sorted_rows(rows: list[Any]) -> list[Any]:
    """Rows in an order of their own, times as text."""
    told = [row if isinstance(row, list | tuple) else (row,) for row in rows]
    return sorted([[_told(value) for value in row] for row in told], key=repr)


def _told(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _last_value(code: str, namespace: dict[str, Any]) -> Any:
    """What the last example answers; the others are run."""
    *before, last = doctest.DocTestParser().get_examples(code)
    for each in before:
        exec(compile(each.source, "page", "exec"), namespace)
    try:
        return eval(compile(last.source, "page", "eval"), namespace)
    except SyntaxError:  # a statement, such as an assignment
        exec(compile(last.source, "page", "exec"), namespace)
        return []
