"""Answers compared by meaning: BERTScore, and the cosine of sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Any

from ..core.metrics_base import Measurement
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import MetricError
from .options import UNSPELLED, Batched, choice
from .text.comparands import Compared, answer_text
from .vectors import Embedder, EmbedFn, bert_scorer, fingerprint, layers_of, model_fingerprint, versions

__all__ = ["BertScoreMetric", "EmbeddingSimilarity"]


Pair = tuple[list[str], str]
"""What an answer is compared with, and the answer."""


class _Semantic(Batched, Compared):
    """Scores in batches: all texts of the cases that can be scored are encoded together."""

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, texts: list[str]) -> Pair | Measurement:
        answer = answer_text(outputs)
        return (texts, answer) if answer.strip() else Measurement(0.0, details={"note": "the answer is empty"})


@dataclass(eq=False, repr=False)
class BertScoreMetric(_Semantic):
    """BERTScore of the answer, best over the references; without idf weights and baseline rescaling.

    Scores compare only where model, layer and versions are equal: all are part of the fingerprint.  Needs the
    extra ``bertscore``.

    Args:
        model_type: a model name that transformers knows, or a folder.
        num_layers: which layer's vectors; None is bert-score's choice for the model.
        compare_to: ``reference`` or ``query``.
        score_type: ``F1``, ``precision`` or ``recall``.
        device: where the model runs; a GPU if there is one, by default.
    """

    model_type: str = "microsoft/deberta-xlarge-mnli"
    num_layers: int | None = field(default=None, metadata={"least": 0})
    compare_to: str = choice("reference", "query")
    score_type: str = choice("F1", "precision", "recall")
    device: str | None = field(default=None, metadata=UNSPELLED)

    stem = "bertscore"
    formula = "P, R: mean over tokens of the highest cosine with a token of the other text; F1 = 2PR/(P+R)"
    source = "Zhang et al. 2020 (arXiv:1904.09675)"
    oracle = "bert-score, 1e-4"

    def __post_init__(self) -> None:
        aliases = {"f1": "F1", "f": "F1", "p": "precision", "r": "recall"}
        self.score_type = aliases.get(str(self.score_type).lower(), str(self.score_type).lower())
        super().__post_init__()

    def params(self) -> dict[str, Any]:
        params = {**super().params(), "model_type": model_fingerprint(self.model_type)}
        if stamp := versions():
            params["num_layers"] = layers_of(self.model_type) if self.num_layers is None else self.num_layers
            params["hash"] = f"{params['model_type']}_L{params['num_layers']}_no-idf_{stamp}"
        return params

    def score_prepared(self, pairs: Sequence[Pair]) -> list[Measurement]:
        scorer = bert_scorer(self.model_type, self.num_layers, self.device)
        flat = [(answer, text) for texts, answer in pairs for text in texts]
        columns = [column.tolist() for column in scorer.score(*map(list, zip(*flat, strict=True)))]
        scores = (dict(zip(("precision", "recall", "f1"), row, strict=True)) for row in zip(*columns, strict=True))
        best = [max(islice(scores, len(texts)), key=itemgetter("f1")) for texts, _ in pairs]
        return [Measurement(min(max(of_case[self.score_type.lower()], 0.0), 1.0), details=of_case) for of_case in best]


@dataclass(eq=False, repr=False)
class EmbeddingSimilarity(_Semantic):
    """Cosine of the embeddings of answer and reference, best over the references.

    Args:
        embed_fn: a function from texts to vectors, plain or async; it is called with batches.
        model: where there is no function, a local model: ``wordllama``, ``minilm-int8``, or a folder or cached
            name for sentence-transformers.
        compare_to: ``reference`` or ``query``.
        batch_size: texts in one call.
    """

    embed_fn: EmbedFn | None = field(default=None, metadata=UNSPELLED)
    model: str = "wordllama"
    compare_to: str = choice("reference", "query")
    batch_size: int = field(default=64, metadata=UNSPELLED)

    stem = "embedding_similarity"
    positional = "model"
    range = (-1.0, 1.0)
    formula = "max over references of cos(embedding of the answer, embedding of the reference)"
    source = "Reimers and Gurevych 2019 (arXiv:1908.10084)"
    oracle = "cosines computed by the model's own package, 1e-6"

    def __post_init__(self) -> None:
        if isinstance(self.embed_fn, str):  # embedding_similarity[minilm-int8]
            self.model, self.embed_fn = self.embed_fn, None
        if self.embed_fn is not None:
            if not callable(self.embed_fn):
                raise MetricError(f"embed_fn must be a function from texts to vectors, got {self.embed_fn!r}")
            self.model = getattr(self.embed_fn, "__qualname__", type(self.embed_fn).__qualname__)
        super().__post_init__()
        self._embedder = Embedder(self.model if self.embed_fn is None else self.embed_fn, batch_size=self.batch_size)

    def params(self) -> dict[str, Any]:
        model = model_fingerprint(self.model) if self.embed_fn is None else fingerprint(self.embed_fn)
        return {**super().params(), "model": model}

    def score_prepared(self, pairs: Sequence[Pair]) -> list[Measurement]:
        texts = [text for references, answer in pairs for text in (*references, answer)]
        vectors = self._embedder.vectors(texts)
        cosines = [max(float(vectors[a] @ vectors[t]) for t in references) for references, a in pairs]
        return [Measurement(min(max(c, -1.0), 1.0)) for c in cosines]
