"""From what a case says to a `GoldenCase` with its content hash."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, NamedTuple

import orjson

from ...core.types import Document, EvaluationSample, Response
from ...errors import did_you_mean
from ...regression.thresholds import Bound
from ..source import Source
from .fields import CASE, CASE_FIELDS, LABELS
from .gates import Yardstick
from .model import DRAFT, GoldenCase

_RUNNING = frozenset((
    "id", "scenario", "variant_of", "cluster", "tags", "thresholds", "top_k", "status", "skip", "xfail", "timeout",
    "must_pass", "quarantine", "benchmark",
))  # fmt: skip
"""Keys that do not change what is asked: what the case is called and grouped by, and how it is run."""

_DOCUMENTS = frozenset(("relevant_docs", "candidate_docs"))
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str, check_circular=False
).encode


def content_hash(said: Mapping[str, Any]) -> str:
    """Hash what decides the meaning of a case's scores: 12 hexadecimal digits of SHA-256 over canonical JSON.

    Neither the order of keys and of relevant documents counts, nor whether a default is written out.  Ids and texts are
    written without `json`: with it, reading a golden file of 10,000 cases is over its budget.
    """
    parts: dict[str, Any] = {}
    for name in sorted(said.keys() - _RUNNING):
        value = said[name]
        if name in _DOCUMENTS:
            texts = [_document(doc) if doc.metadata or doc.text else encode_basestring(doc.doc_id) for doc in value]
            parts[name] = orjson.Fragment(f"[{','.join(sorted(texts))}]")
        elif value and (name, value) != ("match", "word"):
            parts[name] = value if _is_text(value) else orjson.Fragment(_encode(value))
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:12]


def _is_text(value: Any) -> bool:
    """Whether it is a text or a list of texts, of which orjson and `json` write the same."""
    return type(value) is str or (type(value) is list and all(type(part) is str for part in value))


def _document(doc: Document) -> str:
    metadata = {k: v for k, v in doc.metadata.items() if k != "grade" or v != 1}
    return _encode([doc.doc_id, doc.text, metadata] if metadata or doc.text else doc.doc_id)


_MOST_SEARCHED = 50  # names that nobody has, of which near ones are told


class CaseReader:
    """Reads the cases of one file, one after the other; `finish` ties them together."""

    def __init__(
        self,
        source: Source,
        yardstick: Yardstick,
        defaults: Mapping[str, Any],
        thresholds: Mapping[str, tuple[Bound, ...]],
        top_k: int,
    ) -> None:
        self.source = source
        self.yardstick = yardstick
        self.defaults = defaults
        self.thresholds = thresholds
        self.top_k = top_k
        self.cases: dict[str, GoldenCase] = {}
        self._bases: dict[str, _Base] = {}
        self._searched = 0
        self._check_labels(defaults)

    def read_part(self, part: Source, cases: list[Any]) -> None:
        """Read the cases of *part* of the file; what is wrong with them goes to the source of the whole."""
        whole = self.source
        if part is not whole:
            whole.problems += part.problems
            part.problems = whole.problems
        self.source = self.yardstick.source = part
        for index, case in enumerate(cases):
            self._read(case, cases, index)
        self.source = self.yardstick.source = whole

    def _read(self, raw: Any, holder: Any, index: int) -> None:
        if type(raw) is not dict:
            CASE.read(raw, holder, index, self.source)
            return
        said = CASE.read_mapping(raw, self.source)
        case_id = said.get("id")
        if case_id is None or "query" not in said:
            return
        if case_id in self.cases:
            first = self.cases[case_id].line
            self.source.bad(raw, "id", f"id {case_id!r} is already taken by the case on line {first}")
            return
        if self.defaults:
            said = {**self.defaults, **said}
        self._check(said, raw)
        case = self._make(case_id, said, raw)
        case.cluster = said.get("cluster") or ("" if "variant_of" in case.sample.labels else case_id)
        if isinstance(base := raw.get("variant_of"), str):
            self._bases[case_id] = _Base(base, raw, self.source)
        elif not case.cluster:
            case.cluster = case_id  # what it is a variant of stands in the defaults, and is nobody
        self.cases[case_id] = case

    def _make(self, case_id: str, said: dict[str, Any], raw: dict[str, Any]) -> GoldenCase:
        labels = {name: value for name, value in said.items() if name in LABELS}
        if "labels" in said:
            labels.update(said["labels"])
        sample = EvaluationSample(
            case_id, said["query"], said.get("relevant_docs"), said.get("candidate_docs"),
            _reference(said.get("reference_answer")), labels, dict(said.get("metadata", ())),
        )  # fmt: skip
        line, col, end_col = self._span(raw)
        return GoldenCase(
            sample, line, col, end_col, tuple(said.get("tags", ())), self._thresholds(raw),
            said.get("top_k", self.top_k), case_id, content_hash(said), said.get("must_pass", False),
            said.get("quarantine"), _skip(said), said.get("xfail"), said.get("timeout"), said.get("benchmark"),
        )  # fmt: skip

    def _span(self, raw: dict[str, Any]) -> tuple[int, int, int]:
        line, col = self.source.at(raw)
        text = self.source.lines[line - 1 - self.source.before] if line else ""
        return line, len(text[: col - 1].encode()), len(text.encode())

    def _thresholds(self, raw: dict[str, Any]) -> dict[str, tuple[Bound, ...]]:
        if "thresholds" not in raw or not isinstance(raw["thresholds"], dict):
            return dict(self.thresholds)
        return {**self.thresholds, **self.yardstick.case_bounds(raw["thresholds"])}

    def _check(self, said: dict[str, Any], raw: dict[str, Any]) -> None:
        if "match" in said and said["match"] == "regex":
            self._check_regexes(said, raw)
        self._check_labels(raw)
        if "must_pass" in said and said["must_pass"] and said.get("xfail") is not None:
            self.source.bad_whole(raw, "must_pass and xfail contradict each other")

    def _check_labels(self, raw: Mapping[str, Any]) -> None:
        if isinstance(labels := raw.get("labels"), dict):
            for name in labels:
                if name in CASE_FIELDS or name == "tag":
                    self.source.bad_key(labels, name, f"{name!r} is a key of the case itself; write it there")

    def _check_regexes(self, said: dict[str, Any], raw: dict[str, Any]) -> None:
        for name in ("must_contain", "forbidden"):
            for pattern in said.get(name, ()):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # of what another version of Python may read otherwise
                        re.compile(pattern)
                except (re.error, OverflowError, RecursionError) as exc:
                    at = name if name in raw else None
                    self.source.bad(raw, at, f"{name}: {pattern!r} is no regular expression: {exc}")

    def finish(self) -> Sequence[GoldenCase]:
        """Resolve ``variant_of`` to the root of each family, set the clusters, and return all cases."""
        for case_id in self._bases:
            case = self.cases[case_id]
            if "variant_of" not in case.sample.labels:
                continue
            root = self._root(case_id)
            if root != case_id:
                case.sample.labels["variant_of"] = root
            case.cluster = case.cluster or (self.cases[root].cluster if root not in self._bases else root)
        return tuple(self.cases.values())

    def _root(self, case_id: str) -> str:
        seen = [case_id]
        while (base := self._bases[seen[-1]].name if seen[-1] in self._bases else None) is not None:
            if base not in self.cases:
                if len(seen) == 1:
                    self._complain(case_id, f"variant_of: there is no case {base!r}{self._near(base)}")
                return case_id
            if base in seen:
                self._complain(case_id, f"variant_of goes round in a circle: {' → '.join([*seen, base])}")
                return case_id
            seen.append(base)
        return seen[-1]

    def _near(self, name: str) -> str:
        """Name cases that are called much the same; a search through all of them, not made for every slip of many."""
        self._searched += 1
        return did_you_mean(name, self.cases) if self._searched <= _MOST_SEARCHED else ""

    def _complain(self, case_id: str, message: str) -> None:
        base = self._bases[case_id]
        base.source.bad(base.raw, "variant_of", message)


def _skip(said: Mapping[str, Any]) -> str | None:
    """Return why a case is not run; a draft is not, whatever else it says."""
    return DRAFT if said.get("status") == "draft" else said.get("skip")


class _Base(NamedTuple):
    """What a case says it is a variant of, the case itself, and where it was read."""

    name: str
    raw: dict[str, Any]
    source: Source


def _reference(texts: list[str] | None) -> Response | None:
    if texts is None:
        return None
    return Response(texts[0], None, {"alternatives": texts[1:]} if len(texts) > 1 else {})
