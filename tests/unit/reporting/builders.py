"""Runs and verdicts as a real run makes them: scored by the real metrics, judged by the real gates."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_auepora.base.complaints import Problem
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.findings import Answers
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import failed_scores, score_case
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.ranking.matching import grades_of_retrieved, ranks_of_relevant
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.values import expected_behaviour
from pytest_auepora.regression.baseline import Baseline, BaselineCase, BaselineMetric, metric_key
from pytest_auepora.regression.checks import accepted_checks, case_rules, held_assertions
from pytest_auepora.regression.compare import CaseComparison, Comparability, comparability_of, compare_case
from pytest_auepora.regression.guards.case_trial import CaseTrial
from pytest_auepora.regression.outcomes import BaselineNote
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Gate, read_gates
from pytest_auepora.regression.verdict import Verdict, judge

METRICS = ("recall@5", "mrr@10", "token_f1", "assertion_pass", "refusal_correctness", "mean_latency", "p95_latency")
REGISTRY = Registry()
MISTAKES = [
    Problem("a.golden.yaml", 2, 11, "unknown metric 'recal@3' (did you mean 'recall@3'?)"),
    Problem("a.golden.yaml", 7, 9, "id 'one' is <b>taken</b> | by *another*"),
    Problem("b.golden.yaml", 0, 0, "there is no case in it"),
]
"""Mistakes in golden files, with and without a place."""


def metrics_of(names: Sequence[str] = METRICS) -> dict[str, Metric]:
    return {name: REGISTRY.get(name) for name in names}


def infos_of(names: Sequence[str] = METRICS) -> dict[str, MetricInfo]:
    return {name: MetricInfo.of(metric) for name, metric in metrics_of(names).items()}


@dataclass
class Case:
    """A golden case and what the system gave for it; ``error`` instead of an answer makes it errored."""

    id: str
    query: str = "How long do I have to ask for a refund?"
    relevant: Sequence[str | tuple[str, int]] | None = ("refunds.md",)
    got: Sequence[str] = ("index.md", "refunds.md", "terms.md")
    answer: str = "Within 30 days of purchase."
    reference: str | None = "Within 30 days of purchase."
    labels: dict[str, Any] = field(default_factory=dict)
    thresholds: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.02
    error: str = ""
    tags: Sequence[str] = ()
    skipped: bool = False
    line: int = 12
    again: Sequence[Case] = ()
    """What the system gives when it is asked again."""

    def with_(self, **changes: Any) -> Case:
        return replace(self, **changes)

    @property
    def sample(self) -> EvaluationSample:
        relevant = None
        if self.relevant is not None:
            pairs = [(r, 1) if isinstance(r, str) else r for r in self.relevant]
            relevant = [Document(name, metadata={} if grade == 1 else {"grade": grade}) for name, grade in pairs]
        reference = None if self.reference is None else Response(self.reference)
        return EvaluationSample(self.id, self.query, relevant, None, reference, dict(self.labels))

    @property
    def outputs(self) -> SystemOutputs:
        docs = [Document(name, f"What {name} says about money.") for name in self.got]
        hits = [RetrievedDocument(doc, 12.5 - i, i + 1) for i, doc in enumerate(docs)]
        return SystemOutputs(hits, Response(self.answer), {"end_to_end": self.seconds})


def result_of(case: Case, names: Sequence[str] = METRICS, path: str = "golden/billing.golden.yaml") -> CaseResult:
    """Measure *case*; nobody has judged it yet."""
    sample, outputs = case.sample, case.outputs
    bounds = {n: [gate.bound for gate in read_gates(n, raw, metric.direction)] for n, raw in case.thresholds.items()
              for metric in [REGISTRY.get(n)]}  # fmt: skip
    result = CaseResult(
        case.id,
        path=path,
        line=case.line,
        content_hash=f"hash-of-{case.id}",
        cluster=case.id,
        labels={**{k: v for k, v in case.labels.items() if isinstance(v, str)}, "tags": list(case.tags)},
        texts=CaseTexts(case.query, _expected(sample)),
        thresholds={n: [(b.op, b.limit) for b in bs] for n, bs in bounds.items()},
    )
    metrics = metrics_of(names)
    if case.skipped:
        result.state = "skipped"
        return result
    if case.error:
        result.state, result.error = "error", case.error
        result.scores = failed_scores(metrics.values(), sample, case.error.splitlines()[0])
        return result
    result.scores = score_case(metrics.values(), sample, outputs)
    result.assertions = held_assertions(result.scores, sample.labels)
    result.ranks = ranks_of_relevant(sample, outputs)
    result.seconds = case.seconds
    grades = grades_of_retrieved(sample, outputs)
    result.outputs = {
        "answer": case.answer,
        "retrieved": [
            {"id": r.doc.doc_id, "score": r.score, "grade": grade, "text": r.doc.text}
            for r, grade in zip(outputs.retrieved, grades, strict=True)
        ],
        "timings": outputs.timings,
    }
    return result


def _expected(sample: EvaluationSample) -> dict[str, Any]:
    out: dict[str, Any] = {"expect": expected_behaviour(sample)}
    if sample.relevant_docs is not None:
        out["relevant"] = [{"id": d.doc_id, "grade": d.metadata.get("grade", 1)} for d in sample.relevant_docs]
    if sample.reference_answer is not None:
        out["reference"] = sample.reference_answer.text
        out["references"] = [sample.reference_answer.text]
    for key in ("must_contain", "forbidden"):
        if key in sample.labels:
            out[key] = sample.labels[key]
    return out


def judged(
    now: Case,
    before: Case | Sequence[Case] | None = None,
    names: Sequence[str] = METRICS,
    policy: RegressionPolicy | None = None,
    *,
    varied: int = 0,
) -> tuple[CaseResult, CaseComparison | None, dict[str, MetricInfo]]:
    """One case judged as a test item is: against its thresholds, and its baseline where there is *before*.

    *before* are its accepted answers; one of them stands for two that are equal.  *varied* is V of the whole baseline.
    """
    infos, result = infos_of(names), result_of(now, names)
    block = None
    if before is not None:
        block = block_of([before, before] if isinstance(before, Case) else before, names)
    comparison = compare_case(result, block, infos) if block is not None else None
    _judge(result, now, infos, comparison, policy or RegressionPolicy(), names, varied=varied)
    if comparison is not None:
        comparison.note_state(result)
    return result, comparison, infos


def block_of(answers: Sequence[Case], names: Sequence[str] = METRICS) -> BaselineCase:
    """Accept several answers to one case."""
    results = [result_of(case, names) for case in answers]
    first = results[0]
    first.answers = Answers.of([result.as_answer() for result in results])
    first.repeats = len(results)
    return BaselineCase.of(first, infos_of(names))


def _judge(
    result: CaseResult,
    case: Case,
    infos: Mapping[str, MetricInfo],
    comparison: CaseComparison | None,
    policy: RegressionPolicy,
    names: Sequence[str],
    *,
    varied: int = 0,
) -> None:
    """Hold the first answer, and those of ``again``, against the rules of the case."""
    if result.state == "skipped":
        return
    rules = case_rules(result, comparison, infos, policy)
    before = comparison.before if comparison is not None and comparison.paired else None
    accepted = accepted_checks(rules, before) if before is not None else None
    trial = CaseTrial(result, rules, accepted, varied)
    first = result.as_answer()
    trial.begin([first])
    for further in case.again:
        if trial.open:
            trial.take(result_of(further, names).as_answer(), further.answer)
    if trial.open:
        trial.settle()


def run_of(
    cases: Iterable[Case],
    names: Sequence[str] = METRICS,
    *,
    baseline: Baseline | None = None,
    policy: RegressionPolicy | None = None,
    expected: Sequence[str] | None = None,
    suite: str = "billing",
    variant: str = "",
    owner: str = "search-team",
    provenance: Mapping[str, Any] | None = None,
) -> Run:
    """Measure and judge each of *cases*."""
    cases = list(cases)
    run = Run(suite, f"golden/{suite}.golden.yaml", variant, owner=owner, provenance=dict(provenance or {}))
    run.metrics = infos_of(names)
    run.expected_ids = tuple(expected or [c.id for c in cases])
    comparability = comparability_of(run, baseline) if baseline is not None else Comparability()
    for case in cases:
        result = result_of(case, names, run.path)
        comparison = None
        if baseline is not None:
            comparison = compare_case(result, baseline.cases.get(case.id), run.metrics, comparability)
        _judge(result, case, run.metrics, comparison, policy or RegressionPolicy(), names)
        run.add([result])
    return run


def baseline_of(run: Run, *, answers: int = 2) -> Baseline:
    """Accept *run*, of which every case was asked so often, and answered alike."""
    out = Baseline(run.suite, run.variant, provenance=dict(run.provenance))
    out.metrics = {n: BaselineMetric(**metric_key(i)) for n, i in run.metrics.items() if i.baselined}
    out.cases = {i: replace(BaselineCase.of(c, run.metrics), answers=answers) for i, c in run.cases.items()}
    return out


def accepted_of(cases: Iterable[Sequence[Case]], names: Sequence[str] = METRICS, **keys: Any) -> Baseline:
    """Accept several answers to each case: those of a system that samples."""
    answers = [list(of_one) for of_one in cases]
    out = baseline_of(run_of([of_one[0] for of_one in answers], names, **keys))
    out.cases = {of_one[0].id: block_of(of_one, names) for of_one in answers}
    return out


def gates_of(thresholds: Mapping[str, Any]) -> list[Gate]:
    out: list[Gate] = []
    for name, raw in thresholds.items():
        metric = name.split("(")[-1].rstrip(")")
        direction = "higher" if metric == "pass_rate" else "lower" if metric == "error_rate" else None
        out += read_gates(name, raw, direction or REGISTRY.get(metric).direction)  # type: ignore[arg-type]
    return [replace(gate, line=i + 3) for i, gate in enumerate(out)]


def verdict_of(
    run: Run,
    thresholds: Mapping[str, Any] | None = None,
    *,
    baseline: Baseline | None = None,
    note: BaselineNote | None = None,
    policy: RegressionPolicy | None = None,
    **options: Any,
) -> Verdict:
    if baseline is None and note is None:
        note = BaselineNote("none", "billing.json")
    return judge(
        run,
        gates_of(thresholds or {}),
        policy or RegressionPolicy(),
        metrics_of(list(run.metrics)),
        baseline=baseline,
        baseline_note=note,
        **options,
    )


def system(
    variant: str, hits: float, n: int = 60, *, names: Sequence[str] = METRICS, seconds: float = 0.1, seed: int = 1
) -> Run:
    """Answer *n* cases; a share of *hits* finds the document and gives the answer, and more of it finds the same."""
    rng = random.Random(seed)
    cases = [
        Case(
            f"case-{i:03}",
            got=["refunds.md"] if (found := luck < hits) else ["index.md"],
            answer="Within 30 days of purchase." if found else "I do not know.",
            thresholds={"recall@5": 0.5},
            seconds=seconds * (1 + luck),
            line=10 + i,
        )
        for i in range(n)
        for luck in [rng.random()]
    ]
    return run_of(cases, names, variant=variant)
