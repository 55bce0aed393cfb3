"""Runs of real metrics, and what the verdict makes of two of them."""

from __future__ import annotations

import random
from typing import Any

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import score_of
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.regression.accept import Acceptance, merge
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.outcomes import GateOutcome
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from .runs import REGISTRY, steady

LATENCY = {"p95_latency": {"policy": "auto"}, "mean_latency[end_to_end]": {"policy": "auto"}}


def of(name: str) -> Metric:
    return REGISTRY.get(name)


def measured(metric: Metric, samples: list[EvaluationSample], outputs: list[SystemOutputs]) -> Run:
    """A run of *metric* over these samples, one case each; a variant is in its base's cluster."""
    info = MetricInfo.of(metric)
    info.baselined = True
    out = Run("suite", metrics={metric.name: info}, expected_ids=tuple(s.sample_id for s in samples))
    for sample, output in zip(samples, outputs, strict=True):
        score = score_of(metric, metric.measure(sample, output))
        cluster = sample.labels.get("variant_of", sample.sample_id)
        out.add([CaseResult(sample.sample_id, scores={metric.name: score}, content_hash="h", cluster=cluster)])
    return out


def answers(metric: Metric, *texts: str, reference: str = "the cat sat on the mat today") -> Run:
    samples = [EvaluationSample(f"c{i}", "q", reference_answer=Response(reference)) for i in range(len(texts))]
    return measured(metric, samples, [SystemOutputs([], Response(text)) for text in texts])


def timed(*seconds: float, name: str = "p95_latency", concurrency: int = 1) -> Run:
    samples = [EvaluationSample(f"c{i}", "q") for i in range(len(seconds))]
    out = measured(of(name), samples, [SystemOutputs([], Response(""), {"end_to_end": s}) for s in seconds])
    for case in out.cases.values():
        case.concurrency = concurrency
    return out


def accepted(before: Run) -> Baseline:
    """What a baseline file holds of *before*, written and read again."""
    return parse_baseline(steady(merge(None, before, Acceptance({"all"}))[0]).dumps(), "test")


def verdict(now: Run, before: Run, **policy: Any) -> Verdict:
    metrics = {name: of(name) for name in now.metrics}
    return judge(now, [], RegressionPolicy(**policy), metrics, baseline=accepted(before))


def gate(now: Run, before: Run, **policy: Any) -> GateOutcome:
    (found,) = [g for g in verdict(now, before, **policy).gates if g.kind == "regression" and g.metric in now.metrics]
    return found


def noisy(drop: float, *, clean: float = 1.0, n: int = 20) -> Run:
    metric = of("noise_robustness[recall@1]")
    samples, outputs = [], []
    rng = random.Random(1)
    for i in range(n):
        for scenario in (None, "typo"):
            labels = {} if scenario is None else {"variant_of": f"c{i}", "scenario": scenario}
            hit = rng.random() < (clean if scenario is None else clean - drop)
            samples.append(EvaluationSample(f"c{i}{scenario or ''}", "q", [Document("d", "")], labels=labels))
            found = Document("d" if hit else "x", "")
            outputs.append(SystemOutputs([RetrievedDocument(found, 1.0, 1)], Response("")))
    return measured(metric, samples, outputs)
