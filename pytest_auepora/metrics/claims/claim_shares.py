"""Shares of claims, as RAGChecker defines them, and of citations: do the cited passages support their sentence?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import compress
from typing import Any, ClassVar, NamedTuple

from ...core.metrics_base import CaseScore, Measurement, NotApplicable, f1
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..judge.critic import LLMCritic
from ..options import UNSPELLED, Batched, Configured, needed, spell, where_applicable
from ..text.comparands import claiming_answer, retrieved_texts
from ..text.tokens import sentences
from ..values import nonempty
from .checker import (
    RELATIONS,
    ClaimCase,
    ClaimChecker,
    Entails,
    as_checker,
    ask_checker,
    check_reference,
    fill,
)


class Checked(Configured):
    """Base of the metrics that ask a `ClaimChecker`.

    Options:
        checker: who says what supports what.  ``judge``: the critic, or the model that the environment names.
            ``given``: nobody; only what the outputs bring along counts.  In Python also a `ClaimChecker`, or a
            function of premises and hypotheses that returns booleans.
        critic: who is asked by ``judge``; cannot be spelled in a name.
    """

    checker: str | ClaimChecker | Entails = "judge"
    critic: LLMCritic | None = field(default=None, metadata=UNSPELLED)

    source = "RAGChecker (arXiv:2408.08067)"
    oracle = "RAGChecker's published example, to the last digit"

    def __post_init__(self) -> None:
        self._checker = as_checker(self.checker, self.critic)
        # metrics share the verdicts of one checker, function or critic
        self._shared = self.checker if isinstance(self.checker, str) else id(self.checker), id(self.critic)
        self.judged = self._checker is not None and self._checker.judged
        self.deterministic = self._checker is None or self._checker.deterministic
        super().__post_init__()

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # it is that of the checker
        return 1 if self._checker is None else self._checker.concurrency

    def params(self) -> dict[str, Any]:
        checker = {} if self._checker is None else self._checker.params()
        if checker and "judge" not in checker:  # the key where a calibration looks for who judges
            checker = {"judge": checker}
        return {**super().params(), "checker": spell(self.checker), **checker}


class ClaimMetric(Checked, Batched):
    """A share that follows from the matrix of claims by texts.

    ``relations`` are the parts of the matrix it needs, ``over`` what it is a share of: the claims of the ``answer`` or
    of the ``reference``, or the ``chunks``; ``faults`` what its details call those that cost something.
    """

    target = TargetCategory.GENERATION_CORRECTNESS
    relations: ClassVar[tuple[str, ...]]
    over = "answer"
    faults = "unsupported"

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        needs_reference = any("reference" in RELATIONS[relation] for relation in self.relations)
        return where_applicable(check_reference, sample) if needs_reference else None

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> ClaimCase:
        """N/a where there is nothing to take a share of.  Details: the claims or chunks that cost something."""
        case = ClaimCase.of(sample, outputs, self._checker, ("claims", *self._shared))
        case.check(self.relations)
        return case

    def score_prepared(self, prepared: Sequence[ClaimCase]) -> list[CaseScore]:
        fill(prepared, self.relations, self._checker)
        return [where_applicable(self._score_filled, case) for case in prepared]

    def _score_filled(self, case: ClaimCase) -> Measurement:
        case.check(self.relations)  # again: only now is it known how many claims there are
        return self._score(case)

    def _score(self, case: ClaimCase) -> Measurement:
        hits = self._hits(case)
        names = case.claims.get(self.over, [])  # none where the rows alone were given
        if self.over == "chunks":
            names = [r.doc.doc_id for r in case.outputs.retrieved]
        faulty = [name[:200] for name, hit in zip(names, hits, strict=False) if hit is (self.direction == "lower")]
        return Measurement(sum(hits) / len(hits), details=nonempty(**{"of": len(hits), self.faults: faulty[:10]}))

    def _hits(self, case: ClaimCase) -> list[bool]:
        """Return for each claim or chunk whether it counts."""
        return case.supported(self.relations[0])


class Faithfulness(ClaimMetric):
    """Share of the answer's claims that a retrieved chunk supports; n/a for refusals, which claim nothing."""

    stem = "faithfulness"
    target = TargetCategory.GENERATION_FAITHFULNESS
    relations = ("answer_by_chunks",)
    formula = "answer claims that a retrieved chunk supports / answer claims"


class ClaimPrecision(ClaimMetric):
    """Share of the answer's claims that the reference supports.  RAGChecker calls it precision."""

    stem = "claim_precision"
    relations = ("answer_by_reference",)
    faults = "wrong"
    formula = "answer claims that the reference supports / answer claims"


