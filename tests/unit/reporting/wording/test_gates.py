"""What a gate says, by the numbers and words of its outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.compare import Change, Incomparable
from pytest_auepora.regression.outcomes import HAS_NUMBER, PASS_RATE, GateOutcome, Interval, Note, Test
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.gates import (
    bound_text,
    brief_text,
    detectable_text,
    gate_groups,
    gate_sentence,
    gate_title,
    loss_text,
    owner_and_cost,
    reason_text,
)

from ..builders import infos_of

RUN = Run("shop", metrics=infos_of(["recall@5", "token_f1", "mean_latency", "p95_latency"]))
TEST = Test(
    alpha=0.05, p=0.004, p_adjusted=0.0132, p_gain=1.0, drop=0.21, min_effect=0.01, margin=0.05, clusters=60, members=6,
    n_worse=15, n_better=2, lower=-0.3, detectable=0.05, detectable_answers=6,
)  # fmt: skip


def gate(**changes: Any) -> GateOutcome:
    return GateOutcome(
        **{"kind": "regression", "state": "passed", "metric": "token_f1", "n": 60, "total": 60, **changes}
    )


def test_a_loss_is_told_by_cases_or_by_the_mean() -> None:
    assert loss_text(TEST) == "15 worse, 2 better"
    assert loss_text(replace(TEST, n_worse=40, n_better=39)) == "-0.21 on average"


def member(word: str, state: str = "passed", **changes: Any) -> GateOutcome:
    return gate(
        state=state, word=word, before=0.92, value=0.71, method="statistical", test=replace(TEST, **changes)
    )  # fmt: skip


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
        (member("inconclusive", "inconclusive", hall_agrees=False),
         "0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better); few cases changed much and the others "
         "hardly (Hall's t does not agree), a loss of up to 0.3 is not ruled out"),
        (member("inconclusive", "failed", p_adjusted=0.2, lower=None),
         "inconclusive (on_inconclusive: fail): 0.9200 → 0.7100 over 60 cases: worse by 0.21 (15 worse, 2 better); "
         "chance alone may do this (p 0.2 > 0.05 (corrected for 6 metrics))"),
    ],
)  # fmt: skip
def test_a_member_of_the_family(outcome: GateOutcome, text: str) -> None:
    assert reason_text(outcome, RUN) == text


def test_a_tolerated_drop() -> None:
    worse = replace(member("worse", "failed", drop=0.0100001), method="tolerance", limit=0.01)
    assert brief_text(worse, RUN) == "worse by more than the tolerated 0.01", "the table has the values"
    assert reason_text(worse, RUN).endswith("worse by 0.0100001, more than the tolerated 0.01 (15 worse, 2 better)")
    assert bound_text(worse) == "loss <= 0.01"


def test_a_drop_of_few_steady_cases_that_the_second_look_did() -> None:
    undecided = member("inconclusive", "inconclusive")
    seen_once = replace(undecided, test=None, method="tolerance", limit=0.01, look="second")
    assert reason_text(seen_once, RUN) == (
        "0.9200 \u2192 0.7100 over 60 cases: it fell in the first answers, and not in the second"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"value": 0.79996}, "0.79996 is not >= 0.8 (over 41 of 44 cases, 3 errored and count as the worst value)"),
        ({"value": 0.9, "state": "passed", "n_error": 0}, "0.9000 is >= 0.8 (over 41 of 44 cases)"),
        ({"reason": "all skipped", "detail": "no key"}, "every case was skipped (no key)"),
        ({"reason": "no case ran"}, "no case ran"),
        ({"reason": "nothing measured", "detail": "no reference_answer"}, "nothing was measured: no reference_answer"),
        ({"reason": "no worst value"}, "3 cases errored, and an error has no worst token_f1 to count with"),
        ({"reason": "partial run"}, "0 of 0 cases ran, so this was not judged"),
    ],
)
def test_a_threshold(changes: dict[str, Any], text: str) -> None:
    outcome = gate(
        kind="threshold", op="min", limit=0.8, n=41, total=44, **{"state": "failed", "n_error": 3, **changes}
    )
    assert reason_text(outcome, RUN) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"reason": "cases vanished", "names": ("a", "b"), "renamed": {"b": "c"}},
         "a, b (renamed to c?) in the baseline, no longer in the golden file; "
         "accept with `pytest --auepora-update=prune`"),
        ({"reason": "metrics vanished", "names": ("mrr",)},
         "mrr in the baseline, no longer computed; accept with `pytest --auepora-update=prune`"),
        ({"reason": "scores lost", "names": ("a", "b"), "metric": "mrr", "detail": "no relevant_docs"},
         "a and 1 more had a score in the baseline and has none now (mrr: no relevant_docs); "
         "accept a run with `pytest --auepora-update`"),
        ({"reason": "must_pass skipped", "names": ("a",)}, "a: must pass, and was skipped"),
        ({"reason": "aggregate failed", "detail": "it raised X"}, "not judged: it raised X"),
        ({"kind": "calibration", "reason": "judge gone"},
         "the judge that was calibrated is not there: no model is named now; its gates count only with it"),
        ({"kind": "calibration", "reason": "judge silent", "n": 3, "detail": "503"},
         "every reply of the judge failed, in 3 cases: 503"),
        ({"kind": "baseline", "reason": "nothing compares", "unpaired": {"changed": 3},
          "incomparable": {"mrr": Incomparable(changes=(Change("k", 5, 10),))}},
         "nothing in this run compares with it: mrr (k 5 → 10); 3 of 0 cases were edited; "
         "whether the run is worse was not judged"),
        ({"kind": "baseline", "reason": "suspects", "names": ("a",)},
         "a failed and could not be confirmed, which a required baseline does not allow"),
    ],
)  # fmt: skip
def test_what_is_missing(changes: dict[str, Any], text: str) -> None:
    assert reason_text(gate(**{"kind": "coverage", "state": "failed", "metric": "", **changes}), RUN) == text


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


def test_titles_name_the_kind_and_the_part() -> None:
    assert gate_title(gate()) == "regression: token_f1"
    assert gate_title(gate(kind="threshold", stat="p10", slice={"lang": "de"})) == "p10(token_f1){lang=de}"
    assert gate_title(gate(stat=HAS_NUMBER)) == "regression: share with token_f1"
    assert gate_title(gate(metric=PASS_RATE)) == "regression: pass rate"
    assert gate_title(gate(kind="coverage", metric="", reason="cases vanished")) == "coverage: cases"
    assert gate_title(gate(kind="baseline", metric="", reason="no baseline")) == "baseline"
    assert gate_sentence(gate(kind="threshold", reason="no case ran"), RUN) == "token_f1: no case ran"


def test_a_judge_that_is_not_calibrated_would_fail() -> None:
    outcome = replace(member("worse", "advisory"), would_be="failed")
    assert reason_text(outcome, RUN).startswith("would fail: 0.9200 → 0.7100")


def test_a_failed_retrieval_gate_says_that_no_label_was_met() -> None:
    outcome = gate(kind="threshold", metric="recall@5", state="failed", op="min", limit=0.8, value=0.0)
    note = Note("no label met", ("a",), data={"cases": 3, "returned": [], "source": None})
    assert reason_text(outcome, RUN, [note]).endswith(
        "; no label was met in 3 cases (no document was returned; does the system return (answer, documents)?)"
    )
    note.data |= {"returned": [["x", ""]], "source": "refunds.md"}
    assert reason_text(outcome, RUN, [note]).endswith("a plain label is an id; did you mean {doc: refunds.md}?)")


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


def test_gates_are_listed_by_what_became_of_them() -> None:
    failed, undecided = member("worse", "failed"), member("inconclusive", "inconclusive")
    part = replace(failed, slice={"lang": "de"})
    groups = [
        (group.title, group.open, len(group.gates)) for group in gate_groups(Verdict("x", [undecided, part, failed]))
    ]
    assert groups == [
        ("1 gate failed: why", True, 1),
        ("1 slice got worse", False, 1),
        ("1 gate inconclusive: no loss is shown", False, 1),
    ]


def test_owner_and_costliest_cases_are_said_where_nobody_did() -> None:
    outcome = gate(owner="platform", worst_cases=("a", "b"))
    assert owner_and_cost([outcome], RUN) == ["owner platform", "costs most: a, b"]
    assert owner_and_cost([outcome], replace(RUN, owner="platform"), {"a", "b"}) == []
