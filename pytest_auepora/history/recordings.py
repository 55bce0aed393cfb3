"""The tables of recorded answers: in blocks or, before layout 3, each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .blocks import Block, Recorded
from .database import Statements

__all__ = ["RECORDINGS", "keep_recordings", "recordings_of"]

_BLOCKS, _SINGLE = "eval_recording_blocks", "eval_recordings"
RECORDINGS = (_SINGLE, _BLOCKS)
"""The tables that hold answers."""


def keep_recordings(open_: Statements, run_id: str, blocks: Iterable[Block]) -> None:
    """Write down the answers of a run."""
    open_.run_many(
        f"INSERT INTO {_BLOCKS} (run_id, place, cases, recordings) VALUES (:run_id, :place, :cases, :recordings)",
        (
            {"run_id": run_id, "place": i, "cases": cases, "recordings": data}
            for i, (cases, data) in enumerate(blocks)
        ),
    )  # fmt: skip


def recordings_of(open_: Statements, run_id: str) -> Mapping[str, list[str]]:
    """Return the answers of a run by case, repeats in order."""
    of = {"id": run_id}
    blocks = open_.rows(f"SELECT cases, recordings FROM {_BLOCKS} WHERE run_id = :id ORDER BY place", of)
    if blocks:
        return Recorded((cases, bytes(data)) for cases, data in blocks)
    out: dict[str, list[str]] = {}
    one_by_one = f"SELECT case_id, recording FROM {_SINGLE} WHERE run_id = :id ORDER BY case_id, repeat_index"
    for case_id, text in open_.rows(one_by_one, of):
        out.setdefault(case_id, []).append(text)
    return out
