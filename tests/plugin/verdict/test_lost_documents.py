"""A deterministic system that loses documents: what it costs to see, and that every way to tell it says the same."""

from __future__ import annotations

import json
import re

import pytest

from pytest_auepora.cli.main import main

from ..conftest import Example
from ..counting import calls

N = 60
SYSTEM = """\
def rag():
    lost = pathlib.Path("lost.txt").read_text().split()

    def ask(query):
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        name = query.split()[-1].rstrip("?")
        return f"{name} it is", ["another" if name in lost else name]

    return ask
"""


def lose(project: Example, *names: str) -> None:
    project.write("lost.txt", " ".join(names))


@pytest.fixture
def steady(project: Example) -> Example:
    """Sixty documents, each found at rank 1."""
    cases = "".join(f"  - {{id: c{i:02}, query: where is d{i:02}?, relevant_docs: [d{i:02}]}}\n" for i in range(N))
    project.golden.write_text(f"suite: shop\nmetrics: [recall@1, mrr]\ncases:\n{cases}")
    project.system(SYSTEM)
    lose(project)
    project.accept()
    return project


def test_one_lost_document_of_sixty_is_red_and_named(steady: Example) -> None:
    assert calls(steady) == 2 * N, "an update takes two calls a case"
    assert (steady.run().ret, calls(steady)) == (0, N), "a green run takes one"
    lose(steady, "d17")
    result = steady.run()
    assert (result.ret, calls(steady)) == (1, N + 3), "four answers in all fail a case of which two were accepted"
    result.stdout.fnmatch_lines([
        "mixed (the suite is the same): 1 newly failing (1 lost a document), 59*",
        "  FAILED c17 mrr, recall@1: held in 2 of 2 accepted answers, failed 4 of 4",
    ])  # fmt: skip


@pytest.mark.parametrize(("lost", "word"), [(0, "same"), (1, "mixed"), (9, "worse")])
def test_words_numbers_and_exit_codes_are_the_same(
    steady: Example, lost: int, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steady.run()
    lose(steady, *(f"d{i:02}" for i in range(lost)))
    result = steady.run(*(f"--auepora-report={kind}:r.{kind}" for kind in ("json", "md", "html")))
    terminal, markdown, page = str(result.stdout), steady.read("r.md"), steady.read("r.html")
    mean, outcome = f"{1 - lost / N:.3f}", "failed" if lost else "passed"
    assert result.ret == bool(lost)
    assert re.search(rf"^{word}\b.*?: ", terminal, re.MULTILINE)
    assert re.search(rf"^recall@1 +{mean} ", terminal, re.MULTILINE)
    assert f"shop: {word}" in markdown
    assert f"| recall@1 | {mean} |" in markdown
    (suite,) = json.loads(steady.read("r.json"))["suites"]
    assert (suite["word"], suite["outcome"]) == (word, outcome)
    assert suite["verdict"]["aggregates"]["recall@1"]["value"] == pytest.approx(1 - lost / N)
    assert re.search(rf'"word": ?"{outcome.capitalize()}, {word}', page)
    monkeypatch.chdir(steady.path)
    capsys.readouterr()
    assert main(["compare", "last~1", "last"]) == bool(lost)
    compared = capsys.readouterr().out
    assert compared.startswith(f"shop: {word}  ")
    assert re.search(rf"^recall@1 +1.000 +{mean} ", compared, re.MULTILINE)
