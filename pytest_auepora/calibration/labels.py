"""The file of people's labels: JSON Lines or CSV, one judged answer a row.

========== ===============================================================================================
id          name of the item; by default its row
label       what a person says: true / false, a grade from 1 to 5, or a word
labels      of several people: a list, or a mapping from names (in CSV, columns ``label_NAME``)
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import MetricError, did_you_mean
from ..io.json_lines import load_lines
from ..io.source import Source

Kind = Literal["boolean", "grade", "class"]
Value = bool | int | str

_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_TEXTS = ("query", "answer", "case", "answer_hash", "group", "batch", "model", "error")
_KEYS = ("id", "label", "labels", "score", "scores", "swapped", "evidence", *_TEXTS)
_WHOLE = re.compile(r"-?\d{1,9}")
_MANY = {"label": "labels", "score": "scores", "evidence": "evidence"}
"""Columns of CSV that may be several, ``label_anna`` for instance, and the key they make together."""


@dataclass(slots=True)
class Item:
    """One judged answer.  ``people`` are the values given; ``scores`` the judge's, of which the first counts.

    ``error`` is why a reply was no score, ``left_out`` why the metric has nothing to say.
    """

    id: str
    people: list[Value] = field(default_factory=list)
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
        positive: the words that mean yes, or the least grade that does; not needed for true and false.
        unlabelled: how many rows nobody has labelled.
    """

    path: str
    items: list[Item]
    kind: Kind
    positive: tuple[str, ...] | int = ()
    unlabelled: int = 0

    def says_yes(self, value: Value) -> bool:
        """Whether a person's *value* means yes."""
        if isinstance(self.positive, int):
            return int(value) >= self.positive
        return str(value) in self.positive if self.kind == "class" else bool(value)

    def people_say(self, item: Item) -> bool | None:
        """Return what most people say of *item*; None where as many say yes as no."""
        yes = sum(self.says_yes(value) for value in item.people)
        no = len(item.people) - yes
        return None if yes == no else yes > no


def read_label_file(path: Path, positive: Sequence[str] = ()) -> LabelSet:
    """Read *path*, CSV by its suffix, else JSON Lines.

    Args:
        path: the file.
        positive: words of the labels that mean yes; of grades, the least that does (4).

    Raises:
        GoldenFileError: everything that is wrong with it, each with its place.
        MetricError: *positive* does not fit the labels.
    """
    source = Source.load(path)
    rows = _csv_rows(source) if path.suffix.lower() in (".csv", ".tsv") else _json_rows(source)
    items = [_item(raw, line, source) for line, raw in rows]
    seen: dict[str, int] = {}
    for item in items:
        if item.id in seen:
            source.complain(item.line, 1, f"the id {item.id!r} is that of line {seen[item.id]} as well")
        seen.setdefault(item.id, item.line)
    labelled = [item for item in items if item.people]
    kind = _kind(labelled, source)
    if not labelled and not source.problems:
        source.complain(0, 0, "holds no label: nobody has said anything yet")
    if source.problems:
        raise source.error()
    return LabelSet(str(path), labelled, kind, _positive(kind, labelled, positive), len(items) - len(labelled))


def _json_rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for raw in load_lines(source):
        for key in raw:
            if key not in _KEYS:
                source.bad_key(raw, key, f"unknown key {key!r}{did_you_mean(key, _KEYS)}")
        yield source.at(raw)[0], raw


