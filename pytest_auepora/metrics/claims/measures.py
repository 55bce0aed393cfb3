"""Shares of claims: of the answer, of the reference, over what was retrieved.  Definitions: RAGChecker's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...core.metrics_base import CaseScore, Measurement, NotApplicable, f1
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..judge.critic import LLMCritic
from ..options import UNSPELLED, Configured, spell
from ..values import nonempty
from .checker import ClaimChecker, Entails, as_checker
from .matrix import ClaimCase, Matrix, fill


@dataclass(eq=False, repr=False)
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
        self.judged = self._checker is not None and self._checker.judged
        self.deterministic = self._checker is None or self._checker.deterministic
        super().__post_init__()

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # it is that of the checker
        """How many cases may be measured at once."""
        return 1 if self._checker is None else self._checker.concurrency

    def params(self) -> dict[str, Any]:
        """Return the options that change the score, with what the checker says of itself."""
        checker = {} if self._checker is None else self._checker.params()
        if checker and "judge" not in checker:  # the key where a calibration looks for who judges
            checker = {"judge": checker}
        return {**super().params(), "checker": spell(self.checker), **checker}


class ClaimMetric(Checked):
    """A share that follows from the matrix of claims by texts.

    ``relations`` are the parts of the matrix it needs, ``over`` what it is a share of: the claims of the ``answer`` or
    of the ``reference``, or the ``chunks``; ``faults`` what its details call those that cost something.
    """

    relations: ClassVar[tuple[str, ...]]
    over = "answer"
    faults = "unsupported"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        """N/a where there is nothing to take a share of.  Details: the claims or chunks that cost something."""
        return self.measure_many([sample], [outputs])[0]

    def measure_many(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[CaseScore]:
        """Split and ask for all cases at once."""
        cases = [ClaimCase.of(s, o, self._checker) for s, o in zip(samples, outputs, strict=True)]
        fill([c for c in cases if c.check_applicable(self.relations) is None], self.relations, self._checker)
        # checked again: only now is it known how many claims there are
        return [case.check_applicable(self.relations) or self._score(case) for case in cases]

    def _score(self, case: ClaimCase) -> CaseScore:
        hits = self._hits(case.matrix)
        names = case.matrix.claims.get(self.over, [])  # none where the rows alone were given
        if self.over == "chunks":
            names = [r.doc.doc_id for r in case.outputs.retrieved]
        faulty = [name[:200] for name, hit in zip(names, hits, strict=False) if hit is (self.direction == "lower")]
        return Measurement(sum(hits) / len(hits), details=nonempty(**{"of": len(hits), self.faults: faulty[:10]}))

    def _hits(self, matrix: Matrix) -> list[bool]:
        """Return for each claim or chunk whether it counts."""
        return matrix.supported(self.relations[0])


class Faithfulness(ClaimMetric):
    """Share of the answer's claims that a retrieved chunk supports; n/a for refusals, which claim nothing."""

    stem = "faithfulness"
    target = TargetCategory.GENERATION_FAITHFULNESS
    relations = ("answer_by_chunks",)
    formula = "answer claims that a retrieved chunk supports / answer claims"


class ClaimPrecision(ClaimMetric):
    """Share of the answer's claims that the reference supports.  RAGChecker calls it precision."""

    stem = "claim_precision"
    target = TargetCategory.GENERATION_CORRECTNESS
    relations = ("answer_by_reference",)
    faults = "wrong"
    formula = "answer claims that the reference supports / answer claims"


class ClaimRecall(ClaimMetric):
    """Share of the reference's claims that the answer supports.

    RAGChecker calls it recall; what it calls claim recall, over the retrieved chunks, is `ContextRecall`.
    """

    stem = "claim_recall"
    target = TargetCategory.GENERATION_CORRECTNESS
    relations = ("reference_by_answer",)
    over, faults = "reference", "missing"
    formula = "reference claims that the answer supports / reference claims"


class ClaimF1(ClaimMetric):
    """Harmonic mean of claim precision and claim recall; 0 where both are 0."""

    stem = "claim_f1"
    target = TargetCategory.GENERATION_CORRECTNESS
    relations = ("answer_by_reference", "reference_by_answer")
    formula = "2 · claim_precision · claim_recall / (claim_precision + claim_recall)"

    def _score(self, case: ClaimCase) -> CaseScore:
        precision, recall = (sum(hits) / len(hits) for hits in map(case.matrix.supported, self.relations))
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


@dataclass(eq=False, repr=False)
class ContextPrecision(ClaimMetric):
    """Share of the retrieved chunks that support a claim of the reference.

    Options:
        checker, critic: see `Checked`.
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

    def _score(self, case: ClaimCase) -> CaseScore:
        if not case.outputs.retrieved:
            return NotApplicable("nothing was retrieved")
        score = super()._score(case)
        if self.ranked and isinstance(score, Measurement):
            ranks = [rank for rank, hit in enumerate(self._hits(case.matrix), 1) if hit]
            score.value = sum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
        return score

    def _hits(self, matrix: Matrix) -> list[bool]:
        return matrix.relevant()


class ContextUtilization(ClaimMetric):
    """Of the reference's claims that were retrieved, the share that the answer uses."""

    stem = "context_utilization"
    target = TargetCategory.GENERATION_CORRECTNESS
    relations = ("reference_by_chunks", "reference_by_answer")
    over = "reference"
    formula = "reference claims that a chunk and the answer support / reference claims that a chunk supports"

    def _score(self, case: ClaimCase) -> CaseScore:
        retrieved, in_answer = map(case.matrix.supported, self.relations)
        hits = [is_used for is_retrieved, is_used in zip(retrieved, in_answer, strict=True) if is_retrieved]
        return Measurement(sum(hits) / len(hits)) if hits else NotApplicable("no reference claim was retrieved")


class _NoiseSensitivity(ClaimMetric):
    """Wrong claims of the answer that were taken from the chunks; lower is better."""

    target = TargetCategory.NOISE_ROBUSTNESS
    direction = "lower"
    relations = ("answer_by_chunks", "answer_by_reference", "reference_by_chunks")
    faults = "wrong"
    from_relevant: ClassVar[bool]

    def _hits(self, matrix: Matrix) -> list[bool]:
        relevant, hits = matrix.relevant(), []
        for row, is_right in zip(matrix.rows["answer_by_chunks"], matrix.supported("answer_by_reference"), strict=True):
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

    def _hits(self, matrix: Matrix) -> list[bool]:
        in_chunks, in_reference = map(matrix.supported, self.relations)
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
