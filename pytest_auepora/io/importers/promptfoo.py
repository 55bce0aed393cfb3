"""promptfoo: the ``tests`` of a configuration or of a file of their own, as YAML, JSON, JSON Lines or CSV.

The question is the variable named as in `QUERY_VARS`, or the only one.  Of the assertions, these have a counterpart:
``contains`` and its relatives, ``regex`` and ``equals`` (``must_contain``), the same with ``not-`` (``forbidden``),
``is-refusal`` (``expect: refuse``), ``is-json`` (``answer_schema``), and ``equals``, ``similar``, ``factuality``,
``rouge-n``, ``bleu``, ``levenshtein`` (``reference_answer``; which of them is noted in the metadata).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .model import Dropped, ImportedSuite, ImportProblem, Names, answer_of, drop_rest, take_notes
from .rows import as_list, only_list, only_mapping, read_data, text_of, write_data

QUERY_VARS = ("query", "question", "user_input", "user_query", "input", "prompt", "message", "q")
_NOTES = "promptfoo"


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read tests of promptfoo; see the module."""
    names = Names(dropped)
    tests, default = _tests(path, dropped)
    cases = []
    for test in tests:
        # a text in the place of a mapping names a file, which is not read
        variables = {**only_mapping(default.get("vars")), **only_mapping(test.get("vars"))}
        key = next(
            (k for k in QUERY_VARS if k in variables), next(iter(variables), None) if len(variables) == 1 else None
        )
        query = variables.get(key) if key else None
        if not isinstance(query, str) or not query.strip():
            dropped.add(f"a test without one of the variables {', '.join(QUERY_VARS)}")
            continue
        case: dict[str, Any] = {"id": names.take(test.get("description"), query), "query": query}
        read = Assertions(dropped)
        for assertion in [*only_list(default.get("assert")), *only_list(test.get("assert"))]:
            read.take(assertion)
        case.update(read.fields())
        notes = {**({"query": key} if key != "query" else {}), **read.notes}
        if rest := {k: v for k, v in variables.items() if k != key}:
            notes["vars"] = rest
        if metadata := {**only_mapping(test.get("metadata")), **({_NOTES: notes} if notes else {})}:
            case["metadata"] = metadata
        drop_rest(test, ("vars", "assert", "description", "metadata"), dropped, "{} of a test")
        cases.append(case)
    return ImportedSuite(cases)


def _tests(path: Path, dropped: Dropped, above: tuple[Path, ...] = ()) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tests of a file, which those *above* it take theirs from, and what holds for all of them."""
    if path.resolve() in above:
        raise ImportProblem(f"{path}: its tests are in itself")
    data = read_data(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return [_of_row(row, dropped) for row in data], {}
    if isinstance(data, list):
        return [dict(t) for t in data if isinstance(t, Mapping)], {}
    if not isinstance(data, Mapping) or "tests" not in data:
        raise ImportProblem(f"{path}: expected a list of tests, or a configuration with tests")
    drop_rest(data, ("tests", "defaultTest", "description"), dropped, "{} of the configuration")
    default = data.get("defaultTest")
    if isinstance(default, str):
        dropped.add("defaultTest of another file")
    found: list[dict[str, Any]] = []
    given = data["tests"]
    for test in given if isinstance(given, list) else [given]:
        found += [dict(test)] if isinstance(test, Mapping) else _elsewhere(path, test, dropped, above)
    return found, only_mapping(default)


def _elsewhere(path: Path, where: Any, dropped: Dropped, above: tuple[Path, ...]) -> list[dict[str, Any]]:
    """Read tests that stand in a file beside the configuration."""
    name = str(where).removeprefix("file://")
    other = path.parent / name
    if "://" in name or other.suffix.lower() not in (".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"):
        dropped.add(f"tests from {where}: only files are read")
        return []
    return _tests(other, dropped, (*above, path.resolve()))[0]


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


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write the tests of a configuration, as YAML or JSON."""
    tests = []
    for case in suite.cases:
        metadata = dict(case.get("metadata", {}))
        notes = take_notes(metadata, _NOTES)
        test: dict[str, Any] = {"description": case["id"]}
        test["vars"] = {str(notes.get("query", "query")): case["query"], **only_mapping(notes.get("vars"))}
        if assertions := assertions_of(case, notes, answer_of(case, dropped)):
            test["assert"] = assertions
        if metadata:
            test["metadata"] = metadata
        dropped.add("expect: clarify: no assertion says it", case.get("expect") == "clarify")
        words = any(case.get(key) for key in ("must_contain", "forbidden")) and case.get("match", "word") == "word"
        dropped.add("that a text is looked for word by word", words)
        drop_rest(case, ("id", "query", "reference_answer", "must_contain", "forbidden", "match", "expect",
                         "answer_schema", "rubric", "metadata"), dropped)  # fmt: skip
        tests.append(test)
    write_data(path, {"tests": tests})


