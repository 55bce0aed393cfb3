"""Every case of a suite put to a system, in sight of those who look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.api.evaluation import evaluate, open_evaluation
from pytest_auepora.base import progress
from pytest_auepora.base.progress import Progress
from pytest_auepora.calls.caller import Caller
from pytest_auepora.core.run import CaseResult
from pytest_auepora.errors import BaselineError
from pytest_auepora.evaluation.case_flow import CaseFlow
from pytest_auepora.evaluation.further import FurtherAnswers
from pytest_auepora.evaluation.suite import find_baseline, run_suite
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.outcomes import BaselineNote

from .large_suite import answers, golden


def test_a_bar_counts_cases_where_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, rows = golden(tmp_path, 12), answers(12)
    counted: list[int] = []
    monkeypatch.setattr(Progress, "done", lambda _, more=1: counted.append(more))

    def told(**given: Any) -> str:
        counted.clear()
        evaluate(suite, lambda sample: rows[int(sample.sample_id[1:])], **given)
        assert sum(counted) == 11  # one is skipped
        return capsys.readouterr().err

    assert told(progress=None) == ""
    assert "| 0/11 [" in told(progress=True)
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    assert "| 0/11 [" in told(progress=None)
    assert told() == ""


def test_variants_are_told_of_the_baseline_without_variants(tmp_path: Path) -> None:
    path = tmp_path / "shop.golden.yaml"
    path.write_text("suite: shop\nmetrics: [mrr]\ncases: [{id: a, query: b, relevant_docs: [c]}]\n", encoding="utf-8")
    suite = load_golden(path)
    assert find_baseline(suite, "bm25") == (None, BaselineNote("none", "shop@bm25.json"))
    run = evaluate(suite, lambda query: (query, ["c"])).run
    assert accept(baseline_path(path, "shop", ""), run, Acceptance({"all"})).written
    assert find_baseline(suite)[1] == BaselineNote()
    assert find_baseline(suite, "bm25") == (None, BaselineNote("other variant", "shop@bm25.json", "shop.json"))


def test_calls_made_ahead_are_given_up_with_their_suite(tmp_path: Path) -> None:
    def redact(result: CaseResult) -> None:
        raise ValueError(result.case_id)

    suite, rows = golden(tmp_path, 90), answers(90)
    system = as_system(lambda sample: rows[int(sample.sample_id[1:])])
    evaluation = open_evaluation(suite, Registry())
    flow = CaseFlow(evaluation.run, evaluation.metrics, suite.policy, redact=redact)
    cases = [case for case in suite.cases if case.skip is None]
    with Caller(2) as caller:
        with pytest.raises(ValueError, match="c0") as raised:
            list(run_suite(FurtherAnswers(flow, system, caller), cases))
        assert raised.tb is not None, "which holds the frame of the suite"
        assert not caller.ahead


@pytest.mark.parametrize("broken", [False, True])
def test_an_expected_failure_fails_nothing(tmp_path: Path, broken: bool) -> None:
    golden = tmp_path / "s.golden.yaml"
    golden.write_text(
        "suite: s\nmetrics: [exact_match]\ncase_thresholds: {exact_match: 1}\n"
        "cases: [{id: a, query: q, reference_answer: x, xfail: known gap}]\n",
        encoding="utf-8",
    )

    def rag(_query: str) -> str:
        if broken:
            raise ConnectionError("no route")
        return "y"

    evaluation = evaluate(golden, rag)
    assert evaluation.run.cases["a"].xfail == "known gap"
    assert (evaluation.verdict.outcome, evaluation.verdict.failed_cases) == ("passed", 0)
    evaluation.assert_thresholds()


SHOP = """\
suite: shop
metrics: [recall@1, token_f1]
cases:
  - {id: a, query: one, relevant_docs: [x], reference_answer: x}
  - {id: b, query: two, relevant_docs: [x], reference_answer: x}
"""


def accepted(folder: Path) -> Path:
    """Return a golden file that has a baseline, in which all was right."""
    path = folder / "shop.golden.yaml"
    path.write_text(SHOP, encoding="utf-8")
    accept(folder / "__baselines__" / "shop.json", evaluate(path, lambda query: ("x", ["x"])).run, Acceptance({"all"}))
    evaluate(path, lambda query: ("x", ["x"])).assert_no_regression()
    return path


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("query: ", "query: now ", "2 of 2 cases were edited"),
        ("id: ", "id: new-", "2 of 2 cases are new"),
        ("relevant_docs: [x]", "skip: true", "2 of 2 cases were skipped"),
        ("recall@1, token_f1", "recall@2, exact_match", "no score in common"),
    ],
)
def test_no_regression_where_nothing_compares_is_an_error(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = accepted(tmp_path)
    path.write_text(SHOP.replace(old, new), encoding="utf-8")
    evaluation = evaluate(path, lambda query: ("", []))
    with pytest.raises(BaselineError, match=f"shop: nothing in this run compares with it.*{why}"):
        evaluation.assert_no_regression()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("relevant_docs: [x]", "skip: true", "every case was skipped"),
        (", relevant_docs: [x], reference_answer: x", "", "no number in recall@1, token_f1"),
        ("[recall@1, token_f1]", "[refusal_correctness]", "no number in refusal_correctness"),
    ],
)
def test_thresholds_over_nothing_measured_do_not_hold(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = tmp_path / "shop.golden.yaml"
    path.write_text(SHOP.replace(old, new), encoding="utf-8")
    with pytest.raises(AssertionError, match=f"shop: nothing was measured: {why}"):
        evaluate(path, lambda query: ("x", ["x"])).assert_thresholds()
