"""The one door out of a case: how it ends, what is redacted and kept, and how its repeats are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.scoring import Score, aggregate, score_case
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import CorpusError
from pytest_auepora.evaluation.case_flow import Asked, CaseFlow, merge_repeats
from pytest_auepora.evaluation.case_result import Ended
from pytest_auepora.evaluation.suite_run import blank_run, suite_metrics
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenCase, GoldenSuite
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.metrics.registry import Registry

REGISTRY = Registry()


def answered(*texts: str, metrics: dict[str, Metric], seconds: tuple[float, ...] = ()) -> CaseResult:
    """The merged result of a case that was answered with *texts*."""
    sample = EvaluationSample("a", "how long?", reference_answer=Response("thirty days from the day of purchase"))
    results = []
    for text, took in zip(texts, seconds or (0.1,) * len(texts), strict=True):
        outputs = SystemOutputs([], Response(text), {"end_to_end": took})
        scores = score_case(metrics.values(), sample, outputs)
        results.append(CaseResult("a", scores=scores, seconds=took))
    return merge_repeats(results, {name: MetricInfo.of(m) for name, m in metrics.items()})


def some(*names: str) -> dict[str, Metric]:
    return {name: REGISTRY.get(name) for name in names}


def test_quality_is_a_mean_and_latency_a_median() -> None:
    metrics = some("token_f1", "mean_latency[end_to_end]")
    right = "thirty days from the day of purchase"
    merged = answered(right, "no", right, right, metrics=metrics, seconds=(0.1, 9.0, 0.2, 0.3))
    assert merged.scores["token_f1"].value == 0.75
    assert merged.scores["mean_latency[end_to_end]"].value == pytest.approx(0.25)
    assert merged.seconds == pytest.approx(0.25)
    assert merged.repeats == 4
    assert merged.values("token_f1") == [1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["bleu", "distinct_2"])
def test_metrics_of_counts_are_the_mean_over_repeats(name: str) -> None:
    metrics = some(name)
    texts = ("thirty days from the day of purchase", "thirty days from the day and the day", "a day is a day is a day")
    merged = answered(*texts, metrics=metrics)
    alone = [aggregate(metrics[name], [answered(t, metrics=metrics).scores[name]]).value or 0.0 for t in texts]
    found = aggregate(metrics[name], [merged.scores[name]])
    assert len(set(alone)) == 3
    assert found.value == pytest.approx(sum(alone) / 3)
    assert found.n == 1
    same = answered(texts[0], texts[0], metrics=metrics)
    assert aggregate(metrics[name], [same.scores[name]]).value == pytest.approx(alone[0])


def test_a_case_repeated_less_often_counts_in_every_round() -> None:
    metrics = some("distinct_2")
    often = answered("one two three", "one two one two", metrics=metrics).scores["distinct_2"]
    once = answered("one two four", metrics=metrics).scores["distinct_2"]
    # rounds: {12, 23, 12, 24} → 3 of 4; {12, 21, 12, 12, 24} → 3 of 5
    assert aggregate(metrics["distinct_2"], [often, once]).value == pytest.approx((3 / 4 + 3 / 5) / 2)


def test_what_is_merged_is_left_as_it_was() -> None:
    good, bad = CaseResult("a", scores={"m": Score("number", 1.0)}), CaseResult("a", "error", error="down\n  where")
    assert merge_repeats([good, bad, good], {}).error == "down (in 1 of 3 repeats)\n  where"
    assert bad.error == "down\n  where"
    assert merge_repeats([good, good], {}).extra["repeats"] == {"m": [1.0, 1.0]}
    assert good.extra == {}


def test_an_answer_of_which_nothing_can_be_said_leaves_a_gap() -> None:
    na, seen = Score("n/a", reason="why"), Score("number", 0.5)
    merged = merge_repeats([CaseResult("a", scores={"m": s}) for s in (na, seen, na)], {})
    assert (merged.scores["m"].value, merged.values("m")) == (0.5, [None, 0.5, None])
    nothing = merge_repeats([CaseResult("a", scores={"m": na})] * 2, {})
    assert (nothing.scores["m"].state, nothing.values("m"), nothing.repeats) == ("n/a", [], 1)


SUITE = """
suite: s
metrics: [recall@1]
cases:
  - {id: a, query: q hunter2, relevant_docs: [d], thresholds: {recall@1: 1}}
  - {id: b, query: q, relevant_docs: [d]}
  - {id: c, query: q, relevant_docs: [e], thresholds: {recall@1: 1}}
"""


class Skip(BaseException):
    """What the caller's test runner skips by."""


