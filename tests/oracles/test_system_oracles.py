"""Latency, diversity, spans, privacy, refusals and robustness against numpy, sets and few lines on real data."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.drafting.variants import variants
from pytest_auepora.metrics.additional import (
    DistinctN,
    IntraListDiversity,
    MeanLatency,
    PercentileLatency,
    QuantileLatency,
    ResponseDiversity,
)
from pytest_auepora.metrics.coverage import SpanIoU, SpanPrecision, SpanRecall
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.metrics.robustness import NegativeRejectionRate, NoiseRobustness, OverRefusal
from pytest_auepora.metrics.service.privacy import BlockEfficacy, RedactionEfficacy

np = pytest.importorskip("numpy", reason="numpy is the oracle of quantiles and cosines")

Note = Callable[[str, int], None]


def _sample(**given: Any) -> EvaluationSample:
    return EvaluationSample("s", "q", **given)


def _answer(text: str, **given: Any) -> SystemOutputs:
    return SystemOutputs([], Response(text), **given)


def test_quantiles_are_numpys(compared: Note) -> None:
    """Nearest rank is numpy's inverted_cdf; equality is exact, also where q * n falls on a whole number."""
    draw, n = random.Random(5), 0
    for size in [*range(1, 41), 59, 100, 299, 1000]:
        seconds = [draw.choice([draw.random(), draw.randint(0, 5) / 4]) for _ in range(size)]
        outputs = [_answer("a", timings={"end_to_end": s}) for s in seconds]
        samples = [_sample()] * size
        for percent in (1, 5, 7, 25, 50, 90, 95, 99, 100):
            ours = PercentileLatency(percent).compute(samples, outputs).value
            assert ours == np.quantile(seconds, percent / 100, method="inverted_cdf")
            n += 1
        q = 1 - draw.random()
        ours = QuantileLatency(quantile=q).compute(samples, outputs).value
        assert ours == np.quantile(seconds, q, method="inverted_cdf")
        assert MeanLatency().compute(samples, outputs).value == pytest.approx(np.mean(seconds), rel=1e-12)
        n += 2
    compared("numpy quantile and mean", n)


def test_diversity_is_one_minus_the_mean_of_all_pairs(compared: Note) -> None:
    draw, n = random.Random(6), 0
    for _ in range(200):
        vectors = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(draw.randint(2, 12))]
        docs = [Document(str(i), metadata={"embedding": v}) for i, v in enumerate(vectors)]
        outputs = SystemOutputs([RetrievedDocument(d, 1.0, i + 1) for i, d in enumerate(docs)], Response(""))
        seen = IntraListDiversity(top_k=10).measure(_sample(), outputs)
        assert isinstance(seen, Measurement)
        assert seen.value == pytest.approx(_pairwise(vectors[:10]), abs=1e-12)
        answers = [SystemOutputs([], Response("a", metadata={"embedding": v})) for v in vectors]
        ours = ResponseDiversity(of="embedding").compute([_sample()] * len(vectors), answers)
        assert ours.value == pytest.approx(_pairwise(vectors), abs=1e-12)
        n += 2
    compared("numpy cosines", n)


def _pairwise(vectors: list[list[float]]) -> float:
    cosines = [np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for a, b in combinations(map(np.array, vectors), 2)]
    return float(1 - np.mean(cosines))


@pytest.fixture
def human_answers(shared_data: Path) -> list[str]:
    """The human answers to the answerable questions of CLAP NQ."""
    file = shared_data / "clapnq-dev" / "clapnq_dev_answerable.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [given["answer"] for row in rows for given in row["output"]]


@pytest.mark.shared_data
@pytest.mark.slow
def test_diversity_of_human_answers(human_answers: list[str], compared: Note) -> None:
    answers = human_answers[:150]
    outputs = [_answer(text) for text in answers]
    samples = [_sample()] * len(answers)
    tokens = [re.findall(r"[a-z0-9]+", a.lower()) if a.isascii() else [] for a in answers]
    plain = [(o, t) for o, t in zip(outputs, tokens, strict=True) if t]
    assert len(plain) > 100
    for n in (1, 2, 3):
        grams = [tuple(t[i : i + n]) for _, t in plain for i in range(len(t) - n + 1)]
        ours = DistinctN(n).compute(samples[: len(plain)], [o for o, _ in plain])
        assert ours.value == len(set(grams)) / len(grams)
    vocabulary = sorted({w for _, t in plain for w in t})
    vectors = [[float(Counter(t)[w]) for w in vocabulary] for _, t in plain]
    ours = ResponseDiversity().compute(samples[: len(plain)], [o for o, _ in plain])
    assert ours.value == pytest.approx(_pairwise(vectors), abs=1e-12)
    compared("sets and numpy, human answers", 4)


def test_spans_are_sets_of_characters(compared: Note) -> None:
    """Gold spans and chunks at random in three documents, chunks overlapping; the counts by sets and lists."""
    draw, n = random.Random(7), 0

    def places(docs: str, end: int, least: int, most: int) -> list[tuple[str, int, int]]:
        ends = [sorted(draw.sample(range(end), 2)) for _ in range(draw.randint(least, most))]
        return [(draw.choice(docs), first, last) for first, last in ends]

    for _ in range(700):
        gold, chunks = places("abc", 60, 1, 4), places("abcd", 80, 0, 6)
        marked = {(doc, at) for doc, start, end in gold for at in range(start, end)}
        shown = [(doc, at) for doc, start, end in chunks for at in range(start, end)]
        common = len(marked & set(shown))
        labels = [Document(d, "", {"match": "span", "start": s, "end": e}) for d, s, e in gold]
        returned = [
            RetrievedDocument(Document(f"c{i}", "", {"document_id": d, "start": s, "end": e}), 1.0, i + 1)
            for i, (d, s, e) in enumerate(chunks)
        ]
        expected = {
            SpanRecall: common / len(marked),
            SpanPrecision: common / len(shown) if shown else 0.0,
            SpanIoU: common / (len(marked) + len(shown) - common),
        }
        for metric, value in expected.items():
            seen = metric().measure(_sample(relevant_docs=labels), SystemOutputs(returned, Response("")))
            assert isinstance(seen, Measurement)
            assert seen.value == pytest.approx(value, abs=1e-12)
            n += 1
    compared("sets of characters", n)


