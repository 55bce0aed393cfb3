"""Which change makes which scores not comparable, and what a run amounts to in which nothing compares."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import CHUNK_KEYS
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.generation_llm_judge import LLMFaithfulnessScore
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.regression.baseline import Baseline, BaselineMetric, metric_key
from pytest_auepora.regression.compare import Change, Incomparable, comparability_of, compare
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from . import runs
from .runs import case, metrics, run

NAMES = (
    "recall@5", "mrr@10", "recall@5_doc", "span_recall@5", "empty_result_rate", "noise_robustness[recall@5]",
    "sliced[recall@5,scenario:typo]", "token_f1", "intra_list_diversity@5", "response_diversity[of=embedding]",
)  # fmt: skip
BY_CHUNK = {"recall@5", "mrr@10", "noise_robustness[recall@5]", "sliced[recall@5,scenario:typo]"}
BY_EMBEDDING = {"intra_list_diversity@5", "response_diversity[of=embedding]"}


def changed(key: str, before: Any, after: Any) -> Incomparable:
    return Incomparable(changes=(Change(key, before, after),))


def moved(key: str, names: tuple[str, ...] = NAMES) -> dict[str, Incomparable]:
    """What no longer compares once *key* of the provenance has another value."""
    one = case("a", token_f1=1.0)
    before = runs.accepted(run(one, names=names, provenance={key: 3}))
    infos = run(one, names=names).metrics.items()
    before.metrics = {name: BaselineMetric(info.version, metric_key(info)["params"]) for name, info in infos}
    return dict(comparability_of(run(one, names=names, provenance={key: 4}), before).incomparable)


@pytest.mark.parametrize("key", CHUNK_KEYS)
def test_another_chunker_affects_what_counts_chunks(key: str) -> None:
    assert moved(key) == dict.fromkeys(BY_CHUNK, changed(key, 3, 4))


def by_quote(result: CaseResult, match: str = "quote") -> CaseResult:
    """The same case, its one label a passage of a document."""
    result.expected = {"relevant": [{"id": "d", "match": match, "quote": "q"}, {"id": "e", "grade": 0}]}
    return result


def test_recall_over_passages_compares() -> None:
    names = ("recall@1", "mrr")
    told: dict[str, Any] = {"names": names, "provenance": {"chunker": 800}}
    before = runs.accepted(run(case("a", recall_at_1=1.0, mrr=1.0), case("b", recall_at_1=1.0, mrr=1.0), **told))
    told["provenance"] = {"chunker": 120}
    for match in ("quote", "span", "doc"):
        now = [by_quote(case(name, recall_at_1=0.5, mrr=0.5), match) for name in "ab"]
        found = compare(run(*now, **told), before)
        change = found.metric("recall@1")
        assert change is not None
        assert (change.n, change.before, change.after) == (2, 1.0, 0.5)
        assert found.incomparable == {"mrr": changed("chunker", 800, 120)}
        assert found.former == {"mrr": 1.0}
    mixed = compare(run(now[0], case("b", recall_at_1=0.5, mrr=0.5), **told), before)
    assert {i: c.not_comparable for i, c in mixed.cases.items()} == {"a": (), "b": (Change("chunker", 800, 120),)}
    assert set(mixed.incomparable) == {"mrr"}
    by_id = compare(run(case("a", recall_at_1=0.5), case("b", recall_at_1=0.0), **told), before)
    assert (set(by_id.incomparable), by_id.former) == ({"mrr", "recall@1"}, {"mrr": 1.0, "recall@1": 1.0})


def test_documents_compare_where_that_of_a_label_is_known() -> None:
    told: dict[str, Any] = {"names": ("recall@5_doc",), "provenance": {"chunker": 1}}
    first = case("a", recall_at_5_doc=1.0)
    first.ranks = {"d#1": 1}
    before = runs.accepted(run(first, **told))
    told["provenance"] = {"chunker": 2}
    for label, hit, compares in [
        ({"id": "d#1"}, {"id": "d/1", "doc": "d"}, False),
        ({"id": "d#1", "doc": "d"}, {"id": "d/1", "doc": "d"}, True),
        ({"id": "d#1"}, {"id": "d/1", "doc": "d#1"}, True),
        ({"id": "other"}, {"id": "d/1", "doc": "d"}, True),
    ]:
        now = case("a", recall_at_5_doc=0.0)
        now.expected, now.outputs = {"relevant": [label]}, {"retrieved": [hit]}
        found = compare(run(now, **told), before)
        assert (found.metric("recall@5_doc") is not None) == compares, label
        assert found.incomparable == ({} if compares else {"recall@5_doc": changed("chunker", 1, 2)})


def test_another_version_is_in_the_way_of_passages_as_well() -> None:
    before = runs.accepted(run(case("a", recall_at_1=1.0), provenance={"chunker": 1}))
    before.metrics["recall@1"].version = 9
    found = compare(run(by_quote(case("a", recall_at_1=0.5)), provenance={"chunker": 2}), before)
    assert found.incomparable["recall@1"] == changed("metric version", 9, 1)


def test_another_embedding_affects_distances_between_embeddings() -> None:
    assert moved("embedding") == dict.fromkeys(BY_EMBEDDING, changed("embedding", 3, 4))


@pytest.mark.parametrize("key", ["corpus", "prompt", "model", "retriever", "git_commit"])
def test_what_the_system_is_made_of_is_what_is_judged(key: str) -> None:
    assert moved(key) == {}


def test_the_commit_is_recorded_and_no_change() -> None:
    before = runs.accepted(run(case("a", mrr=1.0), provenance={"git_commit": "aaa", "model": "m"}))
    assert before.provenance["git_commit"] == "aaa"
    found = compare(run(case("a", mrr=1.0), provenance={"git_commit": "bbb", "model": "n"}), before)
    assert found.provenance == {"model": ("m", "n")}


def test_a_run_that_never_asked_its_system_is_at_its_worst() -> None:
    told = {"chunker_version": 1, "model": "m"}
    before = runs.accepted(run(case("a", recall_at_1=1.0), case("b", recall_at_1=1.0), provenance=told))
    down = [case(name, state="error", recall_at_1="boom", mrr="boom") for name in "ab"]
    found = compare(run(*down), before)
    assert (found.provenance, found.incomparable) == ({}, {})
    change = found.metric("recall@1")
    assert change is not None
    assert (change.before, change.after) == (1.0, 0.0)
    found = compare(
        run(down[0], case("b", recall_at_1=1.0)), before
    )  # one got there: the project says nothing any more
    assert set(found.provenance) == set(told)
    assert "recall@1" in found.incomparable


def test_an_error_counts_however_labels_were_matched() -> None:
    before = runs.accepted(run(case("a", recall_at_1=1.0)))
    before.cases["a"].match = "span"
    assert compare(run(case("a", state="error", recall_at_1="boom")), before).cases["a"].changes["recall@1"].errored
    assert compare(run(case("a", recall_at_1=0.0)), before).cases["a"].changes == {}


class Critic(LLMCritic):
    def __init__(self, model: str) -> None:
        self.model = model

    def params(self) -> dict[str, Any]:
        return {"model": self.model, "temperature": 0}

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        return 1.0


def judged_run(metric: LLMFaithfulnessScore, **provenance: Any) -> Run:
    out = run(case("a", token_f1=1.0), names=("token_f1",), provenance=provenance)
    out.metrics[metric.name] = MetricInfo.of(metric)
    out.cases["a"].scores[metric.name] = Score("number", 1.0)
    return out


def test_another_judge_affects_judged_metrics_only() -> None:
    name = "llm_faithfulness"
    before = runs.accepted(judged_run(LLMFaithfulnessScore(Critic("small"))))
    found = compare(judged_run(LLMFaithfulnessScore(Critic("large"))), before)
    assert found.incomparable == {name: changed("judge model", "small", "large")}
    assert set(found.cases["a"].changes) == {"token_f1"}


def test_another_judge_prompt_affects_judged_metrics_only() -> None:
    class Reworded(LLMFaithfulnessScore):
        prompt = "quality"

    before = runs.accepted(judged_run(LLMFaithfulnessScore(Critic("small"))))
    (why,) = compare(judged_run(Reworded(Critic("small"))), before).incomparable.values()
    assert [change.key for change in why.changes] == ["prompt"]


@pytest.mark.parametrize("key", ["judge", "judge_model", "judge_prompt"])
def test_a_judge_named_by_the_project_counts_as_well(key: str) -> None:
    metric = LLMFaithfulnessScore(Critic("small"))
    before = runs.accepted(judged_run(metric, **{key: "a"}))
    assert compare(judged_run(metric, **{key: "b"}), before).incomparable == {metric.name: changed(key, "a", "b")}


def test_a_golden_file_may_name_more_provenance() -> None:
    policy = RegressionPolicy(not_comparable={"corpus": ["mrr"], "index": ["all"]})
    assert (policy.provenance_keys_of("mrr"), policy.provenance_keys_of("token_f1")) == (["corpus", "index"], ["index"])


def verdict(now: Run, before: Baseline, **more: Any) -> Verdict:
    return judge(now, [], RegressionPolicy(), metrics(*now.metrics), baseline=before, **more)


def nothing_in_common(*cases: CaseResult, **provenance: Any) -> tuple[Run, Baseline]:
    before = runs.accepted(run(case("a", mrr=1.0), case("b", mrr=1.0), provenance={"chunker": 1}))
    return run(*cases, provenance={"chunker": 1, **provenance}, names=("mrr",)), before


def test_a_run_in_which_nothing_compares_is_not_judged() -> None:
    now, before = nothing_in_common(case("a", mrr=0.0), case("b", mrr=0.0), chunker=2)
    found = verdict(now, before)
    (gate,) = [g for g in found.gates if g.kind == "baseline"]
    assert (found.outcome, gate.state) == ("not judged", "not judged")
    assert (gate.reason, gate.incomparable) == ("nothing compares", {"mrr": changed("chunker", 1, 2)})


def test_nor_is_one_in_which_every_case_is_new_or_edited() -> None:
    now, before = nothing_in_common(case("a", mrr=0.0, content="edited"), case("b", mrr=0.0, content="too"))
    (gate,) = [g for g in verdict(now, before).gates if g.kind == "baseline"]
    assert (gate.unpaired, gate.total) == ({"changed": 2}, 2)


def test_where_a_baseline_is_required_it_has_to_compare() -> None:
    now, before = nothing_in_common(case("a", mrr=1.0), case("b", mrr=1.0), chunker=2)
    assert verdict(now, before, require_baseline=True).outcome == "failed"


def test_one_common_score_is_enough_and_accepting_needs_none() -> None:
    now, before = nothing_in_common(case("a", mrr=1.0), case("b", mrr=1.0, content="edited"))
    assert not [g for g in verdict(now, before).gates if g.kind == "baseline"]
    now, before = nothing_in_common(case("a", mrr=1.0), case("b", mrr=1.0), chunker=2)
    assert verdict(now, before, accepting=True).outcome == "passed"
