"""The file of human labels: JSON Lines or CSV, one judged answer a row.

========== ===============================================================================================
id          name of the item; by default its row
label       what a person says: true / false, a grade from 1 to 5, or a word
labels      of several people: a list, or a mapping from names (in CSV, between ``|`` or in columns ``label_NAME``)
score       what the judge said, in the metric's own unit; with ``scores``, a list, of asking more than once
            (in CSV, columns ``score_2``, …); left out, the judge is asked
error       why the judge's reply was no score
swapped     what the judge said with the evidence in the opposite order
query, answer, evidence   what was judged; evidence is a text or a list (in CSV, columns ``evidence_2``, …)
case        id of a golden case, for answers of a run that was kept; answer_hash makes sure it is the same answer
group       items that are not independent share it; by default those of one case, or of one query
batch       when or where the item was labelled
model       which judge gave the score
========== ===============================================================================================
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..base.text import did_you_mean
from ..errors import MetricError
from ..io.importers.rows import LONGEST_CELL
from ..io.json_lines import load_lines
from ..io.source import Source

LabelScale = Literal["boolean", "grade", "class"]
LabelValue = bool | int | str

_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_TEXTS = ("query", "answer", "case", "answer_hash", "group", "batch", "model", "error")
_KEYS = ("id", "label", "labels", "score", "scores", "swapped", "evidence", *_TEXTS)
_INTEGER = re.compile(r"-?\d{1,9}")
_LIST_COLUMNS = {"label": "labels", "score": "scores", "evidence": "evidence"}
"""Columns of CSV that may occur several times, such as ``label_anna``, and the key of their values."""


@dataclass(slots=True)
class Item:
    """One judged answer.  ``people`` are the values given; ``scores`` the judge's, of which the first counts.

    ``error`` is why a reply was no score, ``left_out`` why the metric has nothing to say.
    """

    id: str
    people: list[LabelValue] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    swapped: float | None = None
    error: str = ""
    left_out: str = ""
    query: str = ""
    answer: str = ""
    evidence: list[str] = field(default_factory=list)
    case: str = ""
    answer_hash: str = ""
    group: str = ""
    batch: str = ""
    model: str = ""
    line: int = 0

    @property
    def cluster(self) -> str:
        """What the item shares with those it is not independent of."""
        return self.group or self.case or self.query or self.id


@dataclass(slots=True)
class LabelSet:
    """Labelled items, and what of their labels counts as yes.

    Attributes:
        positive: the labels that mean yes: words, grades, or true.
        unlabelled: how many rows nobody has labelled.
    """

    items: list[Item]
    scale: LabelScale
    positive: frozenset[LabelValue] = frozenset({True})
    unlabelled: int = 0

    def majority(self, item: Item) -> bool | None:
        """Return what most people say of *item*; None where as many say yes as no."""
        yes = sum(value in self.positive for value in item.people)
        no = len(item.people) - yes
        return None if yes == no else yes > no


def read_label_file(path: Path, positive: Sequence[str] = ()) -> LabelSet:
    """Read *path*, CSV by its suffix, else JSON Lines.

    *positive* are the words of the labels that mean yes; of grades, the least that does (4).

    Raises:
        GoldenFileError: everything that is wrong with it, each with its place.
        MetricError: *positive* does not fit the labels.
    """
    source = Source.load(path)
    rows = _csv_rows(source) if path.suffix.lower() in (".csv", ".tsv") else _json_rows(source)
    items = [_parse_item(raw, line, source) for line, raw in rows]
    line_of_id: dict[str, int] = {}
    for item in items:
        if (first := line_of_id.setdefault(item.id, item.line)) != item.line:
            source.report_at(item.line, 1, f"the id {item.id!r} is that of line {first} as well")
    labelled = [item for item in items if item.people]
    scale = _label_scale(labelled, source)
    if not labelled and not source.problems:
        source.report_at(0, 0, "holds no labels yet")
    if source.problems:
        raise source.error()
    return LabelSet(labelled, scale, _positive_labels(scale, labelled, positive), len(items) - len(labelled))


def _json_rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for raw in load_lines(source):
        for key in raw:
            if key not in _KEYS:
                source.report_key(raw, key, f"unknown key {key!r}{did_you_mean(key, _KEYS)}")
        yield source.position(raw)[0], raw


def _csv_rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(LONGEST_CELL)
    dialect = csv.excel_tab if source.path.lower().endswith(".tsv") else csv.excel
    reader = csv.reader(io.StringIO(source.text, newline=""), dialect, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for name in header:
            if name not in _KEYS and name.partition("_")[0] not in _LIST_COLUMNS:
                source.report_at(1, 1, f"unknown column {name!r}{did_you_mean(name, _KEYS)}")
        for name in dict.fromkeys(name for name in header if header.count(name) > 1):
            source.report_at(1, 1, f"the column {name!r} is named twice")
        if source.problems:
            return
        for cells in reader:
            if any(cell.strip() for cell in cells[len(header) :]):
                message = f"{len(cells)} columns, and the header has {len(header)}; quote a text that holds a separator"
                source.report_at(reader.line_num, 1, message)
            elif any(cell.strip() for cell in cells):
                yield reader.line_num, _join_columns(dict(zip(header, cells, strict=False)))
    except csv.Error as exc:
        source.report_at(reader.line_num, 1, f"not CSV: {exc}")


def _join_columns(row: Mapping[str, str]) -> dict[str, Any]:
    """Join columns of the same key: ``label_anna`` and ``label_ben`` become ``labels``."""
    joined: dict[str, Any] = {}
    for name, cell in row.items():
        if not cell.strip():
            continue
        stem = name.partition("_")[0]
        if name in ("labels", "scores"):
            joined.setdefault(name, []).extend(part.strip() for part in cell.split("|"))
        elif name in _KEYS and stem not in _LIST_COLUMNS:
            joined[name] = cell
        else:
            joined.setdefault(_LIST_COLUMNS[stem], []).append(cell)
    return joined


def _parse_item(raw: Mapping[str, Any], line: int, source: Source) -> Item:
    item_id = raw.get("id")
    item = Item(str(line if item_id in (None, "") else item_id), line=line)
    for name in _TEXTS:
        if (value := raw.get(name)) is not None:
            setattr(item, name, str(value))
    item.evidence = [str(text) for text in _as_list(raw.get("evidence"))]
    labels = _as_list(raw.get("label")) + _as_list(raw.get("labels"))
    scores = _as_list(raw.get("score")) + _as_list(raw.get("scores"))
    item.people = [value for label in labels if (value := _parse_label(label, line, source)) is not None]
    item.scores = [value for score in scores if (value := _parse_number(score, "score", line, source)) is not None]
    item.swapped = _parse_number(raw.get("swapped"), "swapped", line, source)
    return item


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _parse_label(raw: Any, line: int, source: Source) -> LabelValue | None:
    if raw is None or isinstance(raw, (bool, int)):
        return raw
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    if isinstance(raw, str):
        text = raw.strip()
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        return int(text) if _INTEGER.fullmatch(text) else text or None
    source.report_at(line, 1, f"a label is true, false, a grade from 1 to 5 or a word, got {raw!r}")
    return None


def _parse_number(raw: Any, key: str, line: int, source: Source) -> float | None:
    if raw is None or raw == "":
        return None
    with suppress(TypeError, ValueError, OverflowError):
        if math.isfinite(value := float(raw)):
            return value
    source.report_at(line, 1, f"{key} must be a number, got {raw!r}; put a reply that is not a score into error")
    return None


def _label_scale(items: Sequence[Item], source: Source) -> LabelScale:
    """Return the scale of the labels; a file has one, but 1 may be a grade as well as a yes."""
    values = {value: item.line for item in items for value in item.people}
    if all(value in (0, 1) for value in values):
        return "boolean"
    kinds = {bool: "boolean", int: "grade", str: "class"}
    scales = {kinds[type(value)]: (value, line) for value, line in values.items()}
    if len(scales) > 1:
        (first, _), (other, line), *_ = scales.values()
        source.report_at(line, 1, f"labels are of one kind in a file: {other!r} here, {first!r} elsewhere")
    for value, line in values.items():
        if list(scales) == ["grade"] and not 1 <= int(value) <= 5:
            source.report_at(line, 1, f"a grade is a whole number from 1 to 5, got {value}")
    return "class" if "class" in scales else "grade"


def _positive_labels(scale: LabelScale, items: Sequence[Item], words: Sequence[str]) -> frozenset[LabelValue]:
    if scale == "class":
        known = sorted({str(v) for item in items for v in item.people})
        if not words:
            raise MetricError(f"which labels mean yes? name them with --positive; available: {', '.join(known)}")
        for word in words:
            if word not in known:
                raise MetricError(f"no label is {word!r}{did_you_mean(word, known)}; available: {', '.join(known)}")
        return frozenset(words)
    if scale == "boolean":
        if words:
            raise MetricError("labels that are true or false need no --positive")
        return frozenset({True})
    if len(words) > 1 or (words and words[0] not in ("2", "3", "4", "5")):
        raise MetricError(f"for grades, --positive is the lowest that means yes, 2 to 5; got {', '.join(words)}")
    return frozenset(range(int(words[0]) if words else 4, 6))
