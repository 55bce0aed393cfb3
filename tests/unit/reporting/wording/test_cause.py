"""The sentences on a cause."""

from __future__ import annotations

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.cause import CaseCause, Cause, Effect, MetricCause, Refusal
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.reporting.wording.cause import case_cause_text, cause_lines

from ..builders import infos_of

RUN = Run("shop", metrics=infos_of())


def difference(value: float, half_width: float | None = None) -> Difference:
    low, high = (None, None) if half_width is None else (value - half_width, value + half_width)
    return Difference(value, low, high, 12, 12, 12, 0.05)


def cause() -> Cause:
    effect = Effect(0.9, 0.47, 0.54)
    cases = {f"c{i}": CaseCause("generator", "token_f1", {"token_f1": effect}, calls=1) for i in range(7)}
    cases["r"] = CaseCause("retrieval", "token_f1", {"token_f1": effect}, calls=1)
    metric = MetricCause(8, effect, difference(-0.36, 0.09), difference(-0.07))
    return Cause("generator", "token_f1", cases, {"token_f1": metric}, {"recall@5": -0.25}, 8, {"x": "limit"})


def test_the_effects_are_told_with_their_intervals() -> None:
    assert cause_lines(cause(), RUN) == [
        "why: the generator (8 cases, 8 calls with the accepted documents)",
        "recall@5 is worse by 0.250; of the -0.430 in token_f1, generator -0.360 [-0.450, -0.270], retrieval -0.070",
        "by case: retrieval 1 (r), generator 7 (c0, c1, c2, c3, c4 and 2 more)",
        "not asked: 1 case (x): beyond the most cases that are asked",
    ]
    assert cause_lines(None, RUN) == []


def test_a_case_is_told_with_its_three_cells() -> None:
    text = case_cause_text(cause().cases["c0"], RUN.metrics)
    assert text == (
        "generator: token_f1 accepted 0.900, with the accepted documents 0.540, now 0.470 "
        "(generator -0.360, retrieval -0.070)"
    )
    same = CaseCause("generator", "must_contain", {"must_contain": Effect(1.0, 0.0, 0.0)})
    assert "today's documents are the accepted ones" in case_cause_text(same, RUN.metrics)
    assert case_cause_text(CaseCause("retrieval", fell=("mrr@10",)), RUN.metrics) == "retrieval: mrr@10 fell"


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("no accepted documents", "auepora_accepted = texts"), ("no retriever", "return them with the answer"),
        ("partial run", "run the whole golden file"), ("workers", "auepora why last"), ("scope", "module or session"),
        ("calls", "--auepora-max-calls"), ("raised", "raised with the accepted documents"), ("evaluate", "run.why()"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(refusal: Refusal, said: str) -> None:
    (line,) = cause_lines(Cause(refusal=refusal), RUN)
    assert line.startswith("why: not shown: ")
    assert said in line


def test_a_generator_that_is_no_part_takes_two_lines() -> None:
    lines = cause_lines(Cause(refusal="no generator", detail="ask: it cannot\ngive another"), RUN)
    assert lines == ["why: not shown: ask: it cannot", "give another"]


def test_documents_that_cannot_be_given_again_are_told_with_why() -> None:
    first, second = cause_lines(Cause(refusal="no accepted documents", left_out={"a": "not kept whole"}), RUN)
    assert first == "why: not shown: the accepted documents cannot be given again"
    assert second == "not asked: 1 case (a): the accepted documents were cut, or changed by pytest_auepora_redact"
