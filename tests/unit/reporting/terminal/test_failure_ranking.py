"""The relevant documents of a failed case and the returned ones: what is shown, marked and left out."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.scoring import Score
from pytest_auepora.reporting.relevant_docs import RelevantDoc
from pytest_auepora.reporting.terminal.failure import add_expected, add_ranking, deepest
from pytest_auepora.reporting.terminal.layout import Page, render
from pytest_auepora.reporting.text import text_width

from ..builders import infos_of

INFOS = infos_of(["recall@5", "mrr@10", "mrr", "token_f1", "precision@3"])
FAILED = CaseResult("a", "failed")


def wanted(*docs: RelevantDoc, k: int | None = 5, result: CaseResult = FAILED, width: int = 80) -> list[str]:
    page = Page(width)
    add_expected(page, result, docs, k)
    return render(page.lines).splitlines()


def returned(*hits: dict[str, Any], scores: str = "recall@5", blamed: str = "recall@5", width: int = 80) -> list[str]:
    page = Page(width)
    result = CaseResult("a", "failed", texts=CaseTexts(outputs={"retrieved": list(hits)}))
    result.scores = {name: Score("number", 0.0) for name in scores.split()}
    add_ranking(page, result, INFOS, blamed.split())
    return render(page.lines).splitlines()


def hits(n: int, *relevant: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"d{i}", "grade": int(i in relevant), **more} for i in range(1, n + 1)]


@pytest.mark.parametrize(
    ("blamed", "k"),
    [
        ("recall@5 mrr@10", 10),
        ("precision@3", 3),
        ("token_f1 recall@5", 5),
        ("token_f1", None),
        ("mrr", None),  # of the whole ranking
        ("", None),
    ],
)
def test_the_furthest_rank_that_is_looked_at(blamed: str, k: int | None) -> None:
    assert deepest(blamed.split(), INFOS) == k


def test_nothing_is_relevant() -> None:
    assert wanted() == []
    assert wanted(result=CaseResult("a", texts=CaseTexts(expected={"expect": "refuse"}))) == [
        "expected   a refusal: nothing is relevant"
    ]


def test_ranks_now_and_before() -> None:
    assert wanted(
        RelevantDoc("a.md", 1, 2),
        RelevantDoc("b.md", 1, 9, 2, known=True),
        RelevantDoc("longer.md", 1, None, 3, known=True),
        RelevantDoc("c.md", 1, 1, None, known=True),
        RelevantDoc("d.md", 1, 4, 4, known=True),
    ) == [
        "expected   ✓ a.md       rank 2",
        "           ✗ b.md       rank 9, was 2",
        "           ✗ longer.md  not returned, was 3",
        "           ✓ c.md       rank 1, was not returned",
        "           ✓ d.md       rank 4",
    ]
    assert wanted(RelevantDoc("a.md", 1, 60), k=None) == ["expected   ✓ a.md  rank 60"]


def test_of_many_those_that_were_not_found_come_first() -> None:
    docs = [RelevantDoc(f"d{i}", 1, i if i != 8 else None) for i in range(1, 10)]
    lines = wanted(*docs)
    assert [line[13:15] for line in lines[:6]] == ["d6", "d7", "d8", "d9", "d1", "d2"]
    assert lines[6] == "           … and 3 more documents"


def test_a_case_without_an_answer_has_no_ranks() -> None:
    result = CaseResult("a", "error")
    assert wanted(RelevantDoc("a.md", 2, None), RelevantDoc("b.md", 1, None), result=result) == [
        "expected   a.md",
        "           b.md",
    ]


@pytest.mark.parametrize("width", [0, 31, 40, 60])
def test_a_narrow_terminal_keeps_labels_and_ranks(width: int) -> None:
    docs = (
        RelevantDoc("refunds-of-2024.md", 3, 137, None, known=True),
        RelevantDoc("返金規定の文書.md", 1, None, 12, known=True),
    )
    lines = wanted(*docs, width=width)
    assert max(map(text_width, lines)) <= max(width, 31)
    assert "✗ refund" in lines[0]
    assert "rank 137" in lines[0]
    assert "✗ 返金" in lines[1]
    assert "not ret" in lines[1]


def test_nothing_returned() -> None:
    assert returned() == ["returned   nothing"]


def test_what_a_metric_looks_at_and_the_relevant_ones_below() -> None:
    assert returned(*hits(12, 2, 6, 9)) == [
        "returned     1 · d1",
        "             2 ✓ d2",
        "             3 · d3",
        "             4 · d4",
        "             5 · d5",
        "               ─ recall@5 looks no further",
        "             6 ✓ d6",
        "               …",
        "             9 ✓ d9",
        "               … 12 returned",
    ]


def test_no_more_than_ten_and_three_below() -> None:
    lines = returned(*hits(40, *range(11, 30)), scores="mrr", blamed="mrr")
    assert [line.split()[0] for line in lines[1:]] == ["2", "3", "4", "5", "…", "11", "12", "13", "…"]
    deep = returned(*hits(40, 30), scores="mrr@10", blamed="mrr@10")
    assert [line.split()[-1] for line in deep[9:]] == ["d10", "further", "…", "d30", "returned"]


@pytest.mark.parametrize(
    ("scores", "blamed", "shown"),
    [
        ("recall@5 mrr@10", "recall@5", 5),
        ("recall@5 mrr@10", "mrr", 10),  # a blamed metric of the whole ranking: the furthest of those measured
        ("recall@5 mrr@10", "token_f1", 5),  # the ranking is not to blame: the nearest
        ("unknown@7", "", 5),
    ],
)
def test_how_many_are_shown(scores: str, blamed: str, shown: int) -> None:
    assert sum(" · " in line for line in returned(*hits(20), scores=scores, blamed=blamed)) == shown


def test_names_scores_and_texts_stand_in_columns() -> None:
    assert returned(
        {"id": "sha:0123456789abcdef", "doc": "shop/refunds.md", "score": 0.75, "text": " Within\n30 days. "},
        {"id": "shop/terms.md#3", "doc": "shop/terms.md", "score": 12, "text": None},
        {"id": "x", "score": "high"},
        {},
    ) == [
        "returned     1 · shop/refunds.md (sha:0123456…)    0.75  Within 30 days.",
        "             2 · shop/terms.md#3                     12",
        "             3 · x",
        "             4 · None",
    ]


@pytest.mark.parametrize("width", [0, 31, 40, 60])
@pytest.mark.parametrize("score", [0.0, 1.0, -1.2345e-05])
def test_no_line_is_wider_than_the_terminal(width: int, score: float) -> None:
    many = hits(1001, 1001, score=score, text="規約集 " * 40, doc="返金規定の文書その二とても長い名前.md")
    assert max(map(text_width, returned(*many, width=width))) <= max(width, 31)


def test_hostile_texts_are_harmless() -> None:
    evil = "\x1b[2J\r\u202e::error::x"
    for lines in (returned({"id": evil, "doc": evil, "text": evil}), wanted(RelevantDoc(evil, 1, 1))):
        assert all(line.isprintable() for line in lines)


def test_metrics_that_are_not_known_blame_nothing() -> None:
    info = MetricInfo("own", 1, {}, "NO_SUCH_TARGET", "higher", (0, 1), True, True)
    assert deepest(["own"], {"own": info}) is None
