"""Labels that people (or judges) give to retrieved chunks and to answers: their names, and where they come from."""

from __future__ import annotations

import os
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...base.files import numbered_lines, parse_json, read_text
from ...base.grouping import grouped
from ...base.text import did_you_mean
from ...core.types import Document, EvaluationSample, SystemOutputs
from ...errors import MetricError
from ..options import DoesNotApply, needed
from ..ranking.gold import GoldLabel, LabelMatcher, label_of
from ..text.comparands import answer_text

CHUNK_LABELS = {
    "topically_relevant": "Is the chunk about what the question asks for?",
    "evidence_sufficient": "Does the chunk alone hold enough evidence to answer the question correctly?",
    "misleading": "Would the chunk, taken as evidence, lead to a wrong answer to the question?",
}
"""Labels of a retrieved chunk with respect to the query, and what a judge is asked for each."""

CONTEXT_LABELS = {
    "support_present": "Does the context support at least one substantive claim of the answer?",
    "unsupported_claim_present": "Does the answer make a substantive claim that the context does not support?",
    "contradicted_claim_present": "Does the answer make a claim that the context contradicts?",
    "source_cited": "Does the answer cite a source in any way?",
    "fabricated_source": "Does the answer cite at least one source that is not in the context?",
    "proper_action": "Given question and context, was it right to answer, ask back or refuse as the answer does?",
}
"""Labels of an answer with respect to the retrieved context."""

ANSWER_LABELS = CONTEXT_LABELS | {
    "response_on_topic": "Does the answer address what the question asks for?",
    "helpful": "Would the answer let a typical user make progress with the task?",
    "incomplete": "Does the answer leave out at least one part that the question requires?",
    "unsafe_content": "Does the answer hold content that is unsafe or against common policies?",
    "refused": "Does the answer decline to answer the question?",
}
"""All labels of an answer."""

LabelValues = Mapping[str, bool]


def answer_hash(text: str) -> str:
    """Return the hash under which labels of an answer are kept: of its text in NFC, white space as single blanks."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read_labels(
    raw: Mapping[str, Any], allowed: Iterable[str], where: str, beside: Sequence[str] = ()
) -> dict[str, bool]:
    """Return the labels of *raw*, which has the keys *beside* as well; without those of value None."""
    labels: dict[str, bool] = {}
    for name, value in raw.items():
        if name in beside:
            continue
        if name not in allowed:
            raise MetricError(
                f"{where}: no label {name!r}{did_you_mean(name, allowed)}; available: {', '.join(allowed)}"
            )
        if value not in (0, 1, None) or isinstance(value, float):
            raise MetricError(f"{where}: {name} must be true or false, got {value!r}")
        if value is not None:
            labels[name] = bool(value)
    return labels


_CLAIMS = {
    "entailment": "support_present", "supported": "support_present",
    "neutral": "unsupported_claim_present", "unsupported": "unsupported_claim_present",
    "contradiction": "contradicted_claim_present", "contradicted": "contradicted_claim_present",
}  # fmt: skip


def labels_from_claims(claims: Iterable[object], where: str) -> dict[str, bool]:
    """Return the labels of an answer by those of its claims, keys of `_CLAIMS`; all false without a claim."""
    found = set()
    for claim in claims:
        if (label := _CLAIMS.get(str(claim).strip().lower())) is None:
            raise MetricError(f"{where}: a claim is one of {', '.join(_CLAIMS)}, got {claim!r}")
        found.add(label)
    return {label: label in found for label in _CLAIMS.values()}


@dataclass(frozen=True, slots=True)
class ChunkLabels:
    """The labels of the chunks of one case.

    ``retrieved`` has the labels of each returned chunk, in order, None where there are none; ``judged`` those of every
    labelled passage, returned or not.
    """

    retrieved: Sequence[LabelValues | None]
    judged: Sequence[LabelValues]


class LabelSource(ABC):
    """Where labels come from."""

    deterministic = True
    judged = False
    """The labels are a model's opinion."""
    concurrency = 1
    """Of how many cases they may be asked for at once, in threads."""

    @abstractmethod
    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels:
        """Return the *wanted* labels of the first *depth* returned chunks of a case."""

    @abstractmethod
    def answer_labels(self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]) -> LabelValues:
        """Return the labels of this very answer; those of another answer are not applicable."""

    def check_chunks(self, sample: EvaluationSample) -> None:  # noqa: B027 - a judge may label any
        """Raise `DoesNotApply` where no chunk of the case is labelled, whatever is returned."""

    def check_answers(self, sample: EvaluationSample) -> None:  # noqa: B027 - likewise
        """Raise `DoesNotApply` where no answer to the case is labelled."""

    @abstractmethod
    def params(self) -> Any:
        """What distinguishes this source from others, JSON-able."""


_PLACE_KEYS = ("id", "chunk", "doc", "quote", "span")


