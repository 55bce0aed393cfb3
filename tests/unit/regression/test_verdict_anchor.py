"""The anchor: judged by limits of its own, and never by accident."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.run import MetricInfo, Run
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.baseline_file import Anchor, anchor_path, load_anchor
from pytest_auepora.regression.guards.interval_guard import limits
from pytest_auepora.regression.policy import AnchorPolicy, RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from . import runs
from .runs import case, metrics, run, steady


def suite(score: float, n: int = 5, **more: Any) -> Run:
    return run(*(case(f"c{i:02}", mrr=score) for i in range(n)), names=("mrr",), **more)


def judged(now: Run, last: Run, old: Run, **policy: Any) -> Verdict:
    last_one, anchor = (steady(runs.accepted(one)) for one in (last, old))
    given = RegressionPolicy(**policy)
    return judge(now, [], given, metrics("mrr"), baseline=last_one, anchor=Anchor(anchor))


def states(found: Verdict) -> dict[str, str]:
    return {g.key: g.state for g in found.gates if g.kind in ("regression", "anchor") and g.metric == "mrr"}


def test_small_steps_add_up_against_the_anchor() -> None:
    found = judged(suite(0.90), suite(0.905), suite(0.95))
    assert states(found) == {"regression: mrr": "passed", "anchor: mrr": "failed"}
    (gate,) = [g for g in found.gates if g.kind == "anchor" and g.metric == "mrr"]
    assert [gate.before, gate.value] == pytest.approx([0.95, 0.9])
    assert gate.metric == "mrr"


def test_its_limits_are_wider_and_its_own() -> None:
    assert states(judged(suite(0.90), suite(0.90), suite(0.92)))["anchor: mrr"] == "passed"
    narrow = {"anchor": AnchorPolicy(min_effect=0.01)}
    assert states(judged(suite(0.90), suite(0.90), suite(0.92), **narrow))["anchor: mrr"] == "failed"
    silent = {"anchor": AnchorPolicy(policy="report")}
    assert "anchor: mrr" not in states(judged(suite(0.1), suite(0.1), suite(0.92), **silent))


def test_limits_are_never_narrower_than_the_anchors() -> None:
    own: dict[str, dict[str, Any]] = {
        "mrr": {"min_effect": 0.001, "margin": 0.5, "policy": "tolerance"},
        "hit@1": {"policy": "report"},
    }
    found = RegressionPolicy(metrics=own, slices=("language",)).against_anchor()
    mrr = found.for_metric("mrr")
    assert (mrr.min_effect, mrr.margin, mrr.policy) == (0.03, 0.5, "tolerance")
    assert found.for_metric("hit@1").policy == "report"
    assert found.slices == ()
    timed = RegressionPolicy(metrics={"p95_latency": {"policy": "auto"}}).against_anchor()
    assert limits("p95_latency", MetricInfo.of(metrics("p95_latency")["p95_latency"]), timed) == (0.1, 0.25)
    silent = RegressionPolicy(metrics=own, anchor=AnchorPolicy(policy="report")).against_anchor()
    assert silent.for_metric("mrr").policy == "report"


def test_statistics_against_the_anchor() -> None:
    found = judged(suite(0.8, 30), suite(0.81, 30), suite(0.9, 30))
    (gate,) = [g for g in found.gates if g.kind == "anchor" and g.metric == "mrr"]
    assert gate.state == "failed"
    assert gate.test is not None
    assert gate.test.drop == pytest.approx(0.1)


def test_an_anchor_that_compares_with_nothing_says_so() -> None:
    found = judged(suite(0.5), suite(0.5), suite(0.9, provenance={"chunker": 1}))
    assert "anchor: mrr" not in states(found)
    assert [note.kind for note in found.notes] == ["anchor not compared"]


def test_where_it_lies_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = baseline_path(tmp_path / "shop.golden.yaml", "suite", "fast")
    assert anchor_path(path).name == "suite@fast.anchor.json"
    assert load_anchor(path, "suite", "fast") == Anchor()
    accept(anchor_path(path), suite(1.0), Acceptance({"all"}))
    broken = load_anchor(path, "suite", "fast")
    assert "wanted is 'suite[fast]'" in broken.problem
    found = judge(suite(1.0), [], RegressionPolicy(), metrics("mrr"), anchor=broken)
    assert found.outcome == "failed"


def test_a_partial_run_is_not_held_to_it() -> None:
    now = suite(0.1)
    now.expected_ids = (*now.expected_ids, "one-more")
    assert states(judged(now, suite(0.1), suite(0.9)))["anchor: mrr"] == "not judged"
