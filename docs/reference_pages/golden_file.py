"""The page of all keys of a golden file, from the JSON Schema that editors use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_auepora.io.golden.fields import golden_schema

from .layout import cell

__all__ = ["golden_file_page"]

HEAD = """\
# Golden files

Generated from the definitions that the reader itself uses. A file is YAML (`*.golden.yaml`) or JSON Lines
(`*.golden.jsonl`: an optional first line with the keys of the file, then one case a line).
"""

_CORE = {
    "Keys of the file": ("suite", "metrics", "thresholds", "case_thresholds", "regression", "cases"),
    "Keys of a case": ("id", "query", "relevant_docs", "reference_answer", "must_contain", "tags"),
}
"""The six keys to begin with, by table."""

_THRESHOLD = {
    "min": "The least value that passes.",
    "max": "The largest value that passes.",
    "stat": "Of what: aggregate (default), mean, median, min, max, pass_rate, or a quantile such as p95.",
    "slice": "Only cases with these labels: {scenario: typo}; tag is one of a case's tags.",
    "owner": "Who is shown when it fails.",
}


def golden_file_page() -> str:
    """Return the page: a table for each mapping that people write."""
    schema = golden_schema()
    case = _resolved(schema, schema["properties"]["cases"]["items"])
    regression = schema["properties"]["regression"]
    threshold = _mapping(schema["properties"]["thresholds"]["additionalProperties"])["properties"]
    told = {name: {**node, "description": _THRESHOLD[name]} for name, node in threshold.items()}
    parts = {
        "Keys of the file": schema,
        "Keys of a case": case,
        "Keys of a relevant document": _mapping(case["properties"]["relevant_docs"]["items"]),
        "Keys of a threshold": {"properties": told},
        "Keys of `regression`": regression,
        "Keys of `anchor`": regression["properties"]["anchor"],
        "Keys of `benchmark`": _mapping(case["properties"]["benchmark"]),
        "Keys of an entity": _mapping(_single(case["properties"]["entities"])),
        "Keys of a nugget": _mapping(_single(case["properties"]["nuggets"])),
        "Keys of a noise document": _mapping(_single(case["properties"]["noise_docs"])),
        "Keys of a sensitive text": _mapping(_single(case["properties"]["sensitive"])),
    }
    return "\n".join([HEAD, *(line for title, part in parts.items() for line in _table(title, part, schema))])


def _table(title: str, part: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    needed = set(part.get("required", ()))
    head, core = ["| Key | Value | |", "|---|---|---|"], _CORE.get(title, ())
    rows: dict[str, str] = {}
    for name, entry in part["properties"].items():
        described = entry if "description" in entry else _resolved(schema, entry)
        star = " (required)" if name in needed else ""
        value = cell(_any(_resolved(schema, entry)))
        rows[name] = f"| `{name}`{star} | {value} | {cell(described.get('description', ''))} |"
    lines = [f"## {title}", ""]
    if core:
        lines += ["The six to begin with:", "", *head, *(rows.pop(name) for name in core), "", "The rest:", ""]
    return [*lines, *head, *rows.values(), ""]


def _values(node: dict[str, Any]) -> Iterator[str]:
    """Yield what may stand for *node*, in words."""
    if "anyOf" in node and "properties" not in node:
        single = [word for form in node["anyOf"] if form.get("type") != "array" for word in _values(form)]
        yield from single
        for form in node["anyOf"]:
            if form.get("type") == "array":
                yield "a list of such" if list(_values(form["items"])) == single else next(_values(form))
    elif "enum" in node:
        yield ", ".join(f"`{word}`" for word in node["enum"] if isinstance(word, str))
    elif node.get("type") == "array":
        yield "a list" if "$ref" in node["items"] else f"a list of: {_any(node['items'])}"
    elif "properties" in node:
        yield f"`{{{', '.join(node['properties'])}}}`" if len(node["properties"]) < _MANY else "keys, see below"
    elif isinstance(inner := node.get("additionalProperties"), dict):
        yield f"by name: {_any(inner)}"
    elif ">=" in node.get("pattern", ""):
        yield '`">= 0.8"`'
    else:
        kinds = node.get("type", ())
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            yield "a date" if node.get("format") == "date" else _WORDS[kind]


def _any(node: dict[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_values(node)))


_MANY = 6
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true`, `false`",
    "object": "a mapping",
    "null": "nothing",
}


def _mapping(node: dict[str, Any]) -> dict[str, Any]:
    """Return one mapping with the keys of all forms of *node* that are mappings; required is what all of them need."""
    forms = [node] if "properties" in node else [form for form in node.get("anyOf", ()) if "properties" in form]
    keys = {name: entry for form in reversed(forms) for name, entry in form["properties"].items()}
    first = {name: keys[name] for form in forms for name in form["properties"]}
    needed = set.intersection(*(set(form.get("required", ())) for form in forms))
    return {"properties": first, "required": sorted(needed)}


def _single(node: dict[str, Any]) -> dict[str, Any]:
    """Of what may be one or a list of them, return the one."""
    one: dict[str, Any] = next(form for form in node["anyOf"] if form.get("type") != "array")
    return one


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Follow ``$ref`` to the definition itself."""
    while "$ref" in node:
        found: Any = schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node
