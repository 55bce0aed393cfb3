"""What the test or the interval of a metric says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.regression.outcomes import GateOutcome, Interval
from pytest_auepora.reporting.wording.gates import (
    bound_text,
    brief_text,
    reason_text,
)
from pytest_auepora.reporting.wording.statistics import detectable_text, loss_text

from .outcomes import RUN, TEST, gate, member

TOLERATED = replace(member("worse", "failed", drop=0.0100001), method="tolerance", limit=0.01)


def test_a_loss_is_told_by_cases_or_by_the_mean() -> None:
    assert loss_text(TEST) == "15 worse, 2 better"
    assert loss_text(replace(TEST, n_worse=40, n_better=39)) == "-0.21 on average"


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (member("worse", "failed"),
         "0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better), "
         "p 0.0132 <= 0.05 (corrected for 6 metrics)"),
        (member("worse", "failed", second_p=0.04, members=1),
         "0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better), p 0.0132 <= 0.05, "
         "and in the second answers p 0.04"),
        (member("better", drop=-0.1, p_gain=0.003, clusters=20, has_slices=True),
         "0.9200 → 0.7100 over 60 cases in 20 clusters: better by 0.1 (15 worse, 2 better), "
         "p 0.003 <= 0.05 (corrected for 6 metrics and slices)"),
        (member("same", drop=0.002),
         "0.9200 → 0.7100 over 60 cases: worse by 0.002 (15 worse, 2 better), below min_effect 0.01: "
         "lost less than 0.05 on average"),
        (member("same", n_worse=0, n_better=0), "0.9200 → 0.7100 over 60 cases: no case differs"),
        (member("inconclusive", "inconclusive", p_adjusted=0.2),
         "0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better); chance alone may do this (p 0.2 > 0.05 "
         "(corrected for 6 metrics)), a loss of up to 0.3 is not ruled out"),
        (member("inconclusive", "inconclusive", drop=-0.1, clusters=20, cases_needed=109),
         "0.9200 → 0.7100 over 60 cases in 20 clusters: better by 0.1 (15 worse, 2 better); a loss of up to 0.3 is not "
         "ruled out, about 49 more cases would decide it"),
        (member("inconclusive", "inconclusive", hall_agrees=False),
         "0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better); few cases changed much and the others "
         "hardly (Hall's t does not agree), a loss of up to 0.3 is not ruled out"),
        (member("inconclusive", "failed", p_adjusted=0.2, lower=None),
         "inconclusive (on_inconclusive: fail): 0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better); "
         "chance alone may do this (p 0.2 > 0.05 (corrected for 6 metrics))"),
        (replace(member("worse", "advisory", members=1), would_be="failed"),
         "would fail: 0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better), p 0.0132 <= 0.05"),
        (TOLERATED,
         "0.9200 → 0.7100 over 60 cases: worse by 0.0100001, more than the tolerated 0.01 (15 worse, 2 better)"),
        (replace(member("inconclusive"), test=None, method="tolerance", limit=0.01, look="second"),
         "0.9200 → 0.7100 over 60 cases: it fell in the first answers, and not in the second"),
    ],
)  # fmt: skip
def test_a_member_of_the_family(outcome: GateOutcome, text: str) -> None:
    assert reason_text(outcome, RUN) == text


@pytest.mark.parametrize(
    ("outcome", "brief", "bound"),
    [
        (TOLERATED, "worse by more than the tolerated 0.01", "loss <= 0.01"),
        (member("worse", members=1), "worse by 0.21 (15 worse, 2 better), p 0.0132 <= 0.05", "p > 0.05"),
    ],
)
def test_beside_a_table_that_has_the_values(outcome: GateOutcome, brief: str, bound: str) -> None:
    assert (brief_text(outcome, RUN), bound_text(outcome)) == (brief, bound)


@pytest.mark.parametrize(
    ("word", "interval", "text"),
    [
        ("worse", Interval("ratio", 0.1, 0.25, 60, 0.0125, 1.4, 1.2, 1.6),
         "1.0000 → 1.4000 over 60 cases: times 1.400, by chance between 1.200 and 1.600 (98.75 % interval); "
         "clearly worse, and by at least 10 %"),
        ("inconclusive", Interval("ratio", 0.1, 0.25, 60, 0.05, 1.1, 0.9, 1.4),
         "1.0000 → 1.4000 over 60 cases: times 1.100, by chance between 0.900 and 1.400 (95 % interval); "
         "not clearly worse by 10 %, but a true rise of 25 % is still possible"),
        ("same", Interval("difference", 0.01, 0.05, 60, 0.05, 0.0, -0.01, 0.01),
         "1.0000 → 1.4000 over 60 cases: +0.0000, by chance between -0.0100 and +0.0100 (95 % interval); "
         "a true rise of 0.05 is ruled out"),
        ("same", Interval("ratio", 0.1, 0.25, 60, unchanged=True), "1.0000 → 1.4000 over 60 cases: no case differs"),
    ],
)  # fmt: skip
def test_a_metric_with_an_interval_of_its_own(word: str, interval: Interval, text: str) -> None:
    outcome = gate(metric="mean_latency", word=word, before=1.0, value=1.4, method="interval", interval=interval)
    assert reason_text(outcome, RUN) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "0.05 if every answer gets a little worse; about 6 lost answers"),
        ({"detectable_answers": 1}, "0.05 if every answer gets a little worse; about 1 lost answer"),
        ({"detectable_answers": None}, "0.05"),
        ({"detectable": None}, "about 6 lost answers"),
        ({"detectable": None, "detectable_answers": None}, ""),
    ],
)
def test_the_minimum_detectable_drop(changes: dict[str, Any], text: str) -> None:
    assert detectable_text(replace(TEST, **changes)) == text
