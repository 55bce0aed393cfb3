"""What golden files say, and what it is read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.io.golden.load import DEFAULT_METRICS, GoldenCase
from pytest_auepora.regression.thresholds import Bound

from .files import CASE, DESIGN, load


def only(folder: Path, text: str) -> GoldenCase:
    """The one case of a file that holds *text* under ``cases``."""
    (case,) = load(folder, f"cases:\n- {{id: a, query: Q, {text}}}\n").cases
    return case


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
    assert (first.line, first.col, first.end_col) == (13, 4, 21)
    assert typo.sample.labels == {"variant_of": "refund-window", "scenario": "typo"}
    assert typo.cluster == first.cluster == "refund-window"
    assert typo.thresholds == {"recall@5": (Bound("min", 0.5),)}
    assert ceo.sample.relevant_docs == []
    assert ceo.sample.reference_answer is None
    assert suite.case("ceo-salary") is ceo
    assert [s.sample_id for s in suite.samples()] == ["refund-window", "refund-window-typo", "ceo-salary"]
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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("policy-4", Document("policy-4")),
        ("{id: p}", Document("p")),
        ("{id: p, grade: 0}", Document("p", metadata={"grade": 0})),
        ("{id: p, text: Hello, metadata: {lang: de}}", Document("p", "Hello", {"lang": "de"})),
        ("{doc: r.md}", Document("r.md", metadata={"match": "doc"})),
        ("{doc: r.md, quote: 'x y', grade: 3}", Document("r.md", "x y", {"match": "quote", "grade": 3})),
        ("{doc: r.md, span: [120, 180]}", Document("r.md", "", {"match": "span", "start": 120, "end": 180})),
        ("{doc: r.md, span: [0, 1], text: R}", Document("r.md", "R", {"match": "span", "start": 0, "end": 1})),
    ],
)
def test_how_relevant_documents_are_named(tmp_path: Path, written: str, read: Document) -> None:
    assert only(tmp_path, f"relevant_docs: [{written}]").sample.relevant_docs == [read]


def test_candidates(tmp_path: Path) -> None:
    sample = only(tmp_path, "candidate_docs: [x, {id: y, text: Y}]").sample
    assert sample.candidate_docs == [Document("x"), Document("y", "Y")]


def test_two_passages_of_one_document_are_two_labels(tmp_path: Path) -> None:
    docs = only(tmp_path, "relevant_docs: [{doc: d, span: [0, 5]}, {doc: d, span: [5, 9]}, {doc: d, quote: q}, d]")
    assert docs.sample.relevant_docs is not None
    assert len(docs.sample.relevant_docs) == 4


def test_several_right_answers(tmp_path: Path) -> None:
    answer = only(tmp_path, "reference_answer: [Yes., Of course., Sure.]").sample.reference_answer
    assert answer is not None
    assert (answer.text, answer.metadata) == ("Yes.", {"alternatives": ["Of course.", "Sure."]})


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("must_contain: x", {"must_contain": ["x"]}),
        ("must_contain: []", {"must_contain": []}),
        ("forbidden: [x, y], match: substring", {"forbidden": ["x", "y"], "match": "substring"}),
        ("must_contain: ['a.*b'], match: regex", {"must_contain": ["a.*b"], "match": "regex"}),
        ("expect: clarify", {"expect": "clarify"}),
        ("expect_change: true", {"expect_change": True}),
        (
            "entities: [x, 'x|y', {name: z, aliases: [zz]}]",
            {"entities": ["x", "x|y", {"name": "z", "aliases": ["zz"]}]},
        ),
        ("nuggets: n", {"nuggets": [{"any_of": ["n"], "importance": "vital"}]}),
        ("nuggets: [{any_of: n}]", {"nuggets": [{"any_of": ["n"], "importance": "vital"}]}),
        (
            "nuggets: [{any_of: [n, m], importance: okay}]",
            {"nuggets": [{"any_of": ["n", "m"], "importance": "okay"}]},
        ),
        ("sensitive: [s, {text: t, secure: true}]", {"sensitive": ["s", {"text": "t", "secure": True}]}),
        ("claims: [c]", {"claims": ["c"]}),
        ("answer_schema: {type: object}", {"answer_schema": {"type": "object"}}),
        ("labels: {lang: de, year: 2024}", {"lang": "de", "year": 2024}),
        ("scenario: typo, labels: {lang: de}", {"scenario": "typo", "lang": "de"}),
    ],
)
def test_what_metrics_read_ends_up_in_the_labels(tmp_path: Path, written: str, labels: dict[str, Any]) -> None:
    assert only(tmp_path, written).sample.labels == labels


def test_how_a_case_is_run(tmp_path: Path) -> None:
    case = only(
        tmp_path,
        "tags: smoke, timeout: 2, must_pass: true, quarantine: 2031-01-31, skip: true, "
        "benchmark: {rounds: 3}, metadata: {user: u1}",
    )
    assert (case.tags, case.timeout, case.must_pass, case.quarantine) == (("smoke",), 2.0, True, "2031-01-31")
    assert (case.skip, case.benchmark, case.sample.metadata) == (
        "skipped in the golden file",
        {"rounds": 3},
        {"user": "u1"},
    )
    other = only(tmp_path, "quarantine: '2031-01-31', skip: false, xfail: known gap, benchmark: true")
    assert (other.quarantine, other.skip, other.xfail, other.benchmark) == ("2031-01-31", None, "known gap", {})
    assert only(tmp_path, "benchmark: false").benchmark is None


def test_cases_inherit_and_override_defaults(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        """\
        metrics: [recall@5, token_f1, rougeL]
        case_thresholds: {recall@5: 0.5, token_f1: 0.1}
        defaults: {tags: [smoke], timeout: 3, match: substring, thresholds: {token_f1: 0.2}, must_contain: [x]}
        cases:
        - {id: a, query: Q}
        - {id: b, query: Q, tags: [slow], timeout: 1, must_contain: [], thresholds: {token_f1: 0.3, rougeL: "<= 0.9"}}
        """,
    )
    a, b = suite.cases
    assert (a.tags, a.timeout, b.tags, b.timeout) == (("smoke",), 3.0, ("slow",), 1.0)
    assert a.sample.labels == {"match": "substring", "must_contain": ["x"]}
    assert b.sample.labels == {"match": "substring", "must_contain": []}
    assert {m: [str(x) for x in bs] for m, bs in a.thresholds.items()} == {
        "recall@5": [">= 0.5"],
        "token_f1": [">= 0.2"],
    }
    assert {m: [str(x) for x in bs] for m, bs in b.thresholds.items()} == {
        "recall@5": [">= 0.5"], "token_f1": [">= 0.3"], "rougeL": ["<= 0.9"],
    }  # fmt: skip


def test_cases_do_not_share_what_they_inherit(tmp_path: Path) -> None:
    suite = load(tmp_path, "case_thresholds: {recall@5: 0.5}\ncases: [{id: a, query: Q}, {id: b, query: Q}]")
    a, b = suite.cases
    a.thresholds.clear()
    a.sample.metadata["seen"] = True
    assert b.thresholds
    assert not b.sample.metadata


def test_a_chain_of_variants_is_one_family(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        """\
        cases:
        - {id: c, query: Q, variant_of: b}
        - {id: b, query: Q, variant_of: a}
        - {id: a, query: Q}
        - {id: d, query: Q, variant_of: a, cluster: other}
        - {id: e, query: Q, cluster: faq}
        - {id: f, query: Q, variant_of: e}
        """,
    )
    assert [c.cluster for c in suite.cases] == ["a", "a", "a", "other", "faq", "faq"]
    assert [c.sample.labels.get("variant_of") for c in suite.cases] == ["a", "a", None, "a", None, "e"]


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
