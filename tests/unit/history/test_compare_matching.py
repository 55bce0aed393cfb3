"""How hits are told apart: by chunk, by passages that labels name, by document."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.errors import NotComparableError
from pytest_auepora.history.aggregates import compute_aggregate
from pytest_auepora.history.compare import ComparisonKind, QueryNote, as_baseline, as_run, compare
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.compare import Change, Incomparable

from ..reporting.builders import Case, run_of, verdict_of


def chunked(version: int, *documents: str) -> Run:
    """A run that returned a chunk of each of *documents*, named after *version*; the right one is of ``manual``."""
    got = [f"{name}#{version}" for name in documents]
    run = run_of([Case("one", relevant=["manual#1"], got=got)], provenance={"chunker_version": version})
    case = run.cases["one"]
    for entry in (*case.expected["relevant"], *case.outputs["retrieved"]):
        entry["doc"] = entry["id"].split("#")[0]
    return run


def test_new_chunk_ids_fall_back_to_documents() -> None:
    a, b = chunked(1, "notes", "manual"), chunked(2, "manual", "notes")
    assert compute_aggregate(b).hit_at_k[10] == 0.0  # by chunk id everything is lost
    report = compare(a, b)
    assert report.deltas["chunker_version_match"] == "fallback_doc"
    assert report.deltas["hit_at_k"] == {"1": 1.0, "3": 0.0, "5": 0.0, "10": 0.0}
    (query,) = report.per_query
    assert (query.kind, query.a_hit_rank, query.b_hit_rank) == (ComparisonKind.WIN, 2, 1)
    changed = Change("chunker_version", 1, 2)
    assert query.note == QueryNote(changed=True)
    assert report.causes == [changed]
    assert report.incomparable["recall@5"] == Incomparable(changes=(changed,))
    assert report.outcome != "worse"


def test_the_earlier_run_says_the_document_of_a_chunk() -> None:
    a, b = chunked(1, "notes", "manual"), chunked(2, "manual", "notes")
    for run in (a, b):
        del run.cases["one"].expected["relevant"][0]["doc"]
    report = compare(a, b)
    (query,) = report.per_query
    assert (query.kind, query.a_hit_rank, query.b_hit_rank) == (ComparisonKind.WIN, 2, 1)
    assert report.deltas["recall_at_k_doc"] == {"1": 1.0, "3": 0.0, "5": 0.0, "10": 0.0}
    a.cases["one"].outputs["retrieved"].pop()
    with pytest.raises(NotComparableError, match="labels or hits do not say their document"):
        compare(a, b)


@pytest.mark.parametrize("silent", [(0, 1), (1,), (0,)])
def test_hits_without_documents_are_not_comparable(silent: tuple[int, ...]) -> None:
    runs = [chunked(1, "manual"), chunked(2, "manual")]
    for at in silent:
        for entry in (*runs[at].cases["one"].expected["relevant"], *runs[at].cases["one"].outputs["retrieved"]):
            entry.pop("doc")
    with pytest.raises(NotComparableError, match="labels or hits do not say their document"):
        compare(*runs)


def test_a_run_stores_no_hits_of_chunks_that_are_gone(tmp_path: Path) -> None:
    a, b = chunked(1, "notes", "manual"), chunked(2, "manual", "notes")
    store = HistoryStore(tmp_path / "history.sqlite")
    verdict = verdict_of(b, baseline=as_baseline(a))
    stored = store.aggregate(store.add(b, verdict))
    assert (stored.mrr, stored.hit_at_k[5], stored.recall_at_k_doc[5]) == (None, None, 1.0)
    del b.cases["one"].expected["relevant"][0]["doc"]
    assert store.aggregate(store.add(b, verdict)).recall_at_k_doc[5] is None
    b.provenance = a.provenance
    assert store.aggregate(store.add(b, verdict_of(b, baseline=as_baseline(a)))).mrr == 0.0


def test_new_chunk_ids_are_refused_on_request() -> None:
    a, b = chunked(1, "manual"), chunked(2, "manual")
    with pytest.raises(NotComparableError, match="chunker_version 1 → 2"):
        compare(a, b, strict_chunker_version=True)
    assert compare(a, a, strict_chunker_version=True).deltas["chunker_version_match"] == "exact"


def test_labels_that_name_passages_outlast_the_chunks() -> None:
    a, b = chunked(1, "manual"), chunked(2, "manual")
    for run, rank in ((a, 1), (b, 3)):
        run.cases["one"].expected["relevant"] = [{"id": "manual", "grade": 1, "match": "quote", "quote": "30 days"}]
        run.cases["one"].ranks = {'manual: "30 days"': rank}
    report = compare(a, b)
    assert report.deltas["chunker_version_match"] == "span"
    assert (report.per_query[0].a_hit_rank, report.per_query[0].b_hit_rank) == (1, 3)


def test_a_case_whose_hits_cannot_be_told_does_not_compare() -> None:
    a, b = chunked(1, "manual"), chunked(2, "manual")
    with pytest.raises(NotComparableError, match="what was retrieved is not stored"):
        compare(as_run(as_baseline(a)), b)
