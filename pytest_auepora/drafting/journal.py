"""What became of every try at a case and of every draft, one line each, beside the golden file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.json import dumps
from ..errors import AueporaError
from .draft import Outcome


def journal_path(golden: Path) -> Path:
    """Return where the journal of a golden file is: ``docs.golden.yaml`` → ``docs.drafts.jsonl``."""
    return golden.with_name(f"{golden.name.partition('.')[0]}.drafts.jsonl")


class Journal:
    """Lines of outcomes (``job``, ``reason`` or ``id``) and of decisions (``id``, ``decision``, ``reason``).

    Args:
        path: the file; it need not be there.

    Raises:
        AueporaError: it is there and cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        if not path.exists():
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            try:
                row = json.loads(line) if line.strip() else {}
            except ValueError as exc:
                raise AueporaError(f"{path}:{number}: not JSON: {exc}") from None
            if row:
                self.rows.append(row)

    def done(self, provenance: Mapping[str, Any]) -> dict[str, bool]:
        """Return by job whether it gave a draft, of those that the same model was asked with the same prompts."""
        own = [row for row in self.rows if "job" in row and row.get("by") == provenance]
        return {row["job"]: "id" in row for row in own}

    def note(self, outcome: Outcome, provenance: Mapping[str, Any]) -> None:
        """Write down what became of a job."""
        job = outcome.job
        row: dict[str, Any] = {"job": job.key, "kind": job.kind, "doc": job.doc, "question": outcome.question}
        row |= {"id": outcome.case["id"]} if outcome.case is not None else {"reason": outcome.reason}
        self._append({**row, "by": dict(provenance)})

    def decide(self, case_id: str, decision: str, **more: str) -> None:
        """Write down what a person decided about a draft: ``accepted``, ``edited`` or ``rejected``."""
        self._append({"id": case_id, "decision": decision, **{k: v for k, v in more.items() if v}})

    def _append(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(dumps(row) + "\n")

    def rejected(self) -> list[str]:
        """Return the questions that a person did not want."""
        return [row["query"] for row in self.rows if row.get("decision") == "rejected" and "query" in row]

    def reasons(self) -> Counter[str]:
        """Return how often a try was rejected for each kind of reason, what stands behind a colon left out."""
        return Counter(row["reason"].partition(":")[0] for row in self.rows if "job" in row and "reason" in row)
