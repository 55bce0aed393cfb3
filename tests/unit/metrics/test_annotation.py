"""Metrics over labels: definitions on small lists, where labels come from, and when they do not apply."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics import annotation as room
from pytest_auepora.metrics.annotation import AnnotationFile, JudgeLabels, answer_hash, labels_from_claims
from pytest_auepora.metrics.annotation_labels import ANSWER_LABELS, CHUNK_LABELS
from pytest_auepora.metrics.judging import JudgeReplyError, LLMCritic
from pytest_auepora.metrics.registry import Registry

from .samples import case, gave, reason, value

CHUNKS: list[dict[str, Any]] = [
    {"id": "a", "topically_relevant": True, "evidence_sufficient": False, "misleading": False},
    {"id": "b", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
    {"id": "c", "topically_relevant": False, "evidence_sufficient": False, "misleading": True},
    {"id": "d", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
]
SAMPLE = case(chunk_labels=CHUNKS)


def got(*ids: str) -> Any:
    return gave("x", *(Document(i, f"text of {i}") for i in ids))


ALL_CHUNK: list[Any] = [
    room.TopicalPrecisionAtK,
    room.SufficiencyHitAtK,
    room.SufficiencyRateAtK,
    room.MisleadingRateAtK,
    room.LabelMRRAtK,
    room.NDCGLabelledAtK,
]
ALL_ANSWER: list[Any] = [
    room.GroundingPresence,
    room.UnsupportedClaim,
    room.Contradiction,
    room.CitationPresence,
    room.ConditionalFabrication,
    room.ProperAction,
    room.OnTopic,
    room.Helpfulness,
    room.Incompleteness,
    room.UnsafeContent,
]


@pytest.mark.parametrize("kind", [*ALL_CHUNK, *ALL_ANSWER], ids=lambda k: k.__name__)
def test_a_metric_made_in_code_carries_the_name_the_registry_accepts(kind: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"case": "c", "chunk": "a", "misleading": true}\n', encoding="utf-8")
    k = {"k": 3} if kind in ALL_CHUNK else {}
    made: list[Metric] = [kind(**k), kind(**k, labels=str(file))]
    if k:
        made.append(kind(**k, unjudged="skip"))
    for metric in made:
        again = Registry().get(metric.name)
        assert type(again) is kind
        assert (again.name, again.params()) == (metric.name, metric.params())
        assert metric.formula
        assert metric.source
        assert metric.oracle
        assert metric.deterministic
    assert made[1].params()["labels"] == "labels.jsonl"


def test_every_label_has_its_metric() -> None:
    wanted = {name for kind in (*ALL_CHUNK, *ALL_ANSWER) for name in kind.wanted}
    assert wanted == {*CHUNK_LABELS, *ANSWER_LABELS} - {"refused"}, "refused is what the refusal metrics ask for"


# --- chunks


def test_rates_by_hand() -> None:
    outputs = got("c", "a", "x", "b")
    assert value(room.TopicalPrecisionAtK(4), SAMPLE, outputs) == 2 / 4
    assert value(room.TopicalPrecisionAtK(2), SAMPLE, outputs) == 1 / 2
    assert value(room.TopicalPrecisionAtK(8), SAMPLE, outputs) == 2 / 8
    assert value(room.SufficiencyHitAtK(3), SAMPLE, outputs) == 0
    assert value(room.SufficiencyHitAtK(4), SAMPLE, outputs) == 1
    assert value(room.SufficiencyRateAtK(4), SAMPLE, outputs) == 1 / 4
    assert value(room.MisleadingRateAtK(4), SAMPLE, outputs) == 1 / 4
    assert value(room.LabelMRRAtK(4), SAMPLE, outputs) == 1 / 2
    assert value(room.LabelMRRAtK(1), SAMPLE, outputs) == 0
    assert room.MisleadingRateAtK.direction == "lower"


def test_ndcg_by_hand() -> None:
    outputs = got("a", "c", "b", "x")
    dcg = 1 / log2(2) + 3 / log2(4)
    of_all = 3 / log2(2) + 3 / log2(3) + 1 / log2(4)
    of_retrieved = 3 / log2(2) + 1 / log2(3)
    assert value(room.NDCGLabelledAtK(4), SAMPLE, outputs) == pytest.approx(dcg / of_all)
    assert value(room.NDCGLabelledAtK(4, ideal="retrieved"), SAMPLE, outputs) == pytest.approx(dcg / of_retrieved)
    assert value(room.NDCGLabelledAtK(4), SAMPLE, got("b", "d", "a")) == pytest.approx(1)
    nothing = case(chunk_labels=[{"id": "a", "topically_relevant": False}])
    assert reason(room.NDCGLabelledAtK(4), nothing, got("a")) == "nothing that is labelled is relevant"


def test_unlabelled_chunks_count_as_not_relevant_or_are_skipped_beside_judged() -> None:
    outputs = got("x", "y", "a", "z", "b")
    seen = room.TopicalPrecisionAtK(4).measure(SAMPLE, outputs)
    assert seen == Measurement(1 / 4, details={"judged@4": 1 / 4})
    assert value(room.TopicalPrecisionAtK(4, unjudged="skip"), SAMPLE, outputs) == 1
    assert value(room.LabelMRRAtK(4, unjudged="skip"), SAMPLE, outputs) == 1
    assert value(room.TopicalPrecisionAtK(4), SAMPLE, got("x", "y")) == 0
    assert "labelled" in reason(room.TopicalPrecisionAtK(4, unjudged="skip"), SAMPLE, got("x", "y"))
    assert "none of the first 2" in reason(room.MisleadingRateAtK(2), SAMPLE, got("x", "y", "c"))


def test_a_repeated_chunk_counts_once_unless_it_misleads() -> None:
    assert value(room.TopicalPrecisionAtK(2), SAMPLE, got("a", "a")) == 1 / 2
    assert value(room.SufficiencyRateAtK(2), SAMPLE, got("b", "b")) == 1 / 2
    assert value(room.NDCGLabelledAtK(4), SAMPLE, got("b", "b", "b", "b")) < 1
    assert value(room.MisleadingRateAtK(2), SAMPLE, got("c", "c")) == 1


def test_nothing_retrieved() -> None:
    for kind in ALL_CHUNK:
        if kind is room.MisleadingRateAtK:
            assert "labelled" in reason(kind(3), SAMPLE, got())
        else:
            assert value(kind(3), SAMPLE, got()) == 0


def test_not_labelled_at_all() -> None:
    for kind in ALL_CHUNK:
        assert reason(kind(3), case(), got("a")) == "no chunk is labelled"
    only = case(chunk_labels=[{"id": "a", "misleading": True}])
    assert reason(room.TopicalPrecisionAtK(3), only, got("a")) == "no chunk is labelled topically_relevant"
    unknown = case(chunk_labels=[{"id": "a", "misleading": None}])
    assert reason(room.MisleadingRateAtK(3), unknown, got("a")) == "no chunk is labelled misleading"


def test_quotes_spans_and_whole_documents() -> None:
    sample = case(
        chunk_labels=[
            {"doc": "manual", "quote": "within  30 days", "topically_relevant": True},
            {"doc": "manual", "span": [100, 200], "evidence_sufficient": True},
            {"doc": "old", "misleading": True},
        ]
    )
    outputs = gave(
        "x",
        Document("m-1", "Refunds: within 30\ndays.", {"document_id": "manual", "start": 0, "end": 90}),
        Document("m-2", "…", {"document_id": "manual", "start": 150, "end": 260}),
        Document("o-7", "anything", {"document_id": "old"}),
    )
    assert value(room.TopicalPrecisionAtK(3), sample, outputs) == 1 / 3
    assert value(room.SufficiencyHitAtK(2), sample, outputs) == 1
    assert value(room.SufficiencyHitAtK(1), sample, outputs) == 0
    assert value(room.MisleadingRateAtK(3), sample, outputs) == 1 / 3


def test_a_quote_found_in_two_chunks_never_exceeds_one() -> None:
    sample = case(chunk_labels=[{"doc": "m", "quote": "same words", "evidence_sufficient": True}])
    chunks = [Document(f"m-{i}", "the same words", {"document_id": "m"}) for i in range(3)]
    assert value(room.NDCGLabelledAtK(3), sample, gave("x", *chunks)) <= 1


def test_graded_relevant_docs_speak_where_there_are_no_labels() -> None:
    graded = case(relevant=[Document("a", metadata={"grade": 1}), Document("b", metadata={"grade": 2}), Document("c")])
    assert value(room.TopicalPrecisionAtK(3), graded, got("a", "b", "c")) == 1
    assert value(room.SufficiencyRateAtK(3), graded, got("a", "b", "c")) == 1 / 3
    plain = case(relevant=["a"])
    assert "no chunk is labelled evidence_sufficient" in reason(room.SufficiencyHitAtK(3), plain, got("a"))
    plain.candidate_docs = [Document("z")]
    assert value(room.TopicalPrecisionAtK(2), plain, got("z", "a")) == 1 / 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([{"id": "a", "relevant": True}], "no label 'relevant'"),
        ([{"id": "a", "topicaly_relevant": True}], "did you mean 'topically_relevant'"),
        ([{"id": "a", "misleading": "yes"}], "must be true or false, got 'yes'"),
        ([{"id": "a", "misleading": 0.5}], "must be true or false"),
        ([{"id": "a", "misleading": 2}], "must be true or false"),
        ([{"misleading": True}], "say which chunk"),
        ([{"id": "a", "doc": "b", "misleading": True}], "say which chunk"),
        ([{"id": "a", "quote": "b", "misleading": True}], "say which chunk"),
        ([{"doc": "a", "span": 3, "misleading": True}], "a span is"),
        ([{"doc": "a", "span": [3, 3], "misleading": True}], "start < end"),
        ([{"doc": "a", "quote": " ", "misleading": True}], "quote"),
    ],
)
def test_labels_that_cannot_be_read(labels: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        room.MisleadingRateAtK(3).measure(case(chunk_labels=labels), got("a"))


# --- answers

ANSWER = "Refunds take 30 days [1]."


def test_each_answer_label_has_its_rate() -> None:
    for kind in ALL_ANSWER:
        for said in (True, False):
            labels = dict.fromkeys(kind.wanted, said)
            if kind is room.ConditionalFabrication:
                labels["source_cited"] = True
            sample = case(answer_labels={"answer": ANSWER, **labels})
            assert value(kind(), sample, gave(ANSWER)) == said
    lower = {k for k in ALL_ANSWER if k.direction == "lower"}
    assert lower == {
        room.UnsupportedClaim,
        room.Contradiction,
        room.ConditionalFabrication,
        room.Incompleteness,
        room.UnsafeContent,
    }


def test_a_changed_answer_is_never_given_the_old_label() -> None:
    sample = case(
        answer_labels=[{"answer": ANSWER, "helpful": True}, {"answer_hash": answer_hash("No."), "helpful": False}]
    )
    assert value(room.Helpfulness(), sample, gave(ANSWER)) == 1
    assert value(room.Helpfulness(), sample, gave("Refunds  take\n30 days [1]. ")) == 1
    assert value(room.Helpfulness(), sample, gave("No.")) == 0
    for changed in ("Refunds take 31 days [1].", "refunds take 30 days [1].", ""):
        assert reason(room.Helpfulness(), sample, gave(changed)) == "label is for another answer"
    assert reason(room.Helpfulness(), case(), gave(ANSWER)) == "no answer_labels"
    assert "nobody said whether" in reason(room.OnTopic(), sample, gave(ANSWER))


def test_fabrication_is_counted_among_answers_that_cite() -> None:
    samples = [
        case(answer_labels={"answer": "1", "source_cited": True, "fabricated_source": True}),
        case(answer_labels={"answer": "1", "source_cited": True, "fabricated_source": False}),
        case(answer_labels={"answer": "1", "source_cited": False}),
        case(answer_labels={"answer": "1", "source_cited": True}),
    ]
    result = room.ConditionalFabrication().compute(samples, [gave("1")] * 4)
    assert (result.value, result.details) == (0.5, {"num_samples": 2, "num_skipped": 2})
    assert reason(room.ConditionalFabrication(), samples[2], gave("1")) == "the answer cites nothing"
    assert reason(room.ConditionalFabrication(), samples[3], gave("1")).startswith("nobody said")


def test_claims_become_labels() -> None:
    assert labels_from_claims([]) == {
        "support_present": False,
        "unsupported_claim_present": False,
        "contradicted_claim_present": False,
    }
    assert labels_from_claims(["Entailment", "neutral"])["unsupported_claim_present"] is True
    sample = case(answer_labels={"answer": "1", "claims": [{"text": "t", "label": "Contradiction"}, "supported"]})
    assert value(room.Contradiction(), sample, gave("1")) == 1
    assert value(room.GroundingPresence(), sample, gave("1")) == 1
    assert value(room.UnsupportedClaim(), sample, gave("1")) == 0
    with pytest.raises(MetricError, match="a claim is one of"):
        labels_from_claims(["maybe"])


@pytest.mark.parametrize(
    "labels", [{"helpful": True}, {"answer": "1", "answer_hash": "2", "helpful": True}, [{"helpful": True}]]
)
def test_answer_labels_without_an_answer_are_an_error(labels: Any) -> None:
    with pytest.raises(MetricError, match="say which answer"):
        room.Helpfulness().measure(case(answer_labels=labels), gave("1"))


# --- annotation files


def written(folder: Path, *rows: dict[str, Any] | str) -> Path:
    file = folder / "annotations.jsonl"
    text = "\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows)
    file.write_text(text + "\n\n", encoding="utf-8")
    return file


def test_an_annotation_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"case": "case", "chunk": "a", "topically_relevant": True, "annotator": "p1"},
        {"case": "case", "chunk": "b", "labels": {"topically_relevant": False, "misleading": True}},
        {"case": "other", "chunk": "b", "topically_relevant": True},
        {"case": "case", "doc": "m", "quote": "30 days", "evidence_sufficient": 1, "note": "see page 3"},
        {"case": "case", "answer": "thirty", "helpful": True},
        {"answer_hash": answer_hash("anywhere"), "labels": {"helpful": False}},
    )
    source = AnnotationFile(file)
    outputs = gave("thirty", Document("b"), Document("a"), Document("m1", "in 30 days", {"doc": "m"}))
    assert value(room.TopicalPrecisionAtK(2, labels=source), case(), outputs) == 1 / 2
    assert value(room.MisleadingRateAtK(2, labels=str(file)), case(), outputs) == 1 / 2
    assert value(room.SufficiencyHitAtK(3, labels=source), case(), outputs) == 1
    assert value(room.Helpfulness(labels=source), case(), outputs) == 1
    assert value(room.Helpfulness(labels=source), case(), gave("anywhere")) == 0
    assert reason(room.Helpfulness(labels=source), case(), gave("forty")) == "label is for another answer"
    elsewhere = case()
    elsewhere.sample_id = "nobody"
    assert reason(room.Helpfulness(labels=source), elsewhere, gave("forty")) == "no label for this answer"
    assert reason(room.TopicalPrecisionAtK(2, labels=source), elsewhere, outputs) == "no chunk of this case is labelled"
    assert room.Helpfulness(labels=source).name == "helpfulness[labels=AnnotationFile]"


def test_the_majority_of_annotators_counts_and_a_draw_says_nothing(tmp_path: Path) -> None:
    votes = [("a", [1, 1, 0]), ("b", [0, 0, 1]), ("c", [1, 0])]
    rows = [{"case": "case", "chunk": c, "topically_relevant": bool(v)} for c, said in votes for v in said]
    answers = [{"case": "case", "answer": "x", "helpful": v} for v in (True, False)]
    source = AnnotationFile(written(tmp_path, *rows, *answers))
    seen = room.TopicalPrecisionAtK(3, labels=source).measure(case(), got("a", "b", "c"))
    assert seen == Measurement(1 / 3, details={"judged@3": 2 / 3})
    assert "nobody said" in reason(room.Helpfulness(labels=source), case(), gave("x"))


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"case": "c", "chunk": "a", "misleading": True},
        "{not json",
        {"chunk": "a", "misleading": True},
        {"case": "c", "chunk": "a", "helpfull": True},
        {"case": "c", "answer": "x", "helpfull": True},
        "[1]",
        {"case": "c", "chunk": "a", "labels": [1]},
    )
    with pytest.raises(MetricError) as caught:
        AnnotationFile(file)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in lines] == ["2", "3", "4", "5", "6", "7"]
    assert "did you mean 'helpful'" in lines[3]


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="cannot be read"):
        Registry().get(f"helpfulness[labels={tmp_path / 'missing.jsonl'}]")
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\n")
    with pytest.raises(MetricError, match="holds no annotation"):
        AnnotationFile(empty)
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(b'{"case": "\xe9"}')
    with pytest.raises(MetricError, match="cannot be read"):
        AnnotationFile(latin)
    with pytest.raises(MetricError, match="labels must be"):
        room.Helpfulness(labels="people")


# --- judges


class Says(LLMCritic):
    """Says what is written for a word of the prompt."""

    def __init__(self, replies: dict[str, Any]) -> None:
        self.replies = replies
        self.prompts: list[str] = []

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        self.prompts.append(prompt)
        said = next(v for k, v in self.replies.items() if k in prompt)
        if isinstance(said, Exception):
            raise said
        return said  # type: ignore[no-any-return]  # tests give what a critic should not


def test_a_judge_labels_chunks_and_answers() -> None:
    critic = Says({"good chunk": 1, "bad chunk": 0.0, "<answer>": 1.0})
    source = JudgeLabels(critic)
    outputs = gave("the answer", "a good chunk", "a bad chunk", "another good chunk")
    sample = case(query="how long?")
    metric = room.TopicalPrecisionAtK(2, labels=source)
    assert value(metric, sample, outputs) == 1 / 2
    assert len(critic.prompts) == 2
    assert value(room.LabelMRRAtK(2, labels=source), sample, outputs) == 1
    assert len(critic.prompts) == 2
    assert value(room.NDCGLabelledAtK(3, labels=source), sample, outputs) < 1
    assert value(room.Helpfulness(labels=source), sample, outputs) == 1
    assert "<context>" not in critic.prompts[-1]
    assert value(room.UnsupportedClaim(labels=source), sample, outputs) == 1
    assert "<context>\n[1] d1\na good chunk" in critic.prompts[-1]
    assert not metric.deterministic
    assert metric.params()["labels"]["judge"] == {"critic": "Says"}
    assert room.TopicalPrecisionAtK(2).deterministic


@pytest.mark.parametrize("said", [0.5, 2, True, float("nan"), "1"])
def test_a_judge_says_yes_or_no_or_it_is_an_error(said: Any) -> None:
    with pytest.raises(JudgeReplyError, match="0 or 1"):
        room.Helpfulness(labels=JudgeLabels(Says({"": said}))).measure(case(), gave("x"))


def test_a_judge_that_fails_is_an_error_and_empty_texts_are_not_asked_about() -> None:
    source = JudgeLabels(Says({"": RuntimeError("quota")}))
    with pytest.raises(RuntimeError, match="quota"):
        room.Helpfulness(labels=source).measure(case(), gave("x"))
    assert reason(room.Helpfulness(labels=source), case(), gave(" ")) == "the answer is empty"
    assert "carry no text" in reason(room.TopicalPrecisionAtK(2, labels=source), case(), gave("x", Document("a")))
    assert value(room.TopicalPrecisionAtK(2, labels=source), case(), gave("x")) == 0


def test_the_judge_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    with pytest.raises(MetricError, match="AUEPORA_JUDGE_URL"):
        Registry().get("helpfulness[labels=judge]")
    monkeypatch.setenv("AUEPORA_JUDGE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "m")
    metric = Registry().get("helpfulness[labels=judge]")
    assert metric.params()["labels"]["judge"]["model"] == "m"
    assert not metric.deterministic
