"""``auepora``: reads the arguments and calls the command; every error ends as one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from ..errors import AueporaError, UnknownRunError
from .exit_codes import FAILED, PASSED, UNJUDGED, USAGE, UsageError
from .parser import Parser

__all__ = ["main", "parser_for"]

_COMMANDS = {
    "new": "write a fixture, golden cases and a small system to begin with",
    "runs": "list the runs that were kept",
    "compare": "compare two runs, baselines or reports, case by case; or several, side by side",
    "report": "print the report of a run that was kept, or of a JSON report",
    "comment": "put a JSON report on a pull request, as one comment that is updated",
    "score": "score recorded outputs against a golden file",
    "check": "read golden files and say what is wrong with them",
    "schema": "print the JSON Schema of golden files or of reports",
    "calibrate": "hold a judge against people's labels: may its scores fail a run?",
    "perturb": "add variants of golden queries with typos, other casing or punctuation",
    "import": "turn another tool's data set into a golden file, or back",
}
"""Command → what it does; each is a module with ``add_arguments`` and ``run``."""

_MODULES = {"import": "import_command"}
"""Commands that are words of Python, and their modules."""

_WHAT = "Keeps and compares runs, scores recorded outputs, checks golden files: all that needs no pytest."

_EXIT = f"exit codes: {PASSED} pass, {FAILED} fail, {USAGE} usage, {UNJUDGED} could not judge"

Run = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``auepora`` with *argv*, by default what the shell gave, and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        parser = parser_for(argv)
        if not argv:
            parser.print_help(sys.stderr)
            return USAGE
        given = parser.parse_args(argv)
        run: Run = given.run
        return run(given)
    except SystemExit as exc:  # argparse: --help, or a usage error it has told
        return exc.code if isinstance(exc.code, int) else USAGE
    except UnknownRunError as exc:
        return _say(f"{exc}; auepora runs lists what there is", USAGE)
    except UsageError as exc:
        return _say(exc, USAGE)
    except (AueporaError, OSError) as exc:
        if isinstance(exc, BrokenPipeError):  # `| head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PASSED
        return _say(exc, UNJUDGED)
    except KeyboardInterrupt:
        return 130


def _say(error: BaseException | str, code: int) -> int:
    print(f"auepora: {error}", file=sys.stderr)
    return code


def _sentence(what: str) -> str:
    return f"{what[0].upper()}{what[1:]}{'' if what.endswith('?') else '.'}"


def parser_for(argv: Sequence[str]) -> Parser:
    """Return the parser; of the commands, those named in *argv* know their arguments."""
    from .. import __version__

    parser = Parser("auepora", description=_WHAT, epilog=_EXIT)
    parser.add_argument("--version", action="version", version=f"pytest-auepora {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, what in _COMMANDS.items():
        command = commands.add_parser(name, help=what, description=_sentence(what), epilog=_EXIT)
        if name in argv:  # the modules of the others stay unread
            module = import_module(f"{__package__}.{_MODULES.get(name, name)}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
