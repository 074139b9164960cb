"""How the demos say what they do: steps, the source of a call, tables, numbers."""

from __future__ import annotations

import inspect
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


class Step:
    """Something that took some seconds."""

    seconds = 0.0


@contextmanager
def step(console: Console, title: str) -> Iterator[Step]:
    """Show that something is going on, then how long it took."""
    taken, start = Step(), time.perf_counter()
    with console.status(f"{title} ..."):
        yield taken
    taken.seconds = time.perf_counter() - start
    console.print(f"{title}: {taken.seconds:.1f} s")


def show_source(console: Console, function: Any) -> None:
    """Show the body of a function as it is written: what is shown is what runs."""
    from rich.syntax import Syntax

    source = inspect.getsource(function)
    body = textwrap.dedent(source[source.index("    return ") :])
    console.print(Syntax(body, "python", theme="ansi_dark", background_color="default"))


def plain_table(title: str | None = None) -> Table:
    """A table with no lines but one under its head."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )


def kw(value: float | None) -> str:
    """A power in kW."""
    return "null" if value is None else f"{value:.2f}"


def clock(moment: datetime | None, precision: str = "seconds") -> str:
    """A time of day."""
    return "null" if moment is None else moment.time().isoformat(precision)


def megabytes(count: float) -> str:
    """A size in bytes, to read."""
    return f"{count / 1e6:,.1f} MB" if count < 1e7 else f"{count / 1e6:,.0f} MB"


def size_of(folder: Path) -> str:
    """How large the Parquet files of a folder are."""
    return megabytes(sum(file.stat().st_size for file in folder.glob("*.parquet")))
