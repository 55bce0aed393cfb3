"""What stands below a table of metrics."""

from __future__ import annotations

from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.metric_rows import metric_rows
from pytest_auepora.reporting.wording.metrics import latency_text, lowest_text, table_notes

from ..builders import Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"]) for i in range(10)]
REFUSAL = Case("ceo", relevant=[], reference=None, answer="I don't know.")


def notes(run: Run, verdict: Verdict) -> list[str]:
    return list(table_notes(run, verdict, metric_rows(run, verdict)))


def test_errors_and_na_are_told_without_a_baseline() -> None:
    run = run_of([*CASES, REFUSAL, CASES[0].with_(id="down", error="E: x")])
    first, gaps, *_ = notes(run, verdict_of(run))
    assert first == "1 case errored: left out of the values, the worst value in gates and changes"
    assert "1 in recall@5, mrr@10 (nothing relevant: a refusal is expected)" in gaps


def test_what_is_na_as_when_accepted_is_not_repeated() -> None:
    baseline = baseline_of(run_of([*CASES, REFUSAL]))
    run = run_of([*CASES, REFUSAL], baseline=baseline)
    assert not [note for note in notes(run, verdict_of(run, baseline=baseline)) if note.startswith("n/a")]
    run.cases["case-0"].scores["token_f1"] = Score("n/a", reason="by chance")
    told = [note for note in notes(run, verdict_of(run, baseline=baseline)) if note.startswith("n/a")]
    assert told == ["n/a: token_f1 has no number in 1 case that had one: case-0"]


def test_metrics_that_errored_alone_are_named() -> None:
    run = run_of([*CASES, CASES[0].with_(id="down", error="E: x")])
    for case in run.cases.values():
        case.scores["recall@5"] = Score.failed("JudgeError: 503")
    assert notes(run, verdict_of(run))[0].startswith("1 case errored; recall@5 errored in 10 other cases: left out")


def test_what_nobody_labelled_is_told_beside_scores_over_labels() -> None:
    labels = [{"id": "refunds.md", "topically_relevant": True, "evidence_sufficient": True}]
    names = ["topical_precision@3", "sufficiency_hit@3", "recall@5"]
    run = run_of([Case("a", labels={"chunk_labels": labels}), Case("b", labels={"chunk_labels": labels})], names)
    assert notes(run, verdict_of(run)) == ["labelled: judged@3 0.333 beside topical_precision@3, sufficiency_hit@3"]


def test_changes_over_fewer_cases_say_so() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([*CASES, Case("new", got=["refunds.md"])], baseline=baseline)
    told = notes(run, verdict_of(run, baseline=baseline))
    assert any(note.startswith("changes are over the cases that compare: 10 in recall@5, mrr@10") for note in told)


def test_times_without_a_gate_share_a_line() -> None:
    run = run_of(CASES)
    assert latency_text(run, verdict_of(run)) == (
        "latency: mean 20 ms, p95 20 ms (needs at least 59 cases) over 10 cases"
    )
    gated = verdict_of(run, {"p95_latency": 2})
    assert latency_text(run, gated) == "latency: mean 20 ms over 10 cases"
    assert "p95_latency: needs at least 59 values, got 10" in notes(run, gated)
    only = run_of(CASES, ["recall@5"])
    assert latency_text(only, verdict_of(only)) == ""


def test_a_green_run_names_its_worst_cases() -> None:
    run = run_of([*CASES[:3], CASES[3].with_(got=["x", "refunds.md"]), CASES[4].with_(got=["x", "y", "refunds.md"])])
    assert lowest_text(run, verdict_of(run)) == "worst mrr@10: case-4 0.333, case-3 0.500"
    alike = run_of([case.with_(got=["x", "refunds.md"]) for case in CASES])
    assert lowest_text(alike, verdict_of(alike)) == ""
