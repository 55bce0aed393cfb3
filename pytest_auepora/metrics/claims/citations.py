"""Citations sentence by sentence: do the cited passages support the sentence, and is each of them needed?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.metrics_base import CaseScore, Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..refusal import is_refusal
from ..text.comparands import answer_text, evidence_texts
from ..text.tokens import sentences
from .checker import ClaimChecker
from .matrix import ask_checker
from .measures import Checked

_GROUP = re.compile(r"\s?\[([^\[\]\n]{1,200})\]")
_BETWEEN = re.compile(r"\s*[,;]\s*")


@dataclass(slots=True)
class _Sentence:
    """A sentence without its citations, and the places of the chunks it cites; None for a citation without a chunk."""

    text: str
    places: list[int | None] = field(default_factory=list)

    @property
    def resolves(self) -> bool:
        return bool(self.places) and None not in self.places


def _read_sentences(outputs: SystemOutputs) -> list[_Sentence]:
    """Return the sentences of the answer; ``[2]``, ``[1, 3]`` and ``[id-of-a-chunk]`` cite."""
    ids: dict[str, int] = {}
    for place, r in enumerate(outputs.retrieved):
        ids.setdefault(r.doc.doc_id, place)
    return [_parse_sentence(text, ids, len(outputs.retrieved)) for text in sentences(answer_text(outputs))]


def _parse_sentence(text: str, ids: Mapping[str, int], retrieved: int) -> _Sentence:
    sentence = _Sentence(text)
    for group in _GROUP.finditer(text):
        names = _BETWEEN.split(group[1].strip())
        if all(name in ids or re.fullmatch(r"\d{1,3}", name) for name in names):
            sentence.text = sentence.text.replace(group[0], "").strip()
            for name in names:
                place = ids[name] if name in ids else _place_of_rank(int(name), retrieved)
                if place is None or place not in sentence.places:
                    sentence.places.append(place)
    return sentence


def _place_of_rank(rank: int, retrieved: int) -> int | None:
    return rank - 1 if 1 <= rank <= retrieved else None


class _Citations(Checked):
    target = TargetCategory.GENERATION_FAITHFULNESS
    source = "ALCE (arXiv:2305.14627)"
    oracle = "ALCE's definition worked out by hand, and an independent count over random entailments"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        """N/a for refusals, without an answer, and where citations are only known for the answer as a whole."""
        statements = self._sentences_or_reason(sample, outputs)
        if isinstance(statements, NotApplicable):
            return statements
        if self._checker is None:
            raise MetricError(
                f"{self.name} needs a checker: nobody can bring along what cited passages support together"
            )
        texts = [r.doc.text or "" for r in outputs.retrieved]
        return self._score(statements, texts, self._joint_support(statements, texts, outputs), self._checker)

    def _sentences_or_reason(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[_Sentence] | NotApplicable:
        if not answer_text(outputs).strip():
            return NotApplicable("no answer")
        if is_refusal(outputs):
            return NotApplicable("a refusal makes no claim")
        statements = _read_sentences(outputs)
        if not any(sentence.places for sentence in statements) and outputs.response.metadata.get("citations"):
            return NotApplicable("citations belong to the whole answer, not to its sentences: mark them as [1]")
        evidence = evidence_texts(sample, outputs, "retrieved")
        if isinstance(evidence, NotApplicable):
            return evidence
        return statements or NotApplicable("the answer says nothing")

    def _joint_support(self, statements: Sequence[_Sentence], texts: list[str], outputs: SystemOutputs) -> list[bool]:
        """Whether all that each sentence cites supports it; remembered, as both metrics ask."""
        assert self._checker is not None
        key = ("citations", self._checker.key)
        if key not in outputs.memo:
            pairs = [(_join_texts(texts, s.places), s.text) if s.resolves else ("", s.text) for s in statements]
            verdicts = ask_checker(self._checker, pairs)
            outputs.memo[key] = self._checker, [verdicts[pair] for pair in pairs]
        supported: list[bool] = outputs.memo[key][1]
        return supported

    def _score(
        self, statements: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker
    ) -> CaseScore:
        raise NotImplementedError


class CitationRecall(_Citations):
    """Share of the answer's sentences that the passages they cite support together; 0 for one that cites nothing.

    A sentence cites with brackets behind it: ``[2]`` and ``[1, 3]`` are ranks from 1, ``[policy-4]`` is the id of a
    retrieved chunk.  A citation that leads nowhere supports nothing.
    """

    stem = "citation_recall"
    formula = "sentences that their cited passages support together / sentences"

    def _score(
        self, statements: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker
    ) -> CaseScore:
        unsupported = [s.text[:200] for s, supported in zip(statements, joint, strict=True) if not supported]
        details: dict[str, Any] = {"of": len(statements), **({"unsupported": unsupported[:10]} if unsupported else {})}
        return Measurement(sum(joint) / len(statements), details=details)


class CitationPrecision(_Citations):
    """Share of the citations that are needed: their sentence is supported, and by less without them.

    A citation counts where all cited passages together support its sentence, and either it does so alone or the
    others without it do not.  N/a where nothing is cited; a citation that leads nowhere counts against it.
    """

    stem = "citation_precision"
    formula = "citations of supported sentences that support alone, or without which the rest does not / citations"

    def _score(
        self, statements: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker
    ) -> CaseScore:
        total = sum(len(s.places) for s in statements)
        if not total:
            return NotApplicable("the answer cites nothing")
        supported = [s for s, is_supported in zip(statements, joint, strict=True) if is_supported]
        candidates = [(s, place) for s in supported if len(s.places) > 1 for place in s.places]
        alone = ask_checker(checker, [(_join_texts(texts, [place]), s.text) for s, place in candidates])
        doubtful = [(s, place) for s, place in candidates if not alone[_join_texts(texts, [place]), s.text]]
        without = ask_checker(checker, [(_join_others(texts, s, place), s.text) for s, place in doubtful])
        idle = [(s, place) for s, place in doubtful if without[_join_others(texts, s, place), s.text]]
        needed = sum(len(s.places) for s in supported) - len(idle)
        return Measurement(
            needed / total, details={"of": total, **({"idle": [s.text[:200] for s, _ in idle[:10]]} if idle else {})}
        )


def _join_texts(texts: Sequence[str], places: Sequence[int | None]) -> str:
    return "\n".join(texts[place] for place in places if place is not None)


def _join_others(texts: Sequence[str], sentence: _Sentence, place: int | None) -> str:
    return _join_texts(texts, [other for other in sentence.places if other != place])
