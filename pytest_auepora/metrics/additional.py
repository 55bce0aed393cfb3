"""Latency and diversity metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, field
from hashlib import blake2b
from typing import Any

from ..base.grouping import grouped
from ..core.metrics_base import CaseScore, Measurement, Metric, nearest_rank
from ..core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ..errors import MetricError
from .options import UNSPELLED, Configured, DoesNotApply, choice, limited, needed
from .text.comparands import answer_text
from .text.tokens import answer_words
from .values import read_number


def _hash_text(text: str) -> int:
    """A whole number that stands for *text* in measurements: 53 bits, which JSON keeps exact everywhere."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 11


class DistinctN(Configured):
    """Share of the n-grams of all answers together that are different from each other.

    A case's own value is the share within its answer; the aggregate pools all answers.  Measurements carry
    53-bit hashes of the n-grams, not the words.
    """

    n: int = 2

    stem = "distinct_{n}"
    interval = "jackknife"
    target = TargetCategory.DIVERSITY
    reads = frozenset({"answer"})
    formula = "different n-grams / n-grams, over all answers together"
    source = "Li et al. 2016 (arXiv:1510.03055)"
    oracle = "a set over all answers, exact"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        tokens = answer_words(answer_text(outputs))
        grams = [" ".join(tokens[i : i + self.n]) for i in range(len(tokens) - self.n + 1)]
        needed(grams, f"the answer has fewer than {self.n} words")
        different = sorted(map(_hash_text, set(grams)))
        return Measurement(len(different) / len(grams), data=[len(grams), different])

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``total`` and ``unique`` n-grams."""
        total = sum(m.data[0] for m in measurements)
        unique = len(set().union(*(m.data[1] for m in measurements)))
        details = {"num_samples": len(measurements), "total": total, "unique": unique}
        return MetricResult(self.name, self.target, unique / total if total else 0.0, details)


def _normalize(vector: Sequence[float], whose: str) -> list[float]:
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not 0 < length < math.inf:
        raise MetricError(f"the embedding of {whose} has no direction: its length is {length}")
    return [x / length for x in vector]


def _mean_cosine(columns: Iterable[Iterable[float]], n: int) -> float:
    """Return the mean cosine of all pairs of *n* > 1 unit vectors, given by dimension, in linear time."""
    square = math.fsum(math.fsum(column) ** 2 for column in columns)
    return (square - n) / (n * (n - 1))


class IntraListDiversity(Configured):
    """How different the returned documents are from each other.

    Options:
        top_k: how many documents are looked at.
        embed_fn: texts to vectors; without it ``metadata["embedding"]`` of each document is read.
    """

    top_k: int = 5
    embed_fn: Callable[[list[str]], Sequence[Sequence[float]]] | None = field(default=None, metadata=UNSPELLED)

    stem = "intra_list_diversity@{top_k}"
    provenance_keys = ("embedding",)  # distances mean something within one space
    range = (0.0, 2.0)
    target = TargetCategory.DIVERSITY
    formula = "1 - mean cosine of all pairs of the top k documents"
    source = "Ziegler et al. 2005, with cosine over embeddings"
    oracle = "numpy, every pair"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a for fewer than two documents, or one without an embedding; raises `MetricError` where lengths differ."""
        docs = [r.doc for r in outputs.retrieved[: self.top_k]]
        needed(docs[1:], "fewer than two documents returned")
        if self.embed_fn is not None:
            vectors = list(self.embed_fn([doc.text for doc in docs]))
        else:
            vectors = [v for doc in docs if (v := doc.metadata.get("embedding")) is not None]
            needed(len(vectors) == len(docs), "no embeddings")
        if len(set(map(len, vectors))) > 1:
            raise MetricError(f"embeddings differ in length: {sorted(set(map(len, vectors)))}")
        units = [_normalize(v, repr(doc.doc_id)) for v, doc in zip(vectors, docs, strict=True)]
        return Measurement(min(2.0, max(0.0, 1 - _mean_cosine(zip(*units, strict=True), len(units)))))


