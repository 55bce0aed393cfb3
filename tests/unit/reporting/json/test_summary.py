from __future__ import annotations

import json

from pytest_auepora.reporting.json.summary import summary_json

from ..builders import Case, run_of, verdict_of

NAMES = ["precision@5", "ndcg@10", "mrr@10", "p50_latency", "p95_latency", "redaction_efficacy", "rougeL"]
CASES = [Case(f"case-{i}", got=["refunds.md"], seconds=0.1 * (i + 1)) for i in range(10)]


def test_the_specified_shape() -> None:
    run = run_of([*CASES, Case("down", error="E: x")], NAMES)
    assert json.loads(summary_json([run], [verdict_of(run)])) == {
        "version": "v0",
        "quality": {"p@5": 0.2, "ndcg@10": 1.0, "mrr@10": 1.0, "rougeL": 1.0},
        "operational": {"p50_ms": 500.0, "p95_ms": 1000.0, "error_rate": 0.0909},
        "privacy": {"leak_rate": None},
        "n": {"cases": 11, "p@5": 10, "ndcg@10": 10, "mrr@10": 10, "rougeL": 10},
    }


def test_refusals_are_quality_too() -> None:
    run = run_of([Case("a", relevant=[], answer="I don't know.", got=[])], ["refusal_correctness", "mean_latency"])
    assert json.loads(summary_json([run], [verdict_of(run)]))["quality"] == {"refusal_correctness": 1.0}


def test_what_was_not_measured_is_null() -> None:
    run = run_of([Case("a", relevant=None, reference=None)], ["mrr@10", "rougeL"])
    raw = json.loads(summary_json([run], [verdict_of(run)]))
    assert raw["quality"] == {"mrr@10": None, "rougeL": None}
    assert raw["operational"] == {"p50_ms": None, "p95_ms": None, "error_rate": 0.0}
    skipped = run_of([Case("a", skipped=True)], ["mrr@10"])
    assert json.loads(summary_json([skipped], [verdict_of(skipped)]))["operational"]["error_rate"] is None


def test_leaks() -> None:
    leaky = Case("a", answer="It is secret4711.", labels={"sensitive": ["secret4711", "hidden0815"]})
    run = run_of([leaky, leaky.with_(id="b", answer="No.")], ["redaction_efficacy"])
    assert json.loads(summary_json([run], [verdict_of(run)]))["privacy"] == {"leak_rate": 0.25}


def test_several_runs_stand_side_by_side() -> None:
    runs = [run_of(CASES, NAMES), run_of(CASES, NAMES, variant="dense")]
    raw = json.loads(summary_json(runs, [verdict_of(r) for r in runs]))
    assert set(raw) == {"version", "suites"}
    assert set(raw["suites"]) == {"billing", "billing[dense]"}
    assert set(raw["suites"]["billing"]) == {"quality", "operational", "privacy", "n"}
    assert json.loads(summary_json([], [])) == {"version": "v0", "suites": {}}
