"""Metrics that distinguish *judged not relevant* from *not judged*.

A new retriever returns documents without a judgment; counted as misses, they look like a regression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.metrics_base import CHUNK_KEYS, CaseScore, Measurement
from ..core.rag_interface import NOISE_DOCS
from ..core.types import Document, EvaluationSample, SystemOutputs, TargetCategory, id_of_text
from .options import Configured, limited, needed
from .ranking.gold import GoldLabel, LabelMatcher, labels_of
from .ranking.matching import Ranking, need_relevant, walk_slots
from .retrieval_basic import Matched, Ranked
from .values import grade_of, nonempty, read_entries


class SlotJudgment(NamedTuple):
    """The judgment of one slot: its grade, None where there is none, and whether it is new in the list."""

    grade: int | None
    fresh: bool


class OverJudgments(Matched):
    """Base of the metrics over all judgments of a case, relevant or not."""

    def read_case(self, sample: EvaluationSample) -> list[GoldLabel]:
        super().read_case(sample)
        return needed(labels_of(sample, level=self.level), "nothing relevant and no judgment")

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, labels: list[GoldLabel]) -> CaseScore:
        covered: set[int] = set()
        slots = []
        for _, covered_here in walk_slots(labels, outputs.retrieved, self.matching):
            fresh = [at for at in covered_here if at not in covered]
            covered.update(fresh)
            grade = max((labels[at].grade for at in fresh or covered_here), default=None)
            slots.append(SlotJudgment(grade, bool(fresh)))
        return self._weigh(labels, slots)

    def _weigh(self, labels: Sequence[GoldLabel], slots: Sequence[SlotJudgment]) -> CaseScore:
        """Score what is known of the slots; there is at least one label."""
        raise NotImplementedError


class JudgedAtK(OverJudgments):
    """Share of the returned top k that somebody judged, relevant or not."""

    k: int

    stem = "judged@{k}"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    formula = "judged in the top k / min(k, returned)"
    source = "ir_measures Judged@k"
    oracle = "ir_measures Judged@k, exact"

    def _weigh(self, labels: Sequence[GoldLabel], slots: Sequence[SlotJudgment]) -> CaseScore:
        top = needed(slots[: self.k], "nothing returned")
        return Measurement(sum(slot.grade is not None for slot in top) / len(top))


class BPref(OverJudgments):
    """Preference of relevant documents over those judged not relevant; blind to the unjudged."""

    stem = "bpref"
    formula = (
        "1/R sum over relevant returned of (1 - min(non-relevant above, R) / min(N, R)); n/a where N, the documents "
        "judged not relevant, is 0 (trec_eval then gives recall)"
    )
    source = "Buckley and Voorhees 2004; trec_eval bpref"
    oracle = "pytrec_eval bpref, 1e-12"

    def read_case(self, sample: EvaluationSample) -> list[GoldLabel]:
        """N/a where nothing is relevant, or nothing bad: grade 0, or -1, over which none is preferred."""
        labels = super().read_case(sample)
        need_relevant(sample)
        has_negative = sample.candidate_docs or any(grade_of(doc) < 1 for doc in sample.relevant_docs or ())
        needed(has_negative, "no document is judged not relevant")
        return labels

    def _weigh(self, labels: Sequence[GoldLabel], slots: Sequence[SlotJudgment]) -> CaseScore:
        relevant = sum(label.grade > 0 for label in labels)
        irrelevant = len(labels) - relevant
        total, above = 0.0, 0
        for slot in slots:
            if slot.grade and slot.fresh:
                total += 1 - min(above, relevant) / min(irrelevant, relevant) if irrelevant else 1
            above += slot.grade == 0 and slot.fresh
        return Measurement(total / relevant)


class RBP(OverJudgments):
    """Rank-biased precision: what a reader gains who goes on to the next document with probability *p*.

    Details: ``residual``, how much the unjudged documents and the ranks not returned could add at most.
    """

    p: float = limited(0.8, lambda p: 0 < p < 1, "must lie between 0 and 1")

    stem = "rbp"
    formula = "(1 - p) sum of p^(rank - 1) over relevant ranks; residual: the same over unjudged ranks, + p^depth"
    source = "Moffat and Zobel 2008"
    oracle = "ranx rbp, 1e-12"

    def read_case(self, sample: EvaluationSample) -> list[GoldLabel]:
        labels = super().read_case(sample)
        need_relevant(sample)
        return labels

    def _weigh(self, labels: Sequence[GoldLabel], slots: Sequence[SlotJudgment]) -> CaseScore:
        gained = unknown = 0.0
        for rank, slot in enumerate(slots):
            if slot.grade is None:
                unknown += self.p**rank
            elif slot.grade and slot.fresh:
                gained += self.p**rank
        residual = (1 - self.p) * unknown + self.p ** len(slots)
        return Measurement((1 - self.p) * gained, details={"residual": residual})


class RPrecision(Ranked):
    """Precision at R, the number of relevant documents."""

    stem = "r_precision"
    formula = "relevant in the top R / R, R = relevant documents of the case"
    source = "trec_eval Rprec"
    oracle = "pytrec_eval Rprec, 1e-12"

    def value(self, ranking: Ranking) -> float:
        size = ranking.relevant()
        return ranking.found_labels(size) / size

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return ``missed``, the labels that the top R do not cover."""
        return {"missed": ranking.missed_labels(len(ranking.names))}


