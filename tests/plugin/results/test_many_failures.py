"""A run with many failures: nothing that pytest shows for each of them is lost by being quick about it."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

import pytest

from ..conftest import Example

TEARDOWN = """

@pytest.fixture(autouse=True)
def note(request):
    yield
    if request.node.name == "refund-window":
        print("left after", request.node.name)
"""


def test_output_of_a_tear_down_stands_under_its_failure(project: Example) -> None:
    project.break_retriever()
    project.conftest(TEARDOWN)
    text = str(project.run().stdout)
    failures = text[text.index("= FAILURES =") : text.index("= auepora =")]
    assert "Captured stdout teardown" in failures
    assert failures.count("left after refund-window") == 1


def test_durations_know_every_phase(project: Example) -> None:
    project.break_retriever()
    text = str(project.run("--durations=0", "-vv").stdout)
    for phase in ("setup", "call", "teardown"):
        assert len(re.findall(rf"s {phase} +shop.golden.yaml::[\w-]+\n", text)) == 5


def test_a_failure_says_where_its_case_stands(project: Example) -> None:
    project.break_retriever()
    result = project.run("-rf", "--tb=line")
    text = str(result.stdout)
    line = (project.golden.read_text().splitlines()).index("  - id: refund-window") + 1
    assert f"{project.golden}:{line}: Failed: retrieval: refunds was not" in text
    assert "FAILED shop.golden.yaml::refund-window - Failed: retrieval: refunds was not" in text


def test_ci_lists_each_failed_case_in_one_line(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """There pytest writes the whole message of each failure into its short summary, which is above it already."""
    project.break_retriever()
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("COLUMNS", "60")
    result = project.run("-rf", "--junitxml=junit.xml")
    short = result.outlines[next(i for i, line in enumerate(result.outlines) if "short test summary" in line) + 1 :]
    cases = [line for line in short if "shop.golden.yaml::refund-window" in line]
    headline = "retrieval: refunds was not found, and the answer misses '30 days'"
    assert cases == [f"FAILED shop.golden.yaml::refund-window - Failed: {headline}"]
    assert not any(line.startswith(("query", "expected", "  ")) for line in short)
    assert f'<failure message="Failed: {escape(headline)}">' in project.read("junit.xml")
    assert "expected   " in project.read("junit.xml")


def test_many_failures_are_told_once_and_few_in_full(project: Example) -> None:
    project.break_retriever()
    result = project.run("-rfE")
    text = str(result.stdout)
    few = result.parseoutcomes()["failed"]
    failures, said, short = re.split("=+ (?:auepora|short test summary info) =+", text[text.index("= FAILURES =") :])
    assert "__ refund-window __" in failures
    assert "gate: " not in failures, "the table tells it"
    assert re.search(r"recall@3 +0\.\d+ +\d/\d +✗ >= 0\.9", said)
    message = " - .+" if pytest.version_tuple >= (9,) else "(?: - .+)?"  # pytest 8 gives gates no message here
    listed = re.findall(rf"^FAILED shop.golden.yaml::(.*?){message}$", short, re.MULTILINE)
    assert listed == ["refund-window", "gate: recall@3"]
    copies = (
        f"  - {{id: copy-{i}, query: refund {i}, relevant_docs: [refunds], thresholds: {{recall@3: 1}}}}"
        for i in range(5)
    )
    project.golden.write_text(project.golden.read_text() + "\n".join(copies))
    result = project.run("-rfE")
    text = str(result.stdout)
    assert result.parseoutcomes()["failed"] > few, "the counts know them all"
    assert "FAILURES" not in text
    assert "short test summary" not in text
    assert "failures are summed up above: -v shows each in full" in text
    for option in ("-v", "-rf", "--tb=short"):
        assert "short test summary" in str(project.run(option).stdout)
