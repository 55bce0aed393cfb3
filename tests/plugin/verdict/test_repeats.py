"""Cases asked several times, cases in quarantine, cases that must pass."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.history.store import HistoryStore

from ..conftest import Example
from ..listening import gates, judged

FLIPPING = """\
def rag():
    import threading
    asked, lock = [], threading.Lock()

    def ask(query):
        with lock:
            asked.append(query)
            turn = asked.count(query)
        if "warehouse" in query and turn % 2 == 0:
            return "no idea", [{"id": "contact", "text": ""}]
        return answer(query)

    return ask
"""


def scores(project: Example, case: str) -> dict[str, list[float] | float]:
    found: dict[str, list[float] | float] = json.loads(project.baseline.read_text())["cases"][case]["scores"]
    return found


@pytest.mark.parametrize(
    "extra", [(), ("--auepora-concurrency", "3"), pytest.param(("-n", "2"), marks=pytest.mark.slow)]
)
def test_scores_are_averaged_over_repeats(project: Example, extra: tuple[str, ...]) -> None:
    project.system(FLIPPING)
    project.edit("  recall@3: 0.9", "  recall@3: 0.8")
    plugins = ("xdist",) if "-n" in extra else ()
    result = project.run("--auepora-update", "--auepora-repeat", "4", *extra, plugins=plugins)
    assert result.ret == 0, str(result.stdout)
    of_warehouse = scores(project, "warehouse")["mrr"]
    assert isinstance(of_warehouse, list)
    assert sorted(of_warehouse) == [0.0, 0.0, 1.0, 1.0, 1.0], "five answers, as it varies"
    assert scores(project, "warranty")["mrr"] == 1.0


def test_the_golden_file_says_how_often(project: Example) -> None:
    project.system(FLIPPING)
    project.edit("  recall@3: 0.9", "  recall@3: 0.8")
    project.edit("suite: shop\n", "suite: shop\nrepeat: 2\n")
    project.accept()
    assert scores(project, "warehouse")["mrr"] == [1.0, 0.0, 1.0, 0.0, 1.0], "five answers, as it varies"


def test_a_failure_shows_a_failing_repeat_redacted(project: Example) -> None:
    project.system(FLIPPING.replace("no idea", "hunter2").replace(" and turn % 2 == 0", ""))
    project.conftest(
        "def pytest_auepora_redact(result):\n"
        "    answer = result.outputs.get('answer', '').replace('hunter2', 'REDACTED')\n"
        "    result.outputs = {**result.outputs, 'answer': answer}\n"
    )
    project.edit("    query: When do", "    thresholds: {mrr: 0.9}\n    query: When do")
    result = project.run("--auepora-repeat", "4", "--auepora-report", "json:r.json")
    text = " ".join(str(result.stdout).split())
    assert "answer REDACTED" in text
    report = (project.path / "r.json").read_text(encoding="utf-8")
    assert "REDACTED" in report
    stored = HistoryStore(project.path / ".auepora" / "history.sqlite").load("last")
    assert "hunter2" not in text + report + str(stored.to_dict())


def test_an_error_in_one_repeat_is_an_error(project: Example) -> None:
    project.system(FLIPPING.replace('return "no idea", [{"id": "contact", "text": ""}]', "raise ValueError('down')"))
    result = project.run("--auepora-repeat", "2")
    assert result.ret == 1
    assert [(one.passed, one.asked) for one in judged(result).run.cases["warehouse"].with_status("varies")] == [(1, 2)]
    assert gates(result) == ["recall@3"], "its first answer counts as the worst"


def test_the_fixture_repeats_as_well(project: Example) -> None:
    project.system(FLIPPING)
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.write(
        "test_q.py", "def test_q(auepora):\n    assert auepora.evaluate('shop.golden.yaml')['mrr'] == 0.875\n"
    )
    project.run("--auepora-repeat", "2", "test_q.py", auepora=False).assert_outcomes(passed=2)  # and the suite


@pytest.mark.parametrize(
    ("until", "statuses", "failing"), [("2999-01-01", {"excused"}, False), ("2001-01-01", {"failed"}, True)]
)
def test_a_quarantined_case_is_excused_until_its_date(
    project: Example, until: str, statuses: set[str], failing: bool
) -> None:
    project.edit("    thresholds: {token_f1: 0.5}\n", f"    quarantine: {until}\n")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {min_effect: 0.9}\n")
    project.accept()
    project.break_retriever()
    result = project.run()
    assert result.ret == int(failing)
    case = judged(result).run.cases["refund-window"]
    assert (case.quarantine, {finding.status for finding in case.findings}) == (until, statuses)


def test_a_case_that_must_pass_is_guarded_under_every_policy(project: Example) -> None:
    project.edit("    thresholds: {token_f1: 0.5}\n", "    must_pass: true\n")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {policy: report}\n")
    project.accept()
    project.break_retriever()
    result = project.run()
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1


def test_a_case_that_must_pass_may_not_be_skipped(project: Example) -> None:
    project.edit("    thresholds: {token_f1: 0.5}\n", "    must_pass: true\n    skip: later\n")
    result = project.run()
    assert gates(result) == ["coverage: must_pass"]


def test_repeats_are_kept_and_flaky_cases_named_everywhere(project: Example) -> None:
    project.system(FLIPPING)
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {policy: report}\n")
    project.case("warehouse", "thresholds: {mrr: 0.5}")
    project.accept("--auepora-repeat", "5")
    case = json.loads(project.baseline.read_text())["cases"]["warehouse"]
    assert case["answers"] == 5
    assert case["scores"]["mrr"] == [1.0, 0.0, 1.0, 0.0, 1.0]
    kept = project.baseline.read_bytes()
    accepted = judged(project.run("--auepora-update", "--auepora-repeat", "5")).accepted
    assert accepted is not None
    assert not accepted.written
    assert project.baseline.read_bytes() == kept
    result = project.run("--auepora-repeat", "2")
    assert result.ret == 0
    assert "60 %" in str(result.stdout), "the share of answers that pass is shown"
    stored = HistoryStore(project.path / ".auepora" / "history.sqlite")
    verdict, run = stored.verdict("last"), stored.load("last")
    assert verdict.flaky == {"warehouse": 0.6}
    assert "mrr" in verdict.noise
    assert {case.repeats for case in run.cases.values()} == {2}
