from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.run import Run
from pytest_auepora.reporting.formats.metrics_export import COLUMNS, csv_report, find_metric, summary_json
from pytest_auepora.reporting.report import Report

from ..builders import Case, infos_of, run_of, verdict_of

NAMES = [
    "precision@5",
    "precision@10",
    "ndcg@10",
    "mrr@10",
    "retries",
    "redaction_efficacy",
    "token_f1",
    "mean_latency",
]


def rows(*runs: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_report(Report(runs, [])))))


def test_the_specified_columns_come_first() -> None:
    header = csv_report(Report([run_of([Case("a")], NAMES)], [])).splitlines()[0]
    assert header.startswith(
        "id,p_at_5,p_at_10,ndcg_10,mrr_10,cov_entities,p50_ms,p95_ms,errors,retries,privacy_leak,"
        "suite,variant,state,owner,precision@5,"
    )
    assert header.endswith(",mean_latency,request_id,adapter,surface")
    empty = [*COLUMNS, "suite", "variant", "state", "owner", "request_id", "adapter", "surface"]
    assert csv_report(Report()).splitlines() == [",".join(empty)]


def test_a_row_per_query() -> None:
    run = run_of(
        [Case("a", got=["refunds.md"], seconds=0.25), Case("b", got=["x", "refunds.md"])], NAMES, variant="bm25"
    )
    first, second = rows(run)
    assert (first["id"], first["p_at_5"], first["p_at_10"], first["mrr_10"]) == ("a", "0.2000", "0.1000", "1.0000")
    assert (first["p50_ms"], first["p95_ms"]) == ("250.0", "250.0")
    assert (second["mrr_10"], second["ndcg_10"]) == ("0.5000", "0.6309")
    assert (second["suite"], second["variant"], second["state"]) == ("billing", "bm25", "passed")
    assert second["token_f1"] == "1.0000"


def test_what_was_not_measured_is_empty_and_not_zero() -> None:
    run = run_of([Case("a", relevant=None), Case("b", error="E: x"), Case("c", skipped=True)], NAMES)
    plain, errored, skipped = rows(run)
    assert plain["p_at_5"] == plain["cov_entities"] == plain["privacy_leak"] == plain["retries"] == ""
    assert (plain["errors"], errored["errors"], skipped["errors"]) == ("0", "1", "")
    assert errored["p50_ms"] == errored["mrr_10"] == skipped["p50_ms"] == ""


def test_a_leak_is_what_redaction_left() -> None:
    labels = {"sensitive": ["secret4711", "hidden0815"]}
    run = run_of([Case("a", answer="It is secret4711.", labels=labels)], ["redaction_efficacy"])
    assert rows(run)[0]["privacy_leak"] == "0.5000"


def test_metrics_with_options_count_as_what_they_are() -> None:
    names = ["precision@5[denominator=returned]"]
    assert rows(run_of([Case("a", got=["refunds.md"])], names))[0]["p_at_5"] == "1.0000"
    infos = infos_of(["precision@5[denominator=returned]", "precision@5"])
    assert find_metric(infos, "precision@5") == "precision@5"
    assert find_metric(infos, "precision@50") is None


def test_several_runs_share_the_columns() -> None:
    found = rows(run_of([Case("a")], ["mrr@10"]), run_of([Case("a")], ["token_f1"], variant="dense"))
    assert [(r["variant"], r["mrr@10"], r["token_f1"]) for r in found] == [
        ("", "0.5000", ""),
        ("dense", "", "1.0000"),
    ]


def test_no_cell_is_a_formula_and_any_text_survives() -> None:
    ids: Sequence[str] = ['=cmd|"/c calc"!A1', "+1", "-1", "@x", 'a,"b"\nc', "plain"]
    found = rows(run_of([Case(i) for i in ids], ["mrr@10"]))
    assert [r["id"] for r in found] == ["'" + ids[0], "'+1", "'-1", "'@x", ids[4], "plain"]


