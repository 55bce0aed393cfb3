"""From what a case says to a `GoldenCase`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..core.types import EvaluationSample, Response
from ..errors import did_you_mean
from ..regression.thresholds import Bound
from .content_hash import content_hash
from .fields import CASE, CASE_FIELDS
from .gates import Yardstick
from .golden_model import GoldenCase
from .source import Source

__all__ = ["LABEL_KEYS", "CaseReader"]

LABEL_KEYS = frozenset((
    "scenario", "variant_of", "expect", "expect_change", "must_contain", "forbidden", "match", "entities", "nuggets",
    "sensitive", "claims", "answer_schema",
))  # fmt: skip
"""Keys of a case that metrics find in ``sample.labels``."""


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
        self._raw: dict[str, Any] = {}
        self._clusters: dict[str, str] = {}

    def read(self, raw: Any, holder: Any, index: int) -> None:
        """Read one case; what is wrong with it goes to the source."""
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
        self.cases[case_id] = self._make(case_id, said, raw)
        self._raw[case_id] = raw
        if "cluster" in said:
            self._clusters[case_id] = said["cluster"]

    def _make(self, case_id: str, said: dict[str, Any], raw: dict[str, Any]) -> GoldenCase:
        labels = {name: said[name] for name in _labels_among(tuple(said))}
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
            said.get("quarantine"), said.get("skip"), said.get("xfail"), said.get("timeout"), said.get("benchmark"),
        )  # fmt: skip

    def _span(self, raw: dict[str, Any]) -> tuple[int, int, int]:
        line, col = self.source.at(raw)
        text = self.source.lines[line - 1] if line else ""
        if text.isascii():
            return line, col - 1, len(text)
        return line, len(text[: col - 1].encode()), len(text.encode())

    def _thresholds(self, raw: dict[str, Any]) -> dict[str, tuple[Bound, ...]]:
        if "thresholds" not in raw or not isinstance(raw["thresholds"], dict):
            return dict(self.thresholds)
        return {**self.thresholds, **self.yardstick.case_bounds(raw["thresholds"])}

    def _check(self, said: dict[str, Any], raw: dict[str, Any]) -> None:
        if "match" in said and said["match"] == "regex":
            self._check_regexes(said, raw)
        if "labels" in raw and isinstance(raw["labels"], dict):
            for name in raw["labels"]:
                if name in CASE_FIELDS or name == "tag":
                    self.source.bad_key(raw["labels"], name, f"{name!r} is a key of the case itself; write it there")
        if "must_pass" in said and said["must_pass"] and said.get("xfail") is not None:
            self.source.bad_whole(raw, "must_pass and xfail contradict each other")

    def _check_regexes(self, said: dict[str, Any], raw: dict[str, Any]) -> None:
        for name in ("must_contain", "forbidden"):
            for pattern in said.get(name, ()):
                try:
                    re.compile(pattern)
                except re.error as exc:
                    at = name if name in raw else None
                    self.source.bad(raw, at, f"{name}: {pattern!r} is no regular expression: {exc}")

    def finish(self) -> tuple[GoldenCase, ...]:
        """Resolve ``variant_of`` to the root of each family, set the clusters, and return all cases."""
        for case_id, case in self.cases.items():
            root = self._root(case_id) if "variant_of" in case.sample.labels else case_id
            if root != case_id:
                case.sample.labels["variant_of"] = root
            case.cluster = self._clusters.get(case_id) or self._clusters.get(root, root)
        return tuple(self.cases.values())

    def _root(self, case_id: str) -> str:
        seen = [case_id]
        while (base := self._raw[seen[-1]].get("variant_of")) is not None:
            if base not in self.cases:
                if len(seen) == 1:
                    near = did_you_mean(str(base), self.cases)
                    self.source.bad(self._raw[case_id], "variant_of", f"variant_of: there is no case {base!r}{near}")
                return case_id
            if base in seen:
                chain = " → ".join([*seen, base])
                self.source.bad(self._raw[case_id], "variant_of", f"variant_of goes round in a circle: {chain}")
                return case_id
            seen.append(base)
        return seen[-1]


@lru_cache(maxsize=256)
def _labels_among(keys: tuple[str, ...]) -> list[str]:
    """Those of *keys* that are labels; the cases of a file have few sets of keys."""
    return [name for name in keys if name in LABEL_KEYS]


def _reference(texts: list[str] | None) -> Response | None:
    if texts is None:
        return None
    return Response(texts[0], None, {"alternatives": texts[1:]} if len(texts) > 1 else {})
