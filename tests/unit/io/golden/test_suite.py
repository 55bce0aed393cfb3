"""What a golden file says of its suite, and what it is read as."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.io.golden.load import DEFAULT_METRICS
from pytest_auepora.regression.thresholds import Bound
from tests.unit.io.files import CASE, DESIGN, load, problems


def test_the_example_of_the_design(tmp_path: Path) -> None:
    suite = load(tmp_path, DESIGN, "billing.golden.yaml")
    assert (suite.name, suite.owner, suite.top_k, suite.fixture, suite.repeat) == (
        "billing",
        "search-team",
        5,
        "rag",
        1,
    )
    assert suite.metrics == ("recall@5", "ndcg@10", "mrr@10", "token_f1", "rougeL")
    assert [(f"{g.title} {g.bound}", g.line, g.col, g.owner) for g in suite.gates] == [
        ("recall@5 >= 0.8", 7, 3, "search-team"),
        ("p95_latency <= 2", 8, 3, "search-team"),
        ("ndcg@10{scenario=typo} >= 0.6", 9, 3, "search-team"),
    ]
    assert (suite.policy.policy, suite.policy.case_max_drop) == ("auto", 0.5)
    first, typo, ceo = suite.cases
    assert first.sample.relevant_docs == [
        Document("policy-4"),
        Document("policy-7", metadata={"grade": 2}),
        Document("refunds.md", "within 30 days", {"match": "quote"}),
    ]
    assert first.sample.reference_answer is not None
    assert first.sample.reference_answer.text == "Within 30 days of purchase."
    assert first.sample.labels == {"must_contain": ["30 days"], "forbidden": ["60 days"]}
    assert first.tags == ("smoke",)
    assert first.thresholds == {"recall@5": (Bound("min", 0.5),), "token_f1": (Bound("min", 0.4),)}
    assert (first.line, first.col) == (13, 5)
    assert typo.sample.labels == {"variant_of": "refund-window", "scenario": "typo"}
    assert typo.cluster == first.cluster == "refund-window"
    assert typo.thresholds == {"recall@5": (Bound("min", 0.5),)}
    assert ceo.sample.relevant_docs == []
    assert ceo.sample.reference_answer is None
    assert suite.case("ceo-salary") is ceo
    assert [c.sample.sample_id for c in suite.cases] == ["refund-window", "refund-window-typo", "ceo-salary"]
    with pytest.raises(KeyError):
        suite.case("ceo")


def test_least_file(tmp_path: Path) -> None:
    suite = load(tmp_path, CASE)
    (case,) = suite.cases
    assert (suite.name, suite.metrics, suite.gates, suite.owner) == ("shop", DEFAULT_METRICS, (), "")
    assert (case.id, case.sample.query, case.sample.relevant_docs, case.sample.labels) == ("a", "Q", None, {})
    assert (case.tags, case.thresholds, case.cluster, case.timeout, case.benchmark) == ((), {}, "a", None, None)
    assert (case.must_pass, case.quarantine, case.skip, case.xfail) == (False, None, None, None)


def test_top_k_covers_the_deepest_cut_off_unless_it_is_given(tmp_path: Path) -> None:
    assert load(tmp_path, "metrics: [recall@3]" + CASE).top_k == 5
    assert load(tmp_path, "metrics: [recall@3, ndcg@20, mrr@10]" + CASE).top_k == 20
    assert load(tmp_path, "metrics: [ndcg@20]\ntop_k: 7" + CASE).top_k == 7
    suite = load(tmp_path, "top_k: 7\ncases: [{id: a, query: Q, top_k: 3}, {id: b, query: Q}]")
    assert [c.top_k for c in suite.cases] == [3, 7]


@pytest.mark.parametrize("name", ["shop.golden.yaml", "shop.golden.yml", "shop.GOLDEN.YAML", "shop.yaml"])
def test_a_suite_is_called_after_its_file(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, CASE, name).name == "shop"


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = load(tmp_path, DESIGN)
    dressed = load(tmp_path, b"\xef\xbb\xbf" + DESIGN.replace("\n", "\r\n").encode())
    assert dressed == plain


def test_a_file_that_is_all_suffix_names_no_suite(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, CASE, ".golden.yaml")
    assert "suite: " in problem
