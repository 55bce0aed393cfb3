"""What is taken over into a file in which a case fails by itself, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.cause.repro import NoReproError, Repro, make_repro
from pytest_auepora.evaluation.replay import RecordedRun
from pytest_auepora.io.golden.load import load_golden

from .accepting import AcceptedSystem, accept_system, recorded_run

GOLDEN = """\
suite: shop
owner: search-team
metrics: [recall@2, token_f1, mrr@10]
thresholds: {recall@2: 0.9}
case_thresholds: {mrr@10: 0.2, recall@2: 0.5}
defaults: {tags: [smoke]}
regression: {case_max_drop: 0.4, slices: [scenario], metrics: {token_f1: {min_effect: 0.02}, recall@2: {margin: 0.1}}}
cases:
  - {id: refund, query: "How long for a refund?", relevant_docs: [refunds.md], must_contain: ["30 days"]}
  - {id: typo, variant_of: refund, scenario: typo, query: "How long for a refnud?", relevant_docs: [refunds.md]}
  - {id: other, query: "What else?", reference_answer: Nothing.}
"""


def good(query: str) -> dict[str, Any]:
    return {"answer": "Within 30 days.", "documents": [{"id": "refunds.md", "text": "30 days", "score": 0.5}]}


def lost(query: str) -> dict[str, Any]:
    return {"answer": "Never.", "documents": [{"id": "terms.md", "text": "Terms", "metadata": {"page": 3}}]}


@pytest.fixture
def accepted(tmp_path: Path) -> AcceptedSystem:
    (tmp_path / "shop.golden.yaml").write_text(GOLDEN)
    return accept_system(tmp_path / "shop.golden.yaml", good)


def run_of(accepted: AcceptedSystem, system: Any) -> RecordedRun:
    """A run of another system against what was accepted, with further answers."""
    return recorded_run(accepted, as_system(system))


def repro_of(accepted: AcceptedSystem, case_id: str, system: Any = lost) -> Repro:
    return make_repro(accepted.suite, case_id, run_of(accepted, system), accepted.baseline)


def test_only_what_the_failed_checks_need_is_taken_over(accepted: AcceptedSystem) -> None:
    repro = repro_of(accepted, "refund")
    assert {finding.metric for finding in repro.findings} >= {"must_contain", "recall@2"}
    golden = dict(repro.golden)
    assert golden["metrics"] == ["assertion_pass", "mrr@10", "recall@2"]
    assert golden["case_thresholds"] == {"mrr@10": 0.2, "recall@2": 0.5}
    assert golden["regression"] == {"case_max_drop": 0.4, "metrics": {"recall@2": {"margin": 0.1}}}
    assert [case["id"] for case in golden["cases"]] == ["refund"]
    assert not {"owner", "thresholds"} & golden.keys()
    assert list(json.loads(repro.baseline)["cases"]) == ["refund"]


def test_answers_are_those_that_decided_with_their_documents(accepted: AcceptedSystem) -> None:
    repro = repro_of(accepted, "refund")
    assert [answer["answer"] for answer in repro.answers] == ["Never."] * len(repro.answers)
    assert repro.answers[0]["documents"] == [{"id": "terms.md", "text": "Terms", "metadata": {"page": 3}}]
    assert repro.pins[0].startswith("pytest-auepora==")
    assert any(pin.startswith("numpy==") for pin in repro.pins)


@pytest.mark.parametrize("case_id", ["refund", "typo"])
def test_the_case_fails_by_itself_as_it_did(accepted: AcceptedSystem, tmp_path: Path, case_id: str) -> None:
    repro = repro_of(accepted, case_id)
    golden, baseline = tmp_path / "one.golden.yaml", tmp_path / "one.json"
    golden.write_text(json.dumps(repro.golden))
    baseline.write_text(repro.baseline)
    again = evaluate(golden, lambda query: repro.answers[0], baseline=baseline).run.cases[case_id]
    assert [(f.kind, f.metric) for f in again.failures] == [(f.kind, f.metric) for f in repro.findings]
    assert load_golden(golden).case(case_id).content_hash == accepted.suite.case(case_id).content_hash


def test_a_case_that_passed_is_no_failure(accepted: AcceptedSystem) -> None:
    with pytest.raises(NoReproError, match="refund did not fail in run today"):
        repro_of(accepted, "refund", good)


def test_a_system_that_raised_gave_no_answer(accepted: AcceptedSystem) -> None:
    def raising(query: str) -> Any:
        raise ConnectionError("no index")

    with pytest.raises(NoReproError, match="without an answer: ConnectionError: no index"):
        repro_of(accepted, "refund", raising)


def test_an_edited_case_is_another_one(accepted: AcceptedSystem) -> None:
    source, path = run_of(accepted, lost), accepted.suite.path
    path.write_text(GOLDEN.replace("How long for a refund", "How long for refunds"))
    with pytest.raises(NoReproError, match="the case has changed since"):
        make_repro(load_golden(path), "refund", source, accepted.baseline)


def test_cases_in_json_lines_are_found(tmp_path: Path) -> None:
    path = tmp_path / "shop.golden.jsonl"
    rows = [{"metrics": ["recall@2"], "suite": "shop"}, {"id": "a", "query": "What?", "relevant_docs": ["refunds.md"]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    repro = repro_of(accept_system(path, good), "a")
    assert (repro.golden["suite"], repro.golden["cases"][0]["id"]) == ("shop", "a")
