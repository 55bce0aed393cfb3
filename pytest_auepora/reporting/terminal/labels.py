"""The label check of golden files for the terminal: a line for each label that moved, and the repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from ...base.text import names_words
from ...labels.check import Candidate, CheckedLabel, LabelFate
from ...labels.repair import Repaired
from ..numbers import plural
from .layout import Line, Page

_MOST_SHOWN = 4

Place = tuple[int, int]


def moved_text(label: CheckedLabel, place: str, new_id: str = "") -> str:
    """Return ``shop.golden.yaml:9:20: refunds#3: split: refunds#4 (61 %), refunds#5 (39 %)``."""
    finding = label.finding
    origin = f"text from {finding.origin}" if finding.origin else ""
    remarks = "; ".join(filter(None, [finding.kind if new_id else finding.note, origin]))
    text = f": {finding.kind}"
    if new_id:
        text = f" → {new_id}"
    elif finding.new_id:
        text += f", now {finding.new_id}"
    elif finding.candidates:
        text += f": {names_words(finding.candidates, _MOST_SHOWN, _candidate_text)}"
    return f"{place}: {label.name}{text}{f' ({remarks})' if remarks else ''}"


def _candidate_text(candidate: Candidate) -> str:
    share = "" if candidate.share in (None, 1.0) else f" ({candidate.share * 100:.0f} %)"
    return f"{candidate.id}{share}"


def label_page(
    title: str,
    path: str,
    labels: Sequence[CheckedLabel],
    places: Mapping[tuple[str, int], Place],
    repaired: Repaired | None = None,
    *,
    width: int = 80,
) -> list[Line]:
    """Return the report on a golden file in one configuration: the counts, and every label that moved."""
    page = Page(width)
    page.title(title, path)
    counts = Counter(label.finding.kind for label in labels)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in get_args(LabelFate) if counts[kind])
    moved = {(label.case_id, label.index): label for label in labels if label.finding.moved}
    cases = len({label.case_id for label in labels})
    style = "yellow" if moved else "green"
    page.paragraph(f"{plural(len(labels), 'label')} of {plural(cases, 'case')}: {kinds or 'none'}", style)
    new_ids = repaired.new_ids if repaired is not None else {}
    for key in sorted(moved, key=lambda key: places.get(key, (0, 0))):
        line, col = places.get(key, (0, 0))
        page.paragraph(moved_text(moved[key], f"{path}:{line}:{col}", new_ids.get(key, "")), indent=2)
    unchecked = Counter(label.finding.note for label in labels if label.finding.unchecked)
    for note, n in unchecked.items():
        page.paragraph(f"{plural(n, 'label')} not checked: {note}", "yellow")
    return page.lines


def remaining_labels(repaired: Repaired | None, labels: Iterable[CheckedLabel]) -> set[tuple[str, int]]:
    """Return the labels that moved and were not rewritten: case id, and index among its labels."""
    moved = {(label.case_id, label.index) for label in labels if label.finding.moved}
    return moved - repaired.new_ids.keys() if repaired is not None else moved


def repaired_texts(repaired: Repaired, labels: Iterable[CheckedLabel]) -> list[str]:
    """Return the lines on a repair of *labels*, those of all configurations, and the number left to people."""
    out = [repaired.problem] if repaired.problem else []
    out += [f"rewritten: {plural(len(repaired.new_ids), 'label')}"] if repaired.new_ids else []
    out += [f"carried over in {Path(path).name}: {plural(n, 'case')}" for path, n in repaired.carried.items()]
    n_remaining = len(remaining_labels(repaired, labels))
    return [*out, f"left to people: {plural(n_remaining, 'label')}"] if n_remaining else out
