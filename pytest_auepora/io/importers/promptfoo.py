"""promptfoo: the ``tests`` of a configuration or of a file of their own, as YAML, JSON, JSON Lines or CSV.

The question is the variable named as in `_QUERY_VARS`, or the only one.  Of the assertions, these have a counterpart:
``contains`` and its relatives, ``regex`` and ``equals`` (``must_contain``), the same with ``not-`` (``forbidden``),
``is-refusal`` (``expect: refuse``), ``is-json`` (``answer_schema``), and ``equals``, ``similar``, ``factuality``,
``rouge-n``, ``bleu``, ``levenshtein`` (``reference_answer``; which of them is noted in the metadata).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .model import Cases, Dropped, ImportedSuite, ImportProblem, filled, pop_notes, reference_text, texts_of
from .rows import as_list, as_text, list_or_empty, mapping_or_empty, read_data, write_data

_QUERY_VARS = ("query", "question", "user_input", "user_query", "input", "prompt", "message", "q")
_NOTES = "promptfoo"
_KEYS = (
    "id", "query", "reference_answer", "must_contain", "forbidden", "match", "expect", "answer_schema", "rubric",
    "metadata",
)  # fmt: skip


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read tests of promptfoo; see the module."""
    tests, default = _read_tests(path, dropped)
    cases = Cases(dropped)
    for test in tests:
        # a text instead of a mapping names a file, which is not read
        variables = {**mapping_or_empty(default.get("vars")), **mapping_or_empty(test.get("vars"))}
        only_var = next(iter(variables)) if len(variables) == 1 else None
        query_var = next((k for k in _QUERY_VARS if k in variables), only_var)
        query = variables.get(query_var) if query_var else None
        if not isinstance(query, str) or not query.strip():
            dropped.add(f"a test without one of the variables {', '.join(_QUERY_VARS)}")
            continue
        case = cases.add(test.get("description"), query)
        assertions = [*list_or_empty(default.get("assert")), *list_or_empty(test.get("assert"))]
        fields, assertion_notes = _read_assertions(assertions, dropped)
        other_vars = {k: v for k, v in variables.items() if k != query_var}
        notes = {"query": query_var if query_var != "query" else None, **assertion_notes, "vars": other_vars}
        metadata = {**mapping_or_empty(test.get("metadata")), **filled({_NOTES: filled(notes)})}
        case.update(fields | filled({"metadata": metadata}))
        dropped.add_unsupported(test, ("vars", "assert", "description", "metadata"), "{} of a test")
    return ImportedSuite(cases)


