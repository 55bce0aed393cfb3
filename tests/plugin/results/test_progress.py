"""A bar below pytest's own line shows how far judges, or an update, have come; an update says first what it costs."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from ..conftest import Example

TOLD = "auepora: the update takes 10 calls, up to 25 if answers vary"
IN_WORKERS = "auepora: the update takes 25 calls"


def seen_on_a_terminal(project: Example, *args: str) -> str:
    """Run pytest with a terminal of its own, and return what it wrote there."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("CI", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-p", "pytest_auepora.pytest_plugin.entry", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, *args], cwd=project.path, env=environment, stdout=theirs, stderr=theirs
    ) as running:
        os.close(theirs)
        out = b""
        try:
            while more := os.read(ours, 65536):
                out += more
        except OSError:  # the terminal is closed
            pass
    os.close(ours)
    assert running.returncode == 0, out.decode()
    return out.decode()


JUDGE = """

class Slow(LLMCritic):
    concurrency = {at_once}

    def score(self, *, prompt, metadata=None):
        time.sleep(0.1)
        return 0.5


def pytest_auepora_metrics(registry):
    registry.add("one", LLMAnswerQuality(Slow()))
    registry.add("two", LLMFaithfulnessScore(Slow()))
"""


@pytest.fixture
def judged(project: Example, request: pytest.FixtureRequest) -> Example:
    """Five cases; two judged metrics that take 0.1 s a score."""
    project.edit("metrics: [", "metrics: [one, two, ")
    first = "import time\nfrom pytest_auepora import LLMCritic\n"
    first += "from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality, LLMFaithfulnessScore\n"
    judge = first + (project.path / "conftest.py").read_text() + JUDGE.format(at_once=request.param)
    project.write("conftest.py", judge)
    return project


@pytest.mark.parametrize("judged", [pytest.param(1, marks=pytest.mark.slow), 2], indirect=True)
@pytest.mark.slow
def test_a_bar_shows_how_far_judges_are(judged: Example) -> None:
    text = seen_on_a_terminal(judged, "--auepora")
    seen = [int(done) for done in re.findall(r"asking LLM judges.*?(\d+)/10 ", text)]
    assert (seen, len(set(seen)) >= 4, seen[-1]) == (sorted(seen), True, 10)
    assert len(seen) < 40
    assert "asking" not in str(judged.run().stdout)


def counts(text: str) -> list[int]:
    return [int(done) for done in re.findall(r"asking for the update.*?(\d+)/\d+ ", text)]


@pytest.mark.parametrize(
    ("args", "least"), [((), 6), pytest.param(("-p", "xdist", "-n", "2"), 2, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_a_bar_says_why_and_how_far(project: Example, args: Sequence[str], least: int) -> None:
    project.system("def rag():\n    import time\n    return lambda query: (time.sleep(0.11), answer(query))[1]\n")
    text = seen_on_a_terminal(project, "--auepora-update", *args)
    told, calls = (TOLD, 10) if not args else (IN_WORKERS, 25)
    assert text.count(told) == 1
    assert text.index(told) < text.index("asking ")
    seen = counts(text)
    assert (seen, seen[-1], len(set(seen)) >= least) == (sorted(seen), calls, True)
    assert "\x1b[K\x1b[A\r" in text, "the line is cleared, and pytest goes on where it was"
    assert re.search(r"\[100%\]", text)


@pytest.mark.slow
def test_nothing_is_drawn_where_nobody_looks(project: Example) -> None:
    result = project.run_apart("--auepora-update", "-n", "2")
    assert str(result.stdout).count(IN_WORKERS) == 1
    assert "asking for" not in str(result.stderr) + str(result.stdout)
    assert "calls" not in seen_on_a_terminal(project, "--auepora")


@pytest.mark.slow
def test_without_pytests_terminal_nothing_is_drawn(project: Example) -> None:
    assert "asking" not in seen_on_a_terminal(project, "--auepora-update", "-p", "no:terminal")