_REFERENCE = ("equals", "similar", "factuality", "rouge-n", "bleu", "meteor", "levenshtein", "model-graded-factuality")
_CONTAINS = ("contains", "icontains", "contains-all", "icontains-all")
_ANY = ("contains-any", "icontains-any")
_TEXT = re.compile(r"^(not-)?([a-z-]+)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?$", re.DOTALL)
_TYPES = frozenset((
    *_REFERENCE, *_CONTAINS, *_ANY, "regex", "is-refusal", "is-json", "contains-json", "starts-with", "latency", "cost",
    "llm-rubric", "answer-relevance", "context-recall", "context-relevance", "context-faithfulness", "perplexity",
    "javascript", "python", "classifier", "webhook", "is-xml", "contains-xml", "is-sql", "moderation", "g-eval",
))  # fmt: skip


def from_text(cell: str) -> dict[str, Any]:
    """Read the ``__expected`` column of a CSV: ``type(threshold): value``, or the text that is expected."""
    cell = cell.strip()
    for short, long in (("fn:", "javascript:"), ("eval:", "javascript:"), ("grade:", "llm-rubric:")):
        if cell.startswith(short):
            cell = long + cell.removeprefix(short)
    match = _TEXT.match(cell)
    if match is None or match[2] not in _TYPES:
        return {"type": "equals", "value": cell}
    negated, kind, threshold, value = match.groups()
    made: dict[str, Any] = {"type": f"{negated or ''}{kind}"}
    if value is not None:
        listed = kind.endswith(("-all", "-any"))
        made["value"] = [v.strip() for v in value.split(",")] if listed else value.strip()
    if threshold is not None:
        made["threshold"] = float(threshold)
    return made


