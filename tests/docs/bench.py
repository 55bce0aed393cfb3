"""A page is followed: its files are written, its edits made, its commands run, its screens compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from pytest_auepora.pytest_plugin import entry

from ..plugin.conftest import ENTRY
from .pages import ROOT, Command, Edit, File, Page, Shown

BASELINE = ROOT / "example_suite" / "__baselines__" / "python_reference.json"
AUEPORA = "from pytest_auepora.cli.main import main; raise SystemExit(main())"
CUT = "[…]"


class Bench:
    """A temporary project in which a page is followed."""

    always_apart = False
    """Whether every command takes a process of its own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.environment: dict[str, str] = {}

    def lay_out(self, page: Page) -> None:
        """Write the files that *page* ends with, without running anything."""
        for step in page.steps:
            if isinstance(step, (File, Edit)):
                self.change(page, step)

    def change(self, page: Page, step: File | Edit) -> None:
        path = self.pytester.path / step.path
        if isinstance(step, File):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            return
        text = path.read_text(encoding="utf-8")
        assert text.count(step.old) == 1, f"{page.name}:{step.line}: edits what is there {text.count(step.old)} times"
        path.write_text(text.replace(step.old, step.new), encoding="utf-8")

    def run(self, command: Command) -> tuple[int, str]:
        """Return the exit code and what was printed."""
        program, *arguments = command.arguments
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80", **command.environment}.items():
                patch.setenv(name, value)
            patch.delenv("PYTEST_XDIST_WORKER", raising=False)
            patch.setattr(sys, "dont_write_bytecode", True)  # edits come faster than time stamps tell apart
            if not (command.apart or self.always_apart):
                result = self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments, plugins=[entry])
                return int(result.ret), str(result.stdout) + str(result.stderr)
            return self._run_apart(command, program, arguments)

    def _run_apart(self, command: Command, program: str, arguments: list[str]) -> tuple[int, str]:
        start = {
            "pytest": ["-m", "pytest", "-p", ENTRY, "-p", "no:cacheprovider", "-o", "auepora_history=off"],
            "python": [],
            "auepora": ["-c", AUEPORA],
        }[program]
        folder = ROOT if command.in_repository else self.pytester.path / command.folder
        done = subprocess.run(
            [sys.executable, *start, *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=False,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **self.environment},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


class PackageBench(Bench):
    """A copy of the package and its tests, which a page for developers changes."""

    always_apart = True

    def __init__(self, pytester: pytest.Pytester) -> None:
        super().__init__(pytester)
        for name in ("pytest_auepora", "tests", "docs/pages"):
            shutil.copytree(ROOT / name, pytester.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        pytester.makeini("[pytest]\naddopts = -p pytester -m 'not slow'\n")  # the plugins of ours are not loaded
        self.environment["PYTHONPATH"] = str(pytester.path)  # found before the package that is installed


def follow(page: Page, bench: Bench) -> list[str]:
    """Do what *page* asks for, in its order; return why commands were passed over."""
    printed: str | None = None
    passed_over = []
    for step in page.steps:
        where = f"{page.name}:{step.line}"
        if isinstance(step, Command):
            if why := missing(step):
                passed_over.append(why)
                printed = None
                continue
            code, printed = bench.run(step)
            assert code == step.exit_code, f"{where}: exit code {code}\n{printed}"
            for text in step.contains:
                assert plain(text) in plain(printed), f"{where}: no {text!r} in\n{printed}"
        elif not isinstance(step, Shown):
            bench.change(page, step)
        elif printed is not None:
            check_screen(where, step.text, printed)
    return list(dict.fromkeys(passed_over))


def missing(command: Command) -> str:
    """Say why *command* cannot be run here, or return an empty string."""
    if command.in_repository:
        return other_corpus()
    return f"{command.needs} is not installed" if command.needs and not installed(command.needs) else ""


def installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def other_corpus() -> str:
    """Say why screens of the example suite cannot be compared here, or return an empty string."""
    accepted = json.loads(BASELINE.read_text(encoding="utf-8"))["provenance"]["corpus"]
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return "" if accepted.endswith(f" {here}") else f"the screens show the {accepted}, this is Python {here}"


def check_screen(where: str, screen: str, printed: str) -> None:
    """Check that *screen* is *printed*, but for the parts cut out, the padding and the times."""
    wide = [line for line in screen.splitlines() if len(line) > 80]
    assert not wide, f"{where}: wider than 80 columns: {wide}"
    left = plain(printed)
    for part in screen.split(CUT):
        before, found, left = left.partition(wanted) if (wanted := plain(part)) else ("", True, left)
        assert found, f"{where}: this is not printed (any more, or not in this place):\n{part}\nbut:\n{before}"


def plain(text: str) -> str:
    """Take the padding and the times out of *text*."""
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|µs|s)\b", "TIME", text)
    text = re.sub(r"([─=_])\1+", r"\1", text)
    return " ".join(text.split())
