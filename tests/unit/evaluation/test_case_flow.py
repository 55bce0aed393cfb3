"""The one door out of a case: how it ends, what is redacted and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.errors import CorpusError
from pytest_auepora.evaluation.case_flow import CaseCalls, CaseFlow
from pytest_auepora.evaluation.case_result import Ended
from pytest_auepora.evaluation.suite import blank_run, suite_metrics
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenCase, GoldenSuite
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.metrics.registry import Registry

REGISTRY = Registry()


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
    asked = [CaseCalls(case, [call]) for case, call in zip(suite.cases, calls, strict=True)]
    done = flow.finish_all(asked, as_system(answer))
    assert [(one.result.case_id, one.result.state) for one in done] == [
        ("a", "skipped"), ("b", "error"), ("c", "failed"),
    ]  # fmt: skip
    assert [(one.result.path, one.result.line) for one in done] == [("s.golden.yaml", line) for line in (5, 6, 7)]
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
    assert flow.finish(CaseCalls(suite.cases[0], calls), as_system(answer)).result.state == "skipped"


def test_labels_that_cannot_be_settled_are_an_error_of_the_case(tmp_path: Path) -> None:
    def relabel(case: GoldenCase, corpus: Any, rechunked: bool) -> GoldenCase:
        raise CorpusError(f"{case.id}: {corpus} is no corpus")

    suite, flow = flow_of(tmp_path, relabel=relabel)
    done = flow.finish(CaseCalls(suite.cases[0], [CallResult(("x", ["d"]))], corpus=7), as_system(answer))
    assert done.result.state == "error"
    assert done.result.error.startswith("CorpusError: a: 7 is no corpus")


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
    done = flow.finish(CaseCalls(suite.cases[0], [CallResult(("x", ["e"]))]), as_system(answer))
    assert (done.result.state, done.result.scores["llm_answer_quality"].value) == ("failed", 0.5)
    for found in ("e", "d"):
        flow.take(done, CaseCalls(suite.cases[0], [CallResult(("x", [found]))]), as_system(answer))
    (finding,) = done.result.with_status("varies")
    assert (finding.passed, finding.asked) == (1, 3)
    assert critic.asked == judged
    assert done.result.scores["llm_answer_quality"].value == 0.5


def test_answers_are_kept_as_often_as_they_were_given(tmp_path: Path) -> None:
    suite, flow = flow_of(tmp_path, record_cap=10_000)
    done = flow.finish(CaseCalls(suite.cases[0], [CallResult(("x", ["d"]))] * 2), as_system(answer))
    assert len(done.recordings) == 2
    assert done.result.repeats == 2
