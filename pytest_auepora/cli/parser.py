"""argparse's parser, which also says what a mistyped command, choice or option was probably meant to be."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from ..errors import did_you_mean

__all__ = ["Parser"]


class Parser(argparse.ArgumentParser):
    """Complains of an unknown option before it misses others: what is missing is often what was mistyped."""

    _commands: argparse.Action | None = None

    def add_subparsers(self, **options: Any) -> Any:
        """Return what commands are added to; what comes after one is theirs to understand."""
        self._commands = made = super().add_subparsers(**options)
        return made

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse *args*; those of a command that it does not know are told with the usage of that command."""
        given = list(sys.argv[1:] if args is None else args)
        own = given if self._commands is None else takewhile(lambda word: word.startswith("-"), given)
        for word in takewhile(lambda word: word != "--", own):
            self._check_option(word)
        found, left = super().parse_known_args(given, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found, left

    def _check_option(self, word: str) -> None:
        """No value begins with two dashes, unless it has a space in it."""
        name = word.partition("=")[0]
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        if word.startswith("--") and " " not in word and not any(option.startswith(name) for option in known):
            self.error(f"there is no option {name}{did_you_mean(name, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        of = None if action is self._commands else action
        what = f"{'command ' if of is None else ''}{str(value)!r}"
        known = [str(choice) for choice in action.choices]
        near = did_you_mean(str(value), known)
        raise argparse.ArgumentError(of, f"there is no {what}{near}; choose from {', '.join(known)}")
