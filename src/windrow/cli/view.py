"""How the live demo looks: in place on a terminal, a line for each batch elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from windrow.cli.figures import Figures
from windrow.cli.steps import clock, kw, megabytes, plain_table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_BARS = "▁▂▃▄▅▆▇█"
_BATCHES_SHOWN = 24
_MACHINES_SHOWN = 8


def view_of(console: Console, figures: Figures, seconds: float | None) -> Lines | Screen:
    """The view that fits the console; within `with` it is shown."""
    kind = Screen if console.is_terminal else Lines
    return kind(console, figures, seconds)


class Lines:
    """A line for each batch, for logs."""

    def __init__(self, console: Console, figures: Figures, seconds: float | None) -> None:
        self._console, self._figures = console, figures
        self._shown = 0

    def __enter__(self) -> Lines:
        self._console.print("Starting the query; its first batch takes some seconds")
        return self

    def __exit__(self, *_error: object) -> None:
        self._console.print(_summary(self._figures))

    def update(self) -> None:
        """Show what is new."""
        for batch in self._figures.batches[self._shown :]:
            self._console.print(
                f"{self._figures.seconds:5.1f} s  batch {batch.number}: {batch.events:,} events in "
                f"{batch.seconds:.1f} s, {batch.answers:,} windows answered, state "
                f"{megabytes(batch.state_bytes)}, {batch.late} late",
                soft_wrap=True,
            )
        self._shown = len(self._figures.batches)


class Screen:
    """The figures and the newest windows, in place."""

    def __init__(self, console: Console, figures: Figures, seconds: float | None) -> None:
        from rich.live import Live

        self._console, self._figures, self._seconds = console, figures, seconds
        self._live = Live(console=console, get_renderable=self._rendered, refresh_per_second=5)

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()
        self._console.print(_summary(self._figures))

    def update(self) -> None:
        """Show what is new."""
        self._live.refresh()

    def _rendered(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        figures = self._figures
        ends = "" if self._seconds is None else f"after {self._seconds:.0f} s, or "
        title = Text(f"Running for {figures.seconds:.0f} s", style="bold")
        title.append(f"; ends {ends}with Ctrl-C", style="not bold")
        if not figures.batches:
            note = "Spark plans the query and starts its workers; the first batch takes seconds ..."
            return Group(title, Text(f"\n{note}", style="dim"))
        shown = [title, Text(), _batches(figures), Text()]
        return Group(*shown, *(_windows(figures) if figures.until else []))


def _batches(figures: Figures) -> RenderableType:
    """All batches in figures, the last ones as bars."""
    from rich.table import Table

    # The last batch before a pause has no events: it answers what has become final.
    recent = [batch for batch in figures.batches if batch.events][-_BATCHES_SHOWN:]
    last = recent[-1]
    rates = [batch.events / batch.seconds for batch in recent]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_row("events", f"{figures.events:,}", f"{rates[-1]:,.0f} a second", _bars(rates))
    table.add_row(
        "batches",
        f"{len(figures.batches):,}",
        f"the last took {last.seconds:.1f} s",
        _bars([batch.seconds for batch in recent]),
    )
    table.add_row(
        "windows answered",
        f"{figures.answers:,}",
        f"{last.answers:,} in the last batch",
        _bars([batch.answers for batch in recent]),
    )
    table.add_row(
        "state",
        megabytes(last.state_bytes),
        f"{megabytes(last.written_bytes)} written",
        _bars([batch.state_bytes for batch in recent]),
    )
    table.add_row("late events", f"{figures.late:,}", "counted, dropped")
    return table


def _windows(figures: Figures) -> list[RenderableType]:
    """The newest windows of the first machines."""
    from rich.text import Text

    title = f"The windows that end at {clock(figures.until)} (power on phase 1, kW)"
    table = plain_table()
    table.add_column("machine", no_wrap=True)
    headings = ("mean\n10 s", "stddev\n10 s", "readings\n10 s", "max\n1 min", "\nreached at")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    machines = sorted(figures.newest, key=lambda name: (len(name), name))
    for machine in machines[:_MACHINES_SHOWN]:
        rows = figures.newest[machine]
        short, long = rows.get("10s", _NO_ANSWER), rows.get("1min", _NO_ANSWER)
        table.add_row(
            machine, kw(short["mean_mf01"]), kw(short["stddev_mf01"]), str(short["count_mf01"]),
            kw(long["max_mf01"]), clock(long["arg_max_mf01_ts"], "milliseconds"),
        )  # fmt: skip
    more = len(machines) - _MACHINES_SHOWN
    rest = [Text(f"and {more} machines more", style="dim")] if more > 0 else []
    return [Text(title, style="bold"), table, *rest]


#: of a machine that was silent for the whole window
_NO_ANSWER: dict[str, Any] = {
    "mean_mf01": None, "stddev_mf01": None, "count_mf01": 0, "max_mf01": None,
    "arg_max_mf01_ts": None,
}  # fmt: skip


def _bars(values: Sequence[float]) -> str:
    """A line of small bars."""
    most = max(values) or 1
    return "".join(_BARS[min(int(each / most * len(_BARS)), len(_BARS) - 1)] for each in values)


def _summary(figures: Figures) -> str:
    return (
        f"{figures.events:,} events in {len(figures.batches):,} batches: {figures.answers:,} "
        f"windows answered, {figures.late:,} events late"
    )
