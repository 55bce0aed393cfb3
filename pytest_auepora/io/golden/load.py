"""Golden files: the questions a system has to answer, what is known about the right answers, and the gates.

A golden file of JSON Lines has the keys of the YAML form: its first line may hold those of the file, every other line
is one case.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import GoldenFileError, Problem
from ...metrics.catalogue import SAMPLED
from ...metrics.registry import Registry
from ...regression.policy import ALL, AnchorPolicy, RegressionPolicy
from ..json_lines import line_blocks, load_lines
from ..source import MAX_BYTES, Source, describe
from .cases import CaseReader
from .fields import HEADER, MAX_TOP_K, SUITE
from .gates import Yardstick
from .model import GoldenSuite
from .names import SuiteName


def load_golden(path: str | Path, registry: Registry | None = None, *, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read the golden file at *path*: ``.yaml``, ``.yml`` or ``.jsonl``.

    Args:
        path: the file.
        registry: the metrics there are; those of this package by default.
        max_bytes: how large the file may be.

    Raises:
        GoldenFileError: all that is wrong with the file, each complaint with its line and column.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".yaml", ".yml", ".jsonl"):
        raise GoldenFileError([Problem(str(path), 0, 0, "a golden file ends in .yaml, .yml or .jsonl")])
    with garbage_collection_paused():
        read = _of_lines if suffix == ".jsonl" else _of_yaml
        return _suite(path, registry if registry is not None else Registry(), read(path, max_bytes))


def load_policy(path: str | Path) -> RegressionPolicy:
    """Read how strictly the golden file at *path* compares runs, and nothing else: any metric may be in it.

    Raises:
        GoldenFileError: the file cannot be read, or what it says of that is wrong.
    """
    path = Path(path)
    if path.suffix.lower() == ".jsonl":
        lines = _first(path, line_blocks(path, MAX_BYTES)).lines
        head = next((i for i, line in enumerate(lines) if line.strip()), 0)
        source = Source(str(path), "\n".join(lines[: head + 1]))
        root: Any = next(iter(load_lines(source)), None)
    else:
        from ..yaml.load import load_yaml

        source = Source.load(path)
        root = load_yaml(source)
    raw = {key: root[key] for key in ("regression", "assertions") if key in root} if isinstance(root, dict) else {}
    said = HEADER.read_mapping(raw, source)
    if source.problems:
        raise source.error()
    return _policy(said)


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Keep the collector from walking, again and again, a growing heap in which nothing is garbage.

    Without it, reading a golden file of 10,000 cases is over its budget.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Parts = Iterable[tuple[Source, list[Any]]]
"""The cases of a file as they stand, part by part, each with its source."""


class _Read(NamedTuple):
    """A file: its source, the mapping at its top or on its first line, what reading that gave, and the cases."""

    source: Source
    raw: dict[str, Any]
    said: dict[str, Any]
    parts: Parts


def _of_yaml(path: Path, max_bytes: int) -> _Read:
    from ..yaml.load import load_yaml  # with it comes PyYAML

    source = Source.load(path, max_bytes, "or write it as JSON Lines, of which `auepora score` takes more")
    root = load_yaml(source)
    if root is None:
        source.complain(0, 0, "is empty; a golden file has cases")
        raise source.error()
    if not isinstance(root, dict):
        hint = "; put the list under cases:" if isinstance(root, list) else ""
        source.complain(1, 1, f"expected a mapping with cases, got {describe(root)}{hint}")
        raise source.error()
    said = SUITE.read_mapping(root, source)
    return _Read(source, root, said, [(source, said.get("cases", []))])


def _of_lines(path: Path, max_bytes: int) -> _Read:
    """Read JSON Lines; the first is about the whole file if it has neither ``id`` nor ``query``."""
    blocks = line_blocks(path, max_bytes, "have it scored by `auepora score`, or give load_golden a higher max_bytes")
    source = _first(path, blocks)
    cases = load_lines(source)
    raw: dict[str, Any] = {}
    if cases and not {"id", "query"} & cases[0].keys():
        raw = cases.pop(0)
    return _Read(source, raw, HEADER.read_mapping(raw, source), _parts(source, cases, blocks, headed=bool(raw)))


def _first(path: Path, blocks: Iterable[Source]) -> Source:
    """Return the first block with more than blank lines."""
    return next((block for block in blocks if not block.text.isspace()), Source(str(path), ""))


def _parts(source: Source, cases: list[Any], blocks: Iterable[Source], *, headed: bool) -> Parts:
    yield source, cases
    some = bool(cases)
    for block in blocks:
        yield block, (more := load_lines(block))
        some = some or bool(more)
    if not some and not source.problems:
        what = "there are no cases; a golden file without any would pass whatever happens" if headed else "is empty"
        source.complain(0, 0, what)


DEFAULT_METRICS = (
    "recall@5", "mrr@10", "ndcg@10", "token_f1", "rougeL", "assertion_pass", "refusal_correctness",
)  # fmt: skip
"""What is measured where a file does not say; what a case has no labels for is n/a."""


def _suite(path: Path, registry: Registry, read: _Read) -> GoldenSuite:
    source, raw, said, parts = read
    yardstick = Yardstick(source, registry)
    metrics = yardstick.take(said.get("metrics", DEFAULT_METRICS), raw.get("metrics"))
    owner = said.get("owner", "")
    top_k = said.get("top_k") or _deepest(metrics)
    inherited = _case_thresholds(said, yardstick)
    reader = CaseReader(source, yardstick, said.get("defaults", {}), inherited, top_k)
    for part, some in parts:
        reader.read_part(part, some)
    cases = reader.finish()
    if any(name.startswith(SAMPLED) for name in metrics):
        for case in cases:
            case.resources = True
    owners = said.get("owners", {})
    yardstick.check_names(owners, raw.get("owners", {}))
    gates = yardstick.gates(said.get("thresholds", {}), owner, owners)
    yardstick.check_gates(gates, cases)
    yardstick.check_case_thresholds(cases)
    _check_policy(said.get("regression", {}), raw, yardstick)
    policy = _policy(said)
    if policy.slices:
        yardstick.check_slices(policy.slices, raw["regression"]["slices"], cases)
    suite = GoldenSuite(
        _name(said, path, source), path, owner, top_k, metrics, tuple(gates),
        policy, cases, said.get("fixture", "rag"),
        tuple(said.get("tags", ())), said.get("description", ""), said.get("repeat", 1), owners,
        tuple(yardstick.warnings),
    )  # fmt: skip
    if source.problems:
        raise source.error()
    return suite


def _name(said: dict[str, Any], path: Path, source: Source) -> str:
    if "suite" in said:
        return str(said["suite"])
    stem = re.sub(r"(\.golden)?\.(ya?ml|jsonl)$", "", path.name, flags=re.IGNORECASE)
    if why := SuiteName().wrong(stem):
        source.complain(0, 0, f"the suite is called after the file, and {stem!r} {why}; write suite: in the file")
    return stem


def _deepest(metrics: tuple[str, ...]) -> int:
    """The largest cut-off named, so that no metric is cut short unseen; at least 5."""
    found = [int(k) for name in metrics for k in re.findall(r"@(\d{1,6})", name)]
    return min(max([5, *found]), MAX_TOP_K)


def _case_thresholds(said: dict[str, Any], yardstick: Yardstick) -> dict[str, Any]:
    inherited = said.get("defaults", {}).get("thresholds", {})
    return {**yardstick.case_bounds(said.get("case_thresholds", {})), **yardstick.case_bounds(inherited)}


def _check_policy(said: dict[str, Any], raw: dict[str, Any], yardstick: Yardstick) -> None:
    if "metrics" in said:
        yardstick.check_names(said["metrics"], raw["regression"]["metrics"])
    for key, names in said.get("not_comparable", {}).items():
        for name in names:
            if name != ALL and yardstick.known(name) is None:
                yardstick.source.bad(raw["regression"]["not_comparable"], key, yardstick.unknown(name))


def _policy(suite: dict[str, Any]) -> RegressionPolicy:
    said = {**suite.get("regression", {}), **({"assertions": suite["assertions"]} if "assertions" in suite else {})}
    if "anchor" in said:
        said["anchor"] = AnchorPolicy(**said["anchor"])
    return RegressionPolicy(**said)
