"""Metrics that stand apart: aggregates that are no means, times, costs and privacy."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scores import Score
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.baseline.file import parse_baseline
from pytest_auepora.regression.baseline.model import MOST_DATA, Baseline, BaselineCase
from pytest_auepora.regression.compare.cases import compare
from pytest_auepora.regression.compare.measurements import settle
from pytest_auepora.regression.guards.gates import GateOutcome
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from ..runs import REGISTRY, steady

LATENCY = {"p95_latency": {"policy": "auto"}, "mean_latency[end_to_end]": {"policy": "auto"}}


def of(name: str) -> Metric:
    return REGISTRY.get(name)


def measured(metric: Metric, samples: list[EvaluationSample], outputs: list[SystemOutputs]) -> Run:
    """A run of *metric* over these samples, one case each; a variant is in its base's cluster."""
    info = MetricInfo.of(metric)
    info.baselined = True
    out = Run("suite", metrics={metric.name: info}, expected_ids=tuple(s.sample_id for s in samples))
    for sample, output in zip(samples, outputs, strict=True):
        score = Score.of(metric.measure(sample, output))
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
    return parse_baseline(steady(merge(None, before, {"all"})[0]).dumps(), "test")


def verdict(now: Run, before: Run, **policy: Any) -> Verdict:
    metrics = {name: of(name) for name in now.metrics}
    return judge(now, [], RegressionPolicy(**policy), metrics, baseline=accepted(before))


def gate(now: Run, before: Run, **policy: Any) -> GateOutcome:
    (found,) = [g for g in verdict(now, before, **policy).gates if g.kind == "regression"]
    return found


def jittered(n: int, seed: int, factor: float = 1.0) -> list[float]:
    rng = random.Random(seed)
    return [factor * rng.lognormvariate(-2, 0.3) for _ in range(n)]


# -- times


def test_doubled_times_fail_where_the_golden_file_asks() -> None:
    before, now = jittered(60, 1), jittered(60, 1, 2.0)
    found = gate(timed(*now), timed(*before), metrics=LATENCY)
    assert found.state == "failed"
    assert "times 2.000" in found.message
    assert "clearly worse, and by at least 10 %" in found.message
    assert found.before == pytest.approx(sorted(before)[56], abs=1e-4)


def test_the_same_machine_on_another_day_is_no_regression() -> None:
    alarms = sum(
        gate(timed(*jittered(40, s)), timed(*jittered(40, 1000 + s)), metrics=LATENCY).state == "failed"
        for s in range(40)
    )
    assert alarms <= 6, "a thousandth of 40 runs at 5 % have more"


def test_times_pass_and_are_inconclusive_in_words() -> None:
    base = jittered(100, 3)
    close = [s * (1.01 if i % 2 else 0.99) for i, s in enumerate(base)]
    found = gate(timed(*close, name="mean_latency"), timed(*base, name="mean_latency"), metrics=LATENCY)
    assert (found.state, "a true rise of 25 % is ruled out" in found.message) == ("passed", True)
    wild = gate(timed(*jittered(12, 8)), timed(*jittered(12, 9)), metrics=LATENCY)
    assert (wild.state, "neither clearly worse" in wild.message) == ("inconclusive", True)
    strict = gate(timed(*jittered(12, 8)), timed(*jittered(12, 9)), metrics=LATENCY, on_inconclusive="fail")
    assert strict.state == "failed"


def test_own_limits_and_few_cases() -> None:
    before, now = timed(0.1, 0.2, 0.3), timed(0.1, 0.2, 0.36)
    found = gate(now, before, metrics=LATENCY)
    assert found.state == "failed"
    assert found.message.endswith("rise of 20 %, more than the tolerated 10 %")
    found = gate(timed(0.1, 0.2, 0.330003), before, metrics=LATENCY)
    assert found.message.endswith("rise of 10.001 %, more than the tolerated 10 %"), "nothing is more than itself"
    wide = {"p95_latency": {"policy": "tolerance", "min_effect": 0.25}}
    assert gate(now, before, metrics=wide).state == "passed"