def _csv_rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    dialect = csv.excel_tab if source.path.lower().endswith(".tsv") else csv.excel
    reader = csv.reader(io.StringIO(source.text, newline=""), dialect, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for name in header:
            if name not in _KEYS and name.partition("_")[0] not in _MANY:
                source.complain(1, 1, f"unknown column {name!r}{did_you_mean(name, _KEYS)}")
        for name in {name for name in header if header.count(name) > 1}:
            source.complain(1, 1, f"the column {name!r} is named twice")
        if source.problems:
            return
        for cells in reader:
            if any(cell.strip() for cell in cells[len(header) :]):
                told = f"{len(cells)} columns, and the header has {len(header)}; quote a text that holds a separator"
                source.complain(reader.line_num, 1, told)
            elif any(cell.strip() for cell in cells):
                yield reader.line_num, _gathered(dict(zip(header, cells, strict=False)))
    except csv.Error as exc:
        source.complain(reader.line_num, 1, f"not CSV: {exc}")


def _gathered(row: Mapping[str, str]) -> dict[str, Any]:
    """Put the columns that are several together: ``label_anna`` and ``label_ben`` are ``labels``."""
    out: dict[str, Any] = {}
    for name, cell in row.items():
        if not cell.strip():
            continue
        stem = name.partition("_")[0]
        if name in _KEYS and stem not in _MANY:
            out[name] = cell
        elif name in ("labels", "scores"):
            out.setdefault(name, []).extend(part.strip() for part in cell.split("|"))
        else:
            out.setdefault(_MANY[stem], []).append(cell)
    return out


def _item(raw: Mapping[str, Any], line: int, source: Source) -> Item:
    item = Item(str(line if raw.get("id") in (None, "") else raw["id"]), line=line)
    for name in _TEXTS:
        if (said := raw.get(name)) is not None:
            setattr(item, name, str(said))
    item.evidence = [str(text) for text in _several(raw.get("evidence"))]
    labels = _several(raw.get("label")) + _several(raw.get("labels"))
    scores = _several(raw.get("score")) + _several(raw.get("scores"))
    item.people = [v for one in labels if (v := _value(one, line, source)) is not None]
    item.scores = [score for one in scores if (score := _number(one, "score", line, source)) is not None]
    item.swapped = _number(raw.get("swapped"), "swapped", line, source)
    return item


def _several(said: Any) -> list[Any]:
    if said is None:
        return []
    if isinstance(said, Mapping):
        return list(said.values())
    return list(said) if isinstance(said, (list, tuple)) else [said]


def _value(said: Any, line: int, source: Source) -> Value | None:
    if said is None or isinstance(said, (bool, int)):
        return said
    if isinstance(said, float) and said.is_integer():
        return int(said)
    if isinstance(said, str):
        text = said.strip()
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        return int(text) if _WHOLE.fullmatch(text) else text or None
    source.complain(line, 1, f"a label is true, false, a grade from 1 to 5 or a word, got {said!r}")
    return None


def _number(said: Any, what: str, line: int, source: Source) -> float | None:
    if said is None or said == "":
        return None
    try:
        value = float(said)
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if math.isfinite(value):
        return value
    source.complain(line, 1, f"{what} must be a number, got {said!r}; a reply that is no score goes to error")
    return None


def _kind(items: Sequence[Item], source: Source) -> Kind:
    """Return what kind of labels there are; a file has one, but 1 may be a grade as well as a yes."""
    values = {value: item.line for item in items for value in item.people}
    if all(value in (0, 1) for value in values):
        return "boolean"
    shapes = {_shape(value): (value, line) for value, line in values.items()}
    if len(shapes) > 1:
        (first, _), (other, line), *_ = shapes.values()
        source.complain(line, 1, f"labels are of one kind in a file: {other!r} here, {first!r} elsewhere")
    for value, line in values.items():
        if list(shapes) == ["grade"] and not 1 <= int(value) <= 5:
            source.complain(line, 1, f"a grade is a whole number from 1 to 5, got {value}")
    return "class" if "class" in shapes else "grade"


def _shape(value: Value) -> Kind:
    if isinstance(value, str):
        return "class"
    return "boolean" if isinstance(value, bool) else "grade"


def _positive(kind: Kind, items: Sequence[Item], said: Sequence[str]) -> tuple[str, ...] | int:
    if kind == "class":
        known = sorted({str(v) for item in items for v in item.people})
        if not said:
            raise MetricError(f"which labels mean yes? name them with --positive; there is {', '.join(known)}")
        for word in said:
            if word not in known:
                raise MetricError(f"nobody says {word!r}{did_you_mean(word, known)}; there is {', '.join(known)}")
        return tuple(said)
    if kind == "boolean":
        if said:
            raise MetricError("labels that are true or false say themselves which means yes")
        return ()
    if len(said) > 1 or (said and said[0] not in ("2", "3", "4", "5")):
        raise MetricError(f"of grades, --positive is the least that means yes, 2 to 5; got {', '.join(said)}")
    return int(said[0]) if said else 4
