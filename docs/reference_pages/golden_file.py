"""The page of all keys of a golden file, from the JSON Schema that editors use."""

from __future__ import annotations

from typing import Any

from pytest_auepora.io.json_schema import golden_schema

from .layout import cell

__all__ = ["golden_file_page"]

HEAD = """\
# Golden files

Generated from the definitions that the reader itself uses. A file is YAML (`*.golden.yaml`) or JSON Lines
(`*.golden.jsonl`: an optional first line with the keys of the file, then one case a line).
"""


def golden_file_page() -> str:
    """Return the page: a table for each mapping that people write."""
    schema = golden_schema()
    case = _resolved(schema, schema["properties"]["cases"]["items"])
    document = _merged(_resolved(schema, case["properties"]["relevant_docs"])["items"]["anyOf"])
    regression = _resolved(schema, schema["properties"]["regression"])
    parts = {
        "Keys of the file": schema,
        "Keys of a case": case,
        "Keys of a relevant document": document,
        "Keys of `regression`": regression,
    }
    return "\n".join([HEAD, *(line for title, part in parts.items() for line in _table(title, part, schema))])


def _table(title: str, part: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    needed = set(part.get("required", ()))
    lines = [f"## {title}", "", "| Key | |", "|---|---|"]
    for name, entry in part["properties"].items():
        described = entry if "description" in entry else _resolved(schema, entry)
        star = " (required)" if name in needed else ""
        lines.append(f"| `{name}`{star} | {cell(described.get('description', ''))} |")
    return [*lines, ""]


def _merged(forms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one mapping with the keys of all *forms* that are mappings."""
    return {"properties": {key: value for form in forms for key, value in form.get("properties", {}).items()}}


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Follow ``$ref`` to the definition itself."""
    while "$ref" in node:
        found: Any = schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node
