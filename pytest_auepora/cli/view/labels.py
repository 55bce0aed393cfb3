"""Labels of people, as JSON Lines that ``auepora calibrate`` reads: a file for each suite and judged metric."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.files import locked, write_atomically
from ...core.run import CaseResult, Run
from ...errors import AueporaError
from ...metrics.annotation.labels import answer_hash

_MOST = 100
"""Characters of a person's name."""


def label_path(folder: Path, suite: str, metric: str) -> Path:
    """Return the file for the labels of one metric in one suite."""
    return folder / f"{re.sub(r'[^A-Za-z0-9_.@-]+', '_', f'{suite}.{metric}')}.jsonl"


def labels_of(path: Path, case: CaseResult) -> dict[str, Any]:
    """Return what people said of the answer of *case*, by name; empty where nobody did.

    Raises:
        AueporaError: the file is not what this module writes.
    """
    key = _key(case)
    return next((dict(row["labels"]) for row in _rows(path) if row.get("id") == key), {})


def put_label(
    path: Path,
    run: Run,
    case: CaseResult,
    metric: str,
    *,
    person: str,
    label: bool | None,
    evidence: Sequence[str] = (),
) -> dict[str, Any]:
    """Write down what a person says of the answer of *case*: whether it is good; None takes the label back.

    The judge's own score and its model go with the label, so nothing has to be asked for the calibration, and the
    *evidence*, the texts of the documents, so that another judge can be.

    Returns:
        What people say of this answer now, by name.

    Raises:
        AueporaError: there is no such judge, no answer, no name, or the file holds something else.
        OSError: it cannot be written.
    """
    if not (person := " ".join(person.split())[:_MOST]):
        raise AueporaError("who says so? a label needs a name")
    if metric not in run.metrics or not run.metrics[metric].judge:
        raise AueporaError(f"{metric} is no judge's metric in {run.title}")
    if not str(case.outputs.get("answer") or "").strip():
        raise AueporaError(f"{case.case_id} has no stored answer to label")
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        rows = {str(row.get("id")): row for row in _rows(path)}
        key = _key(case)
        labels = {**rows.get(key, {}).get("labels", {}), person: label}
        labels = {name: said for name, said in labels.items() if said is not None}
        if labels:
            rows[key] = {**_row(run, case, metric), "labels": labels, "evidence": [*evidence]}
        else:
            rows.pop(key, None)
        write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()))
    return labels


def _key(case: CaseResult) -> str:
    return f"{case.case_id} {answer_hash(str(case.outputs.get('answer') or ''))}"


def _row(run: Run, case: CaseResult, metric: str) -> dict[str, Any]:
    answer = case.outputs["answer"]
    row: dict[str, Any] = {
        "id": _key(case), "case": case.case_id, "query": case.query, "answer": answer,
        "answer_hash": answer_hash(str(answer)),
    }  # fmt: skip
    score = case.scores.get(metric)
    if score is not None and score.state == "number":
        row["score"] = score.value
    elif score is not None and score.state == "error":
        row["error"] = score.reason
    judge = run.metrics[metric].judge.get("params", {}).get("judge", {})
    if isinstance(judge, Mapping) and judge.get("model"):
        row["model"] = str(judge["model"])
    return row


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("labels"), dict):
            raise AueporaError(f"{path}:{number}: expected a label that was given in auepora view")
        yield row