class Assertions:
    """Collects the assertions of one test; `fields` are the keys of the case, ``notes`` what export needs."""

    def __init__(self, dropped: Dropped) -> None:
        self.notes: dict[str, Any] = {}
        self._dropped = dropped
        self._found: dict[str, list[tuple[str, list[str]]]] = {"must_contain": [], "forbidden": []}
        self._fields: dict[str, Any] = {}

    def take(self, assertion: Any) -> None:
        """Read one assertion; what it cannot become is dropped."""
        if not isinstance(assertion, Mapping):
            self._dropped.add("an assertion that is not written out")
            return
        kind = str(assertion.get("type"))
        value = assertion.get("value")
        plain = kind.removeprefix("not-")
        key = "forbidden" if kind != plain else "must_contain"
        if plain in _CONTAINS or plain in _ANY or plain == "regex":
            texts = [text_of(v) for v in (value if isinstance(value, list) else as_list(value, ",") if
                     plain.endswith(("-all", "-any")) else [value])]  # fmt: skip
            self._texts(key, plain, [t for t in texts if t.strip()])
        elif plain == "equals" and isinstance(value, str):
            self._whole(key, assertion)
        elif kind in _REFERENCE and isinstance(value, str) and "reference_answer" not in self._fields:
            self._fields["reference_answer"] = value
            self.notes["reference"] = {k: assertion[k] for k in ("type", "threshold") if k in assertion}
        elif kind in ("is-refusal", "not-is-refusal"):
            self._fields["expect"] = "refuse" if kind == "is-refusal" else "answer"
        elif kind == "is-json" and (value is None or isinstance(value, Mapping)):
            self._fields["answer_schema"] = dict(value or {})  # any JSON satisfies the empty schema
        elif kind == "llm-rubric" and isinstance(value, str) and value.strip():
            self._fields.setdefault("rubric", []).append(value)
        else:
            self._dropped.add(f"the assertion {kind}")
            return
        drop_rest(assertion, ("type", "value", "threshold"), self._dropped, "{} of an assertion")

    def _whole(self, key: str, assertion: Mapping[str, Any]) -> None:
        """The whole answer is the text, or is not; what it is wanted to be is a reference as well."""
        self._found[key].append(("equals", [str(assertion["value"])]))
        if key == "must_contain" and "reference_answer" not in self._fields:
            self._fields["reference_answer"] = assertion["value"]
            self.notes["reference"] = {"type": "equals"}

    def _texts(self, key: str, plain: str, texts: list[str]) -> None:
        # `forbidden` is none of them, so any of several is each by itself
        one_of = plain in _ANY and key == "must_contain"
        if plain == "regex":
            self._found[key] += [("regex", [t]) for t in texts]
        elif one_of and len(texts) > 1:
            self._found[key].append(("any", texts))
        elif key == "forbidden" and plain.endswith("-all") and len(texts) > 1:
            self._found[key].append(("icase all" if plain.startswith("i") else "all", texts))
        else:
            self._dropped.add("that letters count as upper or lower case", plain in ("contains", "contains-all"))
            self._found[key] += [("text", [t]) for t in texts]

    def fields(self) -> dict[str, Any]:
        """Return the keys of the golden case."""
        kinds = {kind for entries in self._found.values() for kind, _ in entries}
        patterns = kinds - {"text"}
        made = dict(self._fields)
        for key, entries in self._found.items():
            texts = [_pattern(kind, found) if patterns else found[0] for kind, found in entries]
            if texts:
                made[key] = list(dict.fromkeys(texts))
        if kinds:
            made["match"] = "regex" if patterns else "substring"
        return made


def _pattern(kind: str, texts: list[str]) -> str:
    if kind == "regex":
        return texts[0]
    if kind == "equals":
        return rf"\A{re.escape(texts[0])}\Z"
    if kind.endswith("all"):
        together = "".join(f"(?=.*{re.escape(text)})" for text in texts)
        return rf"(?s{'i' if kind.startswith('i') else ''})\A{together}"
    return "(?i)" + "|".join(map(re.escape, texts))


def assertions_of(case: Mapping[str, Any], notes: Mapping[str, Any], answer: str | None) -> list[dict[str, Any]]:
    """Return the assertions of a case."""
    made: list[dict[str, Any]] = []
    reference = {"type": "factuality", **only_mapping(notes.get("reference"))}
    if answer is not None:
        made.append({"type": reference["type"], "value": answer, **{k: reference[k] for k in reference if k != "type"}})
    kind = "regex" if case.get("match") == "regex" else "icontains"
    for key, negated in (("must_contain", ""), ("forbidden", "not-")):
        texts = case.get(key, [])
        texts = [texts] if isinstance(texts, str) else texts
        told = answer is not None and reference["type"] == "equals" and not negated
        whole = _pattern("equals", [answer or ""]) if told else None
        made += [{"type": f"{negated}{kind}", "value": text} for text in texts if text != whole]
    if (expect := case.get("expect")) in ("refuse", "answer"):
        made.append({"type": "is-refusal" if expect == "refuse" else "not-is-refusal"})
    if (schema := case.get("answer_schema")) is not None:
        made.append({"type": "is-json", **({"value": schema} if schema else {})})
    rubric = case.get("rubric", ())
    made += [{"type": "llm-rubric", "value": text} for text in ([rubric] if isinstance(rubric, str) else rubric)]
    return made
