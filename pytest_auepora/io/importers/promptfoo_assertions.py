"""Assertions of promptfoo, and the keys of a case that say the same.

Counterparts: ``contains`` and its relatives, ``regex`` and ``equals`` (``must_contain``), the same with ``not-``
(``forbidden``), ``is-refusal`` (``expect: refuse``), ``is-json`` (``answer_schema``), ``llm-rubric`` (``rubric``), and
``equals``, ``similar``, ``factuality``, ``rouge-n``, ``bleu``, ``levenshtein`` (``reference_answer``; which of them is
noted in the metadata).  All others are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .imported import Dropped, texts_of
from .promptfoo_templates import NotRenderedError, Variables, literal, text_of
from .rows import mapping_or_empty

_SIMILAR_TYPES = ("similar", "similar:cosine", "similar:dot", "similar:euclidean")
_REFERENCE_TYPES = (
    "equals", *_SIMILAR_TYPES, "factuality", "rouge-n", "bleu", "meteor", "levenshtein", "model-graded-factuality",
)  # fmt: skip
_CONTAINS_TYPES = ("contains", "icontains", "contains-all", "icontains-all")
_ANY_TYPES = ("contains-any", "icontains-any")
KNOWN_TYPES = (
    *_REFERENCE_TYPES, *_CONTAINS_TYPES, *_ANY_TYPES, "agent-rubric", "answer-relevance", "classifier",
    "contains-html", "contains-json", "contains-sql", "contains-xml", "context-faithfulness", "context-recall",
    "context-relevance", "conversation-relevance", "cost", "finish-reason", "g-eval", "gleu", "guardrails", "human",
    "is-html", "is-json", "is-refusal", "is-sql", "is-valid-function-call", "is-valid-openai-function-call",
    "is-valid-openai-tools-call", "is-xml", "javascript", "latency", "llm-rubric", "max-score", "model-graded-closedqa",
    "moderation", "perplexity", "perplexity-score", "pi", "python", "regex", "rouge-l", "rouge-s", "ruby",
    "search-rubric", "select-best", "skill-used", "starts-with", "tool-call-f1", "trace-error-spans",
    "trace-span-count", "trace-span-duration", "trajectory:goal-success", "trajectory:step-count",
    "trajectory:tool-args-match", "trajectory:tool-sequence", "trajectory:tool-used", "webhook", "word-count",
)  # fmt: skip
_KNOWN = "|".join(sorted(map(re.escape, KNOWN_TYPES), key=len, reverse=True))
_CELL = re.compile(rf"(not-)?({_KNOWN}|promptfoo:redteam:[\w:-]+)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?", re.DOTALL)
_UNKNOWN_TYPE = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)+)(?:\([\d.]+\))?:(?!//)")
"""How a type begins that is newer than the list above; its words would make no answer."""
_FIELDS = re.compile(r'\s*(?:"([^"\\]*(?:(?:\\.|"")[^"\\]*)*)"|([^,]*))\s*(?:,|\Z)', re.DOTALL)
"""Texts between commas, some of them in quotes."""
_LEGACY = {"fn:": "javascript:", "eval:": "javascript:", "grade:": "llm-rubric:"}
_SCRIPT = re.compile(r"file://.*\.(py|js|ts|mjs|cjs|rb)(?::\w+)?")
_SCRIPT_TYPES = {"py": "python", "rb": "ruby"}


def parse_expected_cell(cell: str) -> dict[str, Any]:
    """Read the ``__expected`` column of a CSV: ``type(threshold): value``, or the text that is expected."""
    cell = cell.strip()
    for short, long in _LEGACY.items():
        if cell.startswith(short):
            cell = long + cell.removeprefix(short)
    if script := _SCRIPT.fullmatch(cell):
        return {"type": _SCRIPT_TYPES.get(script[1], "javascript")}
    if (match := _CELL.fullmatch(cell)) is None:
        unknown = _UNKNOWN_TYPE.match(cell)
        return {"type": unknown[1] if unknown else "equals", "value": cell}
    negated, assertion_type, threshold, value = match.groups()
    assertion: dict[str, Any] = {"type": f"{negated or ''}{assertion_type}"}
    if value is not None:
        assertion["value"] = value.strip()
    if threshold is not None:
        assertion["threshold"] = float(threshold)
    return assertion


def read_assertions(
    assertions: Iterable[Any], variables: Variables, dropped: Dropped
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the case that a test with *assertions* becomes, and the notes that its export needs."""
    fields: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    # regular expressions, each with the text that says the same without one, if there is such a text
    patterns: dict[str, list[tuple[str, str]]] = {"must_contain": [], "forbidden": []}
    for assertion in assertions:
        if not isinstance(assertion, Mapping):
            dropped.add("an assertion that is not written out")
            continue
        assertion_type = str(assertion.get("type"))
        base_type = assertion_type.removeprefix("not-")
        key = "forbidden" if assertion_type != base_type else "must_contain"
        try:
            value = variables.render(assertion.get("value"))
            text = value if isinstance(value, str) else None if isinstance(value, (list, Mapping)) else text_of(value)
            texts = [text for text in _texts(base_type, value) if text.strip()]
        except NotRenderedError:
            dropped.add(f"the assertion {assertion_type} whose value is a template or a file that only promptfoo reads")
            continue
        if texts:
            patterns[key] += _text_patterns(key, base_type, texts, dropped)
        elif base_type == "equals" and text:
            patterns[key].append((_whole_pattern(text), ""))
            if key == "must_contain" and "reference_answer" not in fields:
                fields["reference_answer"] = text
                notes["reference"] = {"type": "equals"}
        elif assertion_type in _REFERENCE_TYPES and text and "reference_answer" not in fields:
            fields["reference_answer"] = text
            notes["reference"] = {k: assertion[k] for k in ("type", "threshold") if k in assertion}
        elif base_type == "is-refusal":
            fields["expect"] = "refuse" if assertion_type == base_type else "answer"
        elif assertion_type == "is-json" and (value is None or isinstance(value, Mapping)):
            fields["answer_schema"] = dict(value or {})  # any JSON satisfies the empty schema
        elif assertion_type == "llm-rubric" and text and text.strip():
            fields.setdefault("rubric", []).append(text)
        else:
            dropped.add(f"the assertion {assertion_type}")
            continue
        dropped.add_unsupported(assertion, ("type", "value", "threshold"), "{} of an assertion")
    return fields | _phrases(patterns), notes