def test_times_at_another_concurrency_do_not_compare() -> None:
    found = verdict(timed(0.1, 0.9, concurrency=8), timed(0.1, 0.1), metrics=LATENCY)
    assert found.comparison is not None
    assert found.comparison.incomparable == {"p95_latency": "concurrency 1 \u2192 8"}
    assert not [g for g in found.gates if g.kind == "regression"]
    assert found.comparison.metric("p95_latency") is None, "no change of single cases in its place"
    assert all(not case.gains for case in found.comparison.cases.values())
    same = timed(0.1, 0.9, concurrency=8)
    assert '"concurrency": 8' in merge(None, same, {"all"})[0].dumps()
    assert gate(same, timed(0.1, 0.1, concurrency=8), metrics=LATENCY).state == "failed"


def test_a_case_timed_at_another_concurrency_is_left_out() -> None:
    before, now = timed(0.1, 0.1, 0.1), timed(0.1, 0.1, 0.9)
    for case in (*before.cases.values(), *list(now.cases.values())[:2]):
        case.concurrency = 8
    found = verdict(now, before, metrics=LATENCY)
    assert found.comparison is not None
    change = found.comparison.metric("p95_latency")
    assert change is not None
    assert (change.n, change.after) == (2, 0.1)
    assert "p95_latency" not in found.comparison.cases["c2"].changes


# -- ratios and unions


def test_corpus_bleu_is_judged_over_all_counts_together() -> None:
    good, bad = "the cat sat on the mat today", "a dog lay under some table"
    before, now = answers(of("bleu"), *[good] * 20), answers(of("bleu"), *[good] * 10, *[bad] * 10)
    found = gate(now, before)
    assert found.state == "failed"
    outputs = [c.scores["bleu"].measurement for c in now.cases.values()]
    assert found.value == pytest.approx(of("bleu").aggregate([m for m in outputs if m]).value)
    assert found.before == pytest.approx(1.0)
    assert gate(before, before).message.endswith("no case differs")


def test_distinct_words_are_counted_over_all_answers() -> None:
    rng = random.Random(5)
    words = [f"w{i}" for i in range(400)]
    varied = [" ".join(rng.sample(words, 12)) for _ in range(30)]
    dull = ["always the very same old words in every single answer here today"] * 30
    found = gate(answers(of("distinct_2"), *dull), answers(of("distinct_2"), *varied))
    assert found.state == "failed"
    assert found.value == pytest.approx(1 / 30, abs=1e-3)  # each answer by itself has only different bigrams


def test_what_the_baseline_has_too_little_of_is_said() -> None:
    now = answers(of("distinct_2"), "one two three", "three four five")
    old = accepted(now)
    for case in old.cases.values():
        case.data.clear()
    found = judge(now, [], RegressionPolicy(), {"distinct_2": of("distinct_2")}, baseline=old)
    assert found.comparison is not None
    assert found.comparison.incomparable == {"distinct_2": "the baseline does not hold what it is computed from"}
    assert found.outcome != "passed" or not [g for g in found.gates if g.kind == "regression"]


def test_data_beyond_measure_is_not_kept() -> None:
    long = " ".join(map(str, range(3000)))
    kept = merge(None, answers(of("distinct_1"), long, "a b c"), {"all"})[0]
    assert {i: set(c.data) for i, c in kept.cases.items()} == {"c0": set(), "c1": {"distinct_1"}}
    assert len(kept.dumps()) < MOST_DATA


def test_the_file_reads_back_byte_for_byte() -> None:
    kept = merge(None, answers(of("bleu"), "the cat sat", "on the mat"), {"all"})[0]
    text = kept.dumps()
    assert parse_baseline(text, "test").dumps() == text
    assert isinstance(json.loads(text)["cases"]["c0"]["data"]["bleu"], str)  # one line, whatever it holds


# -- a variant and its base


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