def answer(query: str) -> tuple[str, list[str]]:
    raise NotImplementedError(query)


def ended_by(error: BaseException) -> Ended | None:
    return Ended("skip", str(error)) if isinstance(error, Skip) else None


def redact(result: CaseResult) -> None:
    result.query = result.query.replace("hunter2", "***")
    result.error = result.error.replace("hunter2", "***")


def flow_of(tmp_path: Path, **more: Any) -> tuple[GoldenSuite, CaseFlow]:
    path = tmp_path / "s.golden.yaml"
    path.write_text(SUITE, encoding="utf-8")
    suite = load_golden(path, REGISTRY)
    metrics = suite_metrics(suite, REGISTRY)
    run = blank_run(suite, metrics, path="s.golden.yaml")
    return suite, CaseFlow(run, metrics, suite.policy, ended_by=ended_by, redact=redact, **more)


def test_cases_leave_in_order_however_they_end(tmp_path: Path) -> None:
    suite, flow = flow_of(tmp_path)
    calls = [CallResult(error=Skip("no key")), CallResult(error=ValueError("down")), CallResult(("x", ["d"]))]
    asked = [Asked(case, [call]) for case, call in zip(suite.cases, calls, strict=True)]
    done = flow.finish_all(asked, as_system(answer))
    assert [(one.result.case_id, one.result.state) for one in done] == [
        ("a", "skipped"), ("b", "error"), ("c", "failed"),
    ]  # fmt: skip
    assert [one.result.where for one in done] == ["s.golden.yaml:5", "s.golden.yaml:6", "s.golden.yaml:7"]
    assert [one.error for one in done] == [calls[0].error, calls[1].error, None]


@pytest.mark.parametrize("error", [ValueError("key hunter2"), Skip("key hunter2")])
def test_a_case_without_an_answer_is_redacted(tmp_path: Path, error: BaseException) -> None:
    suite, flow = flow_of(tmp_path)
    result = flow.end(suite.cases[0], error).result
    assert result.query == "q ***"
    assert "key ***" in result.error
    assert all("hunter2" not in score.reason for score in result.scores.values())


def test_one_skip_among_repeats_skips_the_case(tmp_path: Path) -> None:
    suite, flow = flow_of(tmp_path)
    calls = [CallResult(("x", ["d"])), CallResult(error=Skip("no key"))]
    assert flow.finish(Asked(suite.cases[0], calls), as_system(answer)).result.state == "skipped"


def test_labels_that_cannot_be_settled_are_an_error_of_the_case(tmp_path: Path) -> None:
    def settle(case: GoldenCase, corpus: Any) -> GoldenCase:
        raise CorpusError(f"{case.id}: {corpus} is no corpus")

    suite, flow = flow_of(tmp_path, settle=settle)
    done = flow.finish(Asked(suite.cases[0], [CallResult(("x", ["d"]))], corpus=7), as_system(answer))
    assert done.result.state == "error"
    assert done.result.error.startswith("pytest_auepora.errors.CorpusError: a: 7 is no corpus")


@pytest.mark.parametrize(("advisory", "judged"), [(("llm_answer_quality",), 1), ((), 3)])
def test_who_fails_nothing_is_not_asked_to_confirm(tmp_path: Path, advisory: tuple[str, ...], judged: int) -> None:
    class Critic(LLMCritic):
        asked = 0

        def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
            self.asked += 1
            return 0.5

    suite, flow = flow_of(tmp_path, advisory=advisory)
    critic = Critic()
    quality = flow.metrics["llm_answer_quality"] = LLMAnswerQuality(critic)  # type: ignore[index]
    flow.run.metrics["llm_answer_quality"] = MetricInfo.of(quality)
    done = flow.finish(Asked(suite.cases[0], [CallResult(("x", ["e"]))]), as_system(answer))
    assert (done.result.state, done.result.scores["llm_answer_quality"].value) == ("failed", 0.5)
    again = Asked(suite.cases[0], [CallResult(("x", ["e"])), CallResult(("x", ["d"]))])
    flow.confirm(done, again, as_system(answer))
    assert done.result.extra["varies"]["passed"] == 1
    assert critic.asked == judged
    assert done.result.scores["llm_answer_quality"].value == 0.5


def test_answers_are_kept_as_often_as_they_were_given(tmp_path: Path) -> None:
    suite, flow = flow_of(tmp_path, record_cap=10_000)
    done = flow.finish(Asked(suite.cases[0], [CallResult(("x", ["d"]))] * 2), as_system(answer))
    assert len(done.recordings) == 2
    assert done.result.repeats == 2