class DuplicateRateAtK(Configured):
    """Share of the returned top k that repeats an id from further up; lower is better."""

    k: int

    stem = "duplicate_rate@{k}"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    reads = frozenset({"ranking"})
    direction = "lower"
    formula = "repeated ids in the top k / min(k, returned)"
    source = "companion of the first-occurrence rule for duplicate ids"
    oracle = "counted"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a where nothing was returned.  Details: ``repeated``, the ids."""
        ids = needed([r.doc.doc_id for r in outputs.retrieved[: self.k]], "nothing returned")
        repeated = [name for name, times in Counter(ids).items() if times > 1]
        return Measurement((len(ids) - len(set(ids))) / len(ids), details=nonempty(repeated=repeated))


class RetrievalAccuracy(Configured):
    """Share of the candidates that were treated right: relevant and returned, or neither.

    The candidates are ``candidate_docs``; those that a relevant label covers are positive, the others negative.
    ``relevant_docs`` may be empty: then every candidate should stay out.
    """

    k: int | None = None

    stem = "retrieval_accuracy@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    reads = frozenset({"ranking"})
    required = ("relevant_docs", "candidate_docs")
    formula = "(relevant candidates in the top k + other candidates not in it) / candidates"
    source = "Auepora (arXiv:2405.07437), accuracy of relevant against candidate documents"
    oracle = "counted"

    def read_case(self, sample: EvaluationSample) -> dict[str, Document]:
        super().read_case(sample)
        return {doc.doc_id: doc for doc in needed(sample.candidate_docs, "no candidate_docs")}

    def score_answer(
        self, sample: EvaluationSample, outputs: SystemOutputs, candidates: dict[str, Document]
    ) -> CaseScore:
        """Details: ``tp``, ``tn``, ``fp``, ``fn``."""
        matcher = LabelMatcher(labels_of(sample))
        relevant = {name for name, doc in candidates.items() if any(matcher.grades(doc))}
        returned = candidates.keys() & {r.doc.doc_id for r in outputs.retrieved[: self.k]}
        tp, fp, fn = len(relevant & returned), len(returned - relevant), len(relevant - returned)
        tn = len(candidates) - tp - fp - fn
        return Measurement((tp + tn) / len(candidates), details={"tp": tp, "tn": tn, "fp": fp, "fn": fn})


class DocumentNoiseAtK(Configured):
    """Share of the returned top k that is known noise; lower is better.

    Noise is what ``labels["noise_docs"]`` lists: ids, texts, or mappings with ``text`` and perhaps ``id``; without it,
    what is judged and not relevant (grade 0, or a candidate that no relevant label covers).
    """

    k: int

    stem = "document_noise@{k}"
    version = 2
    provenance_keys = CHUNK_KEYS
    target = TargetCategory.NOISE_ROBUSTNESS
    reads = frozenset({"ranking"})
    direction = "lower"
    formula = "noise documents in the top k / min(k, returned)"
    source = "RGB (arXiv:2309.01431), noise ratio"
    oracle = "counted"

    def read_case(self, sample: EvaluationSample) -> Callable[[Document], bool]:
        """Return whether a document is noise."""
        if (noise := sample.labels.get(NOISE_DOCS)) is not None:
            noise_ids = _noise_ids(read_entries(noise, f"labels[{NOISE_DOCS!r}]"))
            return lambda doc: doc.doc_id in noise_ids
        labels = labels_of(sample)
        needed(not all(label.grade for label in labels), "no noise_docs, and no document is judged not relevant")
        matcher = LabelMatcher(labels)
        return lambda doc: set(matcher.grades(doc)) == {0}

    def score_answer(
        self, sample: EvaluationSample, outputs: SystemOutputs, is_noise: Callable[[Document], bool]
    ) -> CaseScore:
        """N/a where nothing was returned.  Details: ``noise``, the ids."""
        top = needed([r.doc for r in outputs.retrieved[: self.k]], "nothing returned")
        noisy = [doc.doc_id for doc in top if is_noise(doc)]
        return Measurement(len(noisy) / len(top), details=nonempty(noise=list(dict.fromkeys(noisy))))


def _noise_ids(noise: list[Any]) -> set[str]:
    """Return the ids that documents of *noise* go by; what is a text alone may be an id."""
    mappings = [entry for entry in noise if isinstance(entry, Mapping)]
    texts = {str(entry) for entry in noise if not isinstance(entry, Mapping)}
    ids = {str(entry.get("id") or id_of_text(str(entry.get("text")))) for entry in mappings}
    return ids | texts | set(map(id_of_text, texts))
