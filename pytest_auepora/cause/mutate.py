"""Would this suite notice?  Mutants of recorded answers in place of some, through the verdict that a real run gets.

A run is made again and again: of each case an answer is drawn from those that were recorded, of the cases that are
broken its mutant; what fails is asked again, and looked at twice, as in a real run.  What is drawn is compared with the
accepted answers.  An answer that is one of them is nearer to their mean than a new one would be, so of the cases that
are not broken most are compared with the other answers alone: as many as it takes for differences as large as they are
between runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from ..base.progress import Progress
from ..base.records import Number, Place, Record
from ..calls.call import CallResult
from ..core.findings import Answers
from ..core.metrics_base import Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import score_case
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import HistoryError, MetricError
from ..evaluation.case_flow import CaseFlow
from ..evaluation.measure import RECORDED, CaseCall, MeasuredAnswer, measure_calls
from ..evaluation.recording import RecordedAnswer
from ..evaluation.replay import RecordedRun
from ..evaluation.suite import blank_run, suite_metrics
from ..io.golden.model import GoldenCase, GoldenSuite
from ..metrics.registry import Registry
from ..regression.baseline import RESOLUTION, Baseline, BaselineCase, BaselineMetric, metric_key
from ..regression.guards.calibration import advisory_metrics
from ..regression.guards.case_trial import Confirmed
from ..regression.statistics.case_rule import MOST
from ..regression.thresholds import PSEUDO_METRICS
from ..regression.verdict import Verdict, judge
from .mutants import KINDS, Key, Kind, Mutator, Recorded

SHARES = (0.02, 0.05, 0.1, 0.2)
"""Of the cases of a suite."""

_CANDIDATES = (
    "recall@{k}", "mrr@10", "ndcg@10", "token_f1", "answer_recall", "refusal_correctness", "k_precision",
    "evidence_overlap",
)  # fmt: skip
"""Metrics that cost nothing, and may see what those of a suite do not."""

_FIRST_RUNS, _MOST_RUNS = 25, 100
"""Where the first runs agree, no more are drawn."""

_FEWEST_LEFT = 3
"""From so many differing answers on, what is drawn is left out of what it is compared with."""


@dataclass(slots=True)
class Detection(Record):
    """How often one change was seen."""

    kind: Kind | Literal[""]
    """What was broken; empty where nothing was."""
    share: Number
    """In how large a part of the cases."""
    cases: Place
    """In how many of them."""
    runs: Place
    """How many runs were drawn; 0 where it can happen in no case."""
    seen: Place
    """How many of them were red."""
    checks: dict[str, int] = field(default_factory=dict)
    """By what fails a case (a metric, or an assertion by its key): in how many runs some case failed by it."""
    gates: dict[str, int] = field(default_factory=dict)
    """By suite gate: in how many runs it failed."""


@dataclass(slots=True)
class Sight(Record):
    """What of a suite one kind of change moves."""

    kind: Kind
    """What is broken."""
    possible: Place
    """Cases in which it can happen."""
    unmoved: tuple[str, ...] = ()
    """Those of them in which no metric gets worse and no assertion breaks."""
    others: dict[str, int] = field(default_factory=dict)
    """Metrics that the suite does not have: in how many cases they get worse."""


@dataclass(slots=True)
class Sensitivity(Record):
    """Which changes a suite would notice."""

    suite: str
    """Suite, with the configuration in brackets."""
    run_id: str
    """The run whose answers were changed."""
    cases: Place
    """Cases with recorded answers."""
    answers: Place
    """The answers that were recorded."""
    without_answers: tuple[str, ...] = ()
    """Cases of the suite of which no answer was recorded as it is now."""
    left_out: tuple[str, ...] = ()
    """Metrics of the suite that no mutant can be measured with: a judge would have to be called."""
    detections: list[Detection] = field(default_factory=list)
    """By kind and share; the first is of runs in which nothing is broken."""
    sights: list[Sight] = field(default_factory=list)
    """By kind."""


class _Draw(NamedTuple):
    """The order in which recorded answers serve in one run, and the block that they are compared with."""

    order: Sequence[int]
    block: BaselineCase


@dataclass(eq=False)
class _Pool:
    """The recorded answers to one case, measured.  ``accepted`` is its block in the baseline, if that says more."""

    case: GoldenCase
    results: Sequence[CaseResult]
    infos: Mapping[str, MetricInfo]
    accepted: BaselineCase | None = None
    _blocks: dict[tuple[int, ...], BaselineCase] = field(default_factory=dict)

    @cached_property
    def whole(self) -> BaselineCase:
        """The block of all answers, or that of the baseline where it is of more."""
        own = self._block(range(len(self.results)))
        return self.accepted if self.accepted is not None and self.accepted.answers > own.answers else own

    def draw(self, rng: Random, *, broken: bool) -> _Draw:
        """Draw answers for one run."""
        total = len(self.results)
        order = rng.sample(range(total), total)
        if broken or total < _FEWEST_LEFT or not self.whole.varied or rng.random() < _share_of_all(total):
            return _Draw(order, self.whole)
        left = order[_n_drawn(total) :]
        return _Draw(order, self._block(sorted([*left, *rng.sample(left, total - len(left))])))

    def _block(self, numbers: Sequence[int]) -> BaselineCase:
        if (key := tuple(numbers)) not in self._blocks:
            singles = [self.results[i].as_answer() for i in numbers]
            result = replace(self.results[numbers[0]], answers=Answers.of(singles))
            self._blocks[key] = BaselineCase.of(result, self.infos)
        return self._blocks[key]


def broken_cases(share: float, total: int) -> int:
    """Return how many of *total* cases are a *share* of them: one at least."""
    return max(1, round(share * total))


def _n_drawn(total: int) -> int:
    """Return how many of so many answers are left out of what they are compared with: two, where enough are left."""
    return 2 if total > _FEWEST_LEFT else 1


def _share_of_all(total: int) -> float:
    """Return how many cases are to be compared with all answers, and not with those that are left, some of them twice.

    In units of the variance of one answer, the difference of a new answer from the mean of *total* has 1 + 1/total,
    that of one of them 1 - 1/total, and that from the others 1 + Σw² of their weights.
    """
    twice = _n_drawn(total)
    others = 1 + (4 * twice + (total - 2 * twice)) / total**2
    return (others - (1 + 1 / total)) / (others - (1 - 1 / total))


def mutate(
    suite: GoldenSuite,
    source: RecordedRun,
    registry: Registry,
    *,
    baseline: Baseline | None = None,
    calibrations: Path | None = None,
    runs: int | None = None,
    seed: int = 0,
    kinds: Sequence[Kind] = KINDS,
    shares: Sequence[float] = SHARES,
    progress: bool | None = False,
) -> Sensitivity:
    """Return how often each change to the recorded answers of *source* would fail the run.

    Args:
        suite: the golden file.
        source: a recorded run of it; best the one that was accepted, which has several answers to a case.
        registry: where metric names are looked up.
        baseline: what is accepted; it counts where it knows more answers to a case than were recorded.
        calibrations: the folder of calibration files.
        runs: how many runs are drawn for each change and share; None: 100, and only 25 where these agree.
        seed: of the draws.
        kinds: what is broken.
        shares: in how large a part of the cases; of several that are as many cases, the smallest.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.

    Raises:
        HistoryError: no answer of *source* is one to a case as it is now.
    """
    simulation = _Simulation(suite, source, registry, baseline, calibrations)
    pools = simulation.pools
    out = Sensitivity(
        source.run.title or suite.name, source.run_id, len(pools), sum(len(pool.results) for pool in pools.values()),
        tuple(case.id for case in suite.cases if case.skip is None and case.id not in pools),
        tuple(name for name in suite.metrics if name not in simulation.metrics),
    )  # fmt: skip
    mutators = [Mutator(kind, simulation.recorded) for kind in kinds]
    counts = {broken_cases(share, len(pools)): share for share in sorted(shares, reverse=True)}
    shares = sorted(counts.values())  # of a small suite, several are one case
    with Progress("rates", 1 + len(mutators) * len(shares), show=progress) as bar:
        out.detections.append(simulation.detect(None, 0.0, runs, Random(seed), bar))
        for i, mutator in enumerate(mutators):
            for share in shares:
                out.detections.append(simulation.detect(mutator, share, runs, Random(f"{seed} {i} {share}"), bar))
            out.sights.append(simulation.sight(mutator, registry))
    return out


class _Simulation:
    """Makes runs of recorded answers."""

    def __init__(
        self, suite: GoldenSuite, source: RecordedRun, registry: Registry, baseline: Baseline | None,
        calibrations: Path | None,
    ) -> None:  # fmt: skip
        self.suite = suite
        answers = {case.id: found for case in suite.cases if case.skip is None and (found := _answers(source, case))}
        if not answers:
            raise HistoryError(f"run {source.run_id} has no recorded answer to a case of {suite.name} as it is now")
        cases = [answers[case.id][0].relabelled(case) for case in suite.cases if case.id in answers]
        self.metrics = {
            name: metric
            for name, metric in suite_metrics(suite, registry).items()
            if metric.deterministic and not metric.judged and not _lacks(metric, cases, answers)
        }
        self.blank = blank_run(replace(suite, cases=cases), self.metrics, source.run.variant)
        self.gates = [gate for gate in suite.gates if gate.metric in self.metrics or gate.metric in PSEUDO_METRICS]
        self.advisory = advisory_metrics(self.blank.metrics, suite.policy, calibrations)
        self.calibrations = calibrations
        self.recorded = {
            case.id: Recorded(case, [a.outputs.restore() if a.outputs is not None else None for a in answers[case.id]])
            for case in cases
        }
        self._mutants: dict[tuple[Kind, str, int, Key], CaseResult | None] = {}
        self.pools = {case.id: self._pool(case, answers[case.id], baseline) for case in cases}
        self._measured = {
            name: BaselineMetric(**metric_key(info)) for name, info in self.blank.metrics.items() if info.baselined
        }

    def _pool(self, case: GoldenCase, answers: Sequence[RecordedAnswer], baseline: Baseline | None) -> _Pool:
        before = baseline.cases.get(case.id) if baseline is not None else None
        if before is not None and baseline is not None:
            known = {name: metric_key(info) for name, info in self.blank.metrics.items() if info.baselined}
            other = [n for n in before.scores if n not in known or baseline.metrics[n].key != known[n]]
            before = before.without(other) if before.hash == case.content_hash else None
        return _Pool(case, self._measure(case, answers), self.blank.metrics, before)

    def _measure(self, case: GoldenCase, answers: Sequence[RecordedAnswer | SystemOutputs]) -> list[CaseResult]:
        calls = [CaseCall(case, CallResult(answer, attempts=1)) for answer in answers]
        measured = measure_calls(calls, RECORDED, self.metrics, timed=False)
        return [answer.result for answer in measured]

    def detect(self, mutator: Mutator | None, share: float, runs: int | None, rng: Random, bar: Progress) -> Detection:
        """Return how many of so many *runs* are red, in which a *share* of the cases is broken."""
        bar.done()
        wanted = min(broken_cases(share, len(self.pools)), len(mutator.targets)) if mutator is not None else 0
        out = Detection(mutator.kind if mutator is not None else "", share, wanted, 0, 0)
        if mutator is not None and not wanted:
            return out
        checks, gates = Counter[str](), Counter[str]()
        deck = list[str]()
        for _ in range(runs or _MOST_RUNS):
            if runs is None and out.runs == _FIRST_RUNS and out.seen in (0, out.runs):
                break
            out.runs += 1
            if mutator is not None and len(deck) < wanted:  # dealt, so that each case is broken about as often
                deck = rng.sample(mutator.targets, len(mutator.targets))
            broken, deck = deck[:wanted], deck[wanted:]
            keys = mutator.keys(broken, rng) if mutator is not None else {}
            run, verdict = self._play(mutator, keys, rng)
            if verdict.outcome == "failed":
                out.seen += 1
                failing = [f for case in run.cases.values() if not case.expected_to_fail for f in case.failures]
                checks.update({finding.metric or finding.kind for finding in failing})
                gates.update({gate.title for gate in verdict.gates if gate.state == "failed"})
        out.checks, out.gates = _most_first(checks), _most_first(gates)
        return out

    def _play(self, mutator: Mutator | None, keys: Mapping[str, Key], rng: Random) -> tuple[Run, Verdict]:
        """Make one run and judge it."""
        draws = {case_id: pool.draw(rng, broken=case_id in keys) for case_id, pool in self.pools.items()}
        run = replace(self.blank, cases={})
        baseline = Baseline(
            run.suite, run.variant, self._measured, dict(run.provenance), {i: d.block for i, d in draws.items()}
        )
        cases = [pool.case for pool in self.pools.values()]
        flow = CaseFlow(
            run, self.metrics, self.suite.policy, baseline=baseline, advisory=self.advisory, cases=cases,
            confirmed=Confirmed(len(cases)),
        )  # fmt: skip

        def answer(case_id: str, number: int) -> MeasuredAnswer:
            order = draws[case_id].order
            return MeasuredAnswer(self._result(mutator, case_id, order[number % len(order)], keys))

        for case in cases:
            finished, number = flow.conclude(case, [answer(case.id, 0)]), 2
            while finished.wants_another and number <= MOST:
                flow.take_measured(finished, case, answer(case.id, number))
                number += 1
            flow.settle(finished)
            run.add([finished.result])
        looks: list[Run] = []
        while (verdict := self._judge(run, baseline, looks)).wants_look:
            number = MOST + len(looks) if looks else 1
            again = {case.id: flow.conclude(case, [answer(case.id, number)]).result for case in cases}
            looks.append(replace(run, cases=again))
        return run, verdict

    def _judge(self, run: Run, baseline: Baseline, looks: Sequence[Run]) -> Verdict:
        return judge(
            run, self.gates, self.suite.policy, self.metrics, baseline=baseline, calibrations=self.calibrations,
            further=looks, can_look=True,
        )  # fmt: skip

    def _result(self, mutator: Mutator | None, case_id: str, number: int, keys: Mapping[str, Key]) -> CaseResult:
        """Return a result of its own of one answer, or of its mutant."""
        result = self.pools[case_id].results[number]
        if mutator is not None and case_id in keys:
            result = self._mutant(mutator, case_id, number, keys[case_id]) or result
        return replace(result, scores=dict(result.scores), findings=[])

    def _mutant(self, mutator: Mutator, case_id: str, number: int, key: Key) -> CaseResult | None:
        """Measure a mutant, once."""
        place = (mutator.kind, case_id, number, key)
        if place not in self._mutants:
            outputs = mutator.mutant(case_id, number, key)
            case = self.pools[case_id].case
            self._mutants[place] = self._measure(case, [outputs])[0] if outputs else None
        return self._mutants[place]

    def sight(self, mutator: Mutator, registry: Registry) -> Sight:
        """Return in which cases nothing moves, and which other metrics would."""
        rng, unmoved, others = Random(0), list[str](), Counter[str]()
        top_k = self.suite.top_k
        names = [name for name in (c.format(k=top_k) for c in _CANDIDATES) if name not in self.metrics]
        candidates = [registry.get(name) for name in names]
        for case_id in mutator.targets:
            key, recorded = mutator.keys([case_id], rng)[case_id], self.recorded[case_id]
            before, after = self.pools[case_id].results[0], self._mutant(mutator, case_id, 0, key)
            mutant = mutator.mutant(case_id, 0, key)
            if after is None or mutant is None or recorded.answers[0] is None:
                continue
            if not _is_worse(self.blank.metrics, before, after):
                unmoved.append(case_id)
            for metric in candidates:
                if _falls(metric, recorded.case.sample, recorded.answers[0], mutant):
                    others[metric.name] += 1
        return Sight(mutator.kind, len(mutator.targets), tuple(unmoved), _most_first(others))


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _answers(source: RecordedRun, case: GoldenCase) -> list[RecordedAnswer]:
    """Return the recorded answers to *case* as it is now, without those it was asked for because one failed."""
    result = source.run.cases.get(case.id)
    recordings = source.recordings.get(case.id, ())[: result.n_answers if result is not None else 1]
    answers = [RecordedAnswer(recording, source.keys) for recording in recordings]
    return [answer for answer in answers if not answer.differs(case)]


def _lacks(metric: Metric, cases: Collection[GoldenCase], answers: Mapping[str, Sequence[RecordedAnswer]]) -> bool:
    """Whether *metric* reads what some answer has not whole."""
    return any(answer.lacks(metric, case.sample) for case in cases for answer in answers[case.id])


def _is_worse(infos: Mapping[str, MetricInfo], before: CaseResult, after: CaseResult) -> bool:
    """Whether an assertion breaks, or a metric that is compared falls or loses its number."""
    if any(held and after.assertions.get(key) is False for key, held in before.assertions.items()):
        return True
    for name, info in infos.items():
        old, new = before.scores[name].value, after.scores[name].value
        if info.baselined and old is not None and (new is None or info.gain(old, new) < -RESOLUTION):
            return True
    return False


def _falls(metric: Metric, sample: EvaluationSample, before: SystemOutputs, after: SystemOutputs) -> bool:
    try:
        old, new = (score_case([metric], sample, outputs)[metric.name].value for outputs in (before, after))
    except MetricError:
        return False
    gain = MetricInfo.of(metric).gain
    return old is not None and new is not None and gain(old, new) < -RESOLUTION
