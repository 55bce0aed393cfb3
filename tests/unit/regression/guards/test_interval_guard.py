"""Metrics that stand apart: aggregates that are no means, times, costs and privacy."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, SystemOutputs
from pytest_auepora.regression.baseline import MAX_DATA, BaselineCase
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import judge

from .. import runs
from ..measured import LATENCY, accepted, answers, gate, of, timed, verdict


def jittered(n: int, seed: int, factor: float = 1.0) -> list[float]:
    rng = random.Random(seed)
    return [factor * rng.lognormvariate(-2, 0.3) for _ in range(n)]


# -- times


def test_doubled_times_fail_where_the_golden_file_asks() -> None:
    before, now = jittered(60, 1), jittered(60, 1, 2.0)
    found = gate(timed(*now), timed(*before), metrics=LATENCY)
    assert found.state == "failed"
    assert found.interval is not None
    assert found.interval.value == pytest.approx(2.0, abs=0.001)
    assert (found.interval.effect, found.interval.min_effect, found.word) == ("ratio", 0.1, "worse")
    assert (found.interval.low or 0.0) > 1.1
    assert found.before == pytest.approx(sorted(before)[56], abs=1e-4)


@pytest.mark.parametrize(("alpha", "state"), [(0.0004, "failed"), (1e-9, "inconclusive")])
def test_a_small_alpha_is_judged(alpha: float, state: str) -> None:
    assert gate(timed(*jittered(60, 1, 2.0)), timed(*jittered(60, 1)), metrics=LATENCY, alpha=alpha).state == state


def test_times_of_one_cluster_say_so() -> None:
    before, now = timed(0.1, 0.2), timed(0.2, 0.3)
    for case in now.cases.values():
        case.cluster = "one"
    found = gate(now, before, metrics=LATENCY)
    assert found.interval is not None
    assert (found.n, found.interval.clusters) == (2, 1)


@pytest.mark.slow
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
    assert found.interval is not None
    assert (found.state, found.word, found.interval.margin) == ("passed", "same", 0.25)
    wild = gate(timed(*jittered(12, 8)), timed(*jittered(12, 9)), metrics=LATENCY)
    assert wild.state == "inconclusive"
    strict = gate(timed(*jittered(12, 8)), timed(*jittered(12, 9)), metrics=LATENCY, on_inconclusive="fail")
    assert strict.state == "failed"


def test_own_limits_and_few_cases() -> None:
    before, now = timed(0.1, 0.2, 0.3), timed(0.1, 0.2, 0.36)
    found = gate(now, before, metrics=LATENCY)
    assert (found.state, found.method, found.limit) == ("failed", "tolerance", 0.1)
    assert gate(timed(0.1, 0.2, 0.330003), before, metrics=LATENCY).state == "failed"
    assert gate(timed(0.1, 0.2, 0.33), before, metrics=LATENCY).state == "passed"
    wide = {"p95_latency": {"policy": "tolerance", "min_effect": 0.25}}
    assert gate(now, before, metrics=wide).state == "passed"


def test_times_of_few_cases_that_vary_are_inconclusive() -> None:
    before, now = timed(0.1, 0.2, 0.3), timed(0.2, 0.4, 0.6)
    baseline = runs.accepted(before)
    assert not baseline.steady
    policy = RegressionPolicy(metrics=LATENCY)
    found = judge(now, [], policy, {"p95_latency": of("p95_latency")}, baseline=baseline).gates[-1]
    assert (found.metric, found.state) == ("p95_latency", "inconclusive")
    assert found.reason == "too few clusters"


# -- ratios and unions


def test_corpus_bleu_is_judged_over_all_counts_together() -> None:
    good, bad = "the cat sat on the mat today", "a dog lay under some table"
    before, now = answers(of("bleu"), *[good] * 20), answers(of("bleu"), *[good] * 10, *[bad] * 10)
    found = gate(now, before)
    assert found.state == "failed"
    outputs = [c.scores["bleu"].measurement for c in now.cases.values()]
    assert found.value == pytest.approx(of("bleu").aggregate([m for m in outputs if m]).value)
    assert found.before == pytest.approx(1.0)
    same = gate(before, before).interval
    assert same is not None
    assert same.unchanged


def test_distinct_words_are_counted_over_all_answers() -> None:
    rng = random.Random(5)
    words = [f"w{i}" for i in range(400)]
    varied = [" ".join(rng.sample(words, 12)) for _ in range(30)]
    dull = ["always the very same old words in every single answer here today"] * 30
    found = gate(answers(of("distinct_2"), *dull), answers(of("distinct_2"), *varied))
    assert found.state == "failed"
    assert found.value == pytest.approx(1 / 30, abs=1e-3)  # each answer by itself has only different bigrams


def test_data_beyond_measure_is_not_kept() -> None:
    long = " ".join(map(str, range(3000)))
    kept = runs.accepted(answers(of("distinct_1"), long, "a b c"))
    assert {i: set(c.data) for i, c in kept.cases.items()} == {"c0": set(), "c1": {"distinct_1"}}
    assert len(kept.dumps()) < MAX_DATA


def test_the_file_reads_back_byte_for_byte() -> None:
    kept = runs.accepted(answers(of("bleu"), "the cat sat", "on the mat"))
    text = kept.dumps()
    assert parse_baseline(text, "test").dumps() == text
    assert isinstance(json.loads(text)["cases"]["c0"]["data"]["bleu"], str)  # one line, whatever it holds


# -- a variant and its base


# -- privacy, and metrics of a project


def blocked(*values: float) -> Run:
    info = MetricInfo.of(of("block_efficacy"))
    out = Run("suite", metrics={info.name: info}, expected_ids=tuple(f"c{i}" for i in range(len(values))))
    out.add(CaseResult(f"c{i}", scores={info.name: Score("number", v)}, content_hash="h") for i, v in enumerate(values))
    return out


def test_privacy_stands_apart_from_quality() -> None:
    found = gate(blocked(*[1.0] * 15, *[0.0] * 15), blocked(*[1.0] * 30))
    assert found.state == "failed"
    assert found.interval is not None
    assert found.interval.value == pytest.approx(0.5)
    never = gate(blocked(*[0.0] * 30), blocked(*[0.0] * 30))
    assert never.state == "passed"


def test_an_error_is_the_worst_value() -> None:
    now = blocked(*[1.0] * 30)
    for i in range(15):
        now.cases[f"c{i}"].state = "error"
        now.cases[f"c{i}"].scores["block_efficacy"] = Score.failed("boom")
    (found,) = [g for g in verdict(now, blocked(*[1.0] * 30)).gates if g.kind == "regression" and g.interval]
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
    texts = [f"the cat sat on a mat {i} " * (i + 1) for i in range(12)]
    now, before = answers(of("bleu"), *texts), answers(of("bleu"), *reversed(texts))
    alone = gate(now, before)
    assert alone.interval is not None
    assert alone.interval.alpha == 0.1, "both tails"
    for run, others in ((now, texts), (before, [*reversed(texts)])):
        more = answers(of("distinct_1"), *others)
        run.metrics |= more.metrics
        for i, case in run.cases.items():
            case.scores |= more.cases[i].scores
    found = [g.interval for g in verdict(now, before).gates if g.interval is not None]
    assert [interval.alpha for interval in found] == [0.05, 0.05]


def test_old_baselines_without_data_still_load() -> None:
    kept = accepted(timed(0.1))
    assert kept.cases["c0"] == BaselineCase("h", 2, scores={"p95_latency": 0.1})
