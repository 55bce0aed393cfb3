"""Golden files: written readably, and read back as the mappings they were written from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...core.progress import Progress
from ...core.types import Document
from ..golden.fields import CASE_FIELDS, LABELS
from ..golden.model import DRAFT, GoldenCase, GoldenSuite
from .model import ImportedSuite, ImportProblem

SCHEMA_LINE = "# yaml-language-server: $schema={}\n"
DEFAULT_SCHEMA = "auepora.schema.json"

_BREAKS = re.compile("[\r\x85\u2028\u2029]")
_UNSEEN = r"[\u202a-\u202e\u2066-\u2069]"
"""What reverses the reading order; of characters that nobody sees, PyYAML escapes the others in double quotes."""
_OLD_COMMAND = r"##(?=\[|vso\[)"
_COMMANDS = re.compile(rf"(^|\s)::|{_OLD_COMMAND}|{_UNSEEN}|[\U000e0000-\U000e007f]")
"""What a CI runner may take for a command, where a line begins with it; lines are also broken at blanks."""
_RUNNING = ("xfail", "timeout", "must_pass", "quarantine", "benchmark")


def golden_text(suite: ImportedSuite, *, schema: str = DEFAULT_SCHEMA, progress: bool | None = False) -> str:
    """Return *suite* as YAML, a blank line between cases, with the line that tells editors the schema.

    Args:
        suite: what was imported.
        schema: where editors find the schema, relative to the file.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.

    Raises:
        ImportProblem: there are no cases.
    """
    if not suite.cases:
        raise ImportProblem("there are no cases to write; a golden file without any would pass whatever happens")
    parts = [SCHEMA_LINE.format(schema)]
    if suite.suite:
        parts.append(_dump({"suite": suite.suite}))
    parts.append("cases:\n")
    with Progress("cases", len(suite.cases), show=progress) as bar:  # PyYAML takes about a millisecond a case
        for number, case in enumerate(suite.cases):
            parts.append("\n" * bool(number) + case_text(case))
            bar.done()
    return "".join(parts)


def case_text(case: Mapping[str, Any], indent: str = "  ") -> str:
    """Return a case as an item of a list in block style, its keys in the order in which people read them."""
    ordered = {k: case[k] for k in (*CASE_FIELDS, *case) if k in case}
    lines = _dump([ordered]).rstrip("\n").split("\n")
    return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


def _dump(value: Any) -> str:
    import yaml

    made: str = yaml.dump(value, None, _dumper(), sort_keys=False, allow_unicode=True, width=100)
    # all of these stand in double quotes
    made = re.sub(r"(?m)^(\s*):(?=:)", r"\1\\x3a", re.sub(_OLD_COMMAND, r"#\\x23", made))
    return re.sub(_UNSEEN, lambda found: f"\\u{ord(found[0]):04x}", made)


@cache
def _dumper() -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
            super().increase_indent(flow, indentless=False)  # lists stand under their keys

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        style = None
        if _BREAKS.search(value) or _COMMANDS.search(value):  # line breaks to YAML; commands to a CI runner
            style = '"'
        elif "\n" in value and all(line == line.strip() for line in value.split("\n")):
            style = "|"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def case_mapping(case: GoldenCase, top_k: int | None = None) -> dict[str, Any]:
    """Return a case as the mapping a golden file holds, without what it has in common with all cases, as *top_k*."""
    sample = case.sample
    made: dict[str, Any] = {"id": sample.sample_id, "query": sample.query}
    for name in ("relevant_docs", "candidate_docs"):
        if (docs := getattr(sample, name)) is not None:
            made[name] = [_document(d) for d in docs]
    if (answer := sample.reference_answer) is not None:
        others = answer.metadata.get("alternatives", [])
        made["reference_answer"] = [answer.text, *others] if others else answer.text
    made.update({k: sample.labels[k] for k in LABELS if k in sample.labels})
    if labels := {k: v for k, v in sample.labels.items() if k not in LABELS}:
        made["labels"] = labels
    if case.tags:
        made["tags"] = list(case.tags)
    if sample.metadata:
        made["metadata"] = dict(sample.metadata)
    if case.cluster not in ("", case.id, sample.labels.get("variant_of")):
        made["cluster"] = case.cluster
    if top_k not in (None, case.top_k):
        made["top_k"] = case.top_k
    if case.skip is not None:
        made |= {"status": "draft"} if case.skip == DRAFT else {"skip": case.skip}
    if case.thresholds:
        made["thresholds"] = {metric: [str(b) for b in bounds] for metric, bounds in case.thresholds.items()}
    made.update({k: v for k in _RUNNING if (v := getattr(case, k)) is not None and v is not False})
    return made


def _document(doc: Document) -> Any:
    about = dict(doc.metadata)
    match about.pop("match", None):
        case "quote":
            made: dict[str, Any] = {"doc": doc.doc_id, "quote": doc.text}
            if about.pop("anywhere", False):
                del made["doc"]
        case "span":
            made = {"doc": doc.doc_id, "span": [about.pop("start"), about.pop("end")]}
            made.update({"text": doc.text} if doc.text else {})
        case "doc":
            made = {"doc": doc.doc_id, **({"text": doc.text} if doc.text else {})}
        case _:
            made = {"id": doc.doc_id, **({"text": doc.text} if doc.text else {})}
    if "grade" in about:
        made["grade"] = about.pop("grade")
    if about:
        made["metadata"] = about
    return doc.doc_id if made.keys() == {"id"} else made


def as_imported(suite: GoldenSuite) -> ImportedSuite:
    """Return the cases of a loaded suite as mappings."""
    return ImportedSuite([case_mapping(case, suite.top_k) for case in suite.cases], suite=suite.name)
