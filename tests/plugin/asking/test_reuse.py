"""``reuse: generator`` under pytest: which calls are made, and what the run says of it."""

from __future__ import annotations

import pytest

from ..conftest import ENTRY

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
def asked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> object:
    """Runs pytest on an accepted project; the questions that the generator got, and what was said."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.path.joinpath("days.golden.yaml").write_text(GOLDEN, encoding="utf-8")
    pytester.makeconftest(CONFTEST)
    file = pytester.path / "asked"

    def run(*options: str, **environment: str) -> tuple[list[str], pytest.RunResult]:
        file.write_text("")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            result = pytester.runpytest_subprocess("-p", ENTRY, "--auepora", *options)
        return sorted(file.read_text().splitlines()), result

    accepted, result = run("--auepora-update")
    assert (len(accepted), result.ret) == (12, 0)
    return run


def test_only_what_retrieves_otherwise_is_asked(asked: object) -> None:
    questions, result = asked(CHANGED="3")  # type: ignore[operator]
    assert questions == ["How long is 3"]
    assert result.ret == 0
    result.stdout.fnmatch_lines(["6 cases: 1 generator call, 5 reused"])


@pytest.mark.parametrize("options", [["--auepora-update"], ["--auepora-concurrency", "3"], ["-p", "xdist", "-n", "2"]])
@pytest.mark.slow
def test_the_way_a_run_is_made_does_not_matter(asked: object, options: list[str]) -> None:
    questions, result = asked(*options)  # type: ignore[operator]
    assert result.ret == 0
    assert len(questions) == (12 if options == ["--auepora-update"] else 0)


def test_another_model_is_asked_and_a_warning_says_why(asked: object) -> None:
    questions, result = asked(MODEL="m-2")  # type: ignore[operator]
    assert len(questions) == 6
    result.stdout.fnmatch_lines(["*days: reuse: generator leaves out no call: model of the provenance changed*"])
