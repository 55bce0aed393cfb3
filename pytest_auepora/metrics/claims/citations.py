"""Citations sentence by sentence: do the cited passages support the sentence, and is each of them needed?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import compress
from typing import NamedTuple

from ...core.metrics_base import CaseScore, Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..text.comparands import answer_text, evidence_texts
from ..text.tokens import sentences
from ..values import nonempty
from .checker import ClaimChecker
from .matrix import ask_checker, without_claims
from .measures import Checked

_GROUP = re.compile(r"\s?\[([^\[\]\n]{1,200})\]")
_BETWEEN = re.compile(r"\s*[,;]\s*")


class _Sentence(NamedTuple):
    """A sentence without its citations, and the texts of the chunks it cites; None for a citation without a chunk."""

    text: str
    cited: list[str | None]

    def supporting_text(self, without: int | None = None) -> str:
        """Return all that it cites, but for the citation at *without*; nothing where a citation has no chunk."""
        texts = [text for at, text in enumerate(self.cited) if at != without]
        return "" if None in texts else "\n".join(map(str, texts))


def _read_sentences(outputs: SystemOutputs) -> list[_Sentence]:
    """Return the sentences of the answer; ``[2]``, ``[1, 3]`` and ``[id-of-a-chunk]`` cite."""
    texts = dict(enumerate(r.doc.text or "" for r in outputs.retrieved))
    places: dict[str, int] = {}
    for place, r in enumerate(outputs.retrieved):
        places.setdefault(r.doc.doc_id, place)
    return [_parse_sentence(sentence, places, texts) for sentence in sentences(answer_text(outputs))]


def _parse_sentence(text: str, places: Mapping[str, int], texts: Mapping[int, str]) -> _Sentence:
    bare, cited = text, list[int]()
    for group in _GROUP.finditer(text):
        names = _BETWEEN.split(group[1].strip())
        if all(name in places or re.fullmatch(r"\d{1,3}", name) for name in names):
            bare = bare.replace(group[0], "").strip()
            for name in names:
                place = places[name] if name in places else int(name) - 1
                if place not in texts or place not in cited:
                    cited.append(place)
    return _Sentence(bare, [texts.get(place) for place in cited])


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
        if (reason := without_claims(outputs)) is not None:
            return reason
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
        details = nonempty(of=len(statements), unsupported=unsupported[:10])
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
        held = list(compress(statements, supported))
        citations = [(s, at, (text or "", s.text)) for s in held if s.cited[1:] for at, text in enumerate(s.cited)]
        alone = ask_checker(checker, [pair for _, _, pair in citations])
        doubtful = [(s.supporting_text(without=at), s.text) for s, at, pair in citations if not alone[pair]]
        without = ask_checker(checker, doubtful)
        idle = [pair[1][:200] for pair in doubtful if without[pair]]
        needed = sum(len(s.cited) for s in held) - len(idle)
        return Measurement(needed / total, details=nonempty(of=total, idle=idle[:10]))
