"""Small runs for the tests of the verdict: one line a run."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.findings import Answers, Value
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, merge
from pytest_auepora.regression.baseline import Baseline

REGISTRY = Registry()


def metrics(*names: str) -> dict[str, Metric]:
    return {name: REGISTRY.get(name) for name in names}


def case(
    name: str, /, *, state: str = "passed", content: str = "", cluster: str = "",
    asserted: bool | list[bool] | None = None, **scores: float | str | list[Value] | None,
) -> CaseResult:  # fmt: skip
    """A case; a score is a number, None (n/a), ``"error"``, or a list of these, one an answer.

    ``recall@1`` is written ``recall_at_1``; *asserted* says whether ``must_contain`` holds, in each answer.
    """
    columns = {key.replace("_at_", "@"): value for key, value in scores.items()}
    firsts = {metric: value[0] if isinstance(value, list) else value for metric, value in columns.items()}
    out = CaseResult(
        name, state, {metric: _score(value) for metric, value in firsts.items()}, content_hash=content or name,  # type: ignore[arg-type]
        cluster=cluster or name,
    )  # fmt: skip
    lists = [value for value in (*columns.values(), asserted) if isinstance(value, list)]
    if asserted is not None:
        out.assertions = {"must_contain": asserted[0] if isinstance(asserted, list) else asserted}
    if lists:
        n = len(lists[0])
        spread = {metric: value if isinstance(value, list) else [value] * n for metric, value in columns.items()}
        held = {} if asserted is None else {"must_contain": asserted if isinstance(asserted, list) else [asserted] * n}
        out.answers = Answers(spread, held, [True] * n)  # type: ignore[arg-type]
    return out


def _score(value: float | str | None) -> Score:
    if value is None:
        return Score("n/a", reason="no relevant_docs")
    return Score.failed("boom") if isinstance(value, str) else Score("number", value)


def run(
    *cases: CaseResult,
    expected: tuple[str, ...] | None = None,
    names: tuple[str, ...] = ("recall@1", "mrr"),
    **more: object,
) -> Run:
    infos = {name: MetricInfo.of(metric) for name, metric in metrics(*names).items()}
    out = Run("suite", "suite.golden.yaml", metrics=infos, **more)  # type: ignore[arg-type]
    out.add(cases)
    out.expected_ids = expected if expected is not None else tuple(c.case_id for c in cases)
    return out


def accepted(measured: Run, **how: Any) -> Baseline:
    """The baseline that accepts *measured* and nothing else."""
    return merge(None, measured, Acceptance({"all"}, **how))[0]


def steady(baseline: Baseline) -> Baseline:
    """The baseline of a system that gave the same answer twice to each case."""
    for block in baseline.cases.values():
        block.answers = 2
    return baseline
