"""What the documentation shows is run: its files are written, its commands give what it says they give."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.pytest_plugin import entry

from ..plugin.conftest import ENTRY
from .pages import PAGES, ROOT, Command, Edit, File, Page, Shown, fences, pages, read

BASELINE = ROOT / "example_suite" / "__baselines__" / "python_reference.json"
AUEPORA = "from pytest_auepora.cli.main import main; raise SystemExit(main())"
README = ROOT / "README.md"
CUT = "[…]"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Bench:
    """A temporary project in which a page is followed."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

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
            if not command.apart:
                result = self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments, plugins=[entry])
                return int(result.ret), str(result.stdout) + str(result.stderr)
            return self._run_apart(command, program, arguments)

    def _run_apart(self, command: Command, program: str, arguments: list[str]) -> tuple[int, str]:
        start = {
            "pytest": ["-m", "pytest", "-p", ENTRY, "-p", "no:cacheprovider", "-o", "auepora_history=off"],
            "python": [],
            "auepora": ["-c", AUEPORA],
        }[program]
        folder = ROOT if command.in_repository else self.pytester.path
        done = subprocess.run(
            [sys.executable, *start, *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=False,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


def followed() -> list[Any]:
    """Return the pages with something to do; how-tos take long, and are followed in .ci/run."""
    slow = {True: [pytest.mark.slow], False: []}
    return [pytest.param(p, marks=slow["how-to" in p.parts], id=name_of(p)) for p in pages() if read(p).steps]


@pytest.mark.parametrize("path", followed())
def test_a_page_does_what_it_says(path: Path, pytester: pytest.Pytester) -> None:
    page, bench = read(path), Bench(pytester)
    if page.project:
        bench.lay_out(read(PAGES / page.project))
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
    if passed_over:
        pytest.skip(f"everything else holds, but {'; '.join(dict.fromkeys(passed_over))}")


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


def test_the_check_of_screens_can_fail() -> None:
    printed = "recall@5   0.963  81/89\n======= 12 passed in 0.31s ======="
    check_screen("here", f"{CUT}\nrecall@5  0.963 81/89\n{CUT}\n== 12 passed in 4.10s ==", printed)
    with pytest.raises(AssertionError, match="not printed"):
        check_screen("here", "recall@5  0.964 81/89", printed)
    with pytest.raises(AssertionError, match="in this place"):
        check_screen("here", f"12 passed\n{CUT}\nrecall@5", printed)


def blocks(*kinds: str) -> Iterator[tuple[str, str]]:
    for path in pages():
        for token in fences(path):
            if token.info.partition(" ")[0] in kinds:
                yield f"{name_of(path)}:{token.map[0] + 1 if token.map else 0}", token.content


def test_every_python_block_is_python_and_every_yaml_block_yaml() -> None:
    seen = 0
    for where, text in blocks("python"):
        compile(text, where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        seen += 1
    for _, text in blocks("yaml"):
        yaml.safe_load(text)
        seen += 1
    assert seen > 20


def test_no_page_shows_a_screen_that_nobody_ran() -> None:
    unchecked = []
    for path in pages():
        shown = sum(isinstance(step, Shown) for step in read(path).steps)
        texts = sum(token.info.partition(" ")[0] == "text" for token in fences(path))
        unchecked += [f"{name_of(path)}: {texts - shown} of {texts}"] * (texts != shown)
    assert not unchecked


def test_the_commands_of_the_readme_are_those_of_ci() -> None:
    commands = [t.content.strip() for t in fences(README) if t.info == "console" and ".venv/bin/pytest" in t.content]
    assert len(commands) == 2
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [command for command in commands if command not in steps] == []


def test_pages_and_navigation_entries_are_the_same() -> None:
    settings = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/-]+\.md", settings)
    assert sorted(listed) == sorted(p.relative_to(PAGES).as_posix() for p in PAGES.rglob("*.md"))


def test_links_of_the_readme_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