@pytest.mark.shared_data
def test_redaction_of_real_looking_texts(shared_data: Path, compared: Note) -> None:
    """173 marked spans: all masked, none masked, and every other one, against counts of words."""
    file = shared_data / "presidio-research-small" / "generated_small.json"
    rows = [row for row in json.loads(file.read_text(encoding="utf-8")) if row["spans"]]
    redaction, block = RedactionEfficacy(), BlockEfficacy()
    totals = Counter[str]()
    for row in rows:
        items = [span["entity_value"] for span in row["spans"]]
        sample = EvaluationSample("s", row["full_text"], labels={"sensitive": items})
        bare = _value(redaction, sample, _answer(row["full_text"]))
        assert (bare, _value(block, sample, _answer(row["full_text"]))) == (0.0, 0.0)
        masked = row["full_text"]
        for item in sorted(items, key=len, reverse=True):
            masked = masked.replace(item, "<hidden>")
        assert (_value(redaction, sample, _answer(masked)), _value(block, sample, _answer(masked))) == (1.0, 1.0)
        kept = items[::2]
        shown = _value(redaction, sample, _answer("; ".join(kept)))
        words = [set(re.findall(r"\w+", item.lower())) for item in items]
        if not any(a & b for a, b in combinations(words, 2)) and row["full_text"].isascii():
            count = [len(re.findall(r"[a-z0-9]+", item.lower())) for item in items]
            assert shown == pytest.approx(1 - sum(count[::2]) / sum(count), abs=1e-12)
            totals["partly"] += 1
        totals["spans"] += len(items)
    assert totals["spans"] == 173
    assert totals["partly"] > 40
    compared("presidio-research texts", 4 * len(rows) + totals["partly"])


def _value(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs) -> float:
    seen = metric.measure(sample, outputs)
    assert isinstance(seen, Measurement)
    assert seen.value is not None
    return seen.value


@pytest.mark.shared_data
def test_refusals_among_real_answers(shared_data: Path, human_answers: list[str], compared: Note) -> None:
    """Answers of seven models; which of them decline is counted by a plain search in the lower-cased text."""
    files = sorted((shared_data / "refchecker-dolly-accurate").glob("*.json"))
    answers = [row["response"] for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    assert len(answers) == 700
    phrases = ("does not provide", "no information", "does not specify")
    unanswerable = EvaluationSample("s", "q", relevant_docs=[])
    metric = NegativeRejectionRate(refusal_patterns=phrases)
    result = metric.compute([unanswerable] * 700, [_answer(text) for text in answers])
    declined = sum(any(p in " ".join(text.lower().split()) for p in phrases) for text in answers)
    assert declined > 5
    assert result.value == declined / result.details["num_samples"]
    assert result.details["num_samples"] == sum(bool(text.strip()) for text in answers)
    answerable = EvaluationSample("s", "q", relevant_docs=[Document("d")])
    answered = OverRefusal().compute([answerable] * len(human_answers), [_answer(t) for t in human_answers])
    assert (answered.value, answered.details["num_samples"]) == (0.0, 485)
    compared("answers of seven models", 2)


@pytest.mark.shared_data
def test_noise_robustness_of_a_real_retriever(shared_data: Path, compared: Note) -> None:
    """BM25 on 100 questions and three misspelt forms of each; the ratio from the two halves by hand."""
    bm25s = pytest.importorskip("bm25s", reason="the retriever is BM25")
    file = shared_data / "clapnq-dev" / "clapnq_dev_answerable.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    own = [f"{row['passages'][0]['title']} {row['passages'][0]['text']}" for row in rows]
    texts = list(dict.fromkeys(own))
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    clean = [
        EvaluationSample(row["id"], row["input"], relevant_docs=[Document(text)])
        for row, text in list(zip(rows, own, strict=True))[:100]
    ]
    noisy = [variant for sample in clean for variant in variants(sample)]
    assert 290 < len(noisy) <= 300, "nearly every question has words that can be misspelt in three ways"

    def answer(sample: EvaluationSample) -> SystemOutputs:
        tokens = bm25s.tokenize([sample.query], stopwords="en", show_progress=False)
        found, _ = index.retrieve(tokens, k=1, show_progress=False)
        return SystemOutputs([RetrievedDocument(Document(texts[found[0][0]]), 1.0, 1)], Response(""))

    samples = clean + noisy
    outputs = [answer(s) for s in samples]
    hit = {
        s.sample_id: [Document(o.retrieved[0].doc.doc_id)] == s.relevant_docs
        for s, o in zip(samples, outputs, strict=True)
    }
    result = NoiseRobustness(RecallAtK(1)).compute(samples, outputs)
    ratio = sum(hit[s.sample_id] for s in noisy) / sum(hit[s.labels["variant_of"]] for s in noisy)
    assert result.value == pytest.approx(ratio, abs=1e-12)
    assert 0.3 < ratio < 1.0, "misspelling words costs a lexical retriever something, but not everything"
    compared("BM25 on misspelt questions", 1)
