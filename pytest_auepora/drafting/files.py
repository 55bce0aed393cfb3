"""Drafts in golden files, and the journal of each file: the outcome of every try, and every decision."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..base.files import numbered_lines, refuse_pipe, write_atomically
from ..base.grouping import grouped
from ..base.json import dumps
from ..base.records import Free, Record, RecordError, read_record, record_line
from ..errors import AueporaError
from ..io.edit import raw_cases, with_cases, with_replacement
from ..io.importers.golden import golden_text
from ..io.importers.imported import ImportedSuite
from ..io.json_lines import is_jsonl
from ..metrics.registry import Registry
from .draft import Draft
from .from_traces import DOCUMENTS, SAID, TRACE


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


def accept(path: Path, case: Mapping[str, Any], changed: Mapping[str, Any], registry: Registry | None = None) -> None:
    """Make a draft a golden case, with the keys that were *changed*; one that became None is left out.

    Of the trace that it comes from, what the system said and found is left out: it was there for this decision.
    """
    new = {key: value for key, value in {**case, **changed}.items() if key != "status" and value is not None}
    if trace := trace_of(case):
        kept = {key: value for key, value in trace.items() if key not in (SAID, DOCUMENTS)}
        new["metadata"] = {**case["metadata"], TRACE: kept}
    write_atomically(path, with_replacement(path, case["id"], new, registry))


def trace_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the trace that a draft comes from; nothing for any other."""
    trace = (case.get("metadata") or {}).get(TRACE)
    return dict(trace) if isinstance(trace, Mapping) else {}


def reject(path: Path, case_id: str, registry: Registry | None = None) -> None:
    """Remove a draft from its file; remove the file where no case would be left."""
    if len(raw_cases(path)) == 1:
        path.unlink()
    else:
        write_atomically(path, with_replacement(path, case_id, None, registry))


def journal_path(golden: Path) -> Path:
    """Return where the journal of a golden file is: ``docs.golden.yaml`` → ``docs.drafts.jsonl``."""
    return golden.with_name(f"{golden.name.partition('.')[0]}.drafts.jsonl")


@dataclass(slots=True)
class JournalRow(Record):
    """What became of a try, or what a person decided about a draft."""

    job: str = ""
    """Of a try: what was tried, a hash."""
    kind: str = ""
    """Of a try: single-hop, multi-hop or unanswerable."""
    doc: str = ""
    """Of a try: the document."""
    question: str = ""
    """Of a try: what the model asked; empty where it wrote none."""
    by: dict[str, Free] = field(default_factory=dict)
    """Of a try: the model, its parameters and the prompts."""
    id: str = ""
    """The draft."""
    decision: Literal["", "accepted", "edited", "rejected"] = ""
    """Of a person."""
    reason: str = ""
    """Why there is no draft, a word of a closed set; or why a person rejected it."""
    about: str = ""
    """Of a try: the words, the question or the document that the reason is about."""
    query: str = ""
    """The question of a draft that was rejected, or as it was edited."""
    reference_answer: str = ""
    """The answer as it was edited."""

    def __post_init__(self) -> None:
        if not self.job and not (self.decision and self.id):
            raise ValueError("a try (job), or a decision (decision and id)")


class DraftJournal:
    """Lines of outcomes and of decisions; see `JournalRow`.

    Its file need not be there; raises `AueporaError` where it is and cannot be read.  The last line may be cut, as a
    killed process leaves it: then it is passed over, and removed by the next one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[JournalRow] = []
        self._cut_at: int | None = None
        """Where the last line begins, in bytes, if it is cut."""
        for number, line in numbered_lines(self._whole_lines() if path.exists() else ""):
            try:
                self.rows.append(read_record(JournalRow, line))
            except RecordError as exc:
                raise AueporaError(f"{path}:{number}:{exc.col or 1}: {exc}") from None

    def _whole_lines(self) -> str:
        try:
            refuse_pipe(self.path)
            data = self.path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            self._cut_at = len(whole) if len(whole) < len(data) else None
            return whole.decode("utf-8-sig")
        except (OSError, UnicodeError) as exc:
            raise AueporaError(f"{self.path}: cannot be read: {exc}") from None

    def finished_jobs(self, provenance: Mapping[str, Any]) -> dict[str, bool]:
        """Return by job whether it gave a draft, for the jobs of the same model and prompts."""
        return {row.job: bool(row.id) for row in self.rows if row.job and row.by == provenance}

    def note(self, draft: Draft, provenance: Mapping[str, Any]) -> None:
        """Write down the outcome of a job."""
        job, case = draft.job, draft.case
        row = JournalRow(job.key, job.kind, job.doc, draft.question, dict(provenance))
        self._append(
            replace(row, reason=draft.reason, about=draft.about) if case is None else replace(row, id=case["id"])
        )

    def decide(
        self, case_id: str, decision: Literal["accepted", "edited", "rejected"], *,
        reason: str = "", query: str = "", reference_answer: str = "",
    ) -> None:  # fmt: skip
        """Write down what a person decided about a draft; see `JournalRow`."""
        row = JournalRow(id=case_id, decision=decision, reason=reason, query=query, reference_answer=reference_answer)
        self._append(row)

    def _append(self, row: JournalRow) -> None:
        self.rows.append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._cut_at is not None:
            os.truncate(self.path, self._cut_at)
            self._cut_at = None
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(record_line(row))

    def rejected_questions(self) -> list[str]:
        """Return the questions that a person rejected."""
        return [row.query for row in self.rows if row.decision == "rejected" and row.query]

    def rejections(self) -> dict[str, list[str]]:
        """Return for each reason for which tries were rejected what it was about, in each of them."""
        return grouped((row.reason, row.about) for row in self.rows if row.job and row.reason)
