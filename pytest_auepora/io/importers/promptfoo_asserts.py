"""promptfoo's assertions and what they are in a golden case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .model import Dropped
from .rows import as_list, text_of

__all__ = ["Assertions", "assertions_of", "from_text"]

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
        elif kind in _REFERENCE and isinstance(value, str) and "reference_answer" not in self._fields:
            self._fields["reference_answer"] = value
            self.notes["reference"] = {k: assertion[k] for k in ("type", "threshold") if k in assertion}
        elif kind in ("is-refusal", "not-is-refusal"):
            self._fields["expect"] = "refuse" if kind == "is-refusal" else "answer"
        elif kind == "is-json" and isinstance(value, Mapping):
            self._fields["answer_schema"] = dict(value)
        else:
            self._dropped.add(f"the assertion {kind}")
            return
        for other in assertion.keys() - {"type", "value", "threshold"}:
            self._dropped.add(f"{other} of an assertion")

    def _texts(self, key: str, plain: str, texts: list[str]) -> None:
        # `forbidden` is none of them, so any of several is each by itself
        one_of = plain in _ANY and key == "must_contain"
        if plain == "regex":
            self._found[key] += [("regex", [t]) for t in texts]
        elif one_of and len(texts) > 1:
            self._found[key].append(("any", texts))
        else:
            self._dropped.add("that letters count as upper or lower case", plain in ("contains", "contains-all"))
            self._found[key] += [("text", [t]) for t in texts]
        if key == "forbidden" and plain.endswith("-all") and len(texts) > 1:
            self._dropped.add("that only all of several texts together are forbidden: each is")

    def fields(self) -> dict[str, Any]:
        """Return the keys of the golden case."""
        kinds = {kind for entries in self._found.values() for kind, _ in entries}
        patterns = kinds & {"regex", "any"}
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
    return "(?i)" + "|".join(map(re.escape, texts))


def assertions_of(case: Mapping[str, Any], notes: Mapping[str, Any], answer: str | None) -> list[dict[str, Any]]:
    """Return the assertions of a case."""
    made: list[dict[str, Any]] = []
    if answer is not None:
        reference = notes.get("reference", {"type": "factuality"})
        made.append({"type": reference["type"], "value": answer, **{k: reference[k] for k in reference if k != "type"}})
    kind = "regex" if case.get("match") == "regex" else "icontains"
    for key, negated in (("must_contain", ""), ("forbidden", "not-")):
        texts = case.get(key, [])
        texts = [texts] if isinstance(texts, str) else texts
        made += [{"type": f"{negated}{kind}", "value": text} for text in texts]
    if (expect := case.get("expect")) in ("refuse", "answer"):
        made.append({"type": "is-refusal" if expect == "refuse" else "not-is-refusal"})
    if schema := case.get("answer_schema"):
        made.append({"type": "is-json", "value": schema})
    return made