def _read_tests(
    path: Path, dropped: Dropped, parents: tuple[Path, ...] = ()
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tests of a file and the keys of all of them; *parents* are the files that refer to it."""
    if path.resolve() in parents:
        raise ImportProblem(f"{path}: its tests are in itself")
    data = read_data(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return [_test_from_row(row, dropped) for row in data], {}
    if isinstance(data, list):
        tests = [dict(test) for test in data if isinstance(test, Mapping)]
        dropped.add("a test that is not written out", len(data) - len(tests))
        return tests, {}
    if not isinstance(data, Mapping) or "tests" not in data:
        raise ImportProblem(f"{path}: expected a list of tests, or a configuration with tests")
    dropped.add_unsupported(data, ("tests", "defaultTest", "description"), "{} of the configuration")
    default = data.get("defaultTest")
    if isinstance(default, str):
        dropped.add("defaultTest of another file")
    dropped.add_unsupported(mapping_or_empty(default), ("vars", "assert"), "{} of defaultTest")
    tests = []
    declared = data["tests"]
    for test in declared if isinstance(declared, list) else [declared]:
        tests += [dict(test)] if isinstance(test, Mapping) else _read_named_file(path, test, dropped, parents)
    return tests, mapping_or_empty(default)


def _read_named_file(path: Path, location: Any, dropped: Dropped, parents: tuple[Path, ...]) -> list[dict[str, Any]]:
    name = str(location).removeprefix("file://")
    other_path = path.parent / name
    if "://" in name or other_path.suffix.lower() not in (".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"):
        dropped.add(f"tests from {location}: only files are read")
        return []
    return _read_tests(other_path, dropped, (*parents, path.resolve()))[0]


def _test_from_row(row: Mapping[str, str], dropped: Dropped) -> dict[str, Any]:
    test: dict[str, Any] = {"vars": {}, "assert": []}
    for name, cell in row.items():
        if name.startswith("__expected"):
            test["assert"] += [_parse_expected_cell(cell)] if cell.strip() else []
        elif name == "__description":
            test["description"] = cell
        elif name.startswith("__metadata:"):
            test.setdefault("metadata", {})[name.removeprefix("__metadata:")] = cell
        elif name.startswith("__"):
            dropped.add(f"the column {name}", bool(cell))
        else:
            test["vars"][name] = cell
    return test


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write the tests of a configuration, as YAML or JSON."""
    tests = []
    for case in suite.cases:
        metadata = dict(case.get("metadata", {}))
        notes = pop_notes(metadata, _NOTES)
        variables = {str(notes.get("query", "query")): case["query"], **mapping_or_empty(notes.get("vars"))}
        assertions = _case_assertions(case, notes, reference_text(case, dropped))
        optional = filled({"assert": assertions, "metadata": metadata})
        tests.append({"description": case["id"], "vars": variables, **optional})
        dropped.add("expect: clarify: no assertion says it", case.get("expect") == "clarify")
        by_word = any(case.get(key) for key in ("must_contain", "forbidden")) and case.get("match", "word") == "word"
        dropped.add("that a text is looked for word by word", by_word)
        dropped.add_unsupported(case, _KEYS)
    write_data(path, {"tests": tests})


_REFERENCE_TYPES = (
    "equals", "similar", "factuality", "rouge-n", "bleu", "meteor", "levenshtein", "model-graded-factuality",
)  # fmt: skip
_CONTAINS_TYPES = ("contains", "icontains", "contains-all", "icontains-all")
_ANY_TYPES = ("contains-any", "icontains-any")
_CELL = re.compile(r"^(not-)?([a-z-]+)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?$", re.DOTALL)
_TYPES = frozenset((
    *_REFERENCE_TYPES, *_CONTAINS_TYPES, *_ANY_TYPES, "regex", "is-refusal", "is-json", "contains-json", "starts-with",
    "latency", "cost",
    "llm-rubric", "answer-relevance", "context-recall", "context-relevance", "context-faithfulness", "perplexity",
    "javascript", "python", "classifier", "webhook", "is-xml", "contains-xml", "is-sql", "moderation", "g-eval",
))  # fmt: skip


def _parse_expected_cell(cell: str) -> dict[str, Any]:
    """Read the ``__expected`` column of a CSV: ``type(threshold): value``, or the text that is expected."""
    cell = cell.strip()
    for short, long in (("fn:", "javascript:"), ("eval:", "javascript:"), ("grade:", "llm-rubric:")):
        if cell.startswith(short):
            cell = long + cell.removeprefix(short)
    match = _CELL.match(cell)
    if match is None or match[2] not in _TYPES:
        return {"type": "equals", "value": cell}
    negated, assertion_type, threshold, value = match.groups()
    assertion: dict[str, Any] = {"type": f"{negated or ''}{assertion_type}"}
    if value is not None:
        is_list = assertion_type.endswith(("-all", "-any"))
        assertion["value"] = [v.strip() for v in value.split(",")] if is_list else value.strip()
    if threshold is not None:
        assertion["threshold"] = float(threshold)
    return assertion


def _read_assertions(assertions: Iterable[Any], dropped: Dropped) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the case that a test with *assertions* becomes, and the notes that its export needs."""
    fields: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    # regular expressions, each with the text that says the same without one, if there is such a text
    patterns: dict[str, list[tuple[str, str]]] = {"must_contain": [], "forbidden": []}
    for assertion in assertions:
        if not isinstance(assertion, Mapping):
            dropped.add("an assertion that is not written out")
            continue
        assertion_type, value = str(assertion.get("type")), assertion.get("value")
        base_type = assertion_type.removeprefix("not-")
        key = "forbidden" if assertion_type != base_type else "must_contain"
        if base_type in _CONTAINS_TYPES or base_type in _ANY_TYPES or base_type == "regex":
            is_list = isinstance(value, list) or base_type.endswith(("-all", "-any"))
            texts = map(as_text, as_list(value, ",") if is_list else [value])
            patterns[key] += _text_patterns(key, base_type, [text for text in texts if text.strip()], dropped)
        elif base_type == "equals" and isinstance(value, str):
            patterns[key].append((_whole_pattern(value), ""))
            if key == "must_contain" and "reference_answer" not in fields:
                fields["reference_answer"] = value
                notes["reference"] = {"type": "equals"}
        elif assertion_type in _REFERENCE_TYPES and isinstance(value, str) and "reference_answer" not in fields:
            fields["reference_answer"] = value
            notes["reference"] = {k: assertion[k] for k in ("type", "threshold") if k in assertion}
        elif base_type == "is-refusal":
            fields["expect"] = "refuse" if assertion_type == base_type else "answer"
        elif assertion_type == "is-json" and (value is None or isinstance(value, Mapping)):
            fields["answer_schema"] = dict(value or {})  # any JSON satisfies the empty schema
        elif assertion_type == "llm-rubric" and isinstance(value, str) and value.strip():
            fields.setdefault("rubric", []).append(value)
        else:
            dropped.add(f"the assertion {assertion_type}")
            continue
        dropped.add_unsupported(assertion, ("type", "value", "threshold"), "{} of an assertion")
    as_regex = not all(text for entries in patterns.values() for _, text in entries)
    for key, entries in patterns.items():
        if entries:
            fields[key] = list(dict.fromkeys(pattern if as_regex else text for pattern, text in entries))
    if any(patterns.values()):
        fields["match"] = "regex" if as_regex else "substring"
    return fields, notes


def _text_patterns(key: str, base_type: str, texts: list[str], dropped: Dropped) -> list[tuple[str, str]]:
    if base_type == "regex":
        return [(text, "") for text in texts]
    patterns = [re.escape(text) for text in texts]
    if base_type in _ANY_TYPES and key == "must_contain" and len(texts) > 1:
        return [("(?i)" + "|".join(patterns), "")]
    if base_type.endswith("-all") and key == "forbidden" and len(texts) > 1:
        flags = "si" if base_type.startswith("i") else "s"
        together = "".join(f"(?=.*{pattern})" for pattern in patterns)
        return [(rf"(?{flags})\A{together}", "")]
    # each alone; forbidden means none of the texts, so any of several is each of them
    dropped.add("that letters count as upper or lower case", base_type in ("contains", "contains-all"))
    return [(f"(?i){pattern}", text) for pattern, text in zip(patterns, texts, strict=True)]


def _whole_pattern(text: str) -> str:
    return rf"\A{re.escape(text)}\Z"


def _case_assertions(case: Mapping[str, Any], notes: Mapping[str, Any], answer: str | None) -> list[dict[str, Any]]:
    reference = mapping_or_empty(notes.get("reference"))
    assertions = [{"type": "factuality", "value": answer, **reference}] if answer is not None else []
    equals = _whole_pattern(answer) if answer is not None and reference.get("type") == "equals" else None
    text_type = "regex" if case.get("match") == "regex" else "icontains"
    for key, negated in (("must_contain", ""), ("forbidden", "not-")):
        texts = [text for text in texts_of(case, key) if negated or text != equals]
        assertions += [{"type": f"{negated}{text_type}", "value": text} for text in texts]
    if (expect := case.get("expect")) in ("refuse", "answer"):
        assertions.append({"type": "is-refusal" if expect == "refuse" else "not-is-refusal"})
    if (schema := case.get("answer_schema")) is not None:
        assertions.append({"type": "is-json", **({"value": schema} if schema else {})})
    return assertions + [{"type": "llm-rubric", "value": text} for text in texts_of(case, "rubric")]