def _phrases(patterns: Mapping[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """Return the keys of what is looked for: patterns, or texts where each pattern has one that says the same."""
    as_regex = not all(text for entries in patterns.values() for _, text in entries)
    keys = {
        key: list(dict.fromkeys(pattern if as_regex else text for pattern, text in entries))
        for key, entries in patterns.items()
        if entries
    }
    return {**keys, "match": "regex" if as_regex else "substring"} if keys else {}


def _texts(base_type: str, value: Any) -> list[str]:
    """Return the texts or patterns that an assertion of this type looks for."""
    if base_type not in (*_CONTAINS_TYPES, *_ANY_TYPES, "regex"):
        return []
    if isinstance(value, list):
        return ["null" if part is None else text_of(part) for part in value]
    if isinstance(value, str) and base_type.endswith(("-all", "-any")):
        fields = _FIELDS.findall(value)
        return [re.sub(r'["\\](["\\])', r"\1", quoted) if quoted else plain.strip() for quoted, plain in fields]
    return [text_of(value)]


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


def case_assertions(case: Mapping[str, Any], notes: Mapping[str, Any], answer: str | None) -> list[dict[str, Any]]:
    """Return the assertions that say what *case* says, with *answer* as its reference and the *notes* of its import."""
    reference = mapping_or_empty(notes.get("reference"))
    assertions = [{"type": "factuality", "value": literal(answer), **reference}] if answer is not None else []
    equals = _whole_pattern(answer) if answer is not None and reference.get("type") == "equals" else None
    text_type = "regex" if case.get("match") == "regex" else "icontains"
    for key, negated in (("must_contain", ""), ("forbidden", "not-")):
        texts = [text for text in texts_of(case, key) if negated or text != equals]
        assertions += [{"type": f"{negated}{text_type}", "value": literal(text)} for text in texts]
    if (expect := case.get("expect")) in ("refuse", "answer"):
        assertions.append({"type": "is-refusal" if expect == "refuse" else "not-is-refusal"})
    if (schema := case.get("answer_schema")) is not None:
        assertions.append({"type": "is-json", **({"value": schema} if schema else {})})
    return assertions + [{"type": "llm-rubric", "value": literal(text)} for text in texts_of(case, "rubric")]
