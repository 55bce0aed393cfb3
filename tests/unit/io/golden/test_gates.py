"""Thresholds and the policy of a golden file."""

from __future__ import annotations

from pathlib import Path

from tests.unit.io.files import load


def test_the_file_decides_how_it_is_judged(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        """\
        description: What people ask most
        fixture: shop_rag
        tags: [nightly]
        repeat: 3
        metrics: [recall@5, token_f1]
        regression: {policy: statistical, alpha: 0.1, on_inconclusive: fail, metrics: {token_f1: {policy: report}}}
        cases: [{id: a, query: Q}]
        """,
    )
    assert (suite.description, suite.fixture, suite.tags, suite.repeat) == (
        "What people ask most", "shop_rag", ("nightly",), 3,
    )  # fmt: skip
    assert (suite.policy.alpha, suite.policy.on_inconclusive) == (0.1, "fail")
    assert suite.policy.for_metric("token_f1").policy == "report"
    assert suite.policy.for_metric("recall@5").policy == "statistical"


def test_gates_of_every_kind(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        """\
        owner: everyone
        metrics: [recall@5]
        case_thresholds: {recall@5: 0.5}
        thresholds:
          error_rate: 0.05
          pass_rate: {min: 0.9, owner: qa}
          p10(recall@5): 0.2
          pass_rate(recall@5): 0.7
          mean_latency: 2
          empty_result_rate: 0
          recall@5:
            - 0.8
            - {stat: median, min: 1, slice: {scenario: typo}}
            - {min: 0.1, slice: {tag: smoke}}
            - {min: 0.1, slice: {scenario: none}}
        cases: [{id: a, query: Q, scenario: typo, tags: smoke}]
        """,
    )
    assert [f"{g.title} {g.bound}" for g in suite.gates] == [
        "error_rate <= 0.05", "pass_rate >= 0.9", "p10(recall@5) >= 0.2", "pass_rate(recall@5) >= 0.7",
        "mean_latency <= 2", "empty_result_rate <= 0", "recall@5 >= 0.8", "median(recall@5){scenario=typo} >= 1",
        "recall@5{tag=smoke} >= 0.1", "recall@5{scenario=none} >= 0.1",
    ]  # fmt: skip
    assert [g.owner for g in suite.gates[:3]] == ["everyone", "qa", "everyone"]
    assert [g.line for g in suite.gates] == [5, 6, 7, 8, 9, 10, 11, 11, 11, 11]
