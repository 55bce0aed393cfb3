"""What stands below a table of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.metric_rows import metric_rows
from pytest_auepora.reporting.wording.metrics import latency_text, lowest_text, table_notes

from ..builders import METRICS, Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"]) for i in range(10)]
REFUSAL = Case("ceo", relevant=[], reference=None, answer="I don't know.")


ERRORED = CASES[0].with_(id="down", error="E: x")


def without_a_baseline(*more: Case, **thresholds: Any) -> tuple[Run, Verdict]:
    run = run_of([*CASES, *more])
    return run, verdict_of(run, thresholds)


def against(baseline: Baseline, *more: Case) -> tuple[Run, Verdict]:
    run = run_of([*CASES, *more], baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def lost_a_number() -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of([*CASES, REFUSAL]))
    run, _ = against(baseline, REFUSAL)
    run.cases["case-0"].scores["token_f1"] = Score("n/a", reason="by chance")
    return run, verdict_of(run, baseline=baseline)


def errored_alone() -> tuple[Run, Verdict]:
    run, _ = without_a_baseline(ERRORED)
    for case in run.cases.values():
        case.scores["recall@5"] = Score.failed("JudgeError: 503")
    return run, verdict_of(run)


def hardly_labelled() -> tuple[Run, Verdict]:
    labels = [{"id": "refunds.md", "topically_relevant": True, "evidence_sufficient": True}]
    names = ["topical_precision@3", "sufficiency_hit@3", "recall@5"]
    run = run_of([Case("a", labels={"chunk_labels": labels}), Case("b", labels={"chunk_labels": labels})], names)
    return run, verdict_of(run)


NEVER = (
    "all in assertion_pass (neither must_contain nor forbidden is set); {} in refusal_correctness (not a refusal case)"
)
DOCUMENT = "one lost document costs 0.10 in recall@5, mrr@10"


@pytest.mark.parametrize(
    ("told", "notes"),
    [
        (without_a_baseline(REFUSAL, ERRORED),
         ["1 case errored: left out of the values, the worst value in gates and changes",
          "n/a: 1 in recall@5, mrr@10 (nothing relevant: a refusal is expected); 1 in token_f1 (no reference_answer); "
          + NEVER.format(11)]),
        (against(baseline_of(run_of([*CASES, REFUSAL])), REFUSAL), [DOCUMENT]),  # n/a as when accepted
        (lost_a_number(), ["n/a: token_f1 has no number in 1 case that had one: case-0", DOCUMENT]),
        (errored_alone(),
         ["1 case errored; recall@5 errored in 10 other cases: left out of the values, the worst value in gates and "
          "changes", "n/a: " + NEVER.format("all")]),
        (hardly_labelled(), ["labelled: judged@3 0.333 beside topical_precision@3, sufficiency_hit@3"]),
        (against(baseline_of(run_of(CASES)), Case("new", got=["refunds.md"])),
         ["changes are over the cases that compare: 10 in recall@5, mrr@10, token_f1", DOCUMENT]),
        (without_a_baseline(p95_latency=2),
         ["n/a: " + NEVER.format("all"), "p95_latency: needs at least 59 values, got 10"]),
    ],
)  # fmt: skip
def test_the_notes_below_a_table(told: tuple[Run, Verdict], notes: list[str]) -> None:
    assert list(table_notes(*told, metric_rows(*told))) == notes


@pytest.mark.parametrize(
    ("names", "thresholds", "text"),
    [
        (METRICS, {}, "latency: mean 20 ms, p95 20 ms (needs at least 59 cases) over 10 cases"),
        (METRICS, {"p95_latency": 2}, "latency: mean 20 ms over 10 cases"),
        (["recall@5"], {}, ""),
    ],
)
def test_times_without_a_gate_share_a_line(names: Sequence[str], thresholds: dict[str, Any], text: str) -> None:
    run = run_of(CASES, names)
    assert latency_text(run, verdict_of(run, thresholds)) == text


def test_a_green_run_names_its_worst_cases() -> None:
    run = run_of([*CASES[:3], CASES[3].with_(got=["x", "refunds.md"]), CASES[4].with_(got=["x", "y", "refunds.md"])])
    assert lowest_text(run, verdict_of(run)) == "worst mrr@10: case-4 0.333, case-3 0.500"
    alike = run_of([case.with_(got=["x", "refunds.md"]) for case in CASES])
    assert lowest_text(alike, verdict_of(alike)) == ""
