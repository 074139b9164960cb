"""A page for each algorithm: its card, its idea, its invariants, and a drawing of a small trace.

The text is the docstring of the algorithm's file. The drawing is what the algorithm itself kept.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

from website.trace_drawings import can_draw, draw_trace
from website.traces import Largest, monoid_for, trace
from windrow.algorithms import ALGORITHMS, Algorithm

_FACT = re.compile(r"^(?P<name>\w+) {2,}(?P<text>\S.*)$")
_INDEX = """\
# Algorithms

The data structures behind windows. You need not choose: the planner does, and `wr.plan` says which
one and why. `algorithm="daba_lite"` in a call names one by hand. [Costs of algorithms](../costs.md)
has what each was measured to cost.

| name | order of events | combines for an insert | for an evict | for a query |
|---|---|---|---|---|
"""
_TRACE = """
## A small trace

After {first} insertions, events come and leave, and every step ends with a query. {partials}
Blue is what is in the window. {gray}

![What {name} keeps after each step]({name}.svg)
"""
_GRAY = "Gray has left, or stands for a part that has. The last line of a step is the state."
_GRAY_OF_TREE = (
    "A gray dot stands for a child at an end of its level: only the fingers know its partial. The "
    "last line of a step is what a query combines."
)
_JOINED = "A partial is drawn as the events that it stands for: c..f is that of c, d, e and f."
_LARGEST = (
    "The aggregation is a maximum of digits, because the algorithm needs a combine that selects."
)


def write_algorithms(folder: Path) -> None:
    """Write the pages, their drawings and the index into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    index = _INDEX
    for name, algorithm in ALGORITHMS.items():
        (folder / f"{name}.md").write_text(algorithm_page(algorithm), "utf-8")
        steps = list(trace(algorithm))
        if can_draw(steps):
            (folder / f"{name}.svg").write_text(draw_trace(name, steps), "utf-8")
        card = card_of(algorithm)
        cells = (card.get(key, "") for key in ("order", "insert", "evict", "query"))
        index += f"| [{name}]({name}.md) | {' | '.join(cells)} |\n"
    names = "\n".join(ALGORITHMS)
    (folder / "index.md").write_text(
        f"{index}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n", "utf-8"
    )


def card_of(algorithm: Algorithm) -> dict[str, str]:
    """The facts at the top of an algorithm's file."""
    return _parts(algorithm)[1]


def algorithm_page(algorithm: Algorithm) -> str:
    """The page, as Markdown."""
    title, card, rest = _parts(algorithm)
    facts = "".join(f"| {name} | {text} |\n" for name, text in card.items())
    partials = _LARGEST if isinstance(monoid_for(algorithm), Largest) else _JOINED
    steps = list(trace(algorithm))
    is_tree = any(room.kind == "nodes" for room in steps[0].rooms)
    drawn = _TRACE.format(
        name=algorithm.NAME,
        partials=partials,
        first=len(steps[0].events),
        gray=_GRAY_OF_TREE if is_tree else _GRAY,
    )
    if not can_draw(steps):
        drawn = ""
    return (
        f'# {title.rstrip(".")}\n\n`algorithm="{algorithm.NAME}"`\n\n'
        f"| | |\n|---|---|\n{facts}\n{_fenced(rest)}\n{drawn}"
    )


def _parts(algorithm: Algorithm) -> tuple[str, dict[str, str], str]:
    """Title, card and text of the docstring."""
    paragraphs = (inspect.getdoc(algorithm) or "").split("\n\n")
    title, card, *text = paragraphs
    facts: dict[str, str] = {}
    last = ""
    for line in card.splitlines():
        if fact := _FACT.match(line):
            last = fact["name"]
            facts[last] = fact["text"]
        else:
            facts[last] += f" {line.strip()}"
    return title, facts, "\n\n".join(text)


def _fenced(text: str) -> str:
    """The text with its drawings, which are indented, as blocks of code."""
    parts: list[str] = []
    for paragraph in text.split("\n\n"):
        if not all(line.startswith("    ") for line in paragraph.splitlines()):
            parts.append(paragraph)
        elif parts and parts[-1].endswith("```"):
            parts[-1] = f"{parts[-1][:-3]}\n{textwrap.dedent(paragraph)}\n```"
        else:
            parts.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
    return "\n\n".join(parts)
