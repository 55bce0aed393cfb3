"""The verdict of a run as a history keeps it: a text, and how each case compares in compressed blocks.

Cases compare much alike, so that a block takes a tenth of the room; and of a large run neither who writes nor who
asks for the rest of the verdict holds all cases at a time.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..core.json import dumps, taken_apart
from ..errors import HistoryError
from .blocks import BLOCK, compressed
from .database import Statements

if TYPE_CHECKING:
    from ..regression.baseline.model import BaselineCase
    from ..regression.compare.cases import CaseComparison
    from ..regression.verdict import Verdict

__all__ = ["COMPARED", "compared_blocks", "compared_of", "keep_compared", "verdict_of", "verdict_text"]

COMPARED = "eval_compared"
"""The table of these blocks."""


def verdict_text(verdict: Verdict) -> str:
    """Return *verdict* without its cases."""
    raw = taken_apart(verdict)
    if verdict.comparison is not None:
        raw["comparison"] = taken_apart(verdict.comparison)
        del raw["comparison"]["cases"]
    return dumps(raw)


def keep_compared(open_: Statements, run_id: str, verdict: Verdict) -> None:
    """Write down how the cases of *verdict*, of the run *run_id*, compare with the baseline."""
    open_.run_many(
        f"INSERT INTO {COMPARED} (run_id, place, compared) VALUES (:run_id, :place, :compared)",
        ({"run_id": run_id, "place": i, "compared": block} for i, block in enumerate(compared_blocks(verdict))),
    )


def compared_of(open_: Statements, run_id: str) -> list[bytes]:
    """Return the `compared_blocks` of a run."""
    rows = open_.rows(f"SELECT compared FROM {COMPARED} WHERE run_id = :id ORDER BY place", {"id": run_id})
    return [bytes(row[0]) for row in rows]


def compared_blocks(verdict: Verdict) -> Iterator[bytes]:
    """Yield how the cases of *verdict* compare with the baseline: JSON objects by case, compressed."""
    said: list[str] = []
    size = 0
    for case_id, case in verdict.comparison.cases.items() if verdict.comparison is not None else ():
        said.append(f"{dumps(case_id)}:{_compared(case)}")
        size += len(said[-1])
        if size >= BLOCK:
            yield _block(said)
            said, size = [], 0
    if said:
        yield _block(said)


def _block(said: Iterable[str]) -> bytes:
    return compressed(f"{{{','.join(said)}}}")


def verdict_of(text: str, blocks: Iterable[bytes]) -> dict[str, Any]:
    """Return a verdict, of which `verdict_text` gave *text* and `compared_blocks` the *blocks*, as plain data.

    Raises:
        HistoryError: it is damaged.
    """
    try:
        found: dict[str, Any] = json.loads(text)
        cases: dict[str, Any] = {}
        for block in blocks:
            cases.update(json.loads(zlib.decompress(block)))
    except (ValueError, zlib.error) as exc:
        raise HistoryError(f"a verdict is damaged: {exc}") from None
    if (comparison := found.get("comparison")) is not None:
        found["comparison"] = {"cases": cases, **comparison}  # before layout 4 the text had them
    return found


def _compared(case: CaseComparison) -> str:
    raw = taken_apart(case)  # every attribute once: of a large run each is looked up when it is read
    nulls = _nulls(before := raw["before"])
    # thousands of them: `taken_apart` would take a third longer
    raw["changes"] = {
        name: {"before": change.before, "after": change.after, "gain": change.gain, "errored": change.errored}
        for name, change in raw["changes"].items()
    }
    if before is not None:
        raw["before"] = taken_apart(before)
    return dumps(raw, nulls=nulls)


def _nulls(before: BaselineCase | None) -> int:
    """Count what is mostly all that is None in a case that was *before*."""
    if before is None:
        return 1
    return [*before.ranks.values()].count(None) + [*before.scores.values()].count(None)