class ResponseDiversity(Configured):
    """How different the answers of all cases are from each other.

    Options:
        of: ``"words"``: cosine of word counts (measurements carry hashes of the words); ``"embedding"``: of
            ``response.metadata["embedding"]``.
    """

    of: str = choice("words", "embedding")

    stem = "response_diversity"
    interval = "jackknife"
    target = TargetCategory.DIVERSITY
    formula = "1 - mean cosine of all pairs of answers"
    source = "Auepora (arXiv:2405.07437), diversity"
    oracle = "numpy, every pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of == "embedding":
            self.range, self.provenance_keys = (0.0, 2.0), ("embedding",)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        if self.of == "embedding":
            vector = outputs.response.metadata.get("embedding")
            if vector is None:
                raise DoesNotApply("the answer has no embedding")
            return Measurement(None, data=[[str(i), x] for i, x in enumerate(_normalize(vector, "the answer"))])
        counts = needed(Counter(answer_words(answer_text(outputs))), "no answer")
        weights = _normalize(list(counts.values()), "the answer")
        return Measurement(None, data=[[_hash_text(w), x] for w, x in zip(counts, weights, strict=True)])

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Over fewer than two answers there is no value: 0.0 and ``num_samples`` 0."""
        n = len(measurements)
        if n < 2:
            return MetricResult(self.name, self.target, 0.0, {"num_samples": 0})
        columns = grouped(pair for m in measurements for pair in m.data)
        value = min(self.range[1], max(0.0, 1 - _mean_cosine(columns.values(), n)))
        return MetricResult(self.name, self.target, value, {"num_samples": n})


class Latency(Configured):
    """Base of the metrics over one of the timings of a call, in seconds."""

    timing_key = "end_to_end"

    positional = "timing_key"
    target = TargetCategory.LATENCY
    reads = frozenset({"timings"})
    direction = "lower"
    range = (0.0, math.inf)
    deterministic = False
    baselined = False

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """Seconds of one call; n/a where not taken, `MetricError` where they are negative, infinite or NaN."""
        return Measurement(seconds_of(outputs, self.timing_key))


def seconds_of(outputs: SystemOutputs, key: str) -> float:
    """Return a timing of a call; raises `DoesNotApply` where it was not taken, `MetricError` where it is no time."""
    if (raw := outputs.timings.get(key)) is None:
        raise DoesNotApply(f"no timing {key!r}")
    seconds = read_number(raw, f"timing {key!r}")
    if not 0 <= seconds < math.inf:
        raise MetricError(f"timing {key!r} must be seconds from 0 up, got {raw}")
    return seconds


class MeanLatency(Latency):
    """Mean seconds of a timing."""

    timing_key: str = "end_to_end"

    stem = "mean_latency"
    formula = "mean of timings[timing_key], seconds"
    source = "wall clock"
    oracle = "numpy mean"

    def spelling(self) -> str:
        """Always with its timing, as the framework's specification has it; ``mean_latency`` is short for it."""
        return f"mean_latency[{self.timing_key}]"


class QuantileLatency(Latency):
    """A quantile of a timing, by nearest rank: always a value that was measured.

    Details: ``reliable`` says whether there are enough values for the quantile to lie below the largest of
    them with a confidence of 95 % (59 for p95, 299 for p99); ``needs`` is that number.
    """

    timing_key: str = "end_to_end"
    quantile: float = limited(0.95, lambda q: 0 < q <= 1, "must be above 0 and at most 1")

    stem = "quantile_latency"
    formula = "sorted timings, at index ceil(q n) - 1, seconds"
    source = "nearest rank"
    oracle = 'numpy.quantile(method="inverted_cdf"), exact'

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        return quantile_of(self, measurements, self.quantile)


def quantile_of(metric: Metric, measurements: Sequence[Measurement], quantile: float) -> MetricResult:
    """Return the aggregate of a *metric* that is a quantile by nearest rank, with the details of `QuantileLatency`."""
    values = sorted(m.value for m in measurements if m.value is not None)
    n = len(values)
    needs = math.ceil(math.log(0.05) / math.log(quantile)) if quantile < 1 else 1
    details = {"num_samples": n, "quantile": quantile, "reliable": n >= needs, "needs": needs}
    return MetricResult(metric.name, metric.target, nearest_rank(values, quantile) if n else 0.0, details)


def percent_option() -> Any:
    """Make the option that says which percentile a metric is."""
    return limited(MISSING, lambda percent: 1 <= percent <= 100, "must be between 1 and 100")


class PercentileLatency(Latency):
    """`QuantileLatency` by percent, under the name everyone uses: ``p95_latency``.

    Raises:
        MetricError: the percent is not in 1 … 100.
    """

    percent: int = percent_option()
    timing_key: str = "end_to_end"

    stem = "p{percent}_latency"
    formula = QuantileLatency.formula
    source = QuantileLatency.source
    oracle = QuantileLatency.oracle

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        return quantile_of(self, measurements, self.percent / 100)
