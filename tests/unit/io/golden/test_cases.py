"""What golden files say, and what it is read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.golden.model import DRAFT
from tests.unit.io.files import load, only


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
        ("must_contain: ['\\p{Lu}(?i)b'], match: regex", {"must_contain": [r"\p{Lu}(?i)b"], "match": "regex"}),
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
        ("noise_docs: [n, {id: i, text: t}]", {"noise_docs": ["n", {"id": "i", "text": "t"}]}),
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
    assert (bool(case.skip), case.benchmark, case.sample.metadata) == (True, {"rounds": 3}, {"user": "u1"})
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


def test_a_draft_is_not_run_whatever_else_it_says(tmp_path: Path) -> None:
    assert only(tmp_path, "status: draft").skip == DRAFT
    assert only(tmp_path, "status: draft, skip: later").skip == DRAFT
    assert only(tmp_path, "status: accepted").skip is None
    assert only(tmp_path, "status: draft").content_hash == only(tmp_path, "tags: a").content_hash
