"""What a suite would notice, and that real broken systems are noticed as often."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from statistics import pvariance
from typing import Any

import pytest

from pytest_auepora.cause.mutants import KINDS, Kind
from pytest_auepora.cause.mutate import Detection, Sensitivity, _share_of_all, mutate
from pytest_auepora.errors import HistoryError
from pytest_auepora.metrics.registry import Registry

from .accepting import AcceptedSystem, accept_system

N = 20


def steady_rag(query: str) -> dict[str, Any]:
    number = query.rsplit(maxsplit=1)[-1]
    others = [{"id": f"d{number}-{i}", "text": f"Of {number}, {i} things."} for i in range(3)]
    return {"answer": f"It takes {number} days.", "documents": [{"id": f"d{number}", "text": "x" * 20}, *others]}


def suite_of(path: Path, metrics: list[str], **keys: Any) -> Path:
    cases = [
        {"id": f"c{i}", "query": f"How long is {i}", "relevant_docs": [f"d{i}"],
         "reference_answer": f"It takes {i} days.", **keys} for i in range(N)
    ]  # fmt: skip
    file = path / "days.golden.yaml"
    file.write_text(json.dumps({"suite": "days", "metrics": metrics, "cases": cases}), encoding="utf-8")
    return file


def found(accepted: AcceptedSystem, **options: Any) -> Sensitivity:
    return mutate(accepted.suite, accepted.source, Registry(), baseline=accepted.baseline, **options)


def rates(sensitivity: Sensitivity, share: float) -> dict[str, float]:
    at = [d for d in sensitivity.detections if d.share == share and d.runs]
    return {d.kind: d.seen / d.runs for d in at}


def test_a_suite_of_retrieval_sees_no_answers(tmp_path: Path) -> None:
    sensitivity = found(accept_system(suite_of(tmp_path, ["recall@2"]), steady_rag), runs=3, shares=[0.2])
    assert sensitivity.detections[0] == Detection("", 0.0, 0, 3, 0)
    seen = rates(sensitivity, 0.2)
    assert seen.pop("order shuffled") > 0  # where it leaves the first two places
    assert {kind for kind, rate in seen.items() if rate == 1.0} == {*KINDS[:2]}
    assert {kind for kind, rate in seen.items() if rate == 0.0} == {*KINDS[2:]} - {"order shuffled"}
    unmoved = {sight.kind: len(sight.unmoved) for sight in sensitivity.sights}
    assert unmoved["refusals"] == unmoved["lost facts"] == N
    others = {sight.kind: sight.others for sight in sensitivity.sights}
    assert others["refusals"]["token_f1"] == others["lost facts"]["token_f1"] == N
    assert "recall@5" not in others["order shuffled"]


def test_it_is_told_what_saw_a_change(tmp_path: Path) -> None:
    accepted = accept_system(suite_of(tmp_path, ["recall@2"], must_contain=["days"]), steady_rag)
    kinds: list[Kind] = ["refusals", "best document dropped"]
    refusals, dropped = found(accepted, kinds=kinds, shares=[0.05], runs=4).detections[1:]
    assert (refusals.cases, refusals.seen, refusals.checks["must_contain"]) == (1, 4, 4)
    assert set(dropped.checks) == {"recall@2"}


def test_runs_that_agree_are_few(tmp_path: Path) -> None:
    sensitivity = found(accept_system(suite_of(tmp_path, ["recall@2"]), steady_rag), kinds=["refusals"], shares=[0.2])
    assert [d.runs for d in sensitivity.detections] == [25, 25]


def test_the_same_seed_gives_the_same_rates(tmp_path: Path) -> None:
    accepted = accept_system(suite_of(tmp_path, ["mrr@10"]), steady_rag)
    kinds: list[Kind] = ["order shuffled"]
    first, again = (found(accepted, kinds=kinds, shares=[0.05], runs=8) for _ in range(2))
    assert first == again


def test_cases_that_changed_since_have_no_recorded_answer(tmp_path: Path) -> None:
    path = suite_of(tmp_path, ["recall@2"])
    accepted = accept_system(path, steady_rag)
    path.write_text(path.read_text().replace("How long is 3", "How long may 3"), encoding="utf-8")
    edited = accepted._replace(suite=accept_system(path, steady_rag).suite)
    assert found(edited, kinds=[], runs=1).without_answers == ("c3",)
    path.write_text(path.read_text().replace("How long", "How much"), encoding="utf-8")
    with pytest.raises(HistoryError, match="no recorded answer to a case of days as it is now"):
        found(accepted._replace(suite=accept_system(path, steady_rag).suite))


@pytest.mark.parametrize("total", [3, 4, 5, 9])
@pytest.mark.slow
def test_differences_are_as_large_as_between_runs(total: int) -> None:
    """In the variance of one answer: 1 + 1/n of a new answer and the mean of n."""
    rng, differences = Random(total), []
    for _ in range(60_000):
        answers = [rng.gauss(0, 1) for _ in range(total)]
        drawn, left = answers[0], answers[2 if total > 3 else 1 :]
        mean = sum(answers) if rng.random() < _share_of_all(total) else sum(left) + sum(left[: total - len(left)])
        differences.append(drawn - mean / total)
    assert pvariance(differences) == pytest.approx(1 + 1 / total, rel=0.02)