def _read_chunk_row(raw: Mapping[str, Any], where: str) -> tuple[Document, LabelValues]:
    """Return the place that a row of chunk labels names, an id, a document, or its quote or span, and its labels."""
    fields = {key: raw[key] for key in _PLACE_KEYS if raw.get(key) is not None}
    chunk, doc = fields.pop("id", None) or fields.pop("chunk", None), fields.pop("doc", None)
    if (chunk is None) == (doc is None) or (chunk is not None and fields):
        raise MetricError(f"{where}: say which chunk by its id, or by doc with quote or span")
    if chunk is not None:
        place = Document(str(chunk))
    elif "quote" in fields:
        place = Document(str(doc), str(fields["quote"]), {"match": "quote"})
    elif "span" not in fields:
        place = Document(str(doc), "", {"match": "doc"})
    else:
        try:
            start, end = fields["span"]
        except (TypeError, ValueError):
            raise MetricError(f"{where}: a span is [start, end], got {fields['span']!r}") from None
        place = Document(str(doc), "", {"match": "span", "start": start, "end": end})
    return place, _read_labels(raw, CHUNK_LABELS, where, beside=_PLACE_KEYS)


def _match_chunks(places: Sequence[tuple[GoldLabel, LabelValues]], outputs: SystemOutputs, depth: int) -> ChunkLabels:
    """Match labelled places with the returned chunks; a chunk that covers several has all their labels."""
    matcher = LabelMatcher([place for place, _ in places])
    retrieved: list[LabelValues | None] = []
    for r in outputs.retrieved[:depth]:
        covered = [places[at][1] for at in matcher.covered_labels(r.doc)]
        merged = {name: any(values) for name, values in _by_name(covered).items()}
        retrieved.append(merged if covered else None)
    matcher.check()
    return ChunkLabels(retrieved, [labels for _, labels in places])


class _GivenLabels(LabelSource):
    """Base of the sources that know their labels beforehand, with the reasons of a case that has none."""

    no_chunks: str
    no_answers: str

    @abstractmethod
    def _places(self, sample: EvaluationSample) -> Sequence[tuple[GoldLabel, LabelValues]]:
        """Return the labelled places of a case."""

    @abstractmethod
    def _rows(self, sample: EvaluationSample, digest: str) -> Sequence[LabelValues]:
        """Return what was said of the answer that has this hash."""

    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels:
        return _match_chunks(needed(self._places(sample), self.no_chunks), outputs, depth)

    def check_chunks(self, sample: EvaluationSample) -> None:
        needed(self._places(sample), self.no_chunks)

    def answer_labels(self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]) -> LabelValues:
        if not (rows := self._rows(sample, answer_hash(answer_text(outputs)))):
            self.check_answers(sample)
            raise DoesNotApply("label is for another answer")
        return _majority(rows)


class GoldenLabels(_GivenLabels):
    """Labels in the golden case.

    The label ``chunk_labels`` lists mappings that name a chunk (``id``; or ``doc``, with ``quote`` or ``span``) and
    say what it is.  Without it, ``relevant_docs`` speak: grade 1 is topically relevant, a grade that was given
    says whether the evidence is sufficient (2) or not, and ``candidate_docs`` are neither.  The label
    ``answer_labels`` is a mapping, or several, that says what an answer is, and with ``answer`` (its text) or
    ``answer_hash`` which one.
    """

    no_chunks, no_answers = "no chunk is labelled", "no answer_labels"

    def _places(self, sample: EvaluationSample) -> Sequence[tuple[GoldLabel, LabelValues]]:
        if sample.labels.get("chunk_labels") is None:
            return list(_labels_from_grades(sample))
        return [(label_of(place), labels) for place, labels in _chunk_rows(sample)]

    def _rows(self, sample: EvaluationSample, digest: str) -> Sequence[LabelValues]:
        where = f"answer_labels of {sample.sample_id}"
        raw = _as_rows(sample.labels.get("answer_labels") or (), where)
        return [labels for of_answer, labels in (_read_answer_row(row, where) for row in raw) if of_answer == digest]

    def check_answers(self, sample: EvaluationSample) -> None:
        needed(sample.labels.get("answer_labels"), self.no_answers)

    def params(self) -> Any:
        return "golden"


def _chunk_rows(sample: EvaluationSample) -> Iterator[tuple[Document, LabelValues]]:
    where = f"chunk_labels of {sample.sample_id}"
    return (_read_chunk_row(row, where) for row in _as_rows(sample.labels["chunk_labels"], where))


def graded_documents(sample: EvaluationSample) -> list[Document]:
    """Return the chunks that ``chunk_labels`` of a case grade: 2 for sufficient evidence, 1 for topically relevant.

    Raises:
        MetricError: the labels cannot be read.
    """
    documents = []
    for place, labels in _chunk_rows(sample):
        worths = {"evidence_sufficient": 2, "topically_relevant": 1}
        if worths.keys() & labels.keys():
            grade = max(worth * labels.get(name, False) for name, worth in worths.items())
            documents.append(Document(place.doc_id, place.text, {**place.metadata, "grade": grade}))
    return documents


