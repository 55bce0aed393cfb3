"""Settings of a golden file, changed in place: bounds and keys are merged into its text, and nothing else moves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ..errors import GoldenFileError, Problem
from ..regression.thresholds import Gate, read_gates

Node = Any
"""A node of PyYAML, which is imported when a file is changed."""

Way = tuple[Any, ...]
"""The keys and indices that lead from the top of a file to a value."""

_PLAIN = re.compile(r"[A-Za-z_][\w@.]*")
_BOM = "\ufeff"


def with_settings(path: Path, text: str, gates: Sequence[Gate], keys: Mapping[str, str] | None = None) -> str:
    """Return the *text* of a golden file with settings merged in; comments, order and all other keys stay.

    Args:
        path: the file, for messages and its format.
        text: what stands in it, read without complaint.
        gates: thresholds; each takes the place of the file's own of the same statistic, metric and slice.
        keys: further keys of the file, with the word that each is to have.

    Raises:
        GoldenFileError: it is written in a way that cannot be changed in place.
    """
    if path.suffix.lower() == ".jsonl":
        return _lines_with(text, gates, keys or {})
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # not as strict about plain text as the other
    try:
        root = yaml.load(text, loader)
        changes = _changes(root, gates, keys or {})
        changed = _edited(text, yaml.compose(text, loader), changes)
        if yaml.load(changed, loader) == _merged(root, changes):
            return changed
    except (yaml.YAMLError, ValueError):
        pass
    told = "its thresholds cannot be changed in place; write them as a block, one below the other"
    raise GoldenFileError([Problem(str(path), 0, 0, told)])


def _lines_with(text: str, gates: Sequence[Gate], keys: Mapping[str, str]) -> str:
    """Return JSON Lines with a changed first line; it is a new one where the file began with a case."""
    mark = _BOM if text.startswith(_BOM) else ""
    first, end, rest = text.removeprefix(_BOM).partition("\n")
    head = json.loads(first)
    if {"id", "query"} & head.keys():
        head, end, rest = {}, "\n", f"{first}{end}{rest}"
    return f"{mark}{json.dumps(_merged(head, _changes(head, gates, keys)), ensure_ascii=False)}{end}{rest}"


def _changes(root: Mapping[str, Any], gates: Sequence[Gate], keys: Mapping[str, str]) -> dict[Way, Any]:
    """Return new values by the way to them; a bound keeps the form that it is written in."""
    out: dict[Way, Any] = {(key,): word for key, word in keys.items()}
    said = root.get("thresholds") or {}
    for gate in gates:
        way = next((way for way, known in _known(said, gate) if known.title == gate.title), ())
        value: Any = said
        for step in way:
            value = value[step]
        place: Way = ("thresholds", *(way or [gate.title]))
        if not way:
            out[place] = {gate.bound.op: gate.bound.limit}
        elif isinstance(value, dict):
            out[place + (gate.bound.op,)] = gate.bound.limit  # noqa: RUF005
        else:
            out[place] = str(gate.bound) if isinstance(value, str) else gate.bound.limit
    return out


def _known(said: Mapping[str, Any], wanted: Gate) -> Iterator[tuple[Way, Gate]]:
    """Yield the gates that are there and bound the side of *wanted*, each with the way to it from ``thresholds``."""
    worse: Literal["higher", "lower"] = "higher" if wanted.bound.op == "min" else "lower"
    for key, raw in said.items():
        parts = [((key, i), one) for i, one in enumerate(raw)] if isinstance(raw, list) else [((key,), raw)]
        for way, one in parts:
            yield from ((way, gate) for gate in read_gates(key, one, worse) if gate.bound.op == wanted.bound.op)


def _merged(root: Any, changes: Mapping[Way, Any]) -> Any:
    """Return what the file is to say."""
    done = _without_aliases(root)
    for way, value in changes.items():
        at = done
        for step in way[:-1]:
            at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
        at[way[-1]] = value
    return done


def _without_aliases(value: Any) -> Any:
    """Return a copy in which a value that an alias repeats is two."""
    if isinstance(value, list):
        return [_without_aliases(one) for one in value]
    return {key: _without_aliases(one) for key, one in value.items()} if isinstance(value, dict) else value


def _edited(text: str, root: Node, changes: Mapping[Way, Any]) -> str:
    """Put *changes* into *text*: what is there is exchanged, what is not goes behind the last of its neighbours."""
    edits: list[tuple[int, int, str]] = []
    missing: dict[int, tuple[Node, dict[str, Any]]] = {}
    for way, value in changes.items():
        node, left = root, list(way)
        while left and (child := _child(node, left[0])) is not None:
            node = child
            del left[0]
        if left:
            new = missing.setdefault(id(node), (node, {}))[1]
            for step in left[:-1]:
                new = new.setdefault(step, {})
            new[left[-1]] = value
        else:
            edits.append((node.start_mark.index, node.end_mark.index, _flow(value)))
    edits += [_insertion(text, node, new, top=node is root) for node, new in missing.values()]
    for start, end, instead in sorted(edits, reverse=True):
        text = text[:start] + instead + text[end:]
    return text


def _child(node: Node, step: Any) -> Node | None:
    if node.id == "sequence":
        return node.value[step]
    pairs = node.value if node.id == "mapping" else []
    return next((value for key, value in pairs if key.value == step), None)


def _insertion(text: str, node: Node, new: Mapping[str, Any], *, top: bool) -> tuple[int, int, str]:
    """Return where keys that a mapping lacks are put, and as what; at the *top* they come before the cases."""
    if node.id != "mapping" or (not node.value and not node.flow_style):
        raise ValueError("no mapping")
    if node.flow_style:
        at = node.end_mark.index - 1
        return at, at, (", " if node.value else "") + _flow(new)[1:-1]
    pairs = node.value
    names = [key.value for key, _ in pairs]
    behind = names.index("cases") if top and "cases" in names else len(pairs)
    end = "\r\n" if "\r\n" in text else "\n"
    indent = " " * pairs[0][0].start_mark.column
    block = "".join(f"{indent}{line}{end}" for key, value in new.items() for line in _block(key, value, top=top))
    if not behind:
        at = pairs[0][0].start_mark.index
        return at, at, block
    at = _end(pairs[behind - 1][1])
    if text[at - 1 : at] != "\n":
        found = text.find("\n", at)
        if found < 0:
            return len(text), len(text), end + block
        at = found + 1
    return at, at, block


def _end(node: Node) -> int:
    """Return where the last word of a node ends; a block's own mark is behind the comments that follow it."""
    while node.id != "scalar" and not node.flow_style:
        node = node.value[-1] if node.id == "sequence" else node.value[-1][1]
    return int(node.end_mark.index)


def _block(key: str, value: Any, *, top: bool) -> list[str]:
    if top and isinstance(value, Mapping):
        return [f"{_flow(key)}:", *(f"  {_flow(name)}: {_flow(own)}" for name, own in value.items())]
    return [f"{_flow(key)}: {_flow(value)}"]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(own)}' for key, own in value.items())}}}"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return f"{value:.12g}"
