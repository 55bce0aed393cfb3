"""What became of the labels of golden files, for the terminal: one line for each that moved, and what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from ...errors import names_words
from ...labels.check import KINDS, Candidate, CheckedLabel, Finding, tally
from ...labels.repair import Repaired
from ..numbers import plural
from .layout import Line, Page

MOST_SHOWN = 4

Place = tuple[int, int]


def moved_text(one: CheckedLabel, place: str, new_id: str = "") -> str:
    """Return ``shop.golden.yaml:9:20: refunds#3: split: refunds#4 (61 %), refunds#5 (39 %)``."""
    found = one.finding
    origin = f"text from {found.origin}" if found.origin else ""
    if new_id:
        return f"{place}: {one.name} → {new_id} ({'; '.join(filter(None, [found.kind, origin]))})"
    said = "; ".join(filter(None, [found.note, origin]))
    return f"{place}: {one.name}: {found.kind}{_candidates(found)}{f' ({said})' if said else ''}"


def _candidates(found: Finding) -> str:
    if found.new_id:
        return f", now {found.new_id}"
    return f": {names_words(found.candidates, MOST_SHOWN, _candidate)}" if found.candidates else ""


def _candidate(one: Candidate) -> str:
    return one.id if one.share is None or one.share == 1.0 else f"{one.id} ({one.share * 100:.0f} %)"


def label_page(
    title: str,
    path: str,
    labels: Sequence[CheckedLabel],
    places: Mapping[tuple[str, int], Place],
    repaired: Repaired | None = None,
    *,
    width: int = 80,
    ascii_only: bool = False,
) -> list[Line]:
    """Return the report on one golden file in one configuration: the counts, and every label that moved."""
    page = Page(width, ascii_only=ascii_only)
    page.title(title, path)
    counts = tally(labels)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    moved = [(places.get(key := (one.case_id, one.index), (0, 0)), key, one) for one in labels if one.finding.moved]
    cases = len({one.case_id for one in labels})
    style = "yellow" if moved else "green"
    page.free(f"{plural(len(labels), 'label')} of {plural(cases, 'case')}: {kinds or 'none'}", style)
    new_ids = repaired.new_ids if repaired is not None else {}
    for (line, col), key, one in sorted(moved, key=itemgetter(0)):
        page.free(moved_text(one, f"{path}:{line}:{col}", new_ids.get(key, "")), indent=2)
    unchecked = Counter(one.finding.note for one in labels if one.finding.note.startswith("not checked"))
    for note, n in unchecked.items():
        page.free(f"{plural(n, 'label')} {note}", "yellow")
    return page.lines


def left_of(done: Repaired | None, labels: Iterable[CheckedLabel]) -> set[tuple[str, int]]:
    """Return the labels that moved and were not rewritten: case id and place among its labels."""
    moved = {(one.case_id, one.index) for one in labels if one.finding.moved}
    return moved - done.new_ids.keys() if done is not None else moved


def repaired_texts(done: Repaired, labels: Iterable[CheckedLabel]) -> list[str]:
    """Say what a rewrite did of *labels*, those of all configurations, and how much it left to people."""
    out = [done.problem] if done.problem else []
    out += [f"rewritten: {plural(len(done.new_ids), 'label')}"] if done.new_ids else []
    out += [f"carried over in {Path(path).name}: {plural(n, 'case')}" for path, n in done.carried.items()]
    left = len(left_of(done, labels))
    return [*out, f"left to people: {plural(left, 'label')}"] if left else out
