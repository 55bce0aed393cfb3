"""Citations sentence by sentence: do the cited passages support what is said, and is each of them needed?"""

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
from .matrix import ask
from .measures import Checked

_GROUP = re.compile(r"\s?\[([^\[\]\n]{1,200})\]")
_BETWEEN = re.compile(r"\s*[,;]\s*")


@dataclass(slots=True)
class _Sentence:
    """What a sentence says without its citations, and the places of the chunks it cites; None: one leads nowhere."""

    said: str
    cited: list[int | None] = field(default_factory=list)

    @property
    def resolves(self) -> bool:
        return bool(self.cited) and None not in self.cited


def _read(outputs: SystemOutputs) -> list[_Sentence]:
    """Return the sentences of the answer; ``[2]``, ``[1, 3]`` and ``[id-of-a-chunk]`` cite."""
    ids: dict[str, int] = {}
    for place, r in enumerate(outputs.retrieved):
        ids.setdefault(r.doc.doc_id, place)
    return [_sentence(text, ids, len(outputs.retrieved)) for text in sentences(answer_text(outputs))]


def _sentence(text: str, ids: Mapping[str, int], retrieved: int) -> _Sentence:
    sentence = _Sentence(text)
    for group in _GROUP.finditer(text):
        names = _BETWEEN.split(group[1].strip())
        if all(name in ids or re.fullmatch(r"\d{1,3}", name) for name in names):
            sentence.said = sentence.said.replace(group[0], "").strip()
            for name in names:
                place = ids[name] if name in ids else _place(int(name), retrieved)
                if place is None or place not in sentence.cited:
                    sentence.cited.append(place)
    return sentence


def _place(rank: int, retrieved: int) -> int | None:
    return rank - 1 if 1 <= rank <= retrieved else None


class _Citations(Checked):
    target = TargetCategory.GENERATION_FAITHFULNESS
    source = "ALCE (arXiv:2305.14627)"
    oracle = "ALCE's definition worked out by hand, and an independent count over random entailments"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        """N/a for refusals, without an answer, and where citations are only known for the answer as a whole."""
        read = self._sentences(sample, outputs)
        if isinstance(read, NotApplicable):
            return read
        if self._checker is None:
            raise MetricError(
                f"{self.name} needs a checker: nobody can bring along what cited passages support together"
            )
        texts = [r.doc.text or "" for r in outputs.retrieved]
        return self._score(read, texts, self._joint(read, texts, outputs), self._checker)

    def _sentences(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[_Sentence] | NotApplicable:
        if not answer_text(outputs).strip():
            return NotApplicable("no answer")
        if is_refusal(outputs):
            return NotApplicable("a refusal makes no claim")
        read = _read(outputs)
        if not any(sentence.cited for sentence in read) and outputs.response.metadata.get("citations"):
            return NotApplicable("citations belong to the whole answer, not to its sentences: mark them as [1]")
        found = evidence_texts(sample, outputs, "retrieved")
        if isinstance(found, NotApplicable):
            return found
        return read or NotApplicable("the answer says nothing")

    def _joint(self, read: Sequence[_Sentence], texts: list[str], outputs: SystemOutputs) -> list[bool]:
        """Whether all that each sentence cites supports it; remembered, as both metrics ask."""
        assert self._checker is not None
        key = ("citations", self._checker.key)
        if key not in outputs.memo:
            pairs = [(_joined(texts, s.cited), s.said) if s.resolves else ("", s.said) for s in read]
            said = ask(self._checker, pairs)
            outputs.memo[key] = self._checker, [said[pair] for pair in pairs]
        known: list[bool] = outputs.memo[key][1]
        return known

    def _score(self, read: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker) -> CaseScore:
        raise NotImplementedError


class CitationRecall(_Citations):
    """Share of the answer's sentences that the passages they cite support together; 0 for one that cites nothing.

    A sentence cites with brackets behind it: ``[2]`` and ``[1, 3]`` are ranks from 1, ``[policy-4]`` is the id of a
    retrieved chunk.  A citation that leads nowhere supports nothing.
    """

    stem = "citation_recall"
    formula = "sentences that their cited passages support together / sentences"

    def _score(self, read: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker) -> CaseScore:
        bad = [s.said[:200] for s, supported in zip(read, joint, strict=True) if not supported]
        details: dict[str, Any] = {"of": len(read), **({"unsupported": bad[:10]} if bad else {})}
        return Measurement(sum(joint) / len(read), details=details)


class CitationPrecision(_Citations):
    """Share of the citations that are needed: their sentence is supported, and by less without them.

    A citation counts where all cited passages together support its sentence, and either it does so alone or the
    others without it do not.  N/a where nothing is cited; a citation that leads nowhere counts against it.
    """

    stem = "citation_precision"
    formula = "citations of supported sentences that support alone, or without which the rest does not / citations"

    def _score(self, read: list[_Sentence], texts: list[str], joint: list[bool], checker: ClaimChecker) -> CaseScore:
        cited = sum(len(s.cited) for s in read)
        if not cited:
            return NotApplicable("the answer cites nothing")
        supported = [s for s, is_supported in zip(read, joint, strict=True) if is_supported]
        several = [(s, place) for s in supported if len(s.cited) > 1 for place in s.cited]
        alone = ask(checker, [(_joined(texts, [place]), s.said) for s, place in several])
        doubtful = [(s, place) for s, place in several if not alone[_joined(texts, [place]), s.said]]
        rest = ask(checker, [(_without(texts, s, place), s.said) for s, place in doubtful])
        idle = [(s, place) for s, place in doubtful if rest[_without(texts, s, place), s.said]]
        good = sum(len(s.cited) for s in supported) - len(idle)
        return Measurement(
            good / cited, details={"of": cited, **({"idle": [s.said[:200] for s, _ in idle[:10]]} if idle else {})}
        )


def _joined(texts: Sequence[str], places: Sequence[int | None]) -> str:
    return "\n".join(texts[place] for place in places if place is not None)


def _without(texts: Sequence[str], sentence: _Sentence, place: int | None) -> str:
    return _joined(texts, [other for other in sentence.cited if other != place])
