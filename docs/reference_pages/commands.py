"""The page of the command ``auepora``, as its parser declares it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_auepora.cli.main import parser_for

from .layout import cell

__all__ = ["commands", "commands_page"]


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return every command's parser with its arguments."""
    names = [name for name, _ in _subcommands(parser_for([]))]
    return dict(_subcommands(parser_for(names)))


def commands_page() -> str:
    """Return the page."""
    lines = [
        "# The command `auepora`",
        "",
        "Generated. None of these calls your system.",
    ]
    for name, command in commands().items():
        lines += ["", f"## `auepora {name}`", "", command.description or "", "", "| Argument | |", "|---|---|"]
        lines += [f"| `{_spelled(action)}` | {cell(_help(command, action))} |" for action in _arguments(command)]
    return "\n".join([*lines, "", "Every command ends with one of these exit codes:", "", _EXITS])


_EXITS = """| Exit code | |
|---|---|
| 0 | passed, or done |
| 1 | failed: worse, a threshold missed, mistakes that `auepora check` finds, a judge that may not gate |
| 2 | wrong usage, or a file or run that does not exist |
| 3 | nothing could be judged: nothing compares, or a file cannot be read |
"""


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _arguments(command: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in command._actions if action.dest != "help"]


def _spelled(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return f"{value} …" if action.nargs in ("+", "*") else value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def _help(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    said = command._get_formatter()._expand_help(action) if action.help else ""
    return f"{said}: {', '.join(map(str, action.choices))}" if action.choices and not action.metavar else said
