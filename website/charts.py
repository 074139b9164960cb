"""The chart of docs/start.md, drawn by the page's own code: docs/images/start.png."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from doctest import DocTestParser
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
_FENCE = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def draw_start() -> None:
    """Run the examples of the page, and keep the chart that they save."""
    page = (DOCS / "start.md").read_text("utf-8")
    namespace: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in _FENCE.finditer(page):
            examples = DocTestParser().get_examples(block["code"])
            code = "".join(each.source for each in examples) or block["code"]
            exec(compile(code, "start.md", "exec"), namespace)
        shutil.copy("chart.png", DOCS / "images" / "start.png")
