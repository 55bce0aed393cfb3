"""Labels that people (or judges) give to retrieved chunks and to answers: their names, and where they come from."""

from __future__ import annotations

import os
import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...core.files import json_of, lines_of, read_text
from ...core.metrics_base import NotApplicable
from ...core.types import Document, EvaluationSample, SystemOutputs
from ...errors import MetricError, did_you_mean
from ..ranking.gold import Label, Matcher, label_of
from ..text.comparands import answer_text

CHUNK_LABELS = ("topically_relevant", "evidence_sufficient", "misleading")
"""What is said of a retrieved chunk with respect to the query."""

ANSWER_LABELS = (
    "support_present",
    "unsupported_claim_present",
    "contradicted_claim_present",
    "source_cited",
    "fabricated_source",
    "proper_action",
    "response_on_topic",
    "helpful",
    "incomplete",
    "unsafe_content",
    "refused",
)
"""What is said of an answer, the first five with respect to the retrieved context."""

Labels = Mapping[str, bool]


def answer_hash(text: str) -> str:
    """Return the hash under which labels of an answer are kept: of its text in NFC, white space as single blanks."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_labels(raw: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, bool]:
    """Return the labels among the keys of *raw*; None says that nobody knows, and is left out.

    Raises:
        MetricError: a label is unknown, or is neither true nor false (1 and 0 will do).
    """
    out: dict[str, bool] = {}
    for name, value in raw.items():
        if name not in known:
            raise MetricError(f"{where}: no label {name!r}{did_you_mean(name, known)}; there is {', '.join(known)}")
        if value is None:
            continue
        if value not in (0, 1) or isinstance(value, float):
            raise MetricError(f"{where}: {name} must be true or false, got {value!r}")
        out[name] = bool(value)
    return out


_ENTAILMENT = {"entailment": "support_present", "supported": "support_present"}
_NEUTRAL = {"neutral": "unsupported_claim_present", "unsupported": "unsupported_claim_present"}
_CONTRADICTION = {"contradiction": "contradicted_claim_present", "contradicted": "contradicted_claim_present"}
_CLAIMS = _ENTAILMENT | _NEUTRAL | _CONTRADICTION


def labels_from_claims(claims: Iterable[object], where: str = "claims") -> dict[str, bool]:
    """Return the labels of an answer whose claims were judged one by one; without any claim all are false.

    Args:
        claims: ``entailment`` / ``supported``, ``neutral`` / ``unsupported``, ``contradiction`` / ``contradicted``.
        where: what an error is said to be in.

    Raises:
        MetricError: a claim is called something else.
    """
    out = dict.fromkeys(_CLAIMS.values(), False)
    for claim in claims:
        if (label := _CLAIMS.get(str(claim).strip().lower())) is None:
            raise MetricError(f"{where}: a claim is one of {', '.join(_CLAIMS)}, got {claim!r}")
        out[label] = True
    return out


@dataclass(frozen=True, slots=True)
class ChunkLabels:
    """What is known about the chunks of one case.

    ``retrieved`` has one entry a returned chunk, in order, None where nobody said anything; ``judged`` is every
    passage that somebody labelled, returned or not.
    """

    retrieved: Sequence[Labels | None]
    judged: Sequence[Labels]


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
    ) -> ChunkLabels | NotApplicable:
        """Return what is known about the chunks of a case: the *wanted* labels, of the first *depth* returned."""

    @abstractmethod
    def answer_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]
    ) -> Labels | NotApplicable:
        """Return what is known about this very answer; what was said about another one is not applicable."""

    @abstractmethod
    def params(self) -> Any:
        """What tells this source from others, JSON-able."""


_PLACE = ("id", "chunk", "doc", "quote", "span")
_ANOTHER = NotApplicable("label is for another answer")


def _place(raw: Mapping[str, Any], where: str) -> Label:
    """Return what a row of chunk labels is about: an id, a document, or its quote or span."""
    given = {key: raw[key] for key in _PLACE if raw.get(key) is not None}
    chunk, doc = given.pop("id", None) or given.pop("chunk", None), given.pop("doc", None)
    if (chunk is None) == (doc is None) or (chunk is not None and given):
        raise MetricError(f"{where}: say which chunk by its id, or by doc with quote or span")
    if chunk is not None:
        return label_of(Document(str(chunk)))
    if "quote" in given:
        return label_of(Document(str(doc), str(given["quote"]), {"match": "quote"}))
    if "span" not in given:
        return label_of(Document(str(doc), "", {"match": "doc"}))
    try:
        start, end = given["span"]
    except (TypeError, ValueError):
        raise MetricError(f"{where}: a span is [start, end], got {given['span']!r}") from None
    return label_of(Document(str(doc), "", {"match": "span", "start": start, "end": end}))


def _without(raw: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {k: v for k, v in raw.items() if k not in keys}


def _matched(places: Sequence[tuple[Label, Labels]], outputs: SystemOutputs, depth: int) -> ChunkLabels:
    """Look for each labelled place among the returned chunks; a chunk that covers several has all their labels."""
    matcher = Matcher([place for place, _ in places])
    retrieved: list[Labels | None] = []
    for r in outputs.retrieved[:depth]:
        covered = [places[at][1] for at in matcher.covered_labels(r.doc)]
        retrieved.append(_any_of(covered) if covered else None)
    matcher.check()
    return ChunkLabels(retrieved, [labels for _, labels in places])


def _any_of(covered: Iterable[Labels]) -> Labels:
    out: dict[str, bool] = {}
    for labels in covered:
        for name, value in labels.items():
            out[name] = out.get(name, False) or value
    return out


class GoldenLabels(LabelSource):
    """Labels in the golden case.

    The label ``chunk_labels`` lists mappings that name a chunk (``id``; or ``doc``, with ``quote`` or ``span``) and
    say what it is.  Without it, ``relevant_docs`` speak: grade 1 is topically relevant, a grade that was given
    says whether the evidence is sufficient (2) or not, and ``candidate_docs`` are neither.  The label
    ``answer_labels`` is a mapping, or several, that says what an answer is, and with ``answer`` (its text) or
    ``answer_hash`` which one.
    """

    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels | NotApplicable:
        """Match ids, quotes and spans with the returned chunks."""
        given = sample.labels.get("chunk_labels")
        if given is None:
            places = list(_graded(sample))
        else:
            where = f"chunk_labels of {sample.sample_id}"
            rows = _rows(given, where)
            places = [(_place(row, where), read_labels(_without(row, *_PLACE), CHUNK_LABELS, where)) for row in rows]
        return _matched(places, outputs, depth) if places else NotApplicable("no chunk is labelled")

    def answer_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]
    ) -> Labels | NotApplicable:
        """Return the labels whose answer is this one."""
        given = sample.labels.get("answer_labels")
        if not given:
            return NotApplicable("no answer_labels")
        where = f"answer_labels of {sample.sample_id}"
        here = answer_hash(answer_text(outputs))
        said = [_answer_row(row, where) for row in _rows(given, where)]
        found = [labels for digest, labels in said if digest == here]
        return _majority(found) if found else _ANOTHER

    def params(self) -> Any:
        """Return what changes the labels, JSON-able."""
        return "golden"


def _rows(given: Any, where: str) -> Sequence[Mapping[str, Any]]:
    rows = [given] if isinstance(given, Mapping) else given
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, Mapping) for row in rows):
        raise MetricError(f"{where}: expected a mapping or a list of mappings, got {given!r:.80}")
    return rows


def _graded(sample: EvaluationSample) -> Iterator[tuple[Label, Labels]]:
    for doc in sample.relevant_docs or ():
        label = label_of(doc)
        said = {"topically_relevant": label.grade >= 1}
        if "grade" in doc.metadata:
            said["evidence_sufficient"] = label.grade >= 2
        yield label, said
    for doc in sample.candidate_docs or ():
        yield label_of(Document(doc.doc_id)), {"topically_relevant": False, "evidence_sufficient": False}


def _answer_row(raw: Mapping[str, Any], where: str) -> tuple[str, Labels]:
    """Return the hash of the answer that a row is about, and what it says."""
    text, known = raw.get("answer"), raw.get("answer_hash")
    if (text is None) == (known is None):
        raise MetricError(f"{where}: say which answer the labels are for, by answer (its text) or answer_hash")
    labels: dict[str, bool] = {}
    if (claims := raw.get("claims")) is not None:
        if not isinstance(claims, (list, tuple)):
            raise MetricError(f"{where}: claims are a list, got {claims!r:.80}")
        labels = labels_from_claims([c.get("label") if isinstance(c, Mapping) else c for c in claims], where)
    labels |= read_labels(_without(raw, "answer", "answer_hash", "claims"), ANSWER_LABELS, where)
    return answer_hash(str(text)) if known is None else str(known), labels


def _majority(rows: Sequence[Labels]) -> Labels:
    """Return what most annotators said of each label; a draw says nothing."""
    votes: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        for name, value in row.items():
            votes[name] += 1 if value else -1
    return {name: n > 0 for name, n in votes.items() if n}


class AnnotationFile(LabelSource):
    """Labels in a JSONL file: a row for each chunk of a case, or for each answer.

    A chunk row has ``case`` and ``chunk`` (or ``doc``, with ``quote`` or ``span``); an answer row has
    ``answer`` or ``answer_hash``, and ``case`` where the same answer could be one of several cases.  The labels
    stand beside, or under ``labels``; an answer row may list ``claims`` with their labels instead.  Where several
    annotators labelled the same thing, the majority counts.  ``annotator`` and ``note`` are free.

    Raises:
        MetricError: the file cannot be read; the message names line after line.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._chunks: dict[str, dict[str, tuple[Label, list[Labels]]]] = {}
        self._answers: dict[tuple[str | None, str], list[Labels]] = {}
        self._cases: set[str] = set()
        self._read()

    def _read(self) -> None:
        problems = []
        for number, line in lines_of(read_text(self.path, MetricError)):
            try:
                self._read_row(json_of(line, self.path, number, MetricError), f"{self.path}:{number}")
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
        row = _without({**raw, **raw.get("labels", {})}, "labels", "annotator", "note")
        case = row.pop("case", None)
        case = None if case is None else str(case)
        if "answer" in row or "answer_hash" in row:
            digest, labels = _answer_row(row, where)
            self._answers.setdefault((case, digest), []).append(labels)
            if case is not None:
                self._cases.add(case)
            return
        if case is None:
            raise MetricError(f"{where}: chunk labels need the case they are for")
        place = _place(row, where)
        labels = read_labels(_without(row, *_PLACE), CHUNK_LABELS, where)
        self._chunks.setdefault(case, {}).setdefault(place.name, (place, []))[1].append(labels)

    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels | NotApplicable:
        """Match the rows of this case with the returned chunks."""
        rows = self._chunks.get(sample.sample_id)
        if not rows:
            return NotApplicable("no chunk of this case is labelled")
        return _matched([(place, _majority(said)) for place, said in rows.values()], outputs, depth)

    def answer_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]
    ) -> Labels | NotApplicable:
        """Return the rows of this very answer."""
        here = answer_hash(answer_text(outputs))
        found = [*self._answers.get((sample.sample_id, here), ()), *self._answers.get((None, here), ())]
        if found:
            return _majority(found)
        return _ANOTHER if sample.sample_id in self._cases else NotApplicable("no label for this answer")

    def params(self) -> Any:
        """Return what changes the labels, JSON-able."""
        return self.path.name
