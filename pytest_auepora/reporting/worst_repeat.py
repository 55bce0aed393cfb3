"""The answer that failures show, of a case that was repeated: the worst, where it is not the first."""

from __future__ import annotations

from dataclasses import replace

from ..core.run import CaseResult


def as_shown(result: CaseResult) -> CaseResult:
    """Return *result* with texts, ranks and details of its worst repeat; its scores stay the means."""
    worst = result.worst_repeat
    if worst is None or worst.outputs is None:
        return result
    scores = {name: replace(score, details=worst.details.get(name, {})) for name, score in result.scores.items()}
    texts = replace(result.texts.read(), outputs=worst.outputs)
    return replace(result, ranks=worst.ranks, scores=scores, texts=texts)
