"""What was accepted, in full, in a file beside the baseline: each text once, the same bytes for the same answers."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import AueporaError, HistoryError
from pytest_auepora.evaluation.answer_codec import RecordedOutputs
from pytest_auepora.evaluation.reuse import documents_digest
from pytest_auepora.history.accepted import (
    AcceptedTexts,
    accepted_path,
    accepted_run,
    find_accepted,
)
from pytest_auepora.history.compare import as_baseline
from pytest_auepora.regression.baseline import BaselineCase

from ..reporting.builders import Case, run_of

Answer = tuple[CaseResult, RecordedOutputs | None]


def answer(case_id: str, *texts: str, said: str = "yes", **metadata: Any) -> Answer:
    """Return an answer for which documents of these *texts* were found; the first is relevant."""
    hits = [
        RetrievedDocument(Document(f"d{rank}", text, dict(metadata)), 1 / rank, rank)
        for rank, text in enumerate(texts, 1)
    ]
    shown = [{"id": hit.doc.doc_id, "grade": int(hit.rank == 1), "text": hit.doc.text[:9]} for hit in hits]
    in_full = CaseTexts(f"what is {case_id}?", {}, {"answer": said, "retrieved": shown})
    result = CaseResult(case_id, content_hash=f"h-{case_id}", texts=in_full)
    return result, RecordedOutputs.of(SystemOutputs(hits, Response(said)))


def saved(path: Path, cases: dict[str, Answer], *more: str) -> AcceptedTexts:
    AcceptedTexts(path).save(cases, dict.fromkeys([*cases, *more], BaselineCase("h")))
    return AcceptedTexts(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return accepted_path(tmp_path / "shop@bm25.json")


def test_half_characters_of_a_system_become_question_marks(path: Path) -> None:
    texts = saved(path, {"a": answer("a", "cut \ud83d", said="no \udc00")})
    assert (texts["a"].answer, texts.text(texts["a"].documents[0])) == ("no ?", "cut ?")


def test_an_answer_comes_back_with_its_documents(path: Path) -> None:
    long = "within thirty days " * 50
    texts = saved(path, {"a": answer("a", long, "other", page=3, source="refunds.md", start=1, end=9)})
    assert path.name == "shop@bm25.accepted.json.gz"
    kept = texts["a"]
    assert (kept.hash, kept.query, kept.answer, kept.lost) == ("h-a", "what is a?", "yes", {})
    assert [texts.text(document) for document in kept.documents] == [long, "other"]
    assert kept.documents[0].metadata["page"] == 3
    first, second = texts.outputs("a")["retrieved"]
    assert first == {"id": "d1", "grade": 1, "text": long, "score": 1.0, "doc": "refunds.md", "span": [1, 9]}
    assert (second["grade"], second["text"]) == (0, "other")


@pytest.mark.parametrize("score", [math.inf, None, 0.25])
def test_any_score_may_stand_at_a_document(path: Path, score: Any) -> None:
    result, outputs = answer("a", "text")
    assert outputs is not None
    outputs.retrieved[0].score = str(score) if score == math.inf else score
    assert saved(path, {"a": (result, outputs)}).outputs("a")["retrieved"][0].get("score") in (score, None)


def test_each_text_is_there_once(path: Path) -> None:
    saved(path, {name: answer(name, "common " * 99, f"of {name}") for name in "abcdef"})
    assert len(json.loads(gzip.decompress(path.read_bytes()))["texts"]) == 7


def test_what_is_accepted_again_takes_the_place_of_what_was(path: Path) -> None:
    saved(path, {"a": answer("a", "old"), "b": answer("b", "kept"), "gone": answer("gone", "x")})
    texts = saved(path, {"a": answer("a", "new", said="no")}, "b")
    assert {name: texts.outputs(name)["retrieved"][0]["text"] for name in texts} == {"a": "new", "b": "kept"}
    assert texts["a"].answer == "no"


def test_the_same_answers_are_the_same_bytes(path: Path, tmp_path: Path) -> None:
    cases = {"a": answer("a", "one", "two"), "b": answer("b", "two")}
    saved(path, cases)
    before, first = path.stat().st_mtime_ns, path.read_bytes()
    saved(path, {}, "a", "b")
    assert path.stat().st_mtime_ns == before
    other = accepted_path(tmp_path / "other.json")
    saved(other, {"b": cases["b"]}, "a")
    saved(other, {"a": cases["a"]}, "b")
    assert other.read_bytes() == first


def test_an_answer_alone_is_kept_without_documents(path: Path) -> None:
    result, _ = answer("a", "text")
    texts = saved(path, {"a": (result, None)})
    assert (texts["a"].answer, texts["a"].documents) == ("yes", [])
    assert not texts["a"].has_whole_documents


def test_documents_are_known_by_their_block(path: Path) -> None:
    texts = saved(path, {"a": answer("a", "first", "second", page=3)})
    assert [(r.doc.doc_id, r.doc.text, r.doc.metadata, r.rank) for r in texts.documents("a")] == [
        ("d1", "first", {"page": 3}, 1), ("d2", "second", {"page": 3}, 2),
    ]  # fmt: skip
    assert texts["a"].has_whole_documents
    assert texts.is_of("a", BaselineCase("h"))
    assert not texts.is_of("a", BaselineCase("h", scores={"recall@5": 1.0}))
    assert not texts.is_of("other", BaselineCase("h"))


def test_a_digest_tells_texts_order_and_metadata_apart(path: Path) -> None:
    same = saved(path, {"a": answer("a", "x", "y"), "b": answer("b", "x", "y"), "c": answer("c", "y", "x")})
    assert same.digest("a") == same.digest("b") != same.digest("c")
    assert same.digest("a") == documents_digest([("d1", "x", {}), ("d2", "y", {})])
    assert documents_digest([("d1", "x", {"page": 1})]) != documents_digest([("d1", "x", {})])


def test_what_is_not_whole_is_said(path: Path) -> None:
    result, outputs = answer("a", "t" * 500)
    assert outputs is not None
    outputs.cut(100)
    assert saved(path, {"a": (result, outputs)})["a"].lost == {"documents": "cut"}


def test_nothing_kept_is_no_error(path: Path) -> None:
    assert dict(texts := AcceptedTexts(path)) == {}
    assert accepted_run(path.with_name("shop.json"), "shop.golden.yaml", texts) is None


def test_answers_beside_the_baseline_go_first(tmp_path: Path) -> None:
    baseline, history = tmp_path / "suites" / "__baselines__" / "shop.json", tmp_path / ".auepora" / "history.sqlite"
    beside_history = history.parent / "accepted" / "suites" / "shop.accepted.json.gz"

    def found(place: Path | str | None, golden: str = "suites/shop.golden.yaml") -> list[str] | None:
        texts = find_accepted(baseline, golden, place, tmp_path)
        return None if texts is None else [*texts]

    assert (found(None), found(history)) == (None, [])
    saved(beside_history, {"of the history": answer("a", "text")})
    assert (found(history), found("postgresql://host/db")) == (["of the history"], ["of the history"])
    assert found(history, "other/shop.golden.yaml") == [], "another folder may have such a suite"
    saved(accepted_path(baseline), {"of the baseline": answer("a", "text")})
    assert found(history) == found(None) == ["of the baseline"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no gzip", "Not a gzipped file"),
        (gzip.compress(b"{"), "not JSON"),
        (gzip.compress(b"{}")[:-9], "cannot be read"),
        (gzip.compress(b'{"format": 2}'), "format 2, this version reads 1"),
        (gzip.compress(b'{"cases": {"a": {"hash": 3}}}'), "cases.a.hash: expected a text, found 3"),
        (
            gzip.compress(b'{"cases": {"a": {"hash": "h", "query": "", "answer": "", "documents": '
                          b'[{"id": "d", "text": 1, "score": null}]}}, "texts": ["x"]}'),
            "names text 1, and there are 1 texts",
        ),
    ],
    ids=["no gzip", "no JSON", "cut short", "format", "key", "place of a text"],
)  # fmt: skip
def test_a_damaged_file_is_named(path: Path, data: bytes, said: str) -> None:
    path.write_bytes(data)
    with pytest.raises(HistoryError) as caught:
        AcceptedTexts(path)
    assert str(caught.value).startswith(f"{path}:")
    assert said in str(caught.value)


def test_the_accepted_run_has_the_texts_of_unchanged_cases(tmp_path: Path) -> None:
    run = run_of([Case("one"), Case("two"), Case("three")])
    baseline = tmp_path / "shop.json"
    baseline.write_text(as_baseline(run).dumps(), encoding="utf-8")
    cases: dict[str, Answer] = {name: (case, None) for name, case in run.cases.items() if name != "three"}
    AcceptedTexts(accepted_path(baseline)).save(cases, as_baseline(run).cases)
    texts = json.loads(gzip.decompress(accepted_path(baseline).read_bytes()))
    texts["cases"]["two"]["hash"] = "of an edited case"
    accepted_path(baseline).write_bytes(gzip.compress(json.dumps(texts).encode()))
    kept = AcceptedTexts(accepted_path(baseline))
    accepted = accepted_run(baseline, "shop.golden.yaml", kept)
    assert accepted is not None
    assert accepted.path == "shop.golden.yaml"
    assert {name: case.outputs.get("answer") for name, case in accepted.cases.items()} == {
        "one": run.cases["one"].outputs["answer"], "two": None, "three": None,
    }  # fmt: skip
    baseline.write_text("no baseline", encoding="utf-8")
    with pytest.raises(AueporaError):
        accepted_run(baseline, "shop.golden.yaml", kept)
