"""What holds for every generation, judged and label metric, whatever the texts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.annotation.labels import ANSWER_LABELS, CHUNK_LABELS, answer_hash
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality, LLMCritic, LLMFaithfulnessScore
from pytest_auepora.metrics.generation_semantic import EmbeddingSimilarity
from pytest_auepora.metrics.registry import Registry

from ..rankings import for_each

WITH_MODELS = {"bertscore", "embedding_similarity", "llm_faithfulness", "llm_groundedness", "llm_answer_quality",
               "rubric", "answer_relevancy", "preference"}  # fmt: skip
NAMES = [
    spelling.replace("{k}", "3")
    for spelling, home in SPELLINGS.items()
    if home.startswith(("generation", "text")) and spelling not in WITH_MODELS
]
PLAIN = {name: Registry().get(name) for name in NAMES}
AGAINST_REFERENCE = [
    *(spelling for spelling, metric in PLAIN.items() if "reference_answer" in metric.required_fields()),
    "exact_match[multilingual=false]",
    "rougeL[tokenizer=unicode]",
    "sentence_bleu[tokenizer=char]",
    "sentence_bleu[smooth_method=add-k]",
]
OTHERS = [
    *(spelling for spelling in PLAIN if spelling not in AGAINST_REFERENCE),
    "rougeL[compare_to=query]",
    "evidence_overlap[relevant,n=2]",
    "nugget_recall[only=all,strict=true]",
]


class ByLength(LLMCritic):
    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        return len(prompt) % 5 / 4


def by_letters(texts: list[str]) -> list[list[float]]:
    return [[float(len(t)), float(sum(map(ord, t)) % 97), -1.0] for t in texts]


def make(name: str) -> Metric:
    special: dict[str, Callable[[], Metric]] = {
        "llm_faithfulness": lambda: LLMFaithfulnessScore(ByLength()),
        "llm_answer_quality": lambda: LLMAnswerQuality(ByLength()),
        "embedding_similarity": lambda: EmbeddingSimilarity(by_letters),
    }
    return special[name]() if name in special else Registry().get(name)


LABEL_NAMES = [s.replace("{k}", "3") for s, home in SPELLINGS.items() if home.startswith("annotation")]
NAMES = [*AGAINST_REFERENCE, *OTHERS, "llm_faithfulness", "llm_answer_quality", "embedding_similarity", *LABEL_NAMES]
METRICS = {name: make(name) for name in NAMES}

ODD = ("", " ", "\n", "\x00", "the", "A.", "…", "北京大学", "القاهرة", "हिन्दी", "ไทย", "😀👩‍👩‍👧", "e\u0301", "\ud800",
       "30 days", "1,000.5%", "{}")  # fmt: skip
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([*ODD, "refund", "within", "policy", "1 May 2024", "-", "'s"]), max_size=12).map(" ".join),
)
labels = st.dictionaries(st.sampled_from([*CHUNK_LABELS]), st.sampled_from([True, False, None]), min_size=1).map(
    lambda d: {**d, "id": "d1"}
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[EvaluationSample, SystemOutputs]:
    answer = draw(texts)
    reference = draw(st.none() | st.lists(texts, min_size=1, max_size=3))
    docs = [Document(f"d{i}", t) for i, t in enumerate(draw(st.lists(texts, max_size=4)), 1)]
    said: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "must_contain": st.lists(texts, max_size=2),
                "forbidden": st.lists(texts, max_size=2),
                "match": st.sampled_from(["word", "substring"]),
                "nuggets": st.lists(texts.filter(str.strip), max_size=3),
                "answer_schema": st.sampled_from([True, {"type": "object"}, {"type": "string"}]),
                "chunk_labels": st.lists(labels, max_size=3),
                "expect": st.sampled_from(["answer", "refuse", "clarify"]),
            },
        )
    )
    if draw(st.booleans()):
        flags = draw(st.dictionaries(st.sampled_from([*ANSWER_LABELS]), st.booleans()))
        said["answer_labels"] = {"answer_hash": answer_hash(draw(st.sampled_from([answer, "other"]))), **flags}
    sample = EvaluationSample(
        "s",
        draw(texts),
        relevant_docs=draw(st.none() | st.just(docs[:2])),
        reference_answer=None
        if reference is None
        else Response(reference[0], metadata={"alternatives": reference[1:]}),
        labels=said,
    )
    retrieved = [RetrievedDocument(d, 1 / i, i) for i, d in enumerate(docs + docs[:1], 1)]
    return sample, SystemOutputs(retrieved, Response(answer))


def check(metric: Metric, seen: Measurement | NotApplicable) -> None:
    if isinstance(seen, NotApplicable):
        assert seen.reason.strip()
        return
    json.dumps(asdict(seen), allow_nan=False)
    low, high = metric.range
    if seen.value is None:
        assert seen.data is not None
    else:
        assert type(seen.value) is float
        assert low <= seen.value <= high


ordinary = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=3 * settings().max_examples)
"""Of properties that each example shows for every metric."""


@ordinary
@given(case=cases())
@for_each(NAMES)
def test_states_are_in_range_and_measuring_is_repeatable(name: str, case: Any) -> None:
    metric, (sample, outputs) = METRICS[name], case
    seen = metric.measure(sample, outputs)
    check(metric, seen)
    assert metric.measure(sample, outputs) == seen


@ordinary
@given(many=st.lists(cases(), max_size=5), cut=st.integers(0, 5))
@for_each(NAMES)
@pytest.mark.slow
def test_the_aggregate_of_parts_is_the_aggregate_of_all(name: str, many: Any, cut: int) -> None:
    metric, samples, outputs = METRICS[name], [s for s, _ in many], [o for _, o in many]
    whole = metric.compute(samples, outputs)
    parts = [metric.measure_many(samples[a:b], outputs[a:b]) for a, b in ((cut, None), (0, cut))]
    kept = [m for part in parts for m in part if isinstance(m, Measurement)]
    travelled = [Measurement(*json.loads(json.dumps([m.value, m.data, m.details]))) for m in kept]
    again = metric.aggregate(travelled)
    assert again.value == pytest.approx(whole.value, abs=1e-12)
    assert again.details["num_samples"] == whole.details["num_samples"] == len(kept)
    assert whole.details["num_skipped"] == len(many) - len(kept)
    assert math.isfinite(whole.value)
    low, high = metric.range
    assert low <= whole.value <= high
    assert kept or whole.value == 0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_measure(name: str) -> None:
    metric = METRICS[name]
    result = metric.compute([], [])
    assert (result.value, result.details["num_samples"]) == (0.0, 0)
    assert result.name == metric.name
    with pytest.raises(AssertionError, match="1 samples but 0 outputs"):
        metric.compute([EvaluationSample("s", "q")], [])


@ordinary
@given(reference=texts)
@for_each(AGAINST_REFERENCE)
def test_the_reference_itself_is_perfect(name: str, reference: str) -> None:
    metric = METRICS[name]
    sample = EvaluationSample("s", "q", reference_answer=Response(reference))
    seen = metric.measure(sample, SystemOutputs([], Response(reference)))
    if isinstance(seen, Measurement):
        whole = metric.aggregate([seen])
        short = "rouge2" in name or name in ("rouge", "bleu")  # a text of one word has no pairs to agree in
        best = 1 if metric.direction == "higher" else 0
        assert whole.value == pytest.approx(best) or short or "note" in seen.details


@ordinary
@given(answer=texts, reference=texts, another=texts)
@for_each(AGAINST_REFERENCE)
def test_a_further_reference_never_lowers_the_score(name: str, answer: str, reference: str, another: str) -> None:
    if name.startswith(("bleu", "sentence_bleu")) or "tokenizer" in name:
        return  # BLEU looks at all references at once: a longer one may cost brevity
    metric, outputs = METRICS[name], SystemOutputs([], Response(answer))
    one = metric.measure(EvaluationSample("s", "q", reference_answer=Response(reference)), outputs)
    more = Response(reference, metadata={"alternatives": [another]})
    two = metric.measure(EvaluationSample("s", "q", reference_answer=more), outputs)
    if isinstance(one, Measurement) and isinstance(two, Measurement) and "note" not in one.details:
        assert two.value is not None
        assert one.value is not None
        # a reference in another script switches how all of them are cut
        assert two.value >= one.value or not (reference + another).isascii()


@ordinary
@given(answer=texts, evidence=st.lists(texts, min_size=1, max_size=3), more=texts)
@for_each(["evidence_overlap", "k_precision", "unsupported_numbers"])
def test_more_evidence_never_supports_less(name: str, answer: str, evidence: list[str], more: str) -> None:
    metric, sample = METRICS[name], EvaluationSample("s", "q")

    def score(docs: list[str]) -> float | None:
        retrieved = [RetrievedDocument(Document(f"d{i}", t), 1, i) for i, t in enumerate(docs, 1)]
        seen = metric.measure(sample, SystemOutputs(retrieved, Response(answer)))
        return seen.value if isinstance(seen, Measurement) else None

    before, after = score(evidence), score([*evidence, more])
    if before is not None and after is not None:
        assert after <= before if metric.direction == "lower" else after >= before


BIG = {
    "words": "Refunds take 30 days; the policy of May 1, 2024 says so. " * 180,
    "chinese": "北京大学是中国的一所大学。" * 800,
    "one word": "x" * 10_000,
    "odd": "1234567890" * 200 + "1,'.:" * 600 + "😀👩‍👩‍👧" * 500 + " \n" * 750,
}


@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.slow)], ids=["", "a million"])
@pytest.mark.parametrize("text", BIG.values(), ids=BIG.keys())
@pytest.mark.parametrize("name", [*AGAINST_REFERENCE, *OTHERS, "helpfulness", "topical_precision@3"])
def test_an_answer_of_10_000_characters(name: str, text: str, times: int) -> None:
    metric, text = METRICS[name], text * times
    sample = EvaluationSample(
        "s",
        "How long do refunds take?",
        relevant_docs=[Document("d1", "Refunds take 30 days. 北京")],
        reference_answer=Response("Refunds take 30 days", metadata={"alternatives": ["北京大学"]}),
        labels={"nuggets": ["30 days", "北京"], "must_contain": ["30 days"], "answer_schema": {"type": "object"}},
    )
    outputs = SystemOutputs([RetrievedDocument(Document("d1", "Refunds take 30 days"), 1, 1)], Response(text))
    check(metric, metric.measure(sample, outputs))