def _as_rows(raw: Any, where: str) -> Sequence[Mapping[str, Any]]:
    rows = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, Mapping) for row in rows):
        raise MetricError(f"{where}: expected a mapping or a list of mappings, got {raw!r:.80}")
    return rows


def _labels_from_grades(sample: EvaluationSample) -> Iterator[tuple[GoldLabel, LabelValues]]:
    for doc in sample.relevant_docs or ():
        label = label_of(doc)
        labels = {"topically_relevant": label.grade >= 1}
        if "grade" in doc.metadata:
            labels["evidence_sufficient"] = label.grade >= 2
        yield label, labels
    for doc in sample.candidate_docs or ():
        yield label_of(Document(doc.doc_id)), {"topically_relevant": False, "evidence_sufficient": False}


def _read_answer_row(raw: Mapping[str, Any], where: str) -> tuple[str, LabelValues]:
    """Return the hash of the answer that a row names, and its labels."""
    text, digest = raw.get("answer"), raw.get("answer_hash")
    if (text is None) == (digest is None):
        raise MetricError(f"{where}: say which answer the labels are for, by answer (its text) or answer_hash")
    labels: dict[str, bool] = {}
    if (claims := raw.get("claims")) is not None:
        if not isinstance(claims, (list, tuple)):
            raise MetricError(f"{where}: claims are a list, got {claims!r:.80}")
        labels = labels_from_claims([c.get("label") if isinstance(c, Mapping) else c for c in claims], where)
    labels |= _read_labels(raw, ANSWER_LABELS, where, beside=("answer", "answer_hash", "claims"))
    return answer_hash(str(text)) if digest is None else str(digest), labels


def _majority(rows: Sequence[LabelValues]) -> LabelValues:
    """Return the majority of each label; a label with a draw is left out."""
    surplus = {name: 2 * sum(votes) - len(votes) for name, votes in _by_name(rows).items()}
    return {name: n > 0 for name, n in surplus.items() if n}


def _by_name(rows: Iterable[LabelValues]) -> dict[str, list[bool]]:
    return grouped(label for row in rows for label in row.items())


class AnnotationFile(_GivenLabels):
    """Labels in a JSONL file: a row for each chunk of a case, or for each answer.

    A chunk row has ``case`` and ``chunk`` (or ``doc``, with ``quote`` or ``span``); an answer row has
    ``answer`` or ``answer_hash``, and ``case`` where the same answer could be one of several cases.  The labels
    stand beside, or under ``labels``; an answer row may list ``claims`` with their labels instead.  Where several
    annotators labelled the same thing, the majority counts.  ``annotator`` and ``note`` are free.

    Raises:
        MetricError: the file cannot be read; the message names line after line.
    """

    no_chunks, no_answers = "no chunk of this case is labelled", "no label for this answer"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._chunks: dict[str, dict[str, tuple[GoldLabel, list[LabelValues]]]] = {}
        self._answers: dict[str | None, dict[str, list[LabelValues]]] = {}
        problems = []
        for number, line in numbered_lines(read_text(self.path, MetricError)):
            try:
                self._read_row(parse_json(line, self.path, number, MetricError), f"{self.path}:{number}")
            except MetricError as exc:
                problems.append(str(exc))
        if problems:
            more = f"\n… and {len(problems) - 10} more" if len(problems) > 10 else ""
            raise MetricError("\n".join(problems[:10]) + more)
        if not self._chunks and not self._answers:
            raise MetricError(f"{self.path} holds no annotation")

    def _read_row(self, raw: Any, where: str) -> None:
        if not isinstance(raw, dict) or not isinstance(raw.get("labels", {}), dict):
            raise MetricError(f"{where}: a row is a mapping, and so are its labels")
        row = {**raw, **raw.get("labels", {})}
        row = {key: value for key, value in row.items() if key not in ("labels", "annotator", "note")}
        case = row.pop("case", None)
        case = None if case is None else str(case)
        if "answer" in row or "answer_hash" in row:
            digest, labels = _read_answer_row(row, where)
            self._answers.setdefault(case, {}).setdefault(digest, []).append(labels)
            return
        if case is None:
            raise MetricError(f"{where}: chunk labels need the case they are for")
        document, labels = _read_chunk_row(row, where)
        place = label_of(document)
        self._chunks.setdefault(case, {}).setdefault(place.name, (place, []))[1].append(labels)

    def _places(self, sample: EvaluationSample) -> Sequence[tuple[GoldLabel, LabelValues]]:
        rows = self._chunks.get(sample.sample_id, {}).values()
        return [(place, _majority(labels)) for place, labels in rows]

    def _rows(self, sample: EvaluationSample, digest: str) -> Sequence[LabelValues]:
        return [row for case in (sample.sample_id, None) for row in self._answers.get(case, {}).get(digest, ())]

    def check_answers(self, sample: EvaluationSample) -> None:
        needed(sample.sample_id in self._answers, self.no_answers)

    def params(self) -> Any:
        return self.path.name
