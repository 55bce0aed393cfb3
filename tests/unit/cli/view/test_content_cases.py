"""Everything about one case."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.view.content import case_page, evidence_of
from pytest_auepora.core.findings import Answers
from pytest_auepora.errors import UnknownRunError

from ...history.recordings import failed, said
from ...reporting.builders import Case, run_of, verdict_of
from .histories import RATIONALE, Stored


def test_a_case_that_is_not_there_is_refused(history: Stored) -> None:
    with pytest.raises(UnknownRunError, match="has no case 'nope'"):
        case_page(history.library, history.library.pair(history.worse), "nope")


def test_both_rankings_tell_how_far_each_document_moved(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.worse), "wrong-answer")
    now = [(hit["rank"], hit["id"], hit["was"]) for hit in told["now"]["hits"]]
    then = [(hit["rank"], hit["id"], hit["was"]) for hit in told["then"]["hits"]]
    assert now == [(1, "refunds.md", 2), (2, "index.md", 1)]
    assert then == [(1, "index.md", 2), (2, "refunds.md", 1), (3, "terms.md", None)]
    assert told["then"]["answer"] != told["now"]["answer"]


def test_the_quote_is_marked_in_its_chunk(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.good), "steady")
    hit = next(hit for hit in told["now"]["hits"] if hit["id"] == "refunds.md")
    assert [text for text, quoted in hit["text"] if quoted] == ["says about money"]
    assert "".join(text for text, _ in hit["text"]).strip() == "What refunds.md says about money."
    assert "then" not in told


def test_every_answer_is_there_with_its_scores(history: Stored) -> None:
    store = history.library.store
    run = run_of([Case("one")])
    run.cases["one"].answers = Answers({"recall@5": [1.0, "error"]}, {}, [True, False])
    recordings = {"one": [said("Yes."), failed("TimeoutError: late")]}
    pair = history.library.pair(store.add(run, verdict_of(run), recordings=recordings))
    told = case_page(history.library, pair, "one")
    assert told["repeats"] == [{"metric": "recall@5", "now": ["1.000", "error"], "then": []}]
    assert [one["now"] for one in told["answers"]] == ["Yes.", "TimeoutError: late"]


def test_what_the_judge_says_stands_beside_its_reasons(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.worse), "steady")
    assert [(one["metric"], one["value"]) for one in told["judges"]] == [("helpful", "0.800")]
    assert told["judged"] == [["helpful", "", RATIONALE]]


def test_evidence_is_whole_where_answers_are_recorded(history: Stored) -> None:
    store, run = history.library.store, run_of([Case("one", got=["a.md"])])
    recorded = {"one": [said("Yes.", "All of it.")]}
    for recordings, expected in (({}, "What a.md says about money."), (recorded, "All of it.")):
        pair = history.library.pair(store.add(run, verdict_of(run), recordings=recordings))
        assert evidence_of(history.library, pair, pair.run.cases["one"]) == [expected]
