"""What is learned from repeats: the noise as it was put in, and bounds that an unchanged system keeps."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.findings import Answers, Value
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.suggest import CHANCE, Suggestion, learn
from pytest_auepora.regression.thresholds import Bound, Gate

from .runs import case, run

POLICY = RegressionPolicy()


def asked(name: str, **singles: Sequence[float]) -> CaseResult:
    result = case(name)
    for metric, values in singles.items():
        mean: dict[str, Any] = {metric: sum(values) / len(values)}
        result.scores |= case("", **mean).scores
        result.repeats = len(values)
    columns: dict[str, list[Value]] = {metric.replace("_at_", "@"): [*values] for metric, values in singles.items()}
    held = {"must_contain": [value == 1 for value in columns["assertion_pass"]]} if "assertion_pass" in columns else {}
    result.answers = Answers(columns, held, [True] * result.repeats)
    return result


def noisy(n: int, within: float, *, repeats: int = 5, level: float = 0.6) -> Run:
    rng = random.Random(3)
    return run(*(asked(f"c{i}", mrr=[rng.gauss(level, within) for _ in range(repeats)]) for i in range(n)))


def learned(measured: Run, *gates: Gate, policy: RegressionPolicy = POLICY, repeat: int = 1) -> Suggestion:
    return learn(measured, gates, policy, repeat)


def test_the_noise_is_what_was_put_in() -> None:
    (found,) = learned(noisy(400, 0.1)).noise
    assert (found.name, found.n, found.repeats, found.varied) == ("mrr", 400, 5, 1.0)
    assert found.mean == pytest.approx(0.6, abs=0.01)
    assert found.within == pytest.approx(0.1, abs=0.005)
    assert found.sd_of_mean() == pytest.approx(0.1 / math.sqrt(400), rel=0.05)


def test_degrees_of_freedom_are_those_of_the_cases_that_vary() -> None:
    cases = [asked("a", mrr=[1, 0, 1, 0, 1]), *(asked(f"c{i}", mrr=[1.0] * 5) for i in range(9))]
    (one,) = learned(run(*cases)).noise
    (all_alike,) = learned(run(*(asked(f"c{i}", mrr=[1, 0, 1, 0, 1]) for i in range(10)))).noise
    assert (one.varied, one.degrees, all_alike.degrees) == (0.1, 4, 40)
    assert one.noise_margin(1, CHANCE) > 4 * one.sd_of_mean()


def test_room_is_left_for_this_run_the_next_and_the_unseen() -> None:
    (found,) = learned(noisy(100, 0.2)).noise
    once, often, unseen = found.noise_margin(1, CHANCE), found.noise_margin(5, CHANCE), found.rare_failure_margin(1.0)
    assert once > often > 2.5 * found.within * math.sqrt((1 / 5 + 1 / 5) / 100)
    assert unseen == pytest.approx(math.log(20) / math.log(5) / 100)
    limit = math.floor((found.mean - found.noise_margin(1, CHANCE / 2) - unseen) * 100) / 100
    assert learned(noisy(100, 0.2), Gate("recall@1", Bound("min", 0.1))).bound("mrr") == Bound("min", limit)


def test_a_bound_is_never_the_mean_that_was_seen() -> None:
    steady = run(*(asked(f"c{i}", mrr=[1.0] * 5) for i in range(40)))
    assert learned(steady).bound("mrr") == Bound("min", 0.95)
    assert learned(steady, Gate("mrr", Bound("min", 0.99))).gates == [], "the file's own, which nothing has broken"
    few = learned(run(*(asked(f"c{i}", mrr=[1.0] * 2) for i in range(4))))
    assert (few.gates, few.noise[0].mean) == ([], 1.0)


@pytest.mark.parametrize("n", [7, 60])
@pytest.mark.parametrize("repeats", [2, 5])
@pytest.mark.slow
def test_an_unchanged_system_keeps_its_bounds(n: int, repeats: int) -> None:
    rng, missed = random.Random(n), 0
    for _ in range(400):
        levels = [rng.random() for _ in range(n)]
        chances = [rng.choice((0.0, 0.0, 0.1, 0.3)) for _ in range(n)]

        def answer(i: int, levels: list[float] = levels, chances: list[float] = chances) -> float:
            return 0.0 if rng.random() < chances[i] else min(max(rng.gauss(levels[i], 0.1), 0.0), 1.0)

        bound = learned(run(*(asked(f"c{i}", mrr=[answer(i) for _ in range(repeats)]) for i in range(n)))).bound("mrr")
        missed += bound is not None and not bound.holds(sum(answer(i) for i in range(n)) / n)
    assert missed <= 7, "400 runs of which a half per cent may: more has a chance of a thousandth"


def test_the_files_own_bound_stays_where_noise_keeps_it() -> None:
    measured, (noise,) = noisy(100, 0.2), learned(noisy(100, 0.2)).noise
    room = noise.noise_margin(1, CHANCE)
    loose, tight, missed = (Gate("mrr", Bound("min", noise.mean + way * room)) for way in (-1.2, -0.5, 1.2))
    assert learned(measured, loose).gates == []
    assert [gate.bound.limit < tight.bound.limit for gate in learned(measured, tight).gates] == [True]
    assert (learned(measured, missed).gates, len(learned(measured, missed).missed)) == ([], 1)
    assert learned(measured, replace(tight, stat="p10"), replace(loose, bound=Bound("max", 0.9))).gates == []


def test_the_bound_of_a_slice_is_learned_from_its_cases() -> None:
    measured = noisy(60, 0.1)
    for i, result in enumerate(measured.cases.values()):
        result.labels = {"scenario": "typo" if i < 20 else "plain"}
    gate = Gate("mrr", Bound("min", 0.6), slice={"scenario": "typo"}, owner="ann")
    found = learned(measured, gate)
    assert [(one.title, one.owner) for one in found.gates] == [(gate.title, "ann")]
    assert 0.3 < found.gates[0].bound.limit < 0.5


def test_a_bound_that_noise_breaks_may_have_no_place() -> None:
    found = learned(noisy(4, 0.3, repeats=2), Gate("mrr", Bound("min", 0.5)))
    assert (found.gates, found.too_noisy) == ([], ["mrr >= 0.5"])


def test_one_answer_teaches_nothing() -> None:
    found = learned(run(*(asked(f"c{i}", mrr=[0.5]) for i in range(12))))
    assert (found.gates, found.repeats) == ([], 1)


def test_what_no_threshold_mends_is_named() -> None:
    kept, varies = (
        run(asked("a", assertion_pass=values), asked("b", assertion_pass=[1, 1, 1]), names=("assertion_pass",))
        for values in ([0, 0, 0], [1, 0, 1])
    )
    assert (learned(kept).by_chance, learned(varies).by_chance) == ([], ["a"])
    assert learned(varies, policy=RegressionPolicy(assertions="report")).by_chance == []
    assert learned(noisy(20, 0.1), policy=RegressionPolicy(policy="tolerance")).tolerant == ["mrr"]


def test_errors_and_what_no_baseline_keeps_are_left_out() -> None:
    measured = run(asked("a", mrr=[1, 1]), case("b", state="error", mrr="boom"))
    assert learned(measured).noise[0].n == 1
    assert learned(run(case("b", state="error", mrr="boom"))) == Suggestion()
