"""The page of the command: every subcommand with its arguments and examples, from their parsers."""

from __future__ import annotations

import argparse

from windrow.cli.main import parser


def command_page() -> str:
    """The page, as reStructuredText."""
    head = [
        *_heading("The command windrow", "="),
        "``windrow SUBCOMMAND --help`` says the same. Exit codes: 0, all is well; 1, the data, a "
        "file or the machine; 2, the call or the query.",
        "",
    ]
    return (
        "\n".join(head) + "\n" + "\n".join(_subcommand(name, each) for name, each in _subcommands())
    )


def _subcommands() -> list[tuple[str, argparse.ArgumentParser]]:
    (choices,) = (
        action.choices
        for action in parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return list(choices.items())


def _subcommand(name: str, each: argparse.ArgumentParser) -> str:
    arguments = [a for a in each._actions if not isinstance(a, argparse._HelpAction)]
    lines = [*_heading(f"windrow {name}", "-"), each.description or "", ""]
    if arguments:
        lines += [".. list-table::", "   :widths: 30 70", ""]
    for argument in arguments:
        lines += [f"   * - {_call_of(argument)}", f"     - {_meaning(argument)}"]
    examples = (each.epilog or "").partition("\n")[2].rstrip()
    if examples:
        lines += ["", ".. code-block:: sh", "", examples]
    return "\n".join([*lines, "", ""])


def _call_of(argument: argparse.Action) -> str:
    """How an argument is written, as in ``--output PATH``."""
    value = argument.metavar or (argument.dest.upper() if argument.option_strings else "")
    if argument.choices and not argument.metavar:
        value = "{" + ", ".join(map(str, argument.choices)) + "}"
    if not argument.option_strings:
        return f"``{value or argument.dest.upper()}``"
    shown = "" if argument.nargs == 0 else f" {value}"
    return ", ".join(f"``{option}{shown}``" for option in argument.option_strings)


def _meaning(argument: argparse.Action) -> str:
    text = argument.help or ""
    said = {"%(default)s": str(argument.default), "%%": "%"}
    for code, meaning in said.items():
        text = text.replace(code, meaning)
    return text


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]
