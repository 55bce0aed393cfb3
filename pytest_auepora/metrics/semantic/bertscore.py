"""BERTScore's token vectors and greedy matching; models and tokenizers are loaded by bert-score.

Texts are de-duplicated, sorted by length and batched by a token budget, and the vectors of references are
kept: the same numbers as bert-score's, without encoding a reference again for every case and run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import MetricError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_TOKENS = 8192
_KEEP_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Unit vectors of a text's tokens (tokens x dimensions), and how much each counts (0 for special ones)."""

    rows: NDArray[np.float32]
    weights: NDArray[np.float32]

    @property
    def is_empty(self) -> bool:
        """Whether the text has no token of its own."""
        return not self.weights.any()


class BertMatch(NamedTuple):
    """Precision, recall and F1 of greedy matching."""

    precision: float
    recall: float
    f1: float


def match(reference: TokenVectors, answer: TokenVectors) -> BertMatch:
    """Match every token with the most similar one of the other side; 0 where either text is empty."""
    if reference.is_empty or answer.is_empty:
        return BertMatch(0.0, 0.0, 0.0)
    alike = answer.rows @ reference.rows.T
    precision = float((alike.max(axis=1) * answer.weights).sum() / answer.weights.sum())
    recall = float((alike.max(axis=0) * reference.weights).sum() / reference.weights.sum())
    total = precision + recall
    return BertMatch(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def _utils() -> Any:
    try:
        import bert_score.utils
    except ImportError:
        raise MissingExtraError("bertscore", "bertscore") from None
    return bert_score.utils


def versions() -> str:
    """Return the versions that change numbers, in the way of bert-score's hash; empty if it is not installed."""
    try:
        return f"version={version('bert-score')}(hug_trans={version('transformers')})"
    except PackageNotFoundError:
        return ""


def layers_of(model_type: str) -> int:
    """Return the layer that bert-score uses for *model_type*.

    Raises:
        MissingExtraError: bert-score is not installed.
        MetricError: bert-score does not know the model; then the layer has to be given.
    """
    known = _utils().model2layers
    if model_type not in known:
        raise MetricError(f"bert-score knows no layer for {model_type!r}; give num_layers")
    return int(known[model_type])


@lru_cache(maxsize=16)
def model_fingerprint(model_type: str) -> str:
    """Return what names a model wherever it lies: a model in a folder by its weights, any other by its name."""
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


class BertEncoder:
    """Token vectors from one layer of one model, loaded when the first text comes."""

    def __init__(self, model_type: str, num_layers: int | None = None, device: str | None = None) -> None:
        self.model_type = model_type
        self.num_layers = num_layers
        self.device = device
        self._loaded: tuple[Any, Any, Any] | None = None
        self._known: OrderedDict[str, TokenVectors] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the model is loaded anew."""
        return type(self), (self.model_type, self.num_layers, self.device)

    def vectors(self, texts: Iterable[str], *, keep: Iterable[str] = ()) -> dict[str, TokenVectors]:
        """Return the token vectors of each text, and remember those in *keep*."""
        with self._lock:
            wanted = dict.fromkeys(texts)
            out = {t: self._known[t] for t in wanted if t in self._known}
            out.update(self._encode([t for t in wanted if t not in out]))
            for text in keep:
                if text in out:
                    self._remember(text, out[text])
            return out

    def _remember(self, text: str, made: TokenVectors) -> None:
        if text not in self._known:
            self._size += made.rows.nbytes
        self._known[text] = made
        self._known.move_to_end(text)
        while self._size > _KEEP_BYTES and len(self._known) > 1:
            _, old = self._known.popitem(last=False)
            self._size -= old.rows.nbytes

    def _load(self) -> tuple[Any, Any, Any]:
        if self._loaded is None:
            utils = _utils()
            import torch

            layers = layers_of(self.model_type) if self.num_layers is None else self.num_layers
            device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
            tokenizer = utils.get_tokenizer(self.model_type)
            self._loaded = utils.get_model(self.model_type, layers).to(device), tokenizer, device
        return self._loaded

    def _encode(self, texts: list[str]) -> Iterator[tuple[str, TokenVectors]]:
        if not texts:
            return
        model, tokenizer, device = self._load()
        utils = _utils()
        ids = {text: utils.sent_encode(tokenizer, text) if text.strip() else [] for text in texts}
        special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        for batch in _batches(ids):
            filled = [text for text in batch if ids[text]]
            rows = iter(self._forward(model, tokenizer, device, [ids[t] for t in filled]) if filled else ())
            for text in batch:
                yield text, _unit(next(rows) if ids[text] else None, ids[text], special)

    def _forward(self, model: Any, tokenizer: Any, device: str, ids: list[list[int]]) -> Iterator[Any]:
        utils = _utils()
        padded, lengths, mask = utils.padding(ids, tokenizer.pad_token_id)
        out = utils.bert_encode(model, padded.to(device), attention_mask=mask.to(device)).cpu()
        return (row[:n].numpy() for row, n in zip(out, lengths.tolist(), strict=True))


def _batches(ids: dict[str, list[int]]) -> Iterator[list[str]]:
    """Group texts of like length so that no batch, padded, holds more tokens than the budget."""
    batch: list[str] = []
    for text in sorted(ids, key=lambda t: len(ids[t])):
        if batch and len(ids[text]) * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _unit(rows: Any, ids: list[int], special: set[int | None]) -> TokenVectors:
    import numpy as np

    if rows is None:
        return TokenVectors(np.zeros((0, 1), np.float32), np.zeros(0, np.float32))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    weights = np.array([i not in special for i in ids], np.float32)
    return TokenVectors((rows / np.where(norms == 0, 1, norms)).astype(np.float32), weights)
