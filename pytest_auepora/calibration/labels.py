"""The file of human labels: JSON Lines or CSV, one judged answer a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from ..base.records import Checked, HandWritten, Number, RecordError, check_record
from ..base.text import did_you_mean
from ..errors import MetricError
from ..io.importers.rows import LONGEST_CELL
from ..io.json_lines import load_lines
from ..io.source import Source

LabelScale = Literal["boolean", "grade", "class"]
LabelValue = bool | int | str

_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_INTEGER = re.compile(r"-?\d{1,9}")
_LIST_COLUMNS = {"label": "labels", "evidence": "evidence"}
"""Columns of CSV that may occur several times, such as ``label_anna``, and the key of their values."""

_Label = Annotated[LabelValue, Checked("true, false, a grade from 1 to 5 or a word", lambda _: True)]
_Score = Annotated[Number, Checked("a number; put a reply that is not a score into error", lambda _: True)]
_Name = str | int


@dataclass(slots=True)
class Item(HandWritten):
    """One judged answer."""

    id: _Name | None = None
    """Name of the item; by default its row."""
    label: _Label | None = None
    """What a person says: true or false, a grade from 1 to 5, or a word."""
    labels: list[_Label] | dict[str, _Label | None] = field(default_factory=list)
    """Of several people: a list, or a mapping from names (in CSV between ``|``, or in columns ``label_NAME``)."""
    query: str = ""
    """What was asked."""
    answer: str = ""
    """What is judged."""
    evidence: str | list[str] = field(default_factory=list)
    """What the answer rests on: a text or a list (in CSV, columns ``evidence_2``, …)."""
    case: _Name = ""
    """Id of a golden case, for answers of a run that was kept."""
    answer_hash: str = ""
    """Makes sure that it is the same answer."""
    score: _Score | None = None
    """What the judge said, in the metric's own unit; left out, the judge is asked."""
    error: str = ""
    """Why the judge's reply was no score."""
    model: str = ""
    """Which judge gave the score."""
    group: _Name = ""
    """Items that are not independent share it; by default those of one case, or of one query."""
    line: int = field(default=0, init=False)
    left_out: str = field(default="", init=False)

    @property
    def name(self) -> str:
        """The id, or the line."""
        return str(self.line if self.id in (None, "") else self.id)

    @property
    def people(self) -> list[LabelValue]:
        """The labels of all people."""
        named = self.labels.values() if isinstance(self.labels, dict) else self.labels
        return [label for raw in (self.label, *named) if (label := _read_label(raw)) is not None]

    @property
    def texts(self) -> list[str]:
        """The evidence as a list."""
        return [self.evidence] if isinstance(self.evidence, str) else self.evidence

    @property
    def cluster(self) -> str:
        """What the item shares with those it is not independent of."""
        return str(self.group or self.case or self.query or self.name)


def _read_label(raw: LabelValue | None) -> LabelValue | None:
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if _INTEGER.fullmatch(text) else text or None


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
    is_table = path.suffix.lower() in (".csv", ".tsv")
    items = [*(_csv_items if is_table else _json_items)(source)]
    line_of_name: dict[str, int] = {}
    for item in items:
        if (first := line_of_name.setdefault(item.name, item.line)) != item.line:
            source.report_at(item.line, 1, f"the id {item.name!r} is that of line {first} as well")
    labelled = [item for item in items if item.people]
    scale = _label_scale(labelled, source)
    if not labelled and not source.problems:
        source.report_at(0, 0, "holds no labels yet")
    if source.problems:
        raise source.error()
    return LabelSet(labelled, scale, _positive_labels(scale, labelled, positive), len(items) - len(labelled))


def _json_items(source: Source) -> Iterator[Item]:
    for line, raw in load_lines(source).items():
        try:
            item = check_record(Item, raw)
        except RecordError as exc:
            report = source.report if exc.keys[0] in _KEYS else source.report_key
            report((line, *exc.keys), str(exc))
        else:
            item.line, _ = source.position((line,))
            yield item


def _csv_items(source: Source) -> Iterator[Item]:
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
                try:
                    item = check_record(Item, _join_columns(dict(zip(header, cells, strict=False))))
                except RecordError as exc:
                    source.report_at(reader.line_num, 1, str(exc))
                else:
                    item.line = reader.line_num
                    yield item
    except csv.Error as exc:
        source.report_at(reader.line_num, 1, f"not CSV: {exc}")


def _join_columns(row: Mapping[str, str]) -> dict[str, Any]:
    """Join columns of the same key: ``label_anna`` and ``label_ben`` become ``labels``; a score becomes a number."""
    joined: dict[str, Any] = {}
    for name, cell in row.items():
        if not cell.strip():
            continue
        stem = name.partition("_")[0]
        if name == "labels":
            joined.setdefault(name, []).extend(part.strip() for part in cell.split("|"))
        elif name == "score":
            joined[name] = _number_or_text(cell)
        elif name in _KEYS and stem not in _LIST_COLUMNS:
            joined[name] = cell
        else:
            joined.setdefault(_LIST_COLUMNS[stem], []).append(cell)
    return joined


def _number_or_text(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


_KEYS = tuple(field.name for field in fields(Item) if field.init)


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
