"""Whatever a case holds and whatever a system gave: a state, in range, JSON-able, and sums of parts that agree."""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import Measurement, NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.catalogue import SPELLINGS

from .rankings import REGISTRY, for_each
from .test_options import MINE, typed

MORE = ["noise_robustness[map]", "misleading_rate[hit@1]", "response_diversity[of=embedding]"]
NAMES = sorted({typed(name) for name in MINE} | set(MORE))

ids = st.sampled_from(["a", "b", "c", "d", "é", "漢"])
texts = st.one_of(
    st.sampled_from(["I don't know", "Maria Huber lives in Rome [1]", "東京は晴れ", "🙂", "", "  "]),
    st.text(max_size=40),
)
vectors = st.sampled_from([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.5]])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any part of the keys."""
    return st.fixed_dictionaries({}, optional=fields)


quotes = st.sampled_from(["Maria", "京は"])
gold = st.one_of(
    st.builds(Document, ids, st.just(""), some(grade=st.integers(0, 3), document_id=ids)),
    st.builds(lambda i, quote, g: Document(i, quote, {"match": "quote", "grade": g}), ids, quotes, st.integers(0, 2)),
    st.builds(lambda i, at: Document(i, "", {"match": "span", "start": at, "end": at + 5}), ids, st.integers(0, 9)),
    st.builds(lambda i: Document(i, "", {"match": "doc"}), ids),
)


def _chunk(doc_id: str, text: str, source: str, start: int, embedding: list[float]) -> Document:
    text = text if text.strip() else "Maria"
    place = {"start": start, "end": start + len(text)}
    return Document(doc_id, text, {"document_id": source, "embedding": embedding, "entities": ["Rome"], **place})


returned = st.lists(st.builds(_chunk, ids, texts, ids, st.integers(0, 12), vectors), max_size=6)
labels = some(
    variant_of=st.sampled_from(["s0", "s1", "gone"]),
    scenario=st.sampled_from(["typo", "counterfactual", "misinformation", "unanswerable"]),
    expect=st.sampled_from(["answer", "refuse", "clarify"]),
    expect_change=st.booleans(),
    entities=st.lists(st.sampled_from(["Rome|Roma", "Maria", "東京"]), max_size=3),
    sensitive=st.lists(st.sampled_from(["Maria Huber", "+49 170 123", "漢字"]), max_size=3),
    secure_field=st.booleans(),
    mistakes=st.lists(st.sampled_from(["Rome", "東京"]), max_size=2),
    noise_docs=st.lists(ids, max_size=2),
    soft_deadline_ms=st.integers(1, 500),
)
samples = st.builds(
    EvaluationSample,
    st.sampled_from([f"s{i}" for i in range(5)]),
    texts,
    st.none() | st.lists(gold, max_size=4),
    st.none() | st.lists(st.builds(Document, ids), max_size=4),
    st.none() | st.builds(Response, texts),
    labels,
)
answers = st.builds(
    Response,
    texts,
    st.none() | st.just({"who": "Maria Huber"}),
    some(refused=st.booleans(), citations=st.lists(st.one_of(ids, st.integers(-1, 9)), max_size=3),
         grounded=st.booleans(), error_detected=st.booleans(), embedding=vectors),
)  # fmt: skip
extras = some(
    status=st.sampled_from([200, 404, 499, 500]),
    retry=st.fixed_dictionaries({"attempts": st.integers(0, 4), "reasons": st.lists(st.sampled_from(["429", "503"]))}),
    resources=st.just({"cpu_percent": 80.0, "memory_mb": 12.5}),
    privacy=some(bypassed=st.booleans(), mode=st.sampled_from(["bypass", "redact"])),
)
timings = some(end_to_end=st.floats(0, 1e6, allow_nan=False))


def _given(docs: list[Document], response: Response, times: dict[str, float], extra: dict[str, Any]) -> SystemOutputs:
    ranked = [RetrievedDocument(d, 1 / rank, rank) for rank, d in enumerate(docs, 1)]
    return SystemOutputs(ranked, response, times, extra)


outputs = st.builds(_given, returned, answers, timings, extras)
cases = st.lists(st.tuples(samples, outputs), max_size=6)
every = pytest.mark.parametrize("name", NAMES)
slowly = settings(suppress_health_check=[HealthCheck.too_slow])


def test_every_metric_is_here() -> None:
    homes = {re.sub(r"\[.*", "", n) for n in NAMES}
    assert {typed(name).split("[")[0] for name in MINE} <= homes
    assert len(MINE) < len(SPELLINGS)


@slowly
@given(case=st.tuples(samples, outputs))
@for_each(NAMES)
def test_a_state_in_range(name: str, case: tuple[EvaluationSample, SystemOutputs]) -> None:
    metric = REGISTRY.get(name)
    seen = metric.measure(*case)
    if isinstance(seen, NotApplicable):
        assert seen.reason
        return
    json.dumps([seen.data, seen.details], allow_nan=False)
    if seen.value is not None:
        low, high = metric.range
        assert low <= seen.value <= high


@slowly
@given(some_cases=cases, shuffle=st.randoms(use_true_random=False))
@for_each(NAMES)
def test_the_aggregate_knows_no_order_and_no_process(name: str, some_cases: list[Any], shuffle: random.Random) -> None:
    metric = REGISTRY.get(name)
    whole = metric.compute([s for s, _ in some_cases], [o for _, o in some_cases])
    assert whole.name == name
    assert not math.isnan(whole.value)
    assert whole.details["num_samples"] <= len(some_cases)
    ids_used = [s.sample_id for s, _ in some_cases]
    seen = [m for m in metric.measure_many(*_split(some_cases)) if isinstance(m, Measurement)]
    assert whole.details["num_skipped"] == len(some_cases) - len(seen)
    elsewhere = [Measurement(m.value, json.loads(json.dumps(m.data))) for m in seen]
    assert metric.aggregate(elsewhere).value == whole.value
    if len(set(ids_used)) == len(ids_used):
        mixed = list(seen)
        shuffle.shuffle(mixed)
        assert metric.aggregate(mixed).value == pytest.approx(whole.value, rel=1e-12, abs=1e-12)


def _split(some_cases: list[Any]) -> tuple[list[EvaluationSample], list[SystemOutputs]]:
    return [s for s, _ in some_cases], [o for _, o in some_cases]


@every
def test_nothing_at_all_is_a_state(name: str) -> None:
    metric = REGISTRY.get(name)
    seen = metric.measure(EvaluationSample("s", ""), SystemOutputs([], Response("")))
    assert isinstance(seen, (Measurement, NotApplicable))
    empty = metric.compute([], [])
    assert (empty.value, empty.details["num_samples"]) == (0.0, 0)
    no_text = SystemOutputs([RetrievedDocument(Document("a"), 0.0, 1)], Response(None))  # type: ignore[arg-type]
    assert isinstance(metric.measure(EvaluationSample("s", "", [], []), no_text), (Measurement, NotApplicable))


@pytest.mark.slow
@every
def test_a_megabyte_is_no_trouble(name: str) -> None:
    text = "Maria Huber visited 東京 🙂 and Rome. " * 30_000
    sample = EvaluationSample(
        "s", text[:1000], [Document("d1", "visited", {"match": "quote"}), Document("a")], [Document("a")],
        Response("Rome"),
        {"entities": ["Rome", "Paris"], "sensitive": ["Maria Huber", "+49 170"], "mistakes": ["Rome"]},
    )  # fmt: skip
    chunk = Document("a", text, {"document_id": "d1", "start": 0, "end": len(text), "embedding": [1.0]})
    ranked = [RetrievedDocument(chunk, 1.0, 1), RetrievedDocument(chunk, 0.5, 2)]
    given_outputs = SystemOutputs(ranked, Response(text), {"end_to_end": 1.0})
    assert isinstance(REGISTRY.get(name).measure(sample, given_outputs), (Measurement, NotApplicable))
