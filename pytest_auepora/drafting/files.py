"""Drafts in golden files, and the journal of each file: the outcome of every try, and every decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.files import read_json_lines, write_atomically
from ..base.json import dumps
from ..errors import AueporaError
from ..io.edit import raw_cases, with_cases, with_replacement
from ..io.importers.golden import golden_text
from ..io.importers.model import ImportedSuite
from ..io.json_lines import is_jsonl
from ..metrics.registry import Registry
from .draft import Draft


def add_cases(path: Path, cases: Sequence[Mapping[str, Any]], registry: Registry | None = None) -> None:
    """Append *cases* to the golden file at *path*, which is made where there is none; raises as `with_cases` does."""
    if path.exists():
        text = with_cases(path, cases, registry).text
    elif is_jsonl(path):
        text = "".join(f"{dumps(dict(case))}\n" for case in cases)
    else:
        text = golden_text(ImportedSuite([dict(case) for case in cases], suite=path.name.partition(".")[0]))
    write_atomically(path, text)


def drafts_of(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a golden file that wait for a person, as they are written."""
    return [case for case in raw_cases(path) if case.get("status") == "draft"]


def accept(path: Path, case: Mapping[str, Any], changed: Mapping[str, str], registry: Registry | None = None) -> None:
    """Make a draft a golden case, with the keys that were *changed*."""
    new = {key: value for key, value in {**case, **changed}.items() if key != "status"}
    write_atomically(path, with_replacement(path, case["id"], new, registry))


def reject(path: Path, case_id: str, registry: Registry | None = None) -> None:
    """Remove a draft from its file; remove the file where no case would be left."""
    if len(raw_cases(path)) == 1:
        path.unlink()
    else:
        write_atomically(path, with_replacement(path, case_id, None, registry))


def journal_path(golden: Path) -> Path:
    """Return where the journal of a golden file is: ``docs.golden.yaml`` → ``docs.drafts.jsonl``."""
    return golden.with_name(f"{golden.name.partition('.')[0]}.drafts.jsonl")


class DraftJournal:
    """Lines of outcomes (``job``, ``reason`` or ``id``) and of decisions (``id``, ``decision``, ``reason``).

    Its file need not be there; raises `AueporaError` where it is and cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        for where, row in read_json_lines(path) if path.exists() else ():
            if not isinstance(row, dict):
                raise AueporaError(f"{where}: expected a mapping, got {row!r:.80}")
            self.rows.append(row)

    def finished_jobs(self, provenance: Mapping[str, Any]) -> dict[str, bool]:
        """Return by job whether it gave a draft, for the jobs of the same model and prompts."""
        same_model = [row for row in self.rows if "job" in row and row.get("by") == provenance]
        return {row["job"]: "id" in row for row in same_model}

    def note(self, draft: Draft, provenance: Mapping[str, Any]) -> None:
        """Write down the outcome of a job."""
        job = draft.job
        row: dict[str, Any] = {"job": job.key, "kind": job.kind, "doc": job.doc, "question": draft.question}
        row |= {"id": draft.case["id"]} if draft.case is not None else {"reason": draft.reason}
        self._append({**row, "by": dict(provenance)})

    def decide(self, case_id: str, decision: str, **more: str) -> None:
        """Write down what a person decided about a draft: ``accepted``, ``edited`` or ``rejected``."""
        self._append({"id": case_id, "decision": decision, **{k: v for k, v in more.items() if v}})

    def _append(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(dumps(row) + "\n")

    def rejected_questions(self) -> list[str]:
        """Return the questions that a person rejected."""
        return [row["query"] for row in self.rows if row.get("decision") == "rejected" and "query" in row]

    def reason_counts(self) -> Counter[str]:
        """Return how often tries were rejected for each kind of reason, its text up to a colon."""
        return Counter(row["reason"].partition(":")[0] for row in self.rows if "job" in row and "reason" in row)
