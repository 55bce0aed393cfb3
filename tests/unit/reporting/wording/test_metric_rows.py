from __future__ import annotations

from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.metric_rows import MetricRow, metric_rows

from ..builders import METRICS, Case, accepted_of, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"]) for i in range(10)]
REFUSAL = Case("ceo", relevant=[], reference=None, answer="I don't know.")


def by_name(run: Run, verdict: Verdict) -> dict[str, MetricRow]:
    return {row.name: row for row in metric_rows(run, verdict)}


def test_every_mean_has_its_denominator() -> None:
    run = run_of([*CASES, REFUSAL, CASES[0].with_(id="down", error="E: x")])
    row = by_name(run, verdict_of(run))["recall@5"]
    assert (row.value_text, row.n_text, row.n_error) == ("1.000", "10/12", 1)


def test_a_gate_shows_its_own_value_where_errors_count() -> None:
    run = run_of([*CASES[:9], CASES[9].with_(error="E: x")])
    row = by_name(run, verdict_of(run, {"recall@5": 0.95}))["recall@5"]
    assert row.value_text == "1.000"
    assert row.gate_text == "✗ 0.900 >= 0.95"


def test_a_value_just_below_its_bound_does_not_read_as_equal() -> None:
    run = run_of([CASES[0].with_(relevant=["x", "refunds.md", "gone"])], ["recall@5"])
    row = by_name(run, verdict_of(run, {"recall@5": 0.667}))["recall@5"]
    assert (row.value_text, row.gate_text) == ("0.6667", "✗ >= 0.667")


def test_metrics_nobody_could_measure_have_no_row() -> None:
    run = run_of(CASES)
    assert {"assertion_pass", "refusal_correctness", "p95_latency"}.isdisjoint(by_name(run, verdict_of(run)))


def test_metrics_nobody_listed_have_no_row() -> None:
    run = run_of([case.with_(labels={"must_contain": ["30 days"]}) for case in CASES])
    assert "assertion_pass" in by_name(run, verdict_of(run))
    run.metrics["assertion_pass"].baselined = False
    assert "assertion_pass" not in by_name(run, verdict_of(run))


def test_a_metric_of_the_service_has_a_row_only_if_listed() -> None:
    run = run_of(CASES, [*METRICS, "retries", "empty_result_rate"])
    run.metrics["empty_result_rate"].baselined = False
    for case in run.cases.values():
        case.scores["retries"] = Score("number", 1.0)
    assert "retries" in by_name(run, verdict_of(run))
    assert "empty_result_rate" not in by_name(run, verdict_of(run))


def test_an_unmeasured_metric_with_a_gate_keeps_its_row() -> None:
    run = run_of(CASES)
    row = by_name(run, verdict_of(run, {"assertion_pass": 0.5}))["assertion_pass"]
    assert (row.value_text, row.n_text, row.gate_text) == ("n/a", "0/10", "✗ >= 0.5")


def test_changes_are_paired_and_signed() -> None:
    old = run_of(CASES)
    baseline = baseline_of(old)
    run = run_of(
        [*[c.with_(got=["x", "refunds.md"]) for c in CASES], Case("new", got=["refunds.md"])], baseline=baseline
    )
    verdict = verdict_of(run, baseline=baseline)
    row = by_name(run, verdict)["mrr@10"]
    assert (row.baseline_text, row.change_text) == ("1.000", "-0.500")
    assert row.mark == "failed"


def test_what_rose_and_may_be_chance_gets_no_mark() -> None:
    others = [c.with_(got=["x", "refunds.md"]) for c in CASES]
    baseline = accepted_of([[c, c, c, c, CASES[i]] for i, c in enumerate(others)])
    run = run_of([CASES[0], *others[1:]], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    gate = next(g for g in verdict.gates if g.metric == "mrr@10")
    gate.state = "inconclusive"
    row = by_name(run, verdict)["mrr@10"]
    assert gate.test is not None
    assert (row.mark == "") == (gate.test.drop <= 0)
    gate.test.drop = -0.035
    assert by_name(run, verdict)["mrr@10"].mark == ""
    gate.test.drop = 0.035
    assert by_name(run, verdict)["mrr@10"].mark == "inconclusive"


def test_a_change_where_lower_is_better_keeps_its_sign() -> None:
    names = ["recall@5", "empty_result_rate"]
    baseline = baseline_of(run_of(CASES, names))
    run = run_of([CASES[0].with_(got=[]), *CASES[1:]], names, baseline=baseline)
    row = by_name(run, verdict_of(run, baseline=baseline))["empty_result_rate"]
    assert row.change_text == "+0.100"
    assert row.change is not None
    assert row.change.gain < 0


def test_what_is_new_or_measured_differently_says_so() -> None:
    baseline = baseline_of(run_of(CASES, ["recall@5"], provenance={"chunker_version": 1}))
    run = run_of(CASES, ["recall@5", "token_f1", "bleu"], baseline=baseline, provenance={"chunker_version": 2})
    verdict = verdict_of(run, baseline=baseline)
    rows = by_name(run, verdict)
    assert [rows[n].baseline_text for n in ("recall@5", "token_f1", "bleu")] == ["(1.000)", "new", ""]


def test_further_gates_stand_below_their_metric_rates_last() -> None:
    run = run_of(CASES)
    thresholds = {"recall@5": 0.8, "pass_rate": 0.9, "p10(recall@5)": 0.3, "p95_latency": {"max": 2.0}}
    rows = metric_rows(run, verdict_of(run, thresholds))
    assert [r.name for r in rows] == ["recall@5", "p10(recall@5)", "mrr@10", "token_f1", "p95_latency", "pass_rate"]
    assert rows[4].value_text == "20 ms"
    assert rows[4].gate_text == "✓ <= 2 s"


def test_the_error_rate_shows_only_when_it_matters() -> None:
    run = run_of(CASES)
    assert "error_rate" not in by_name(run, verdict_of(run))
    assert "error_rate" in by_name(run, verdict_of(run, {"error_rate": 0.1}))
    broken = run_of([CASES[0].with_(error="E: x")])
    assert by_name(broken, verdict_of(broken))["error_rate"].gate_text == "✗ <= 0"


def test_a_partial_run_is_not_judged() -> None:
    run = run_of(CASES[:2], expected=[c.id for c in CASES])
    assert by_name(run, verdict_of(run, {"recall@5": 0.8}))["recall@5"].gate_text == "\u2013 >= 0.8"


def test_rows_follow_the_order_of_the_golden_file() -> None:
    names = tuple(reversed(METRICS))
    run = run_of(CASES, names)
    assert [r.name for r in metric_rows(run, verdict_of(run))] == ["token_f1", "mrr@10", "recall@5"]
