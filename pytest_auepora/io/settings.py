"""Settings of a golden file changed in place: bounds and keys are merged into its text; all else stays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..base.complaints import Problem
from ..errors import GoldenFileError
from ..regression.thresholds import Gate, read_gates
from .json_lines import is_jsonl
from .source import KeyPath
from .yaml.nodes import Parser, flow_text

Node = Any  # of PyYAML: a scalar, a sequence or a mapping
_BOM = "\ufeff"


def with_settings(path: Path, text: str, gates: Sequence[Gate], keys: Mapping[str, str] | None = None) -> str:
    """Return the *text* of the golden file at *path* with settings merged in; comments, order and other keys stay.

    Each of *gates* replaces the threshold of the file for the same statistic, metric and slice; *keys* are further
    keys of the file, with their new values.

    Raises:
        GoldenFileError: it is written in a way that cannot be changed in place.
    """
    bom, text = text[: text.startswith(_BOM)], text.removeprefix(_BOM)
    if is_jsonl(path):
        return bom + _jsonl_with_settings(text, gates, keys or {})
    try:
        root = yaml.load(text, Parser)
        changes = _find_changes(root, gates, keys or {})
        changed = _edit_text(text, yaml.compose(text, Parser), changes)
        if yaml.load(changed, Parser) == _merge(root, changes):
            return bom + changed
    except (yaml.YAMLError, ValueError):
        pass
    message = "its thresholds cannot be changed in place; write them as a block, one below the other"
    raise GoldenFileError([Problem(str(path), 0, 0, message)])


def _jsonl_with_settings(text: str, gates: Sequence[Gate], keys: Mapping[str, str]) -> str:
    """Return JSON Lines with a changed header, or with a new one if the file begins with a case."""
    lines = text.lstrip()
    first, newline, rest = lines.partition("\n")
    header = json.loads(first)
    line_end = first[len(first.rstrip()) :] + newline
    if {"id", "query"} & header.keys():
        header, line_end, rest = {}, line_end or "\n", lines
    merged = _merge(header, _find_changes(header, gates, keys))
    return f"{text.removesuffix(lines)}{json.dumps(merged, ensure_ascii=False)}{line_end}{rest}"


def _find_changes(root: Mapping[str, Any], gates: Sequence[Gate], keys: Mapping[str, str]) -> dict[KeyPath, Any]:
    """Return key path → new value; a bound keeps the form that it is written in."""
    changes: dict[KeyPath, Any] = {(key,): word for key, word in keys.items()}
    thresholds = root.get("thresholds") or {}
    for gate in gates:
        op, limit = gate.bound.op, gate.bound.limit
        for path, value in _written_thresholds(thresholds):
            existing = read_gates(path[0], value, "higher" if op == "min" else "lower")
            if any(other.bound.op == op and other.title == gate.title for other in existing):
                full_path = "thresholds", *path, *([op] if isinstance(value, dict) else [])
                changes[full_path] = str(gate.bound) if isinstance(value, str) else limit
                break
        else:
            changes["thresholds", gate.title] = {op: limit}
    return changes


def _written_thresholds(thresholds: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
    """Yield each threshold of the file with its path in ``thresholds``."""
    for key, raw in thresholds.items():
        yield from (((key, i), item) for i, item in enumerate(raw)) if isinstance(raw, list) else [((key,), raw)]


def _merge(root: Any, changes: Mapping[KeyPath, Any]) -> Any:
    """Return the value that the file is to have."""
    root_copy = _without_aliases(root)
    for path, value in changes.items():
        container = root_copy
        for step in path[:-1]:
            container = container.setdefault(step, {}) if isinstance(container, dict) else container[step]
        container[path[-1]] = value
    return root_copy


def _without_aliases(value: Any) -> Any:
    """Return a copy in which values repeated by aliases are separate."""
    if isinstance(value, list):
        return [_without_aliases(item) for item in value]
    return {key: _without_aliases(item) for key, item in value.items()} if isinstance(value, dict) else value


def _edit_text(text: str, root: Node, changes: Mapping[KeyPath, Any]) -> str:
    """Put *changes* into *text*: existing values are replaced, new keys follow the last key of their mapping."""
    edits: list[tuple[int, int, str]] = []
    missing: dict[int, tuple[Node, dict[str, Any]]] = {}
    for path, value in changes.items():
        node, remaining = root, list(path)
        while remaining and (child := _child(node, remaining[0])) is not None:
            node = child
            del remaining[0]
        if remaining:
            new_keys = missing.setdefault(id(node), (node, {}))[1]
            for step in remaining[:-1]:
                new_keys = new_keys.setdefault(step, {})
            new_keys[remaining[-1]] = value
        else:
            edits.append((node.start_mark.index, node.end_mark.index, flow_text(value)))
    edits += [_insertion(text, node, new_keys, top=node is root) for node, new_keys in missing.values()]
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _child(node: Node, step: Any) -> Node | None:
    if node.id == "sequence":
        return node.value[step]
    pairs = node.value if node.id == "mapping" else []
    return next((value for key, value in pairs if key.value == step), None)


def _insertion(text: str, node: Node, new_keys: Mapping[str, Any], *, top: bool) -> tuple[int, int, str]:
    """Return where new keys of a mapping are inserted, and their text; at the *top* they come before the cases."""
    if node.id != "mapping" or (not node.value and not node.flow_style):
        raise ValueError("no mapping")
    if node.flow_style:
        offset = node.end_mark.index - 1
        return offset, offset, (", " if node.value else "") + flow_text(new_keys)[1:-1]
    pairs = node.value
    names = [key.value for key, _ in pairs]
    index = names.index("cases") if top and "cases" in names else len(pairs)
    line_end = "\r\n" if "\r\n" in text else "\n"
    indent = " " * pairs[0][0].start_mark.column
    lines: list[str] = []
    for key, value in new_keys.items():
        if top and isinstance(value, Mapping):
            lines.append(f"{flow_text(key)}:")
            lines += [f"  {flow_text(name)}: {flow_text(item)}" for name, item in value.items()]
        else:
            lines.append(f"{flow_text(key)}: {flow_text(value)}")
    block = "".join(f"{indent}{line}{line_end}" for line in lines)
    if not index:
        offset = pairs[0][0].start_mark.index
        return offset, offset, block
    last = pairs[index - 1][1]
    while last.id != "scalar" and not last.flow_style:  # the mark of a block is after the comments that follow it
        last = last.value[-1] if last.id == "sequence" else last.value[-1][1]
    offset = last.end_mark.index
    if text[offset - 1 : offset] != "\n":
        newline = text.find("\n", offset)
        if newline < 0:
            return len(text), len(text), line_end + block
        offset = newline + 1
    return offset, offset, block
