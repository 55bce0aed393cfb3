"""``reuse: generator`` under pytest: which calls are made, and what the run says of it."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..counting import store

GOLDEN = """
suite: days
metrics: [recall@2, token_f1]
regression: {reuse: generator}
cases:
""" + "".join(
    f"- {{id: c{i}, query: How long is {i}, relevant_docs: [d{i}], reference_answer: It takes {i} days}}\n"
    for i in range(6)
)

CONFTEST = """
import os, pathlib, pytest

class Rag:
    def retrieve(self, query):
        number = query.split()[-1]
        extra = ["d9"] if number == os.environ.get("CHANGED") else []
        return [{"id": name, "text": f"About {name}"} for name in [f"d{number}", *extra]]

    def generate(self, query, documents):
        with open(pathlib.Path(__file__).with_name("asked"), "a") as asked:
            asked.write(query + "\\n")
        return f"It takes {query.split()[-1]} days"

@pytest.fixture(scope="session")
def rag():
    return Rag()

def pytest_auepora_provenance():
    return {"model": os.environ.get("MODEL", "m-1"), "prompt": "p"}
"""


@pytest.fixture
def days(project: Example) -> Example:
    """An accepted project whose generator notes what it is asked."""
    project.golden.unlink()
    project.write("days.golden.yaml", GOLDEN)
    project.write("conftest.py", CONFTEST)
    assert asked(project, "--auepora-update") == [f"How long is {i}" for i in range(6) for _ in range(2)]
    return project


def asked(project: Example, *options: str) -> list[str]:
    """Run pytest, and return the questions that the generator got."""
    project.write("asked", "")
    result = project.run(*options, plugins=("xdist",) if "-n" in options else ())
    assert result.ret == 0, str(result.stdout)
    return sorted(project.read("asked").splitlines())


def test_only_what_retrieves_otherwise_is_asked(days: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHANGED", "3")
    assert asked(days) == ["How long is 3"]
    (note,) = (note for note in store(days).verdict("last").notes if note.kind == "reused")
    assert note.data == {"cases": 6, "reused": 5}


@pytest.mark.parametrize("options", [["--auepora-update"], ["--auepora-concurrency", "3"], ["-n", "2"]])
@pytest.mark.slow
def test_the_way_a_run_is_made_does_not_matter(days: Example, options: list[str]) -> None:
    assert len(asked(days, *options)) == (12 if options == ["--auepora-update"] else 0)


def test_another_model_is_asked_and_a_warning_says_why(days: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL", "m-2")
    days.write("asked", "")
    result = days.run("-W", "default")
    assert len(days.read("asked").splitlines()) == 6
    result.stdout.fnmatch_lines(["*days: reuse: generator leaves out no call: model of the provenance changed*"])
