"""The reference: a page for each group of public names, from docstrings and from the catalogue.

Sphinx reads docstrings by itself; a page here only lists names. A public name that no group lists
goes to the page of calls, so a new one is never missing. Aggregations are made at run time and
have no docstrings of their own: `aggregation_reference.py` describes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import windrow as wr
import windrow.testing
from website.aggregation_reference import aggregation_page
from website.command_page import command_page
from windrow import stores

_CALLS = (
    "over",
    "slide",
    "as_of",
    "plan",
    "warm_up",
    "in_order",
    "late",
    "on_time",
    "log_progress",
    "Plan",
    "WarmUp",
)
#: what users call of `wr.policies`
_POLICIES = (
    "adaptive", "at_most_events", "at_most_span", "at_most_sum", "since_longest_run", "since_max",
)  # fmt: skip
_WINDOWS = (
    "rows", "time", "calendar", "expanding", "whole", "delta", "punctuated", "session", "policy",
)  # fmt: skip
_CLASSES = {
    "Window": "Windows as data structures",
    "Stream": "Streams and checkpoints",
    "AsyncStream": "Streams and checkpoints",
    "Checkpoint": "Streams and checkpoints",
    "aggregation": "Aggregations of your own",
    "Measure": "Aggregations of your own",
    "Aggregation": "Aggregations of your own",
    "BloomFilter": "Aggregations of your own",
    "CountMin": "Aggregations of your own",
}
_FILES = {
    "Windows as data structures": "window_class",
    "Streams and checkpoints": "stream_classes",
    "Aggregations of your own": "own_aggregations",
}
#: members of a class that users call, where not all public ones are for them
_MEMBERS = {"Measure": "alias, where, over_distinct", "Aggregation": None}
#: classes that windrow makes, and users do not
_MADE = ("Aggregation", "AsyncStream", "Measure", "Plan", "Stream", "WarmUp")

_MODULES = {
    "windrow": wr,
    "windrow.policies": wr.policies,
    "windrow.stores": stores,
    "windrow.testing": windrow.testing,
}

_SIZES = """Sizes
=====

Sizes decide how work and state are cut, and never what is answered. You rarely need them. Change
some for a while::

    from windrow.work import sizes

    with sizes.using(cores=4):
        wr.over(...)

They hold for this process. Spark's workers have their own.

.. autoclass:: windrow.work.sizes.Sizes
.. autoclass:: windrow.stream.sizes.StateSizes
"""

#: the pages, in the order of the navigation
PAGES = (
    "calls", "windows", "aggregation_calls", "own_aggregations", "window_class", "stream_classes",
    "stores", "errors", "testing", "command", "sizes",
)  # fmt: skip


def write_reference(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        (folder / f"{name}.rst").write_text(text, "utf-8")


def reference_pages() -> dict[str, str]:
    """The pages by name, as reStructuredText."""
    names = [name for name in wr.__all__ if not isinstance(getattr(wr, name), wr.Aggregation)]
    errors = [name for name in names if _is_error(name)]
    placed = {*errors, *_WINDOWS, *_CLASSES, *_CALLS, "policies", "stores"}
    rest = [name for name in names if name not in placed]
    pages = {
        "calls": _page(
            "Calls",
            "What you call with data, and what tells you about a call.",
            "windrow",
            [*_CALLS, *rest],
        ),
        "windows": _page("Windows", "Which events an answer is about.", "windrow", _WINDOWS)
        + _section("Ready-made policies", "windrow.policies", _POLICIES),
        "aggregation_calls": aggregation_page(),
        "stores": _page("Stores", stores.__doc__ or "", "windrow.stores", stores.__all__),
        "errors": _page(
            "Errors",
            "All errors derive from `wr.WindrowError`. A call raises them before any work is done "
            "wherever it can. The message names the argument and says what would be right.",
            "windrow",
            errors,
        ),
        "testing": _page(
            "Testing", windrow.testing.__doc__ or "", "windrow.testing", windrow.testing.__all__
        ),
    }
    pages["command"] = command_page()
    pages["sizes"] = _SIZES
    for title, file in _FILES.items():
        listed = [name for name, page in _CLASSES.items() if page == title]
        pages[file] = _page(title, "", "windrow", listed)
    return pages


def _is_error(name: str) -> bool:
    value = getattr(wr, name)
    return isinstance(value, type) and issubclass(value, Exception)


def _page(title: str, text: str, module: str, names: Iterable[str]) -> str:
    head = f"{title}\n{'=' * len(title)}\n\n{text.replace('`wr.', '`windrow.')}\n\n"
    return head + _directives(module, names)


def _section(title: str, module: str, names: Iterable[str]) -> str:
    return f"\n{title}\n{'-' * len(title)}\n\n" + _directives(module, names)


def _directives(module: str, names: Iterable[str]) -> str:
    return "\n".join(_directive(module, name) for name in names)


def _directive(module: str, name: str) -> str:
    found = getattr(_MODULES[module], name)
    if not isinstance(found, type):
        return f".. autofunction:: {module}.{name}\n"
    if issubclass(found, Exception):
        return f".. autoexception:: {module}.{name}\n   :show-inheritance:\n"
    members = _MEMBERS.get(name, "")
    wanted = "" if members is None else f"   :members: {members}\n"
    return f".. autoclass:: {module}.{name}{'()' * (name in _MADE)}\n{wanted}"
