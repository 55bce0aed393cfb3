"""Golden files: the questions a system has to answer, what is known about the right answers, and the gates.

A golden file of JSON Lines has the keys of the YAML form: its first line may hold those of the file, every other line
is one case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...base.complaints import Problem
from ...base.garbage import garbage_collection_paused
from ...errors import GoldenFileError
from ...metrics.catalogue import SAMPLED
from ...metrics.registry import Registry
from ...regression.policy import ALL, AnchorPolicy, RegressionPolicy
from ..json_lines import is_jsonl, load_lines
from ..source import MAX_BYTES, KeyPath, Source, describe
from .cases import CaseReader
from .fields import HEADER, MAX_TOP_K, SUITE
from .gates import ThresholdReader
from .model import GoldenSuite
from .names import SuiteName


def load_golden(path: str | Path, registry: Registry | None = None, *, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read the golden file at *path*: ``.yaml``, ``.yml`` or ``.jsonl``, of at most *max_bytes*.

    *registry* has the metrics there are, by default those of this package.

    Raises:
        GoldenFileError: all that is wrong with the file, each complaint with its line and column.
    """
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml", ".jsonl"):
        raise GoldenFileError([Problem(str(path), 0, 0, "a golden file ends in .yaml, .yml or .jsonl")])
    with garbage_collection_paused():
        file = _read_file(path, max_bytes)
        return _build_suite(path, registry if registry is not None else Registry(), file)


def load_policy(path: str | Path) -> RegressionPolicy:
    """Read the regression policy of the golden file at *path* alone: neither its cases nor its metrics are looked at.

    Raises:
        GoldenFileError: the file cannot be read, or its keys are wrong.
    """
    file = _read_file(Path(path), MAX_BYTES)
    if file.source.problems:
        raise file.source.error()
    return _regression_policy(file.values)


class ReadFile(NamedTuple):
    """The source of a file, the values of its top or of its first line, at *top*, and the cases by their paths."""

    source: Source
    top: KeyPath
    values: dict[str, Any]
    cases: Mapping[KeyPath, Any]


def _read_file(path: Path, max_bytes: int) -> ReadFile:
    return _read_jsonl(path, max_bytes) if is_jsonl(path) else _read_yaml(path, max_bytes)


def _read_yaml(path: Path, max_bytes: int) -> ReadFile:
    from ..yaml.nodes import load_yaml  # with it comes PyYAML

    source = Source.load(path, max_bytes, "or write it as JSON Lines, of which `auepora score` takes more")
    root = load_yaml(source)
    if root is None:
        source.report_at(0, 0, "is empty; a golden file has cases")
        raise source.error()
    if not isinstance(root, dict):
        hint = "; put the list under cases:" if isinstance(root, list) else ""
        source.report_at(1, 1, f"expected a mapping with cases, got {describe(root)}{hint}")
        raise source.error()
    values = SUITE.read_mapping(root, (), source)
    return ReadFile(source, (), values, {("cases", i): case for i, case in enumerate(values.get("cases", []))})


def _read_jsonl(path: Path, max_bytes: int) -> ReadFile:
    """Read JSON Lines; the first line is the header if it has neither ``id`` nor ``query``."""
    instead = "have it scored by `auepora score`, or give load_golden a higher max_bytes"
    source = Source.load(path, max_bytes, instead)
    lines = load_lines(source)
    first, raw = next(iter(lines.items()), (0, {}))
    if headed := bool(raw) and not {"id", "query"} & raw.keys():
        del lines[first]
    values = HEADER.read_mapping(raw if headed else {}, (first,), source)
    if not lines and not source.problems:
        message = "there are no cases; a golden file without any would pass whatever happens" if headed else "is empty"
        source.report_at(0, 0, message)
    return ReadFile(source, (first,), values, {(line,): case for line, case in lines.items()})


DEFAULT_METRICS = (
    "recall@5", "mrr@10", "ndcg@10", "token_f1", "rougeL", "assertion_pass", "refusal_correctness",
)  # fmt: skip
"""Metrics of a file that lists none; those that a case has no labels for are n/a."""


def _build_suite(path: Path, registry: Registry, file: ReadFile) -> GoldenSuite:
    source, top, values, raw_cases = file
    threshold_reader = ThresholdReader(source, registry, top)
    metrics = threshold_reader.load_metrics(values.get("metrics", DEFAULT_METRICS))
    owner = values.get("owner", "")
    top_k = values.get("top_k") or _default_top_k(metrics)
    defaults = values.get("defaults", {})
    case_bounds = threshold_reader.case_bounds(values.get("case_thresholds", {}), (*top, "case_thresholds"))
    case_bounds |= threshold_reader.case_bounds(defaults.get("thresholds", {}), (*top, "defaults", "thresholds"))
    cases = CaseReader(source, threshold_reader, defaults, case_bounds, top_k).read(raw_cases)
    if any(name.startswith(SAMPLED) for name in metrics):
        for case in cases:
            case.resources = True
    owners = values.get("owners", {})
    threshold_reader.check_names(owners, (*top, "owners"))
    gates = threshold_reader.gates(values.get("thresholds", {}), owner, owners)
    threshold_reader.check_gates(gates, cases)
    threshold_reader.check_case_thresholds(cases)
    _check_policy(values.get("regression", {}), (*top, "regression"), threshold_reader)
    policy = _regression_policy(values)
    if policy.slices:
        threshold_reader.check_slices(policy.slices, (*top, "regression", "slices"), cases)
    suite = GoldenSuite(
        _suite_name(values, path, source), path, owner, top_k, metrics, tuple(gates),
        policy, cases, values.get("fixture", "rag"),
        tuple(values.get("tags", ())), values.get("description", ""), values.get("repeat", 1), owners,
        tuple(threshold_reader.warnings), source.position((*top, "suite"), on_key=True)[0] if "suite" in values else 1,
    )  # fmt: skip
    if source.problems:
        raise source.error()
    return suite


def _suite_name(values: dict[str, Any], path: Path, source: Source) -> str:
    if "suite" in values:
        return str(values["suite"])
    stem = re.sub(r"(\.golden)?\.(ya?ml|jsonl)$", "", path.name, flags=re.IGNORECASE)
    if reason := SuiteName().broken_rule(stem):
        source.report_at(0, 0, f"the suite is called after the file, and {stem!r} {reason}; write suite: in the file")
    return stem


def _default_top_k(metrics: tuple[str, ...]) -> int:
    """Return the largest cut-off of the metrics, at least 5."""
    cutoffs = [int(k) for name in metrics for k in re.findall(r"@(\d{1,6})", name)]
    return min(max([5, *cutoffs]), MAX_TOP_K)


def _check_policy(regression: dict[str, Any], path: KeyPath, threshold_reader: ThresholdReader) -> None:
    if "metrics" in regression:
        threshold_reader.check_names(regression["metrics"], (*path, "metrics"))
    for key, names in regression.get("not_comparable", {}).items():
        for name in names:
            if name != ALL and threshold_reader.metric_scale(name) is None:
                message = threshold_reader.unknown_message(name)
                threshold_reader.source.report((*path, "not_comparable", key), message)


def _regression_policy(values: dict[str, Any]) -> RegressionPolicy:
    keys = {**values.get("regression", {}), **({"assertions": values["assertions"]} if "assertions" in values else {})}
    if "anchor" in keys:
        keys["anchor"] = AnchorPolicy(**keys["anchor"])
    return RegressionPolicy(**keys)
