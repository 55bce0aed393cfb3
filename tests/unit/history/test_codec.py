"""A result and a verdict are read back from a history as they were."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.case_scores import Score
from pytest_auepora.core.json_text import dumps
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.history.codec import result_text, run_of, run_text, verdict_text
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.compare import CaseComparison, Comparison, ScoreChange
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.json_report import FORMAT, read_json_report

from ..reporting.builders import Case, baseline_of, verdict_of
from ..reporting.builders import run_of as run_with

NUMBERS = st.floats(allow_nan=False) | st.integers(-3, 3)
SCORES = st.builds(
    Score, st.sampled_from(["number", "n/a", "error", "aggregate"]), st.none() | NUMBERS, st.just("") | st.text(),
    st.none() | st.lists(st.none() | st.integers()), st.dictionaries(st.text(), NUMBERS | st.lists(st.text())),
)  # fmt: skip
RESULTS = st.builds(
    CaseResult, st.text(), st.sampled_from(["passed", "failed"]), st.dictionaries(st.text(), SCORES),
    st.lists(st.text()), st.text(), st.text(), ranks=st.dictionaries(st.text(), st.none() | st.integers(1)),
)  # fmt: skip
CHANGES = st.builds(ScoreChange, NUMBERS, NUMBERS, NUMBERS, st.booleans())
CASES = st.builds(
    CaseComparison, st.text(), st.just("unchanged"), st.dictionaries(st.text(), CHANGES),
    st.dictionaries(st.text(), st.text()), st.text(),
    st.none() | st.builds(BaselineCase, st.text(), st.just("passed"), st.dictionaries(st.text(), st.none() | NUMBERS)),
)  # fmt: skip


@given(RESULTS)
def test_a_result(result: CaseResult) -> None:
    assert CaseResult.from_dict(json.loads(result_text(result))) == result


@given(RESULTS)
def test_a_run_with_its_results(result: CaseResult) -> None:
    run = Run("shop", "shop.golden.yaml", provenance={"model": None}, expected_ids=("one", "two"))
    back = run_of(run_text(run), [result_text(result)])
    assert back.cases == {result.case_id: result}
    assert (back.suite, back.provenance, back.expected_ids) == ("shop", {"model": None}, ("one", "two"))


@given(st.text(), st.dictionaries(st.text(), CASES))
def test_a_verdict(title: str, cases: dict[str, CaseComparison]) -> None:
    verdict = Verdict(title, comparison=Comparison(cases), notes=["noted"])
    assert json.loads(verdict_text(verdict)) == json.loads(dumps(verdict))


def test_a_real_verdict_is_read_back() -> None:
    run = run_with([Case("one"), Case("two", got=["x", "y"]), Case("three", error="ConnectionError: no route")])
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))
    stored = {"run": json.loads(dumps(run)), "verdict": json.loads(verdict_text(verdict))}
    _, (back,) = read_json_report(json.dumps({"format": FORMAT, "suites": [stored]}))
    assert back.comparison == verdict.comparison
    assert back.gates == verdict.gates
    verdict.comparison = None
    assert json.loads(verdict_text(verdict))["comparison"] is None


def test_what_a_score_does_not_say_takes_no_room() -> None:
    text = result_text(CaseResult("one", scores={"mrr": Score("number", 1.0)}))
    assert '"scores":{"mrr":{"state":"number","value":1.0}}' in text