def test_known_columns_need_no_metric_in_the_golden_file() -> None:
    cases = [Case("a", relevant=[("refunds.md", 2), "terms.md"], labels={"x": "y"}), Case("b", relevant=None)]
    listed, known = run_of(cases, NAMES), run_of(cases, ["token_f1"])
    columns = ("p_at_5", "p_at_10", "ndcg_10", "mrr_10")
    assert [[row[c] for c in columns] for row in rows(known)] == [[row[c] for c in columns] for row in rows(listed)]
    assert rows(known)[0]["p_at_5"] == "0.4000"
    known.cases["a"].outputs["retries"] = 2.0
    assert [row["retries"] for row in rows(known)] == ["2.0000", ""]


def test_quantiles_over_the_answers_to_one_query(tmp_path: Path) -> None:
    golden = tmp_path / "a.golden.yaml"
    golden.write_text("metrics: [token_f1]\ncases: [{id: a, query: q}]\n", encoding="utf-8")
    seconds = iter([0.3, 0.1, 0.2, 0.5, 0.4])
    run = evaluate(golden, lambda query: {"answer": "a", "timings": {"end_to_end": next(seconds)}}, repeat=5).run
    (row,) = rows(run)
    assert (row["p50_ms"], row["p95_ms"]) == ("300.0", "500.0")


@pytest.mark.parametrize("metrics", ["token_f1", "precision@5, precision@10, ndcg@10, mrr@10"])
@pytest.mark.parametrize(("second", "mrr"), [("[x, d, e]", "0.7500"), ("[d, x, e]", "1.0000"), ("[]", "0.5000")])
def test_rankings_of_several_answers_are_a_mean(tmp_path: Path, metrics: str, second: str, mrr: str) -> None:
    golden = tmp_path / "a.golden.yaml"
    case = "{id: a, query: q, relevant_docs: [{id: d, grade: 2}, e]}"
    golden.write_text(f"metrics: [{metrics}]\ncases: [{case}]\n", encoding="utf-8")
    lists = iter([["d", "x", "e"], yaml.safe_load(second)])
    run = evaluate(golden, lambda query: ("a", [{"id": i, "text": i} for i in next(lists)]), repeat=2).run
    (row,) = rows(Run.from_dict(run.to_dict()))
    assert row["mrr_10"] == mrr
    assert (row["p_at_5"], row["ndcg_10"]) == {
        "0.7500": ("0.4000", "0.8115"), "1.0000": ("0.4000", "0.9639"), "0.5000": ("0.2000", "0.4820"),
    }[mrr]  # fmt: skip


def test_labels_are_enough_for_entities_and_leaks(tmp_path: Path) -> None:
    golden = tmp_path / "a.golden.yaml"
    case = "{id: a, query: q, entities: [Rome, Paris], sensitive: [secret4711]}"
    golden.write_text(f"metrics: [token_f1]\ncases: [{case}]\n", encoding="utf-8")
    run = evaluate(golden, lambda query: ("secret4711", [{"id": "d", "text": "In Rome."}])).run
    (row,) = rows(run)
    assert (row["cov_entities"], row["privacy_leak"]) == ("0.5000", "1.0000")


TOTALLED = ["precision@5", "ndcg@10", "mrr@10", "p50_latency", "p95_latency", "redaction_efficacy", "rougeL"]
CASES = [Case(f"case-{i}", got=["refunds.md"], seconds=0.1 * (i + 1)) for i in range(10)]


def test_the_specified_shape() -> None:
    run = run_of([*CASES, Case("down", error="E: x")], TOTALLED)
    assert json.loads(summary_json(Report([run], [verdict_of(run)]))) == {
        "version": "v0",
        "quality": {"p@5": 0.2, "ndcg@10": 1.0, "mrr@10": 1.0, "rougeL": 1.0},
        "operational": {"p50_ms": 500.0, "p95_ms": 1000.0, "error_rate": 0.0909},
        "privacy": {"leak_rate": None},
        "n": {"cases": 11, "p@5": 10, "ndcg@10": 10, "mrr@10": 10, "rougeL": 10},
    }


