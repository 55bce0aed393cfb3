"""A result and a verdict written the short way are, letter for letter, what the general way makes."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.run import CaseResult, Score
from pytest_auepora.history.codec import dumps
from pytest_auepora.history.texts import result_text, verdict_text
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.compare import CaseComparison, Comparison, ScoreChange
from pytest_auepora.regression.verdict import Verdict

from ..reporting.builders import Case, baseline_of, run_of, verdict_of

NUMBERS = st.floats() | st.integers(-3, 3) | st.booleans()
CHANGES = st.builds(ScoreChange, NUMBERS, NUMBERS, NUMBERS, st.booleans())
CASES = st.builds(
    CaseComparison, st.text(), st.just("unchanged"), st.dictionaries(st.text(), CHANGES),
    st.dictionaries(st.text(), st.text()), st.text(), st.none() | st.builds(BaselineCase, st.text(), st.just("passed")),
)  # fmt: skip
COMPARISONS = st.builds(
    Comparison, st.dictionaries(st.text(), CASES), st.dictionaries(st.text(), st.none() | st.text())
)


SCORES = st.builds(
    Score, st.sampled_from(["number", "n/a", "error", "aggregate"]), st.none() | NUMBERS, st.just("") | st.text(),
    st.none() | st.lists(st.integers()), st.dictionaries(st.text(), NUMBERS | st.lists(st.text())),
)  # fmt: skip
RESULTS = st.builds(
    CaseResult, st.text(), st.sampled_from(["passed", "failed"]), st.dictionaries(st.text(), SCORES),
    st.lists(st.text()), st.text(), st.text(), ranks=st.dictionaries(st.text(), st.none() | st.integers(1)),
)  # fmt: skip


@given(RESULTS)
def test_a_result_reads_the_same_in_both(result: CaseResult) -> None:
    assert result_text(result) == dumps(result)


@given(st.text(), COMPARISONS)
def test_both_ways_write_the_same(title: str, comparison: Comparison) -> None:
    verdict = Verdict(title, comparison=comparison, notes=["noted"])
    assert verdict_text(verdict) == dumps(verdict)


def test_a_real_verdict() -> None:
    run = run_of([Case("one"), Case("two", got=["x", "y"]), Case("three", error="ConnectionError: no route")])
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))
    assert verdict_text(verdict) == dumps(verdict)
    assert json.loads(verdict_text(verdict))["comparison"]["cases"].keys() == run.cases.keys()
    verdict.comparison = None
    assert verdict_text(verdict) == dumps(verdict)


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy", reason="a score may come from numpy")
    change = ScoreChange(numpy.float64(0.1), 0.5, 0.4)
    comparison = Comparison({"one": CaseComparison("one", "unchanged", {"mrr": change})})
    assert '"before":0.1,' in verdict_text(Verdict("shop", comparison=comparison))


def test_dumps_writes_what_json_writes() -> None:
    value = {"a": [1, 2.5, math.inf, None, True, '\u3042\n"\ud800'], "b": {"c": (), "d": {}}, "e": -0.0}
    assert dumps(value) == json.dumps(value, separators=(",", ":"))
    assert json.loads(dumps(Score("number", 1 / 3, data={1, 2}))) == {
        "state": "number", "value": 1 / 3, "reason": "", "data": [1, 2], "details": {},
    }  # fmt: skip
