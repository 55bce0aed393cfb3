"""What is learned from repeats: the noise as it was put in, and bounds that the same system keeps."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.suggest import Suggestion, learn
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.terminal.suggestion import noise_table, patch_text

from .runs import case, run

POLICY = RegressionPolicy()


def asked(name: str, **singles: list[float]) -> CaseResult:
    result = case(name)
    for metric, values in singles.items():
        mean: dict[str, Any] = {metric: sum(values) / len(values)}
        result.scores |= case("", **mean).scores
    result.extra["repeats"] = {metric.replace("_at_", "@"): values for metric, values in singles.items()}
    return result


def noisy(n: int, within: float, *, repeats: int = 5, level: float = 0.6) -> Run:
    rng = random.Random(3)
    return run(*(asked(f"c{i}", mrr=[rng.gauss(level, within) for _ in range(repeats)]) for i in range(n)))


def test_the_noise_is_what_was_put_in() -> None:
    (found,) = learn(noisy(400, 0.1), POLICY).noise
    assert (found.name, found.n) == ("mrr", 400)
    assert found.mean == pytest.approx(0.6, abs=0.01)
    assert found.within == pytest.approx(0.1, abs=0.005)
    assert found.of_mean() == pytest.approx(0.1 / math.sqrt(400), rel=0.05)
    assert found.of_mean(4) == pytest.approx(found.of_mean() / 2)
    assert found.flips < 0.02


def test_a_bound_leaves_room_for_three_deviations() -> None:
    found = learn(noisy(100, 0.2), POLICY)
    (noise,) = found.noise
    room = 3 * noise.of_mean(found.repeat)
    assert room > 0.02
    assert found.thresholds == {"mrr": ("min", math.floor((noise.mean - room) * 100) / 100)}


def test_flips_are_cases_whose_repeats_lie_far_apart() -> None:
    found = learn(run(asked("a", mrr=[1, 0]), asked("b", mrr=[1, 0.5]), case("c", mrr=1.0)), POLICY)
    assert found.noise[0].flips == pytest.approx(1 / 3)


def test_a_system_that_repeats_itself_is_asked_once() -> None:
    found = learn(run(*(asked(f"c{i}", mrr=[2 / 3] * 5) for i in range(12))), POLICY)
    assert found.repeat == 1
    assert found.thresholds == {"mrr": ("min", 0.66)}
    assert found.metrics == {}


def test_repeats_grow_with_the_noise_up_to_a_limit() -> None:
    calm, louder, loudest = (learn(noisy(30, sd), POLICY) for sd in (0.02, 0.17, 0.6))
    assert calm.repeat == 5
    assert 5 < louder.repeat <= 20
    assert loudest.metrics["mrr"] == {"policy": "report"}


def test_the_patch_calls_steady_only_what_was_asked_again() -> None:
    once, loud = run(*(asked(f"c{i}", mrr=[0.5]) for i in range(12))), noisy(30, 0.6)
    told = patch_text(once, Verdict("suite"), learn(once, POLICY))
    assert "ask more often" in told
    assert "repeat:" not in told
    told = patch_text(loud, Verdict("suite"), learn(loud, POLICY))
    assert "repeat: 1  # what varied would take more repeats than anybody waits for" in told


def test_tolerances_leave_room_for_the_noise() -> None:
    few = learn(noisy(8, 0.05), POLICY).metrics["mrr"]
    many = learn(noisy(40, 0.05), POLICY).metrics
    assert 0.02 < few["min_effect"] < 0.1
    assert many == {}, "the statistical policy knows the noise"
    assert learn(noisy(60, 0.18), POLICY).metrics == {}, "the case guard counts repeats"
    assert learn(noisy(90, 0.4), POLICY).metrics["mrr"] == {"case_max_drop": 1.0}


def test_errors_and_what_no_baseline_keeps_are_left_out() -> None:
    measured = run(asked("a", mrr=[1, 1]), case("b", state="error", mrr="boom"))
    assert learn(measured, POLICY).noise[0].n == 1
    assert "1 case errored" in patch_text(measured, Verdict("suite"), learn(measured, POLICY))
    assert learn(run(case("b", state="error", mrr="boom")), POLICY) == Suggestion()


def test_the_patch_is_a_part_of_a_golden_file(tmp_path: Path) -> None:
    measured = noisy(8, 0.06)
    text = patch_text(measured, Verdict("suite", flaky={"c1": "passes in 2 of 5 repeats"}), learn(measured, POLICY))
    assert "# 1 flaky case: c1 (passes in 2 of 5 repeats)" in text
    path = tmp_path / "x.golden.yaml"
    path.write_text("metrics: [mrr]\ncases: [{id: a, query: Q, relevant_docs: [d]}]\n" + text, encoding="utf-8")
    suite = load_golden(path, Registry())
    assert suite.repeat == 5
    assert suite.gates[0].metric == "mrr"
    assert suite.policy.for_metric("mrr").min_effect > 0.01
    assert set(yaml.safe_load(text)) == {"repeat", "thresholds", "regression"}


def test_the_table_of_noise() -> None:
    lines = ["".join(cell.text for cell in line) for line in noise_table(learn(noisy(8, 0.06), POLICY), width=90)]
    assert "within-case sd" in lines[0]
    assert lines[2].startswith("mrr")
    assert noise_table(Suggestion()) == []
