"""The answers of the accepted run, for suites that compare answers with them: a baseline itself holds no texts."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from ..core.files import write_atomically
from ..core.run import Run

_FOLDER = "accepted"


def save_accepted(folder: Path, name: str, run: Run, cases: Collection[str]) -> None:
    """Keep the answers to *cases* of *run* beside those kept before in *folder*, that of the history.

    *name* is that of the baseline's file.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / _FOLDER / name
    kept = _read(path)
    for case in run.cases.values():
        if case.case_id in cases and case.state in ("passed", "failed"):
            kept[case.case_id] = {"hash": case.content_hash, "answer": str(case.outputs.get("answer", ""))}
    write_atomically(path, json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1) + "\n")


def load_accepted(folder: Path, name: str) -> dict[tuple[str, str], str]:
    """Return the accepted answers by case id and content hash; none where none are kept."""
    found = _read(folder / _FOLDER / name)
    return {(case_id, str(one.get("hash"))): str(one.get("answer", "")) for case_id, one in found.items()}


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in said.items() if isinstance(v, dict)} if isinstance(said, dict) else {}
