"""The additions that the guide of developers shows, made to a copy of the package: they fit, are linted, and work."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .bench import PackageBench, follow
from .pages import ROOT, File, read

PAGE = read(ROOT / "docs" / "developers" / "additions.md")


@pytest.fixture
def bench(pytester: pytest.Pytester) -> PackageBench:
    return PackageBench(pytester)


def test_additions_fit_into_the_package(bench: PackageBench) -> None:
    bench.lay_out(PAGE)


def test_additions_are_linted_as_all_code_is(bench: PackageBench) -> None:
    pytest.importorskip("ruff", reason="the group lint has it")
    bench.lay_out(PAGE)
    files = [step.path for step in PAGE.steps if isinstance(step, File) and step.path.startswith(("pytest_", "tests"))]
    assert len(files) > 6
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "--config", str(ROOT / "pyproject.toml"), *files]
        done = subprocess.run(ruff, cwd=bench.pytester.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_additions_work(bench: PackageBench) -> None:
    assert follow(PAGE, bench) == []
