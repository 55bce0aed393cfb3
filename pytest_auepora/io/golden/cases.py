"""Golden cases built from their keys and values, with their content hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.document_forms import FORBIDDEN_DOCS, document_of
from ...core.types import Document, EvaluationSample, Response
from ...regression.thresholds import Bound
from ..source import KeyPath, Source
from .fields import CASE, CASE_FIELDS, EXPECTED_FIELDS, LABELS
from .gates import ThresholdReader
from .kinds import BAD
from .model import DRAFT, GoldenCase

_EXECUTION_KEYS = frozenset((
    "id", "scenario", "variant_of", "conversation", "cluster", "tags", "thresholds", "top_k", "status", "skip", "xfail",
    "timeout", "must_pass", "quarantine", "benchmark",
))  # fmt: skip
"""Keys that do not change the question: names, groups and how the case is run."""

_DOCUMENTS = frozenset(("relevant_docs", "candidate_docs"))
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str, check_circular=False
).encode


def content_hash(values: Mapping[str, Any]) -> str:
    """Hash what decides the meaning of a case's scores: 12 hexadecimal digits of SHA-256 over canonical JSON.

    Neither the order of keys and of relevant documents counts, nor whether a default is written out.
    """
    parts: dict[str, Any] = {}
    for name in values.keys() - _EXECUTION_KEYS:
        value = values[name]
        if name in _DOCUMENTS:
            parts[name] = sorted(map(_as_written, value), key=_encode)
        elif name == FORBIDDEN_DOCS and value:
            parts[name] = sorted(value, key=_encode)
        elif value and (name, value) != ("match", "word"):
            parts[name] = value
    return hashlib.sha256(_encode(parts).encode()).hexdigest()[:12]


def _as_written(doc: Document) -> Any:
    metadata = {k: v for k, v in doc.metadata.items() if k != "grade" or v != 1}
    return [doc.doc_id, doc.text, metadata] if metadata or doc.text else doc.doc_id


@dataclass(eq=False)
class CaseReader:
    """Reads the cases of one file."""

    source: Source
    threshold_reader: ThresholdReader
    defaults: Mapping[str, Any]
    thresholds: Mapping[str, tuple[Bound, ...]]
    top_k: int
    cases: dict[str, GoldenCase] = field(default_factory=dict, init=False)
    _bases: dict[str, tuple[str, KeyPath]] = field(default_factory=dict, init=False)
    """The ``variant_of`` of cases, and where it stands."""

    def read(self, cases: Mapping[KeyPath, Any]) -> Sequence[GoldenCase]:
        """Return the *cases*, given by their paths, with ``variant_of`` the root of each family, and their clusters."""
        self._check_labels(self.defaults, (*self.threshold_reader.top, "defaults"))
        for path, raw in cases.items():
            self._read_case(raw, path)
        for case_id, case in self.cases.items():
            root = self._root(case_id)
            if root != case_id:
                case.sample.labels["variant_of"] = root
            case.cluster = case.cluster or self.cases[root].cluster or root
        return tuple(self.cases.values())

    def _read_case(self, raw: Any, path: KeyPath) -> None:
        values = CASE.read(raw, path, self.source)
        if values is BAD:
            return
        case_id = values.get("id")
        if case_id is None or "query" not in values:
            return
        if case_id in self.cases:
            first = self.cases[case_id].line
            self.source.report((*path, "id"), f"id {case_id!r} is already taken by the case on line {first}")
            return
        if not EXPECTED_FIELDS.keys().isdisjoint(values):
            self._read_expected(values, raw, path)
        if self.defaults:
            values = {**self.defaults, **values}
        self._check_values(values, raw, path)
        case = self._build_case(case_id, values, raw, path)
        if "variant_of" in values:
            self._bases[case_id] = values["variant_of"], (*path, "variant_of")
        self.cases[case_id] = case

    def _read_expected(self, values: dict[str, Any], raw: dict[str, Any], path: KeyPath) -> None:
        """Put what the case names by the keys of `EXPECTED_FIELDS` under ``relevant_docs``."""
        chunks, docs = (values.pop(key, None) for key in EXPECTED_FIELDS)
        key = next(key for key in EXPECTED_FIELDS if key in raw)
        if "relevant_docs" in values:
            message = f"{key} is another name of relevant_docs, which the case has as well"
            self.source.report_key((*path, key), message)
        elif chunks and docs and len(docs) > 1:
            message = "which chunk is of which document? Write relevant_docs: [{id: CHUNK, doc: DOCUMENT}, …]"
            self.source.report_key((*path, key), message)
        elif chunks:
            values["relevant_docs"] = [
                document_of({"id": chunk, **({"doc": docs[0]} if docs else {})}) for chunk in chunks
            ]
        else:
            values["relevant_docs"] = [document_of({"doc": doc}) for doc in docs or ()]

    def _build_case(self, case_id: str, values: dict[str, Any], raw: dict[str, Any], path: KeyPath) -> GoldenCase:
        labels = {name: value for name, value in values.items() if name in LABELS}
        if "labels" in values:
            labels.update(values["labels"])
        answer, *others = values.get("reference_answer") or [None]
        reference = None if answer is None else Response(answer, None, {"alternatives": others} if others else {})
        sample = EvaluationSample(
            case_id, values["query"], values.get("relevant_docs"), values.get("candidate_docs"), reference, labels,
            dict(values.get("metadata", ())), values.get("chat_history", []),
        )  # fmt: skip
        return GoldenCase(
            sample, *self.source.position(path), tuple(values.get("tags", ())), self._thresholds(raw, path),
            values.get("top_k", self.top_k), values.get("cluster") or values.get("conversation", ""),
            content_hash(values), values.get("must_pass", False), values.get("quarantine"),
            DRAFT if values.get("status") == "draft" else values.get("skip"),
            values.get("xfail"), values.get("timeout"), values.get("benchmark"),
        )  # fmt: skip

    def _thresholds(self, raw: dict[str, Any], path: KeyPath) -> dict[str, tuple[Bound, ...]]:
        if "thresholds" not in raw or not isinstance(raw["thresholds"], dict):
            return dict(self.thresholds)
        return {**self.thresholds, **self.threshold_reader.case_bounds(raw["thresholds"], (*path, "thresholds"))}

    def _check_values(self, values: dict[str, Any], raw: dict[str, Any], path: KeyPath) -> None:
        if "match" in values and values["match"] == "regex":
            self._check_regexes(values, path)
        self._check_labels(raw, path)
        if FORBIDDEN_DOCS in values and (relevant := values.get("relevant_docs")):
            self._check_forbidden(values[FORBIDDEN_DOCS], relevant, (*path, FORBIDDEN_DOCS))
        if "must_pass" in values and values["must_pass"] and values.get("xfail") is not None:
            self.source.report(path, "must_pass and xfail contradict each other")

    def _check_forbidden(self, forbidden: Sequence[Any], relevant: Sequence[Document], path: KeyPath) -> None:
        ids = {doc.doc_id for doc in relevant if doc.metadata.get("match") in (None, "doc")}
        for form in forbidden:
            name = form if isinstance(form, str) else form.get("doc") if form.keys() == {"doc"} else None
            if name in ids:
                self.source.report(path, f"{FORBIDDEN_DOCS}: {name!r} is relevant to the case as well")

    def _check_labels(self, raw: Mapping[str, Any], path: KeyPath) -> None:
        if isinstance(labels := raw.get("labels"), dict):
            for name in labels:
                if name in CASE_FIELDS or name == "tag":
                    self.source.report_key(
                        (*path, "labels", name), f"{name!r} is a key of the case itself; write it there"
                    )

    def _check_regexes(self, values: dict[str, Any], path: KeyPath) -> None:
        import regex  # which searches the answers

        for name in ("must_contain", "forbidden"):
            for pattern in values.get(name, ()):
                try:
                    regex.compile(pattern)
                except (regex.error, ValueError, OverflowError, RecursionError) as exc:
                    self.source.report((*path, name), f"{name}: {pattern!r} is not a regular expression: {exc}")

    def _root(self, case_id: str) -> str:
        """Return the case at the end of the chain of variants; *case_id* itself where that is reported to be wrong."""
        chain = [case_id]
        while chain[-1] in self._bases:
            base, _ = self._bases[chain[-1]]
            _, path = self._bases[case_id]
            if base not in self.cases:
                if len(chain) == 1:
                    hint = self.source.suggest_case(base, self.cases)
                    self.source.report(path, f"variant_of: there is no case {base!r}{hint}")
                return case_id
            if base in chain:
                self.source.report(path, f"variant_of goes round in a circle: {' → '.join([*chain, base])}")
                return case_id
            chain.append(base)
        return chain[-1]
