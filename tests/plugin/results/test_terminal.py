"""What a run shows in the terminal."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example


def test_the_word_under_v_has_the_key_scores(project: Example) -> None:
    result = project.run("-v", "-k", "refund-window")
    assert "PASSED recall@1=1.00" in str(result.stdout)


def test_what_to_do_next_is_said_once_for_all_suites(project: Example) -> None:
    project.write("second.golden.yaml", project.golden.read_text().replace("suite: shop", "suite: second"))
    project.accept()
    project.break_retriever()
    text = str(project.run().stdout)
    accept, look = "→ if it was intended: ", "→ look closer: "
    assert (text.count("1 newly failing"), text.count(accept), text.count(look)) == (2, 1, 1)
    assert text.index("shop  shop.golden.yaml") < text.index(accept) < text.index(look)


def test_the_first_green_run_says_how_to_accept_it(project: Example) -> None:
    step = "→ no baseline yet: accept with `pytest --auepora-update`"
    assert step in str(project.run().stdout)
    assert step not in str(project.run("-k", "refund-window").stdout)
    assert step not in str(project.run("--auepora-update").stdout)
    assert step not in str(project.run().stdout)
    project.baseline.unlink()
    project.break_retriever()
    assert step not in str(project.run().stdout)


@pytest.fixture
def known(project: Example) -> Example:
    """A suite in which an assertion failed when it was accepted, and fails still."""
    project.case("free-returns", "must_contain: [never]")
    project.accept()
    return project


def test_still_failing_is_one_word_everywhere(known: Example) -> None:
    result = known.run("-v", "--auepora-report=md:r.md", "--auepora-report=json:r.json")
    said, report = str(result.stdout), known.read("r.md")
    assert "::free-returns PASSED still failing: must_contain recall@1=1.00" in said
    assert "same: 1 still failing, 4 unchanged" in said
    assert "**1 still failing, 4 unchanged**" in report
    assert "| free-returns | still failing |" in report
    (suite,) = json.loads(known.read("r.json"))["suites"]
    assert [f["status"] for f in suite["run"]["cases"]["free-returns"]["findings"]] == ["still failing"]
    updated = str(known.run("--auepora-update").stdout)
    assert "1 still failing" in updated
    assert "case failed" not in said + report + updated


def test_a_failed_case_shows_its_scores_under_v(known: Example) -> None:
    known.break_retriever()
    said = " ".join(str(known.run("-v").stdout).split())
    assert "scores recall@1 0.000 (was 1.000), recall@3 0.000 (was 1.000)" in said


def test_many_failures_show_the_first_answers_without_v(known: Example) -> None:
    known.break_retriever()
    copies = (f"  - {{id: copy-{i}, query: refund {i}, relevant_docs: [refunds]}}\n" for i in range(5))
    known.golden.write_text(known.golden.read_text() + "".join(copies).replace("]}", "], thresholds: {recall@3: 1}}"))
    result = known.run()
    assert result.parseoutcomes()["failed"] == 7
    result.stdout.fnmatch_lines([
        "worse: 1 newly failing (1 lost a document), 5 new and failing (5 retrieved*",
        "    asked   Within how many days can a refund be asked for after purchase?",
        "    answer  Parcels leave the warehouse within two working days.",
        "    asked   refund 0", "    answer  I don't know.",
    ])  # fmt: skip


def test_a_run_as_accepted_says_nothing_of_what_is_na(known: Example) -> None:
    said = str(known.run().stdout)
    assert [word for word in ("n/a", "no owner", "empty_result_rate", "assertion_pass ") if word in said] == []