class ClaimRecall(ClaimMetric):
    """Share of the reference's claims that the answer supports.

    RAGChecker calls it recall; what it calls claim recall, over the retrieved chunks, is `ContextRecall`.
    """

    stem = "claim_recall"
    relations = ("reference_by_answer",)
    over, faults = "reference", "missing"
    formula = "reference claims that the answer supports / reference claims"


class ClaimF1(ClaimMetric):
    """Harmonic mean of claim precision and claim recall; 0 where both are 0."""

    stem = "claim_f1"
    relations = ("answer_by_reference", "reference_by_answer")
    formula = "2 · claim_precision · claim_recall / (claim_precision + claim_recall)"

    def _score(self, case: ClaimCase) -> Measurement:
        precision, recall = (sum(hits) / len(hits) for hits in map(case.supported, self.relations))
        details = {"precision": precision, "recall": recall}
        return Measurement(f1(precision, recall), details=details)


class AnswerCorrectness(ClaimF1):
    """`ClaimF1` under the name that ragas gives to a mean of this and a similarity of embeddings."""

    stem = "answer_correctness"


class ContextRecall(ClaimMetric):
    """Share of the reference's claims that a retrieved chunk supports.  RAGChecker calls it claim recall."""

    stem = "context_recall"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    relations = ("reference_by_chunks",)
    over, faults = "reference", "missed"
    formula = "reference claims that a retrieved chunk supports / reference claims"


class ContextPrecision(ClaimMetric):
    """Share of the retrieved chunks that support a claim of the reference.

    Options:
        ranked: the mean of precision@k over the ranks k of the chunks that do, as ragas counts: first ones weigh more.
    """

    ranked: bool = False

    stem = "context_precision"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    relations = ("reference_by_chunks",)
    over, faults = "chunks", "irrelevant"
    formula = (
        "retrieved chunks that support a reference claim / retrieved chunks; ranked: mean precision@k over their ranks"
    )

    def _score(self, case: ClaimCase) -> Measurement:
        needed(case.outputs.retrieved, "nothing was retrieved")
        score = super()._score(case)
        if self.ranked:
            ranks = [rank for rank, hit in enumerate(self._hits(case), 1) if hit]
            score.value = sum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
        return score

    def _hits(self, case: ClaimCase) -> list[bool]:
        return case.relevant()


class ContextUtilization(ClaimMetric):
    """Of the reference's claims that were retrieved, the share that the answer uses."""

    stem = "context_utilization"
    relations = ("reference_by_chunks", "reference_by_answer")
    over = "reference"
    formula = "reference claims that a chunk and the answer support / reference claims that a chunk supports"

    def _score(self, case: ClaimCase) -> Measurement:
        retrieved, in_answer = map(case.supported, self.relations)
        hits = [is_used for is_retrieved, is_used in zip(retrieved, in_answer, strict=True) if is_retrieved]
        return Measurement(sum(needed(hits, "no reference claim was retrieved")) / len(hits))


class _NoiseSensitivity(ClaimMetric):
    """Wrong claims of the answer that were taken from the chunks; lower is better."""

    target = TargetCategory.NOISE_ROBUSTNESS
    direction = "lower"
    relations = ("answer_by_chunks", "answer_by_reference", "reference_by_chunks")
    faults = "wrong"
    from_relevant: ClassVar[bool]

    def _hits(self, case: ClaimCase) -> list[bool]:
        relevant, hits = case.relevant(), []
        for row, is_right in zip(case.rows["answer_by_chunks"], case.supported("answer_by_reference"), strict=True):
            supporting = [is_relevant for is_relevant, supports in zip(relevant, row, strict=True) if supports]
            hits.append(not is_right and bool(supporting) and any(supporting) is self.from_relevant)
        return hits


class NoiseSensitivityInRelevant(_NoiseSensitivity):
    """Share of the answer's claims that are wrong and come from a chunk that also supports the reference."""

    stem = "noise_sensitivity_in_relevant"
    from_relevant = True
    formula = "wrong answer claims that a relevant chunk supports / answer claims"


class NoiseSensitivityInIrrelevant(_NoiseSensitivity):
    """Share of the answer's claims that are wrong and come from chunks that support nothing of the reference."""

    stem = "noise_sensitivity_in_irrelevant"
    from_relevant = False
    formula = "wrong answer claims that only irrelevant chunks support / answer claims"


