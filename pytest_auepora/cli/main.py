"""``auepora``: reads the arguments and calls the command; every error ends as one line and an exit code."""

from __future__ import annotations

import argparse
import codecs
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from itertools import takewhile
from typing import Any

from ..base.plugins import offer
from ..base.text import did_you_mean
from ..errors import AueporaError, UnknownRunError
from .common import FAILED, PASSED, UNJUDGED, USAGE, Offered, UsageError, configured_plugins

COMMANDS = {
    "demo": "judge an example that works, then the same one broken: green, then red",
    "new": "write a fixture, golden cases and a small system to begin with",
    "help": "print a page of the documentation: what fails a test, why recall is 0, CI, …",
    "runs": "list the stored runs",
    "view": "show the stored runs as a page in the browser",
    "compare": "compare two runs, baselines or reports, case by case; or several, side by side",
    "report": "print the report of a stored run, or of a JSON report",
    "merge": "merge the baselines of two branches, as a merge driver of git",
    "comment": "put a JSON report on a pull request, as one comment that is updated",
    "score": "score recorded outputs against a golden file",
    "why": "show by which part a run is worse, retrieval or generator",
    "repro": "write one file in which a failed case fails by itself",
    "mutate": "would this suite notice? break recorded answers on purpose, without a call",
    "check": "read golden files and say what is wrong with them",
    "schema": "print the JSON Schema of golden files or of reports",
    "calibrate": "calibrate an LLM judge against human labels: may its scores fail a run?",
    "perturb": "add variants of golden cases: typos, paraphrases, noise in the context",
    "draft": "propose golden cases from documents, by a judge's model",
    "review": "accept, edit or reject drafts",
    "import": "turn another tool's data set into a golden file, or back",
}
"""Command → what it does; each is a module with ``add_arguments`` and ``run``."""

_MODULES = {
    "import": "import_command",
    **{name: f"drafting.{name}" for name in ("draft", "review", "perturb")},
    **{name: f"cause.{name}" for name in ("mutate", "repro", "why")},
}
"""Commands whose modules are not called like them: ``import`` is a word of Python, others share a room."""

_EXIT = f"exit codes: {PASSED} pass, {FAILED} fail, {USAGE} usage, {UNJUDGED} could not judge"


_STAND_IN = "auepora"
"""The error handler of outputs."""


class Parser(argparse.ArgumentParser):
    """Reports an unknown option before a missing one: the missing one is often what was mistyped."""

    _commands: argparse.Action | None = None

    def add_subparsers(self, **options: Any) -> Any:
        """Return the group that commands are added to; each command parses the words after its name."""
        self._commands = commands = super().add_subparsers(**options)
        return commands

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse *args*; an unknown argument of a command is an error with the usage of that command."""
        words = list(sys.argv[1:] if args is None else args)
        own_words = words if self._commands is None else takewhile(lambda word: word.startswith("-"), words)
        for word in takewhile(lambda word: word != "--", own_words):
            self._check_option(word)
        parsed, unknown = super().parse_known_args(words, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def _check_option(self, word: str) -> None:
        """Report an unknown option; a value never begins with two dashes, unless it holds a space."""
        name = word.partition("=")[0]
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        if word.startswith("--") and " " not in word and not any(option.startswith(name) for option in known):
            self.error(f"there is no option {name}{did_you_mean(name, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        argument, what = (None, "command ") if action is self._commands else (action, "")
        known = [str(choice) for choice in action.choices]
        offender = f"{what}{str(value)!r}{did_you_mean(str(value), known)}"
        hint = "; conftest.py counts where `auepora_plugins` names it" if isinstance(action.choices, Offered) else ""
        raise argparse.ArgumentError(argument, f"there is no {offender}; choose from {', '.join(known)}{hint}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``auepora`` with *argv*, by default what the shell gave, and return its exit code."""
    codecs.register_error(_STAND_IN, _stand_in)
    for stream in (sys.stdout, sys.stderr):  # a pipe on Windows, or in the C locale, takes few characters
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_STAND_IN)
    code = _run(list(sys.argv[1:] if argv is None else argv))
    try:
        print(end="", flush=True)
    except OSError as exc:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python tries again at its end
        if not isinstance(exc, BrokenPipeError):  # `| head` has seen enough
            return _report_error(exc, UNJUDGED)
    return code


def _stand_in(exc: UnicodeError) -> tuple[str, int]:
    from ..reporting.text import stand_in

    return stand_in(exc)


def _run(argv: list[str]) -> int:
    offer(configured_plugins)
    try:
        parser = parser_for(argv)
        if not argv:
            parser.print_help(sys.stderr)
            return USAGE
        args = parser.parse_args(argv)
        return int(args.run(args))
    except SystemExit as exc:  # argparse: --help, or a usage error that it has printed
        return exc.code if isinstance(exc.code, int) else USAGE
    except UnknownRunError as exc:
        return _report_error(f"{exc}; auepora runs lists what there is", USAGE)
    except UsageError as exc:
        return _report_error(exc, USAGE)
    except BrokenPipeError:  # whoever read had enough before the command came to its end
        return UNJUDGED
    except (AueporaError, OSError) as exc:
        return _report_error(exc, UNJUDGED)
    except ModuleNotFoundError as exc:
        if exc.name != "_sqlite3":
            raise
        return _report_error("this Python has no sqlite3, which stores runs", UNJUDGED)
    except KeyboardInterrupt:
        return 130


def _report_error(error: BaseException | str, code: int) -> int:
    from ..reporting.text import harmless

    print(harmless(f"auepora: {error}"), file=sys.stderr)
    return code


def parser_for(argv: Sequence[str]) -> Parser:
    """Return the parser; of the commands, those named in *argv* know their arguments."""
    from .. import __version__

    description = "Stores and compares runs, scores recorded outputs, checks golden files: all that needs no pytest."
    parser = Parser("auepora", description=description, epilog=_EXIT)
    parser.add_argument("--version", action="version", version=f"pytest-auepora {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sentence = f"{summary[0].upper()}{summary[1:]}{'' if summary.endswith('?') else '.'}"
        command = commands.add_parser(name, help=summary, description=sentence, epilog=_EXIT)
        if name in argv:  # the modules of the others stay unread
            module = import_module(f"{__package__}.{_MODULES.get(name, name)}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