def test_noise_robustness_is_tested_by_pairs() -> None:
    found = gate(noisy(0.6), noisy(0.0))
    assert found.state == "failed"
    assert "20 cases" in found.message  # the variants
    assert [found.before, found.value] == pytest.approx([1.0, 0.4], abs=0.3)
    change = verdict(noisy(0.6), noisy(0.0)).comparison
    assert change is not None
    ratio = change.metric("noise_robustness[recall@1]")
    assert ratio is not None
    assert (ratio.before, ratio.n) == (1.0, 40)
    assert ratio.after < 0.7


def test_a_system_worse_at_everything_is_no_less_robust() -> None:
    everywhere = gate(noisy(0.0, clean=0.5), noisy(0.0, clean=1.0))
    assert everywhere.state != "failed"


def test_pairs_by_case_agree_with_the_aggregate() -> None:
    run = noisy(0.4)
    metric = of("noise_robustness[recall@1]")
    seen = [m for c in run.cases.values() if (m := c.scores[metric.name].measurement)]
    told = metric.by_case(seen)
    assert set(told) == {f"c{i}typo" for i in range(20)}
    assert sum(told.values()) / 20 == pytest.approx(-metric.aggregate(seen).details["drop"])


# -- privacy, and metrics of a project


def blocked(*values: float) -> Run:
    info = MetricInfo.of(of("block_efficacy"))
    out = Run("suite", metrics={info.name: info}, expected_ids=tuple(f"c{i}" for i in range(len(values))))
    out.add(CaseResult(f"c{i}", scores={info.name: Score("number", v)}, content_hash="h") for i, v in enumerate(values))
    return out


def test_privacy_stands_apart_from_quality() -> None:
    found = gate(blocked(*[1.0] * 15, *[0.0] * 15), blocked(*[1.0] * 30))
    assert found.state == "failed"
    assert "times 0.500" in found.message
    never = gate(blocked(*[0.0] * 30), blocked(*[0.0] * 30))
    assert never.state == "passed"


def test_an_error_is_the_worst_value() -> None:
    now = blocked(*[1.0] * 30)
    for i in range(15):
        now.cases[f"c{i}"].state = "error"
        now.cases[f"c{i}"].scores["block_efficacy"] = Score.failed("boom")
    (found,) = [g for g in verdict(now, blocked(*[1.0] * 30)).gates if g.kind == "regression"]
    assert (found.state, found.value) == ("failed", 0.5)


class Longest(Metric):
    name = "longest"
    target = of("token_f1").target

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        return Measurement(float(len(outputs.response.text)))

    def aggregate(self, measurements: Any) -> Any:
        result = super().aggregate(measurements)
        result.value = max((m.value for m in measurements), default=0.0)
        return result


def test_an_own_aggregate_is_resampled_unasked() -> None:
    assert [MetricInfo.of(m).interval for m in (Longest(), of("token_f1"), of("chrf"))] == ["bootstrap", "", ""]
    assert MetricInfo.of(of("sliced[bleu,scenario:typo]")).interval == "bootstrap"


def test_the_level_is_shared_among_those_that_stand_apart() -> None:
    one = answers(of("bleu"), *["the cat sat on a mat"] * 12)
    both = answers(of("bleu"), *["the cat sat on a mat"] * 12)
    for name in ("distinct_1",):
        more = answers(of(name), *["the cat sat on a mat"] * 12)
        both.metrics |= more.metrics
        for i, case in both.cases.items():
            case.scores |= more.cases[i].scores
    assert gate(one, one).bound == "interval at 0.05"
    found = [g for g in verdict(both, both).gates if g.kind == "regression"]
    assert [g.bound for g in found] == ["interval at 0.025"] * 2


def test_settling_twice_changes_nothing() -> None:
    now, before = noisy(0.4), noisy(0.0)
    comparison = compare(now, accepted(before))
    metrics = {name: of(name) for name in now.metrics}
    settle(now, comparison, metrics)
    first = dict(comparison.aggregates), {i: dict(c.changes) for i, c in comparison.cases.items()}
    settle(now, comparison, metrics)
    assert first == (comparison.aggregates, {i: c.changes for i, c in comparison.cases.items()})


def test_old_baselines_without_data_still_load() -> None:
    kept = accepted(timed(0.1))
    assert kept.cases["c0"] == BaselineCase("h", scores={"p95_latency": 0.1})
