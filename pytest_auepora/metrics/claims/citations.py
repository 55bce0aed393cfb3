"""Citations sentence by sentence: do the cited passages support the sentence, and is each of them needed?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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


class _Sentence(NamedTuple):
    """A sentence without its citations, and the texts of the chunks it cites; None for a citation without a chunk."""

    text: str
    cited: list[str | None]

    def supporting_text(self) -> str:
        """Return all that it cites; nothing where a citation has no chunk."""
        return "" if None in self.cited else _join(self.cited)


def _join(texts: Sequence[str | None]) -> str:
    return "\n".join(text for text in texts if text is not None)


def _read_sentences(outputs: SystemOutputs) -> list[_Sentence]:
    """Return the sentences of the answer; ``[2]``, ``[1, 3]`` and ``[id-of-a-chunk]`` cite."""
    texts = [r.doc.text or "" for r in outputs.retrieved]
    places: dict[str, int] = {}
    for place, r in enumerate(outputs.retrieved):
        places.setdefault(r.doc.doc_id, place)
    return [_parse_sentence(sentence, places, texts) for sentence in sentences(answer_text(outputs))]


def _parse_sentence(text: str, places: Mapping[str, int], texts: Sequence[str]) -> _Sentence:
    bare, cited, seen = text, list[str | None](), set[int]()
    for group in _GROUP.finditer(text):
        names = _BETWEEN.split(group[1].strip())
        if all(name in places or re.fullmatch(r"\d{1,3}", name) for name in names):
            bare = bare.replace(group[0], "").strip()
            for name in names:
                place = places[name] if name in places else int(name) - 1
                if not 0 <= place < len(texts):
                    cited.append(None)
                elif place not in seen:
                    cited.append(texts[place])
                    seen.add(place)
    return _Sentence(bare, cited)


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
                f"{self.name} needs a checker: given verdicts do not say what cited passages support together"
            )
        key = ("citations", self._checker.key)
        if key not in outputs.memo:  # both metrics ask
            pairs = [(statement.supporting_text(), statement.text) for statement in statements]
            verdicts = ask_checker(self._checker, pairs)
            outputs.memo[key] = self._checker, [verdicts[pair] for pair in pairs]
        return self._score(statements, outputs.memo[key][1], self._checker)

    def _sentences_or_reason(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[_Sentence] | NotApplicable:
        if not answer_text(outputs).strip():
            return NotApplicable("no answer")
        if is_refusal(outputs):
            return NotApplicable("a refusal makes no claim")
        statements = _read_sentences(outputs)
        if not any(sentence.cited for sentence in statements) and outputs.response.metadata.get("citations"):
            return NotApplicable("citations belong to the whole answer, not to its sentences: mark them as [1]")
        evidence = evidence_texts(sample, outputs, "retrieved")
        if isinstance(evidence, NotApplicable):
            return evidence
        return statements or NotApplicable("the answer says nothing")

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> CaseScore:
        """Score the answer; *supported* says of each statement whether all that it cites supports it."""
        raise NotImplementedError


class CitationRecall(_Citations):
    """Share of the answer's sentences that the passages they cite support together; 0 for one that cites nothing.

    A sentence cites with brackets behind it: ``[2]`` and ``[1, 3]`` are ranks from 1, ``[policy-4]`` is the id of a
    retrieved chunk.  A citation that leads nowhere supports nothing.
    """

    stem = "citation_recall"
    formula = "sentences that their cited passages support together / sentences"

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> CaseScore:
        unsupported = [s.text[:200] for s, is_supported in zip(statements, supported, strict=True) if not is_supported]
        details: dict[str, Any] = {"of": len(statements), **({"unsupported": unsupported[:10]} if unsupported else {})}
        return Measurement(sum(supported) / len(statements), details=details)


class CitationPrecision(_Citations):
    """Share of the citations that are needed: their sentence is supported, and by less without them.

    A citation counts where all cited passages together support its sentence, and either it does so alone or the
    others without it do not.  N/a where nothing is cited; a citation that leads nowhere counts against it.
    """

    stem = "citation_precision"
    formula = "citations of supported sentences that support alone, or without which the rest does not / citations"

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> CaseScore:
        total = sum(len(s.cited) for s in statements)
        if not total:
            return NotApplicable("the answer cites nothing")
        held = [s for s, is_supported in zip(statements, supported, strict=True) if is_supported]
        several = [s for s in held if len(s.cited) > 1]
        alone = ask_checker(checker, [(text or "", s.text) for s in several for text in s.cited])
        doubtful = [
            (_join(s.cited[:i] + s.cited[i + 1 :]), s.text)
            for s in several
            for i, text in enumerate(s.cited)
            if not alone[text or "", s.text]
        ]
        without = ask_checker(checker, doubtful)
        idle = [pair[1][:200] for pair in doubtful if without[pair]]
        details: dict[str, Any] = {"of": total, **({"idle": idle[:10]} if idle else {})}
        return Measurement((sum(len(s.cited) for s in held) - len(idle)) / total, details=details)