@pytest.mark.parametrize("thresholds", ["", "thresholds: {error_rate: {max: 0.1}}\n"])
def test_the_owner_of_the_error_rate_is_named(tmp_path: Path, thresholds: str) -> None:
    golden = tmp_path / "a.golden.yaml"
    owners = "owner: search-team\nowners: {error_rate: on-call, token_f1: answers}\n"
    golden.write_text(f"metrics: [token_f1]\n{owners}{thresholds}cases: [{{id: a, query: q}}]\n", encoding="utf-8")
    evaluation = evaluate(golden, lambda query: "a")
    raw = json.loads(summary_json(Report([evaluation.run], [evaluation.verdict])))
    assert raw["owners"] == {"token_f1": "answers", "error_rate": "on-call"}
    assert evaluation.run.owner_of("pass_rate") == "search-team"


def test_figures_of_quality_need_no_metric_in_the_golden_file() -> None:
    cases = [*CASES, Case("b", got=["x", "refunds.md"]), Case("down", error="E: x"), Case("n", relevant=None)]
    known, listed = run_of(cases, ["token_f1"]), run_of(cases, [*TOTALLED, "token_f1"])
    found, expected = (json.loads(summary_json(Report([run], [verdict_of(run)])))["quality"] for run in (known, listed))
    for name in ("p@5", "ndcg@10", "mrr@10"):
        assert found[name] == expected[name] is not None


def test_refusals_are_quality_too() -> None:
    run = run_of([Case("a", relevant=[], answer="I don't know.", got=[])], ["refusal_correctness", "mean_latency"])
    assert json.loads(summary_json(Report([run], [verdict_of(run)])))["quality"]["refusal_correctness"] == 1.0


def test_what_was_not_measured_is_null() -> None:
    run = run_of([Case("a", relevant=None, reference=None)], ["mrr@10", "rougeL"])
    raw = json.loads(summary_json(Report([run], [verdict_of(run)])))
    assert raw["quality"] == dict.fromkeys(("p@5", "ndcg@10", "mrr@10", "rougeL"))
    assert raw["operational"] == {"p50_ms": None, "p95_ms": None, "error_rate": 0.0}
    skipped = run_of([Case("a", skipped=True)], ["mrr@10"])
    assert json.loads(summary_json(Report([skipped], [verdict_of(skipped)])))["operational"]["error_rate"] is None


def test_leaks() -> None:
    leaky = Case("a", answer="It is secret4711.", labels={"sensitive": ["secret4711", "hidden0815"]})
    run = run_of([leaky, leaky.with_(id="b", answer="No.")], ["redaction_efficacy"])
    assert json.loads(summary_json(Report([run], [verdict_of(run)])))["privacy"] == {"leak_rate": 0.25}


def test_several_runs_stand_side_by_side() -> None:
    runs = [run_of(CASES, TOTALLED), run_of(CASES, TOTALLED, variant="dense")]
    raw = json.loads(summary_json(Report(runs, [verdict_of(r) for r in runs])))
    assert set(raw) == {"version", "suites"}
    assert set(raw["suites"]) == {"billing", "billing[dense]"}
    assert set(raw["suites"]["billing"]) == {"quality", "operational", "privacy", "n"}
    assert json.loads(summary_json(Report())) == {"version": "v0", "suites": {}}


def test_suites_of_one_name_are_kept_apart() -> None:
    runs = [run_of(CASES, TOTALLED), run_of(CASES[:1], TOTALLED)]
    raw = json.loads(summary_json(Report(runs, [verdict_of(r) for r in runs])))
    assert [suite["n"]["cases"] for suite in raw["suites"].values()] == [len(CASES), 1]
