"""How a case whose labels moved is scored, compared and stored."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.base.json import dumps
from pytest_auepora.base.records import read_record
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.labels.check import CheckedLabel, check_case, provable_new_ids, relabel
from pytest_auepora.labels.corpus import Chunk, corpus_of
from pytest_auepora.labels.repair import plan_new_ids
from pytest_auepora.metrics.ranking.matching import ranks_of_relevant
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.regression.baseline import Baseline, BaselineCase, match_of
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.compare import compare_case

ONE = "A refund can be asked for within 30 days of purchase."
TWO = "Gift cards are final and cannot be returned at all."
OLD = {"p#1": ONE, "p#2": TWO, "p#3": f"{ONE} {TWO}"}


def recall_of(_case_id: str, chunk_id: str) -> list[Chunk]:
    return [Chunk(chunk_id, OLD[chunk_id], "p", None, "run 1")] if chunk_id in OLD else []


def case(*labels: str | Document) -> GoldenCase:
    gold = [Document(one) if isinstance(one, str) else one for one in labels]
    return GoldenCase(EvaluationSample("c", "q", gold), content_hash="h")


def relabelled(golden: GoldenCase, corpus: Any, *, strict: bool = False) -> GoldenCase:
    chunks = corpus_of([Document(i, text, {"document_id": "p"}) for i, text in corpus.items()])
    return relabel(golden, check_case(golden, chunks, [recall_of]), chunks, strict=strict)


def recall(golden: GoldenCase, *returned: str) -> object:
    docs = [RetrievedDocument(Document(i, "", {"document_id": "p"}), 1.0, n) for n, i in enumerate(returned, 1)]
    return RecallAtK(k=5).measure(golden.sample, SystemOutputs(docs, Response("")))


def test_a_case_without_moved_labels_stays_the_very_same() -> None:
    golden = case("p#1", Document("p", "Gift cards", {"match": "quote"}))
    assert relabelled(golden, OLD) is golden
    nobody = GoldenCase(EvaluationSample("c", "q"))
    assert relabelled(nobody, {"x": ONE}) is nobody


def test_the_same_text_under_another_id_is_the_same_chunk() -> None:
    golden = relabelled(case("p#1", "p#2"), {"n1": ONE, "n2": TWO})
    assert golden.moved is not None
    assert golden.moved["match"] == "exact"
    assert golden.moved["labels"]["p#1"] == {"became": "re-anchorable", "match": "exact", "chunks": ["n1"]}
    assert recall(golden, "n2", "x", "n1").value == 1.0  # type: ignore[attr-defined]
    docs = [RetrievedDocument(Document("n2"), 1.0, 1)]
    assert ranks_of_relevant(golden.sample, SystemOutputs(docs, Response(""))) == {"p#1": None, "p#2": 1}


def test_a_chunk_with_half_the_passage_counts_with_its_grade() -> None:
    golden = relabelled(case(Document("p#3", "", {"grade": 2})), {"n1": ONE, "n2": TWO})
    assert golden.moved is not None
    assert golden.moved["match"] == "span"
    assert golden.sample.relevant_docs is not None
    assert golden.sample.relevant_docs[0].metadata["grade"] == 2
    assert recall(golden, "n1").value == 1.0  # type: ignore[attr-defined]
    assert recall(golden, "n2").value == 0.0  # type: ignore[attr-defined]


def test_below_half_only_the_document_is_left() -> None:
    golden = relabelled(case("p#1", "p#2"), {"n1": ONE, "n2": "Gift cards are nice."})
    assert golden.moved is not None
    assert golden.moved["match"] == "fallback_doc"
    assert recall(golden, "n9").value == 0.5  # type: ignore[attr-defined]


def test_strict_and_unknown_labels_leave_nothing_to_score_by() -> None:
    for golden in (
        relabelled(case("p#3"), {"n1": ONE, "n2": TWO}, strict=True),
        relabelled(case("p#1", "q#1"), {"n1": ONE}),
    ):
        assert golden.moved is not None
        assert golden.moved["match"] == "none"
        assert golden.sample.relevant_docs is None
        assert recall(golden, "n1") == RecallAtK(k=5).measure(
            EvaluationSample("c", "q"), SystemOutputs([], Response(""))
        )
    assert relabelled(case("p#1"), {"n1": ONE}, strict=True).moved["match"] == "exact"  # type: ignore[index]


# --- repairs ---


def checked(golden: GoldenCase, corpus: dict[str, str]) -> list[CheckedLabel]:
    return check_case(golden, corpus_of(corpus), [recall_of])


def test_two_labels_for_one_chunk_are_left_to_people() -> None:
    assert provable_new_ids(checked(case("p#1", "p#2"), {"n": f"{ONE} {TWO}"})) == {}
    assert provable_new_ids(checked(case("p#1", "n"), {"n": ONE})) == {}
    assert provable_new_ids(checked(case("p#1", "x"), {"n": ONE, "x": "X"})) == {0: "n"}
    quoted = Document("p", "Gift cards", {"match": "quote"})
    assert provable_new_ids(checked(case(quoted, "p#1"), {"n": ONE})) == {1: "n"}


def test_configurations_have_to_agree_on_a_rewrite() -> None:
    golden = case("p#1", "p#2")
    one, other = checked(golden, {"n1": ONE, "n2": TWO}), checked(golden, {"n1": ONE, "m2": TWO})
    assert plan_new_ids([one]) == {("c", 0): "n1", ("c", 1): "n2"}
    assert plan_new_ids([one, other]) == {("c", 0): "n1"}
    assert plan_new_ids([one, checked(golden, OLD)]) == {}


def test_what_was_found_survives_its_journey() -> None:
    for one in checked(case("p#1", "p#9"), {"n1": f"{ONE} {TWO}"}):
        assert read_record(CheckedLabel, dumps(one)) == one


# --- comparison and notes ---

INFO = {
    "recall@5": MetricInfo("recall@5", 1, {}, "RETRIEVAL_RELEVANCE", "higher", (0, 1), True, True),
    "token_f1": MetricInfo("token_f1", 1, {}, "GENERATION_CORRECTNESS", "higher", (0, 1), True, True),
}


def result(match: str = "exact", value: float = 0.0) -> CaseResult:
    scores = {name: Score("number", value) for name in INFO}
    told = {"match": match, "labels": {"p#1": {"became": "split", "match": match, "chunks": []}}}
    return CaseResult("c", scores=scores, content_hash="h", moved=None if match == "exact" else told)


@pytest.mark.parametrize(("before", "after"), [("exact", "span"), ("span", "fallback_doc"), ("exact", "none")])
def test_scores_by_another_match_do_not_count_against_it(before: str, after: str) -> None:
    block = BaselineCase("h", scores={"recall@5": 1.0, "token_f1": 1.0}, match=before)  # type: ignore[arg-type]
    found = compare_case(result(after), block, INFO)
    assert found.not_comparable == (("chunker_version_match", before, after),)
    assert (set(found.changes), found.lost) == ({"token_f1"}, {})
    same = compare_case(result(before), block, INFO)
    assert (set(same.changes), same.not_comparable) == (set(INFO), ())


def test_a_baseline_says_the_match_where_it_is_not_exact() -> None:
    for match in ("exact", "fallback_doc"):
        block = BaselineCase.of(result(match), INFO)
        text = Baseline("s", cases={"c": block}).dumps()
        assert ("match" in text) == (match != "exact")
        assert parse_baseline(text, "x").cases["c"].match == match == match_of(result(match))
