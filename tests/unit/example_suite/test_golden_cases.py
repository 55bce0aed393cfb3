"""The golden cases of the example suite, its plan, and that each way to break it is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from example_suite.example_plan import build_plan, load_dataset
from example_suite.simple_rag import (
    SWITCH,
    Breakage,
    build_rag,
)
from pytest_auepora.core.scoring import score_case
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.metrics.ranking.gold import fold_quote
from pytest_auepora.metrics.registry import Registry

from .parts import GOLDEN, ROOT, corpus, means, outputs, suite

# --- golden cases ---


def test_there_are_cases_of_every_kind() -> None:
    cases = suite().cases
    scenarios = Counter(case.sample.labels.get("scenario") for case in cases)
    assert len(cases) >= 45
    assert scenarios["typo"] >= 5
    assert scenarios["paraphrase"] >= 5
    assert sum(case.sample.relevant_docs == [] for case in cases) >= 5
    grades = {d.metadata["grade"] for case in cases for d in case.sample.relevant_docs or () if "grade" in d.metadata}
    assert 2 in grades
    assert sum(len(case.sample.relevant_docs or ()) > 1 for case in cases) >= 5
    assert any("smoke" in case.tags for case in cases)


def test_every_quote_stands_in_exactly_one_chunk_of_this_python() -> None:
    labels = [(case.id, doc) for case in suite().cases for doc in case.sample.relevant_docs or ()]
    assert labels
    wrong = []
    for case_id, label in labels:
        assert label.metadata["match"] == "quote"
        chunks = [d.text for d in corpus() if d.metadata["document_id"] == label.doc_id]
        found = sum(fold_quote(label.text) in fold_quote(text) for text in chunks)
        if found != 1:
            wrong.append((case_id, label.doc_id, label.text, found))
    assert wrong == []


def test_a_typo_variant_differs_in_the_query_alone() -> None:
    for case in suite().cases:
        if case.sample.labels.get("scenario") == "typo":
            base = suite().case(case.sample.labels["variant_of"]).sample
            assert case.sample.relevant_docs == base.relevant_docs
            assert case.sample.query != base.query
            assert abs(len(case.sample.query) - len(base.query)) <= 4


def test_the_committed_baseline_is_of_these_very_cases() -> None:
    path = GOLDEN.parent / "__baselines__" / "python_reference.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert {k: v["hash"] for k, v in stored["cases"].items()} == {c.id: c.content_hash for c in suite().cases}


def test_retrieval_scores_what_the_baseline_says_on_any_python() -> None:
    path = GOLDEN.parent / "__baselines__" / "python_reference.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["cases"]
    metrics = [Registry().get(name) for name in ("recall@5", "mrr@5", "ndcg@5")]
    fallen = {}
    for case in suite().cases:
        for name, score in score_case(metrics, case.sample, outputs(Breakage.NONE)[case.id]).items():
            before = stored[case.id]["scores"][name]
            if (before is None) != (score.value is None) or (score.value or 0.0) < (before or 0.0) - 0.5:
                fallen[case.id, name] = (before, score.value)
    assert fallen == {}


def test_the_thresholds_hold_with_room_to_spare() -> None:
    found = means(Breakage.NONE)
    gates = {g.metric: g.bound.limit for g in suite().gates if not g.slice and g.metric in found}
    assert len(gates) >= 5
    assert {name: found[name] for name, limit in gates.items() if found[name] < limit + 0.03} == {}


# --- breaking it ---


@pytest.mark.parametrize("breakage", [Breakage.RETRIEVER, Breakage.INDEX])
def test_a_broken_retriever_hurts_retrieval(breakage: Breakage) -> None:
    whole, broken = means(Breakage.NONE), means(breakage)
    for name in ("recall@5", "mrr@5", "ndcg@5"):
        assert broken[name] < whole[name] - 0.15
    assert broken["recall@5"] < 0.9


def test_a_broken_generator_leaves_retrieval_alone() -> None:
    whole, broken = means(Breakage.NONE), means(Breakage.GENERATOR)
    assert broken["recall@5"] == whole["recall@5"]
    assert broken["token_f1"] < whole["token_f1"] - 0.3
    assert broken["assertion_pass"] < 0.2
    assert broken["refusal_correctness"] < whole["refusal_correctness"] - 0.5


@pytest.mark.slow
def test_a_broken_connection_loses_the_same_questions() -> None:
    lost = set(outputs(Breakage.NONE)) - set(outputs(Breakage.RAISE))
    assert 8 <= len(lost) <= 30
    rag = build_rag(Breakage.RAISE, list(corpus()))
    with pytest.raises(ConnectionError, match="shard 2"):
        rag.run(suite().case(sorted(lost)[0]).sample)


def test_hanging_means_the_same_questions_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("example_suite.simple_rag.time.sleep", slept.append)
    rag = build_rag(Breakage.HANG, list(corpus()))
    for case in suite().cases:
        try:
            rag.run(case.sample)
        except ConnectionError:
            continue
    assert len(slept) == len(outputs(Breakage.NONE)) - len(outputs(Breakage.RAISE))
    assert min(slept) >= 600


def test_the_switch_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    assert Breakage.from_environment() is Breakage.NONE
    monkeypatch.setenv(SWITCH, " Retriever ")
    assert Breakage.from_environment() is Breakage.RETRIEVER
    monkeypatch.setenv(SWITCH, "retreiver")
    with pytest.raises(ValueError, match="expected one of retriever, index, generator, raise, hang, rechunk"):
        Breakage.from_environment()


# --- the plan ---


def test_the_plan_covers_retrieval_generation_and_the_system() -> None:
    targets = {target.name.split("_")[0] for target in build_plan().grouped_by_target()}
    assert {"RETRIEVAL", "GENERATION", "NEGATIVE", "LATENCY"} <= targets
    build_plan().validate_dataset(list(load_dataset()))
    with pytest.raises(ValueError, match="relevant_docs"):
        build_plan().validate_dataset([EvaluationSample("x", "q")])


@pytest.mark.slow
def test_the_plan_as_a_script_agrees_with_the_suite(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != SWITCH}
    script = ROOT / "example_suite" / "example_plan.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=120
    )
    assert f"{suite().name}: {len(suite().cases)} cases" in done.stdout
    for name in ("recall@5", "mrr@5", "ndcg@5", "token_f1", "rougeL", "refusal_correctness"):
        row = next(line for line in done.stdout.splitlines() if f"| {name}" in line)  # rougeL is rougeL_answer
        assert float(row.split("|")[3]) == pytest.approx(means(Breakage.NONE)[name], abs=5e-5)