class _Unsupported(ClaimMetric):
    """Claims of the answer that no chunk supports; lower is better."""

    target = TargetCategory.GENERATION_FAITHFULNESS
    direction = "lower"
    relations = ("answer_by_chunks", "answer_by_reference")
    is_right: ClassVar[bool]

    def _hits(self, case: ClaimCase) -> list[bool]:
        in_chunks, in_reference = map(case.supported, self.relations)
        return [not f and r is self.is_right for f, r in zip(in_chunks, in_reference, strict=True)]


class Hallucination(_Unsupported):
    """Share of the answer's claims that neither a retrieved chunk nor the reference supports."""

    stem = "hallucination"
    is_right = False
    formula = "wrong answer claims that no retrieved chunk supports / answer claims"


class SelfKnowledge(_Unsupported):
    """Share of the answer's claims that are right and that no retrieved chunk supports: the model's own knowledge."""

    stem = "self_knowledge"
    is_right = True
    formula = "right answer claims that no retrieved chunk supports / answer claims"


_CITATIONS = r"\s?\[([^\[\]\n]{1,200})\]"


class _Sentence(NamedTuple):
    """A sentence without its citations, and the texts of the chunks it cites; None for a citation without a chunk."""

    text: str
    cited: list[str | None]

    def supporting_text(self, without: int | None = None) -> str:
        """Return all that it cites, but for the citation at *without*; nothing where a citation has no chunk."""
        texts = [text for at, text in enumerate(self.cited) if at != without]
        return "" if None in texts else "\n".join(map(str, texts))


def _parse_sentence(text: str, places: Mapping[str, int], texts: Mapping[int, str]) -> _Sentence:
    """Return a sentence without its citations, ``[2]``, ``[1, 3]`` and ``[id-of-a-chunk]``, and what they cite."""
    bare, cited = text, list[int]()
    for group in re.finditer(_CITATIONS, text):
        names = re.split(r"\s*[,;]\s*", group[1].strip())
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

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a for refusals, without an answer, and where citations are only known for the answer as a whole."""
        answer = claiming_answer(outputs)
        texts = dict(enumerate(r.doc.text or "" for r in outputs.retrieved))
        places = {r.doc.doc_id: at for at, r in reversed([*enumerate(outputs.retrieved)])}  # the first of equal ids
        statements = [_parse_sentence(sentence, places, texts) for sentence in sentences(answer)]
        is_marked = any(s.cited for s in statements) or not outputs.response.metadata.get("citations")
        needed(is_marked, "citations belong to the whole answer, not to its sentences: mark them as [1]")
        retrieved_texts(outputs)
        needed(statements, "the answer says nothing")
        if self._checker is None:
            raise MetricError(
                f"{self.name} needs a checker: given verdicts do not say what cited passages support together"
            )
        key = ("citations", *self._shared)
        if key not in outputs.memo:  # both metrics ask
            pairs = [(statement.supporting_text(), statement.text) for statement in statements]
            verdicts = ask_checker(self._checker, pairs)
            outputs.memo[key] = self._checker, [verdicts[pair] for pair in pairs]
        return self._score(statements, outputs.memo[key][1], self._checker)

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> Measurement:
        """Score the answer; *supported* says of each statement whether all that it cites supports it."""
        raise NotImplementedError


class CitationRecall(_Citations):
    """Share of the answer's sentences that the passages they cite support together; 0 for one that cites nothing.

    A sentence cites with brackets behind it: ``[2]`` and ``[1, 3]`` are ranks from 1, ``[policy-4]`` is the id of a
    retrieved chunk.  A citation that leads nowhere supports nothing.
    """

    stem = "citation_recall"
    formula = "sentences that their cited passages support together / sentences"

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> Measurement:
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

    def _score(self, statements: list[_Sentence], supported: list[bool], checker: ClaimChecker) -> Measurement:
        total = needed(sum(len(s.cited) for s in statements), "the answer cites nothing")
        held = list(compress(statements, supported))
        citations = [(s, at, (text or "", s.text)) for s in held if s.cited[1:] for at, text in enumerate(s.cited)]
        alone = ask_checker(checker, [pair for _, _, pair in citations])
        doubtful = [(s.supporting_text(without=at), s.text) for s, at, pair in citations if not alone[pair]]
        without = ask_checker(checker, doubtful)
        idle = [pair[1][:200] for pair in doubtful if without[pair]]
        n_needed = sum(len(s.cited) for s in held) - len(idle)
        return Measurement(n_needed / total, details=nonempty(of=total, idle=idle[:10]))
