"""The figures of a run: by hand on few cases, undefined where nothing counts, the same for the same run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.records import read_record
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.history.aggregates import AggregateMetrics, compute_aggregate, restore_case
from pytest_auepora.history.codec import decode_run, encode_run, rows_of
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import METRICS, REGISTRY, Case, verdict_of
from ..reporting.builders import run_of as measured

TEN = [f"d{i}" for i in range(1, 11)]


def by_ranks() -> Run:
    """Three cases whose right chunk is at rank 1, at rank 4, and nowhere."""
    return measured(
        [Case("a", relevant=["d1"], got=TEN), Case("b", relevant=["d4"], got=TEN), Case("c", relevant=["x"], got=TEN)]
    )


def test_hits_and_reciprocal_ranks() -> None:
    found = compute_aggregate(by_ranks())
    assert found.hit_at_k == {1: 1 / 3, 3: 1 / 3, 5: 2 / 3, 10: 2 / 3}
    assert found.mrr == pytest.approx((1 + 1 / 4 + 0) / 3)
    assert found.to_dict()["mrr"] == 0.4167
    assert found.recall_at_k_doc == found.hit_at_k  # one document a case
    assert (found.total_queries, found.failed_queries) == (3, 0)


def test_a_first_hit_below_rank_ten_counts_as_none() -> None:
    got = [f"d{i}" for i in range(1, 13)]
    found = compute_aggregate(
        measured([Case("deep", relevant=["d11"], got=got), Case("top", relevant=["d1"], got=got)])
    )
    assert (found.mrr, found.hit_at_k[10]) == (0.5, 0.5)


def test_recall_counts_documents_not_chunks() -> None:
    run = measured([Case("a", relevant=["m1", "n1"], got=["m1", "m2", "n1"])])
    case = run.cases["a"]
    for entry in (*case.expected["relevant"], *case.outputs["retrieved"]):
        entry["doc"] = {"m": "manual", "n": "notes"}[entry["id"][0]]
    found = compute_aggregate(run).recall_at_k_doc
    assert found == {1: 0.5, 3: 1.0, 5: 1.0, 10: 1.0}


def test_a_label_that_is_a_chunk_is_met_by_the_chunk() -> None:
    run = measured([Case("a", relevant=["m1", "n1", "o1"], got=["m1", "x1"])])
    for entry in run.cases["a"].outputs["retrieved"]:
        entry["doc"] = entry["id"][0]
    assert compute_aggregate(run).recall_at_k_doc[1] == pytest.approx(1 / 3)


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12), st.lists(st.sampled_from("abcdij"), min_size=1, unique=True))
def test_recall_of_documents_is_that_of_the_metric(got: list[str], wanted: list[str]) -> None:
    run = measured([Case("a", relevant=wanted, got=got)], ("recall@5",))
    for entry in (*run.cases["a"].expected["relevant"], *run.cases["a"].outputs["retrieved"]):
        entry["doc"] = {"a": "one", "b": "one", "c": "two", "i": "two"}.get(entry["id"], entry["id"])
    held = restore_case(run.cases["a"])
    assert held is not None
    for k, found in compute_aggregate(run).recall_at_k_doc.items():
        seen = REGISTRY.get(f"recall@{k}_doc").measure(*held)
        assert isinstance(seen, Measurement)
        assert found == pytest.approx(seen.value, abs=1e-12)


def test_groundedness_needs_every_phrase_and_no_forbidden_one() -> None:
    wanted = {"must_contain": ["30 days"], "forbidden": ["60 days"]}
    cases = [
        Case("good", answer="Within 30 days.", labels=wanted),
        Case("lacks", answer="Soon.", labels=wanted),
        Case("forbidden", answer="30 days, or 60 days.", labels=wanted),
        Case("free", answer="Whatever."),
        Case("refusal", relevant=[], answer="I don't know", labels=wanted),
        Case("broken", labels=wanted, error="OSError: gone"),
    ]
    for names in (METRICS, ("recall@5",)):  # measured in the run, and measured now
        assert compute_aggregate(measured(cases, names)).groundedness == pytest.approx(1 / 3)


def test_refusals_count_where_one_is_called_for() -> None:
    cases = [
        Case("refused", relevant=[], answer="I don't know."),
        Case("answered", relevant=[], answer="He earns a lot."),
        Case("not asked", answer="I don't know."),
    ]
    for names in (METRICS, ("recall@5",)):
        assert compute_aggregate(measured(cases, names)).refusal_correctness == 0.5
    assert compute_aggregate(measured([Case("search only", relevant=[], answer="")])).refusal_correctness is None


def test_a_broken_citation_makes_an_answer_uncovered() -> None:
    run = measured([Case(i) for i in ("sound", "broken", "none", "refusal")], ("recall@5",))
    run.cases["sound"].outputs["citations"] = ["refunds.md", 1]
    run.cases["broken"].outputs["citations"] = ["refunds.md", "no-such.md"]
    run.cases["refusal"].outputs["refused"] = True
    assert compute_aggregate(run).citation_coverage == pytest.approx(1 / 3)


def test_empty_results_and_failures() -> None:
    cases = [Case("none", got=[]), Case("some"), Case("broken", error="OSError: gone"), Case("left", skipped=True)]
    found = compute_aggregate(measured(cases))
    assert found.empty_result_rate == 0.5
    assert (found.total_queries, found.failed_queries) == (3, 1)


def test_what_is_undefined_is_null() -> None:
    found = compute_aggregate(measured([Case("a", relevant=None, reference=None, answer="")], ("recall@5",))).to_dict()
    assert found["hit_at_k"] == {"1": None, "3": None, "5": None, "10": None}
    for name in ("mrr", "citation_coverage", "groundedness", "refusal_correctness"):
        assert found[name] is None
    assert '"mrr": null' in json.dumps(found, allow_nan=False)


def test_it_reads_back() -> None:
    found = compute_aggregate(by_ranks())
    stored = read_record(AggregateMetrics, json.dumps({**found.to_dict(), "later": 1}))
    assert stored.to_dict() == found.to_dict()


def test_a_stored_run_gives_the_same_figures() -> None:
    run = by_ranks()
    again = decode_run(encode_run(run), rows_of(run.cases.values(), {}))
    assert compute_aggregate(again) == compute_aggregate(run) == compute_aggregate(run)


def test_scores_of_another_metric_version_are_measured_anew() -> None:
    run = measured([Case("a", answer="Within 30 days.", labels={"must_contain": ["30 days"]})])
    run.cases["a"].scores["assertion_pass"].value = 0.0
    assert compute_aggregate(run).groundedness == 0.0
    run.metrics["assertion_pass"].version += 1
    assert compute_aggregate(run).groundedness == 1.0


def test_an_unreadable_case_does_not_hide_the_others() -> None:
    run = measured([Case("a"), Case("b")], ("recall@5",))
    run.cases["b"].labels["match"] = "no such way"
    for case in run.cases.values():
        case.expected["must_contain"] = ["30 days"]
    assert compute_aggregate(run).groundedness == 1.0


def test_old_runs_can_be_aggregated_anew_and_that_is_recorded(tmp_path: object) -> None:
    kept, run = HistoryStore(f"{tmp_path}/h.sqlite"), by_ranks()
    run_id = kept.add(run, verdict_of(run))
    old = AggregateMetrics(mrr=0.123456)
    kept.store_aggregate(run_id, old)
    assert kept.runs()[0].aggregate.mrr == kept.aggregate("last").mrr == 0.1235
    kept.store_aggregate(run_id, compute_aggregate(kept.load(run_id)))
    assert kept.aggregate(run_id).to_dict() == compute_aggregate(run).to_dict()


def test_a_run_without_cases() -> None:
    found = compute_aggregate(Run("empty"))
    assert set(found.flat().values()) == {None}
    assert found.total_queries == 0


def test_results_without_outputs_have_no_figures() -> None:
    run = Run("bare")
    run.add([CaseResult("a")])
    assert set(compute_aggregate(run).flat().values()) == {None}
