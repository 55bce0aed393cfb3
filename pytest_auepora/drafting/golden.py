"""Drafts in golden files: appended, accepted, edited, taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..core.json import dumps
from ..io.case_blocks import appended, raw_cases, replaced
from ..io.importers.golden import golden_text
from ..io.importers.model import ImportedSuite
from ..metrics.registry import Registry


def add_cases(path: Path, cases: Sequence[Mapping[str, Any]], registry: Registry | None = None) -> None:
    """Append *cases* to the golden file at *path*, which is made where there is none.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    if path.exists():
        text = appended(path, cases, registry).text
    elif path.suffix == ".jsonl":
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
    write_atomically(path, replaced(path, case["id"], new, registry))


def reject(path: Path, case_id: str, registry: Registry | None = None) -> None:
    """Take a draft out of its file; out of one that would have no case left, the file goes."""
    if len(raw_cases(path)) == 1:
        path.unlink()
    else:
        write_atomically(path, replaced(path, case_id, None, registry))
