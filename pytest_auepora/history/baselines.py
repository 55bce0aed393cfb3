"""A run as a baseline and a baseline as a run, so that any two of them compare in one way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..errors import AueporaError
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, BaselineCase, match_of, metric_key


def as_baseline(run: Run) -> Baseline:
    """Return *run* as what another is compared with; unrounded, skipped cases left out."""
    out = Baseline(run.suite, run.variant, provenance=dict(run.provenance))
    out.metrics = {
        name: metric_key(info) | ({"steady": True} if info.steady else {})
        for name, info in run.metrics.items()
        if info.baselined
    }
    for case in run.cases.values():
        if case.state != "skipped":
            scores = {
                name: score.value
                for name, score in case.scores.items()
                if score.state in ("number", "n/a") and name in out.metrics
            }
            varied = {name: case.values(name) for name, value in scores.items() if value is not None}
            out.cases[case.case_id] = BaselineCase(
                case.content_hash,
                case.state,
                scores,
                dict(case.ranks),
                case.repeats,
                varied,
                match_of(case),
                {n: s.data for n, s in case.scores.items() if n in out.metrics and s.data is not None},
                case.concurrency,
            )
    return out


def as_run(baseline: Baseline, path: str = "") -> Run:
    """Return *baseline* as a run of which only what is accepted is known: states, scores, ranks, what is steady.

    A metric that this package does not have counts as one where more is better.
    """
    registry = Registry()
    run = Run(baseline.suite, path, baseline.variant, provenance=dict(baseline.provenance))
    run.metrics = {name: _info(name, key, registry) for name, key in baseline.metrics.items()}
    run.expected_ids = tuple(baseline.cases)
    for case_id, case in baseline.cases.items():
        scores = {n: _score(v) for n, v in case.scores.items()}
        result = CaseResult(case_id, scores=scores, content_hash=case.hash, cluster=case_id, ranks=dict(case.ranks))
        if case.repeats > 1:
            result.extra["repeats"] = {name: case.values(name) for name in case.scores}
        result.state = case.state  # type: ignore[assignment]  # the file was checked
        if case.match != "exact":
            result.extra["labels"] = {"match": case.match, "labels": {}}
        run.add([result])
    return run


def _score(value: float | None) -> Score:
    return Score("n/a", reason="n/a when it was accepted") if value is None else Score("number", value)


def _info(name: str, key: dict[str, Any], registry: Registry) -> MetricInfo:
    try:
        info = MetricInfo.of(registry.get(name))
    except AueporaError:
        info = MetricInfo(name, 0, {}, "", "higher", (0.0, 1.0), True, True)
    return replace(
        info, version=key.get("version", 0), params=dict(key.get("params", {})), steady=bool(key.get("steady"))
    )
