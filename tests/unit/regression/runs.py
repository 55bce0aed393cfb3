"""Small runs for the tests of the verdict: one line a run."""

from __future__ import annotations

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.baseline import Baseline

REGISTRY = Registry()


def metrics(*names: str) -> dict[str, Metric]:
    return {name: REGISTRY.get(name) for name in names}


def case(
    name: str, /, *, state: str = "passed", content: str = "", cluster: str = "", **scores: float | str | None
) -> CaseResult:
    """A case; a score is a number, None (n/a) or ``"error"``.  ``recall@1`` is written ``recall_1``."""
    found = {}
    for key, value in scores.items():
        metric = key.replace("_at_", "@")
        if value is None:
            found[metric] = Score("n/a", reason="no relevant_docs")
        elif isinstance(value, str):
            found[metric] = Score.failed("boom")
        else:
            found[metric] = Score("number", value)
    return CaseResult(name, state, found, content_hash=content or name, cluster=cluster or name)  # type: ignore[arg-type]


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


def steady(baseline: Baseline, *, always: bool = True) -> Baseline:
    """The baseline of a system that gave the same answers a hundred times, or not *always* did."""
    baseline.metrics = {name: {**told, "steady": always, "pairs": 100} for name, told in baseline.metrics.items()}
    return baseline
