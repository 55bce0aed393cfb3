"""Labels from golden cases and from annotation files, and the option of metrics that says where they come from."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ...core.metrics_base import NotApplicable
from ...core.types import Document, EvaluationSample, SystemOutputs
from ...errors import MetricError
from ..options import Configured
from ..ranking.gold import Label, Matcher, label_of
from ..text.comparands import answer_text
from .labels import (
    ANSWER_LABELS,
    CHUNK_LABELS,
    ChunkLabels,
    Labels,
    LabelSource,
    answer_hash,
    labels_from_claims,
    read_labels,
)

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
        covered = [places[at][1] for at in matcher.marks(r.doc)]
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
            rows = [given] if isinstance(given, Mapping) else given
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
        rows = [given] if isinstance(given, Mapping) else given
        here = answer_hash(answer_text(outputs))
        found = [_answer_row(row, where)[1] for row in rows if _answer_row(row, where)[0] == here]
        return _majority(found) if found else _ANOTHER

    def params(self) -> Any:
        """Return what changes the labels, JSON-able."""
        return "golden"


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
        try:
            lines = self.path.read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as exc:
            raise MetricError(f"annotations {self.path.as_posix()} cannot be read: {exc}") from None
        problems = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    self._take(line, f"{self.path.as_posix()}:{number}")
                except MetricError as exc:
                    problems.append(str(exc))
        if problems:
            more = f"\n… and {len(problems) - 10} more" if len(problems) > 10 else ""
            raise MetricError("\n".join(problems[:10]) + more)
        if not self._chunks and not self._answers:
            raise MetricError(f"{self.path.as_posix()} holds no annotation")

    def _take(self, line: str, where: str) -> None:
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise MetricError(f"{where}: not JSON: {exc}") from None
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


class Labelled(Configured):
    """A metric over labels.

    Args:
        labels: ``golden`` (what the case itself says), ``judge`` (the one of the environment), the path of an
            annotation file, or in Python a `LabelSource`.
    """

    labels: str | LabelSource
    oracle: ClassVar[str] = "counted independently on 700 labelled answers, and by hand"
    source: ClassVar[str] = "label taxonomy for retrieval, grounding and generation"

    def __post_init__(self) -> None:
        self._source = _source(self.labels)
        if not self._source.deterministic:
            vars(self)["deterministic"] = False
        vars(self)["judged"] = self._source.judged
        super().__post_init__()

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # it is that of the source
        """How many cases may be measured at once."""
        return self._source.concurrency

    def spelled_options(self) -> dict[str, Any]:
        """Return the options of the bracket; a `LabelSource` is shown by its class."""
        options = super().spelled_options()
        if isinstance(self.labels, LabelSource):
            options["labels"] = type(self.labels).__name__
        return options

    def params(self) -> dict[str, Any]:
        """Return the options that change the score, with where labels come from."""
        return {**super().params(), "labels": self._source.params()}


def _source(labels: str | LabelSource) -> LabelSource:
    if isinstance(labels, LabelSource):
        return labels
    if labels == "golden":
        return GoldenLabels()
    if labels == "judge":
        from .judge import JudgeLabels

        return JudgeLabels()
    if not Path(labels).suffix:
        raise MetricError(f"labels must be golden, judge or the path of an annotation file, got {labels!r}")
    return AnnotationFile(labels)
