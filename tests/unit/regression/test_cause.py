"""Three cells give two effects and a culprit, for a case and for the suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_auepora.core.findings import OneAnswer
from pytest_auepora.core.run import MetricInfo
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.cause import (
    Cause,
    Cells,
    Effect,
    answers_needed,
    case_cause,
    is_of_answer,
    is_of_retrieval,
    luck_of,
    suite_cause,
)

from .runs import case, metrics, run

INFOS = {name: MetricInfo.of(metric) for name, metric in metrics("token_f1", "recall@1", "mean_latency").items()}
ANSWERED = {"token_f1": INFOS["token_f1"]}


def answers(values: float | Sequence[float]) -> list[OneAnswer]:
    return [OneAnswer({"token_f1": value}, {}) for value in ([values] if isinstance(values, float) else values)]


@pytest.mark.parametrize(
    ("accepted", "now", "swapped", "culprit"),
    [
        (0.9, 0.1, 0.9, "retrieval"),
        (0.9, 0.1, 0.1, "generator"),
        (0.9, 0.1, None, "generator"),  # the documents are the accepted ones
        (0.9, 0.1, 0.5, "both"),
        (0.9, 0.1, 0.75, "retrieval"),  # less than a quarter of the loss
        (0.9, 0.1, 0.95, "retrieval"),
        (0.9, 0.9, 0.1, "neither"),  # nothing was lost
        ([0.9, 0.1, 0.9, 0.1, 0.9], [0.1, 0.9, 0.1], None, "neither"),  # as it varied when it was accepted
        ([0.9, 0.8, 0.9, 0.9, 0.8], [0.1, 0.2, 0.1], [0.8, 0.9, 0.9, 0.8, 0.9], "retrieval"),
    ],
)
def test_the_culprit_of_a_case(accepted: Any, now: Any, swapped: Any, culprit: str) -> None:
    cells = Cells(answers(accepted), answers(now), None if swapped is None else answers(swapped))
    found = case_cause(cells, ANSWERED)
    assert found is not None
    assert found.culprit == culprit


def test_effects_add_up_to_what_changed() -> None:
    found = case_cause(Cells(answers(0.9), answers(0.1), answers(0.7)), ANSWERED)
    assert found is not None
    assert found.effects == {"token_f1": Effect(0.9, 0.1, 0.7)}


def test_assertions_and_errors_count() -> None:
    held, broke, raised = (
        OneAnswer({"token_f1": 1.0}, {"must_contain": True}), OneAnswer({"token_f1": 0.9}, {"must_contain": False}),
        OneAnswer({"token_f1": "error"}, {}, answered=False),
    )  # fmt: skip
    found = case_cause(Cells([held], [broke], [held]), ANSWERED)
    assert found is not None
    assert (found.metric, found.culprit) == ("must_contain", "retrieval")
    found = case_cause(Cells([held], [broke], [raised]), ANSWERED)
    assert found is not None
    assert (found.effects["token_f1"].swapped, found.culprit) == (0.0, "generator")


def test_each_part_may_cost_another_metric() -> None:
    old, now, swapped = (
        OneAnswer({"token_f1": value}, {"must_contain": held})
        for value, held in ((0.9, True), (0.2, False), (0.2, True))
    )
    found = case_cause(Cells([old], [now], [swapped]), ANSWERED)
    assert found is not None
    assert found.culprit == "both"


def test_where_the_answer_lost_nothing_retrieval_fell() -> None:
    found = case_cause(Cells(answers(0.9), answers(0.9), None, ("recall@1",)), ANSWERED)
    assert found is not None
    assert (found.culprit, found.metric, found.fell) == ("retrieval", "", ("recall@1",))
    assert case_cause(Cells([], [], None), ANSWERED) is None


def test_a_metric_of_which_less_is_better() -> None:
    info = MetricInfo.of(metrics("duplicate_rate@5")["duplicate_rate@5"])
    accepted, now = ([OneAnswer({info.name: value}, {})] for value in (0.0, 0.6))
    found = case_cause(Cells(accepted, now, now), {info.name: info})
    assert found is not None
    assert found.culprit == "generator"


def test_what_measures_the_answer() -> None:
    assert [name for name, info in INFOS.items() if is_of_answer(info)] == ["token_f1"]
    assert [name for name, info in INFOS.items() if is_of_retrieval(info)] == ["recall@1"]


@pytest.mark.parametrize(
    ("accepted", "today", "times"),
    [
        (BaselineCase("h", 2, {"token_f1": 0.9}), {"token_f1": 0.1}, 1),
        (BaselineCase("h", 5, {"token_f1": [0.9, 0.8, 0.9, 0.9, 0.9]}), {"token_f1": 0.1}, 5),
        (BaselineCase("h", 2, {"token_f1": 0.9}), {"token_f1": [0.1, 0.2, 0.1, 0.1]}, 4),
        (BaselineCase("h", 2, {"token_f1": 0.9, "recall@1": [1.0, 0.0]}), {"token_f1": 0.1}, 1),  # of the retriever
        (BaselineCase("h", 2, {}, {"must_contain": [True, False]}), {"token_f1": 0.1}, 2),
    ],
)
def test_a_case_is_asked_as_often_as_its_record_needs(accepted: BaselineCase, today: Any, times: int) -> None:
    assert answers_needed(accepted, case("a", **today), ANSWERED) == times


def cause_of(cells: Sequence[tuple[float, float, float]], *, error: float = 0.0, luck: float = 0.0, **more: Any,
             ) -> Cause:  # fmt: skip
    """Return the cause of cases with these cells; both effects of each have this standard *error*."""
    cause = Cause(**more)
    for i, (accepted, now, swapped) in enumerate(cells):
        found = case_cause(Cells(answers(accepted), answers(now), answers(swapped)), ANSWERED)
        assert found is not None
        cause.cases[f"c{i}"] = found
    measured = run(*(case(name) for name in cause.cases), names=("token_f1",))
    noise = {name: {"token_f1": (error, error)} for name in cause.cases}
    lucky = {name: {"token_f1": luck} for name in cause.cases}
    return suite_cause(cause, measured, noise=noise, luck=lucky, metrics=ANSWERED)


def test_the_effects_of_a_suite_have_intervals() -> None:
    cause = cause_of([(0.9, 0.1, 0.3), (0.8, 0.2, 0.3), (0.9, 0.2, 0.2)])
    one = cause.metrics["token_f1"]
    assert (cause.culprit, cause.metric, one.n) == ("both", "token_f1", 3)
    assert one.generator.value == pytest.approx(-0.6)
    assert one.retrieval.value == pytest.approx(-0.1)
    assert one.generator.low is not None
    assert one.generator.high is not None
    assert one.generator.low < -0.6 < one.generator.high < 0


def test_what_varies_must_be_more_than_its_noise() -> None:
    """Whether other cases would show it as well is what the interval says, and no matter here."""
    cells = [(0.9, 0.1, 0.9), (0.8, 0.2, 0.3), (0.9, 0.2, 0.95), (0.8, 0.1, 0.7)]
    assert cause_of(cells).culprit == "both"
    assert cause_of(cells, error=0.1).culprit == "both"  # 0.1 / 2 over four cases; the generator lost 0.1375
    assert cause_of(cells, error=0.2).culprit == "retrieval"


def test_accepted_answers_that_were_lucky_are_no_loss() -> None:
    cells = [(1.0, 0.1, 0.8), (0.9, 0.2, 0.8)]
    assert cause_of(cells).culprit == "both"
    assert cause_of(cells, luck=-0.14).culprit == "retrieval"


def test_luck_is_what_an_answer_is_below_others_that_held() -> None:
    varied = BaselineCase("h", 5, {"token_f1": [0.9, 0.9, 0.9, 0.9, 0.1]}, {"must_contain": [True] * 4 + [False]})
    steady = BaselineCase("h", 5, {"token_f1": 0.9}, {"must_contain": True})
    failed = BaselineCase("h", 5, {"token_f1": [0.1, 0.2, 0.1, 0.1, 0.1]}, {"must_contain": False})
    luck = luck_of([varied, steady, failed], ANSWERED)
    assert luck["must_contain"] == pytest.approx(-1 / 6)
    assert luck["token_f1"] == pytest.approx(-0.8 / 6)
    assert luck_of([BaselineCase("h", 1, {"token_f1": 0.9})], ANSWERED) == {}


def test_a_worse_metric_of_retrieval_makes_it_both() -> None:
    cells = [(0.9, 0.1, 0.1), (0.8, 0.2, 0.2)]
    assert cause_of(cells).culprit == "generator"
    assert cause_of(cells, retrieval={"recall@5": -0.2}).culprit == "both"


def test_a_suite_that_lost_nothing_has_no_culprit() -> None:
    assert (cause_of([(0.9, 0.9, 0.9)]).culprit, cause_of([(0.9, 0.9, 0.9)]).metric) == ("neither", "")
