"""Golden files: written readably, and read back as the mappings they were written from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from ...base.progress import Progress
from ...core.types import Document
from ..golden.fields import CASE_FIELDS, LABELS
from ..golden.model import DRAFT, GoldenCase, GoldenSuite
from .imported import ImportedSuite, ImportProblem, filled

_SCHEMA_LINE = "# yaml-language-server: $schema=auepora.schema.json\n"

_LINE_BREAKS = re.compile("[\r\x85\u2028\u2029]")
_BIDI_CONTROLS = r"[\u202a-\u202e\u2066-\u2069]"
"""Characters that reverse the reading order; PyYAML escapes all other invisible ones in double quotes."""
_OLD_COMMAND = r"##(?=\[|vso\[)"
_COMMANDS = re.compile(rf"(^|\s)::|{_OLD_COMMAND}|{_BIDI_CONTROLS}|[\U000e0000-\U000e007f]")
"""Beginnings of lines that a CI runner may take for commands; lines are also broken at blanks."""
_EXECUTION_KEYS = ("xfail", "timeout", "must_pass", "quarantine", "benchmark")


def golden_text(suite: ImportedSuite, *, progress: bool | None = False, ascii_only: bool = False) -> str:
    """Return *suite* as YAML, a blank line between cases, with the line that tells editors the schema.

    *progress* is whether a bar is shown on standard error; None: if it is a terminal.  With *ascii_only* all other
    characters are escapes.  Raises `ImportProblem` without cases.
    """
    if not suite.cases:
        raise ImportProblem("there are no cases to write; a golden file without any would pass whatever happens")
    parts = [_SCHEMA_LINE, _dump({"suite": suite.suite}, ascii_only) if suite.suite else "", "cases:\n"]
    with Progress("cases", len(suite.cases), show=progress) as bar:  # PyYAML takes about a millisecond a case
        for number, case in enumerate(suite.cases):
            parts.append("\n" * bool(number) + case_text(case, ascii_only=ascii_only))
            bar.done()
    return "".join(parts)


def case_text(case: Mapping[str, Any], indent: str = "  ", *, ascii_only: bool = False) -> str:
    """Return a case as an item of a list in block style, its keys in the usual order."""
    ordered = {k: case[k] for k in (*CASE_FIELDS, *case) if k in case}
    lines = _dump([ordered], ascii_only).rstrip("\n").split("\n")
    return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


def cases_in_ascii(block: str) -> str:
    """Return the text of cases with all characters beyond ASCII as escapes."""
    indent = block[: len(block) - len(block.lstrip())]
    return "".join(case_text(case, indent, ascii_only=True) for case in yaml.safe_load(block) or ())


def _dump(value: Any, ascii_only: bool) -> str:
    text: str = yaml.dump(value, None, _Dumper, sort_keys=False, allow_unicode=not ascii_only, width=100)
    # all of these are in double quotes
    text = re.sub(r"(?m)^(\s*):(?=:)", r"\1\\x3a", re.sub(_OLD_COMMAND, r"#\\x23", text))
    return re.sub(_BIDI_CONTROLS, lambda match: f"\\u{ord(match[0]):04x}", text)


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)  # lists stand under their keys

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = None
    if _LINE_BREAKS.search(value) or _COMMANDS.search(value):  # line breaks to YAML; commands to a CI runner
        style = '"'
    elif "\n" in value and all(line == line.strip() for line in value.split("\n")):
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_text)


def case_mapping(case: GoldenCase, top_k: int | None = None) -> dict[str, Any]:
    """Return a case as the mapping in a golden file, without keys that all cases share, such as *top_k*."""
    sample = case.sample
    mapping: dict[str, Any] = {"id": sample.sample_id, "query": sample.query}
    if sample.chat_history:
        mapping["chat_history"] = [{turn["role"]: turn["content"]} for turn in sample.chat_history]
    for name in ("relevant_docs", "candidate_docs"):
        if (docs := getattr(sample, name)) is not None:
            mapping[name] = [_document_mapping(d) for d in docs]
    if (answer := sample.reference_answer) is not None:
        alternatives = answer.metadata.get("alternatives")
        mapping["reference_answer"] = [answer.text, *alternatives] if alternatives else answer.text
    mapping.update({k: sample.labels[k] for k in LABELS if k in sample.labels})
    own_labels = {k: v for k, v in sample.labels.items() if k not in LABELS}
    mapping |= filled({"labels": own_labels, "tags": list(case.tags), "metadata": dict(sample.metadata)})
    if case.cluster not in ("", case.id, sample.labels.get("variant_of"), sample.labels.get("conversation")):
        mapping["cluster"] = case.cluster
    if top_k not in (None, case.top_k):
        mapping["top_k"] = case.top_k
    if case.skip is not None:
        mapping |= {"status": "draft"} if case.skip == DRAFT else {"skip": case.skip}
    mapping |= filled({"thresholds": {metric: [str(b) for b in bounds] for metric, bounds in case.thresholds.items()}})
    return mapping | {k: v for k in _EXECUTION_KEYS if (v := getattr(case, k)) is not None and v is not False}


def _document_mapping(doc: Document) -> Any:
    metadata = dict(doc.metadata)
    match = metadata.pop("match", None)
    mapping: dict[str, Any] = {"doc" if match in ("doc", "quote", "span") else "id": doc.doc_id}
    if match == "quote":
        mapping = {**({} if metadata.pop("anywhere", False) else mapping), "quote": doc.text}
    elif match == "span":
        mapping["span"] = [metadata.pop("start"), metadata.pop("end")]
    text = "" if match == "quote" else doc.text
    mapping |= filled({"text": text, "grade": metadata.pop("grade", None), "metadata": metadata})
    return doc.doc_id if mapping.keys() == {"id"} else mapping


def as_imported(suite: GoldenSuite) -> ImportedSuite:
    """Return the cases of a loaded suite as mappings."""
    return ImportedSuite([case_mapping(case, suite.top_k) for case in suite.cases], suite=suite.name)
