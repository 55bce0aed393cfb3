"""Rows by page, and everything about one case."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.view import content
from pytest_auepora.cli.view.content import case_page, cases_page, evidence_of, filter_rows

from ...history.recordings import failed, said
from ...reporting.builders import Case, run_of, verdict_of
from .histories import Stored


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, ["fell-out", "wrong-answer", "raises", "steady"]),
        ({"show": "failed"}, ["fell-out", "wrong-answer", "raises"]),
        ({"show": "newly failing", "tag": "smoke"}, ["fell-out"]),
        ({"slice": "scenario=plain"}, ["wrong-answer", "steady"]),
        ({"text": " A YEAR "}, ["wrong-answer"]),
        ({"text": "no such words"}, []),
        ({"sort": "id", "down": "1"}, ["wrong-answer", "steady", "raises", "fell-out"]),
        ({"sort": "0"}, ["fell-out", "wrong-answer", "steady", "raises"]),
        ({"sort": "99"}, ["steady", "fell-out", "wrong-answer", "raises"]),
        ({"sort": "change", "show": "unchanged"}, ["steady"]),
    ],
)
def test_rows_are_chosen_and_ordered(history: Stored, asked: dict[str, str], ids: list[str]) -> None:
    assert [one["id"] for one in filter_rows(history.library.pair(history.worse), asked)] == ids


def test_the_server_sends_a_page_at_a_time(history: Stored) -> None:
    many = run_of([Case(f"case-{i:03}") for i in range(250)])
    pair = history.library.pair(history.library.store.add(many, verdict_of(many)))
    sizes = {page: len(cases_page(pair, {"page": page})["rows"]) for page in ("", "1", "2", "3", "9", "-1", "x")}
    assert sizes == {"": 100, "1": 100, "2": 100, "3": 50, "9": 50, "-1": 100, "x": 100}
    told = cases_page(pair, {"page": "3"})
    assert (told["page"], told["pages"], told["found"], told["all"]) == (3, 3, 250, 250)
    assert "text" not in told["rows"][0]


def test_a_case_knows_its_neighbours_among_those_shown(history: Stored) -> None:
    library = history.library
    pair = library.pair(history.worse)
    told = case_page(library, pair, "wrong-answer", {"show": "failed"})
    assert (told["previous"], told["next"], told["place"], told["of"]) == ("fell-out", "raises", 2, 3)
    told = case_page(library, pair, "steady", {"show": "failed"})
    assert (told["previous"], told["next"], told["place"]) == (None, None, None)


def test_both_rankings_tell_how_far_each_document_moved(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.worse), "wrong-answer", {})
    now = [(hit["rank"], hit["id"], hit["was"]) for hit in told["now"]["hits"]]
    then = [(hit["rank"], hit["id"], hit["was"]) for hit in told["then"]["hits"]]
    assert now == [(1, "refunds.md", 2), (2, "index.md", 1)]
    assert then == [(1, "index.md", 2), (2, "refunds.md", 1), (3, "terms.md", None)]
    assert told["then"]["answer"] != told["now"]["answer"]


def test_the_quote_is_marked_in_its_chunk(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.good), "steady", {})
    hit = next(hit for hit in told["now"]["hits"] if hit["id"] == "refunds.md")
    assert [text for text, quoted in hit["text"] if quoted] == ["says about money"]
    assert "".join(text for text, _ in hit["text"]).strip() == "What refunds.md says about money."
    assert told["then"] is None


def test_of_a_long_chunk_the_surroundings_of_the_span_are_shown() -> None:
    text = "a " * 500 + "the passage" + " b" * 500
    hit = {"id": "x#1", "doc": "x", "text": text, "span": [10_000, 12_000]}
    pieces = list(content._marked_text(hit, [{"id": "x", "span": [11_000, 11_011]}]))
    assert ("the passage", True) in pieces
    assert pieces[0] == ("… ", False)
    assert sum(len(text) for text, _ in pieces) < 1_100


def test_every_repeat_is_there_with_its_answer(history: Stored) -> None:
    store = history.library.store
    run = run_of([Case("one")])
    run.cases["one"].extra |= {"repeats": {"recall@5": [1.0, 0.0]}, "varies": {"answers": 3, "passed": 2}}
    recordings = {"one": [said("Yes."), failed("TimeoutError: late")]}
    pair = history.library.pair(store.add(run, verdict_of(run), recordings=recordings))
    told = case_page(history.library, pair, "one", {})["repeats"]
    assert told["values"] == [{"metric": "recall@5", "now": ["1.000", "0.000"], "then": []}]
    assert [one["now"] for one in told["answers"]] == ["Yes.", "TimeoutError: late"]
    assert told["varies"] == "2 of 3 answers passed when it was asked again"


def test_what_the_judge_says_stands_beside_its_reasons(history: Stored) -> None:
    told = case_page(history.library, history.library.pair(history.worse), "steady", {})
    assert [(one["metric"], one["value"]) for one in told["judges"]] == [("helpful", "0.800")]
    assert told["judged"] == [["helpful", "", "It is to the point."]]


def test_evidence_is_whole_where_answers_are_recorded(history: Stored) -> None:
    store, run = history.library.store, run_of([Case("one", got=["a.md"])])
    recorded = {"one": [said("Yes.", "All of it.")]}
    for recordings, expected in (({}, "What a.md says about money."), (recorded, "All of it.")):
        pair = history.library.pair(store.add(run, verdict_of(run), recordings=recordings))
        assert evidence_of(history.library, pair, pair.run.cases["one"]) == [expected]
