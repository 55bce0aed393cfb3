"""promptfoo: the ``tests`` of a configuration or of a file of their own, as YAML, JSON, JSON Lines or CSV.

The question is the variable named as in `QUERY_VARS`, or the only one.  Of the assertions, these have a counterpart:
``contains`` and its relatives and ``regex`` (``must_contain``), the same with ``not-`` (``forbidden``), ``is-refusal``
(``expect: refuse``), ``is-json`` with a schema (``answer_schema``), and ``equals``, ``similar``, ``factuality``,
``rouge-n``, ``bleu``, ``levenshtein`` (``reference_answer``; which of them is noted in the metadata).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .fields import answer_of, drop_rest
from .golden import mappings_of
from .model import Dropped, ImportedSuite, ImportProblem, Names
from .promptfoo_asserts import Assertions, assertions_of, from_text
from .rows import dump_json, read_data, write_text

__all__ = ["QUERY_VARS", "load", "save"]

QUERY_VARS = ("query", "question", "user_input", "user_query", "input", "prompt", "message", "q")
_NOTES = "promptfoo"


def load(path: Path) -> ImportedSuite:
    """Read tests of promptfoo; see the module."""
    path = Path(path)
    dropped = Dropped()
    names = Names(dropped)
    tests, default, suite = _tests(path, dropped)
    cases = []
    for test in tests:
        variables = {**_mapping(default.get("vars")), **_mapping(test.get("vars"))}
        key = next(
            (k for k in QUERY_VARS if k in variables), next(iter(variables), None) if len(variables) == 1 else None
        )
        query = variables.get(key) if key else None
        if not isinstance(query, str) or not query.strip():
            dropped.add(f"a test without one of the variables {', '.join(QUERY_VARS)}")
            continue
        case: dict[str, Any] = {"id": names.take(test.get("description"), query), "query": query}
        read = Assertions(dropped)
        for assertion in [*_list(default.get("assert")), *_list(test.get("assert"))]:
            read.take(assertion)
        case.update(read.fields())
        notes = {**({"query": key} if key != "query" else {}), **read.notes}
        if rest := {k: v for k, v in variables.items() if k != key}:
            notes["vars"] = rest
        if metadata := {**_mapping(test.get("metadata")), **({_NOTES: notes} if notes else {})}:
            case["metadata"] = metadata
        for other in test.keys() - {"vars", "assert", "description", "metadata"}:
            dropped.add(f"{other} of a test")
        cases.append(case)
    return ImportedSuite(cases, dropped.sentences(), suite)


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}  # a text names a file, which is not read


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _tests(path: Path, dropped: Dropped) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    data = read_data(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return [_of_row(row, dropped) for row in data], {}, ""
    if isinstance(data, list):
        return [dict(t) for t in data if isinstance(t, Mapping)], {}, ""
    if not isinstance(data, Mapping) or "tests" not in data:
        raise ImportProblem(f"{path}: expected a list of tests, or a configuration with tests")
    for key in data.keys() - {"tests", "defaultTest", "description"}:
        dropped.add(f"{key} of the configuration")
    default = data.get("defaultTest")
    if isinstance(default, str):
        dropped.add("defaultTest of another file")
    found: list[dict[str, Any]] = []
    given = data["tests"]
    for test in given if isinstance(given, list) else [given]:
        found += [dict(test)] if isinstance(test, Mapping) else _elsewhere(path, test, dropped)
    return found, dict(default) if isinstance(default, Mapping) else {}, ""


def _elsewhere(path: Path, where: Any, dropped: Dropped) -> list[dict[str, Any]]:
    """Read tests that stand in a file beside the configuration."""
    name = str(where).removeprefix("file://")
    other = path.parent / name
    if "://" in name or other.suffix.lower() not in (".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"):
        dropped.add(f"tests from {where}: only files are read")
        return []
    return _tests(other, dropped)[0]


def _of_row(row: Mapping[str, str], dropped: Dropped) -> dict[str, Any]:
    made: dict[str, Any] = {"vars": {}, "assert": []}
    for name, cell in row.items():
        if name.startswith("__expected"):
            made["assert"] += [from_text(cell)] if cell.strip() else []
        elif name == "__description":
            made["description"] = cell
        elif name.startswith("__metadata:"):
            made.setdefault("metadata", {})[name.removeprefix("__metadata:")] = cell
        elif name.startswith("__"):
            dropped.add(f"the column {name}", bool(cell))
        else:
            made["vars"][name] = cell
    return made


def save(suite: Any, path: Path) -> list[str]:
    """Write the tests of a configuration, as YAML or JSON; return what was dropped."""
    import yaml

    path = Path(path)
    dropped = Dropped()
    tests = []
    for case in mappings_of(suite):
        metadata = dict(case.get("metadata", {}))
        notes = metadata.pop(_NOTES, {})
        test: dict[str, Any] = {"description": case["id"]}
        test["vars"] = {notes.get("query", "query"): case["query"], **notes.get("vars", {})}
        if assertions := assertions_of(case, notes, answer_of(case, dropped)):
            test["assert"] = assertions
        if metadata:
            test["metadata"] = metadata
        drop_rest(case, ("id", "query", "reference_answer", "must_contain", "forbidden", "match", "expect",
                         "answer_schema", "metadata"), dropped)  # fmt: skip
        tests.append(test)
    if path.suffix.lower() == ".json":
        write_text(path, dump_json({"tests": tests}) + "\n")
    else:
        write_text(path, yaml.safe_dump({"tests": tests}, sort_keys=False, allow_unicode=True, width=100))
    return dropped.sentences()
