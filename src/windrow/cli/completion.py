"""Print a script that completes the command in bash, zsh or fish."""

from __future__ import annotations

import argparse

#: it needs nothing but the core
EXTRA = "spark"
EXAMPLES = """examples:
  windrow completion bash >> ~/.bashrc
  windrow completion fish > ~/.config/fish/completions/windrow.fish
"""
_BASH = """_windrow() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{subcommands}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="{subcommands}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "$COMP_CWORD" -gt 1 ] && [ "${{word#-}}" = "$word" ] && COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -F _windrow windrow"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    options = _options()
    if arguments.shell == "fish":
        print(_fish(options))
        return 0
    if arguments.shell == "zsh":
        print("autoload -U +X compinit && compinit; autoload -U +X bashcompinit && bashcompinit")
    cases = "\n".join(f'    {name}) words="{" ".join(each)}" ;;' for name, each in options.items())
    print(_BASH.format(cases=cases, subcommands=" ".join(options)))
    return 0


def _fish(options: dict[str, list[str]]) -> str:
    lines = [f"complete -c windrow -n __fish_use_subcommand -f -a '{' '.join(options)}'"]
    for name, each in options.items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c windrow {seen} -l {option[2:]}" for option in each]
    return "\n".join(lines)


def _options() -> dict[str, list[str]]:
    """The long options of each subcommand."""
    from windrow.cli.main import parser

    found = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                texts = [text for own in each._actions for text in own.option_strings]
                found[name] = [text for text in texts if text.startswith("--")]
    return found
