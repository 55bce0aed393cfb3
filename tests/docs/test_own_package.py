"""The package of the page is built, installed and used: under pytest, in `evaluate` and in the commands alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from .pages import PAGES, File, read

pytest.importorskip("hatchling", reason="builds the package")
pytestmark = pytest.mark.slow

RAG = """
import pytest


@pytest.fixture
def rag():
    return lambda query: ("three short words", [])
"""
GOLDEN = "suite: faq\nmetrics: [answer_words]\ncases:\n  - {id: a, query: one}\n  - {id: b, query: two}\n"
EVALUATE = """
from pytest_auepora import evaluate
done = evaluate("faq.golden.yaml", lambda query: ("three short words", []))
print(done["answer_words"].value, done.run.provenance["acme"])
"""


@dataclass
class Project:
    """A folder, and an environment in which the package is installed."""

    folder: Path
    installed: Path

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(self.installed), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [sys.executable, *args], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )

    def command(self, *args: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", f"import sys; from pytest_auepora.cli.main import main; sys.exit(main({[*args]!r}))")

    def pytest(self, *args: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "pytest", "-p", "pytest_auepora.pytest_plugin.entry", "--auepora", *args)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package of the page and install its wheel into a folder of its own."""
    folder = tmp_path_factory.mktemp("acme")
    for step in read(PAGES / "how-to" / "own-package.md").steps:
        if isinstance(step, File) and step.path.startswith("acme/"):
            (folder / Path(step.path).name).write_text(step.text, encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    target = folder / "installed"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    return target


@pytest.fixture
def project(tmp_path: Path, installed: Path) -> Project:
    (tmp_path / "conftest.py").write_text(RAG, encoding="utf-8")
    (tmp_path / "faq.golden.yaml").write_text(GOLDEN, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return Project(tmp_path, installed)


def test_the_package_has_at_most_30_lines_of_code() -> None:
    (module,) = (
        s for s in read(PAGES / "how-to" / "own-package.md").steps if isinstance(s, File) and "acme.py" in s.path
    )
    assert len([line for line in module.text.splitlines() if line.strip()]) <= 30


def test_it_works_under_pytest(project: Project) -> None:
    done = project.pytest("--auepora-report", "line:report.txt", "--auepora-report", "json:report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answer_words" in done.stdout
    assert (project.folder / "report.txt").read_text(encoding="utf-8") == "faq: 2 cases\n"
    report = json.loads((project.folder / "report.json").read_text(encoding="utf-8"))
    assert report["suites"][0]["run"]["provenance"]["acme"] == "1.0"
    assert project.pytest("-p", "no:acme").returncode != 0


def test_it_works_in_evaluate(project: Project) -> None:
    done = project.run("-c", EVALUATE)
    assert (done.returncode, done.stdout) == (0, "3.0 1.0\n"), done.stderr


def test_it_works_in_the_commands(project: Project) -> None:
    assert "2 cases" in project.command("check", "faq.golden.yaml").stdout
    (project.folder / "questions.txt").write_text("When?\nWhere?\n", encoding="utf-8")
    done = project.command("import", "questions.txt", "--from", "questions", "-o", "new.golden.yaml")
    assert done.returncode == 0, done.stderr
    assert "query: Where?" in (project.folder / "new.golden.yaml").read_text(encoding="utf-8")
    assert "one question a line" in " ".join(project.command("import", "--help").stdout.split())
    refused = project.command("import", "new.golden.yaml", "--to", "questions", "-o", "q")
    assert (refused.returncode, "question" in refused.stderr) == (3, True)
    (project.folder / "said.jsonl").write_text(
        '{"id": "a", "answer": "yes"}\n{"id": "b", "answer": "no"}\n', encoding="utf-8"
    )
    assert project.command("score", "said.jsonl", "--golden", "faq.golden.yaml", "--save").returncode in (0, 3)
    assert project.command("report", "last", "--format", "line").stdout == "faq: 2 cases\n"
