"""Where the baseline of a suite is, how it is locked and read, also as earlier versions wrote it.

A baseline moves with every accepted change, and each step down may be too small to fail.  The *anchor* is an older
baseline that stays, so that many small steps add up to one that fails.  It is written on request only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..base.files import locked, read_text, seen_path
from ..base.records import Record, RecordError, parse_json, read_record
from ..core.run import run_title
from ..errors import BaselineError, NotWrittenError
from .baseline import FORMAT, Baseline

_ACCEPT = "run the whole suite with --auepora-update"


@contextmanager
def lock_baseline(path: Path) -> Iterator[None]:
    """Hold the lock of the baseline at *path*, so that no other run changes it between reading and writing.

    Raises:
        BaselineError: another run holds the lock too long, or the baseline cannot be written.
    """
    try:
        with locked(path):
            yield
    except NotWrittenError as exc:
        raise BaselineError(str(exc)) from exc


def load_baseline(path: Path, suite: str, variant: str = "", *, accept: str = _ACCEPT) -> Baseline | None:
    """Read *path*, which should be the baseline of *suite* in this *variant*; None if there is no such file.

    *accept* is what errors say to write it anew.

    Raises:
        BaselineError: as `read_baseline`, or it belongs to another suite or configuration.
    """
    baseline = read_baseline(path, accept=accept)
    if baseline is not None and (baseline.suite, baseline.variant) != (suite, variant):
        raise BaselineError(
            f"{seen_path(path)}: the baseline of {run_title(baseline.suite, baseline.variant)!r}, "
            f"wanted is {run_title(suite, variant)!r}; give --auepora-baseline a directory when there is more than one"
        )
    return baseline


def read_baseline(path: Path, *, accept: str = _ACCEPT) -> Baseline | None:
    """Read *path*, the baseline of whatever suite; None if there is no such file.

    Raises:
        BaselineError: the file is not a baseline, is cut short, has conflict markers or a newer format.
    """
    with suppress(OSError):  # reading says what is wrong with the path
        if not path.exists():
            return None
    return parse_baseline(read_text(path, BaselineError), str(path), accept=accept)


@dataclass(slots=True)
class _Versioned(Record):
    """What every baseline has, whichever version wrote it."""

    format: int
    cases: Any


def parse_baseline(text: str, path: str, *, accept: str = _ACCEPT) -> Baseline:
    """Read the text of a baseline; *path* and *accept* are for messages.  Raises `BaselineError`."""
    try:
        found = read_record(_Versioned, text, by_hand=False)
        if found.format not in (1, FORMAT):
            raise BaselineError(
                f"{seen_path(path)}: baseline format {found.format!r}, this version reads {FORMAT}; "
                f"it was written by another version of pytest-auepora: install that one, or {accept}"
            )
        baseline = read_record(Baseline, text if found.format == FORMAT else _from_first_format(text))
    except RecordError as exc:
        raise BaselineError(
            f"{exc.at(path)}; if it should be a baseline, restore it from version control, or {accept}"
        ) from None
    baseline.format = found.format
    return baseline


_FIRST_ASSERTIONS = {"assertion_pass": ("must_contain", "forbidden"), "json_schema_valid": ("answer_schema",)}


def _from_first_format(text: str) -> str:
    """Return a file of the first format in the present one; what is not of its shape stays, to be complained of."""
    raw = parse_json(text)
    if isinstance(cases := raw.get("cases"), dict):
        raw["cases"] = {name: _first_case(case) if isinstance(case, dict) else case for name, case in cases.items()}
    return json.dumps(raw)


def _first_case(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block of the first format: one score a metric, the single values where repeats differed."""
    out = {key: value for key, value in raw.items() if key not in ("state", "repeats", "varied")}
    scores, varied = raw.get("scores"), raw.get("varied", {})
    if isinstance(scores, dict) and isinstance(varied, dict):
        out |= {"scores": {**scores, **varied}, "answers": raw.get("repeats", 1)}
        out["assertions"] = {
            key: scores[name] != 0 for name, keys in _FIRST_ASSERTIONS.items() if name in scores for key in keys
        }
    return out


class Anchor(NamedTuple):
    """What was read from the path of the anchor: a baseline, nothing, or a file that cannot be read (``problem``)."""

    baseline: Baseline | None = None
    problem: str = ""


def anchor_path(baseline: Path) -> Path:
    """Return the path of the anchor of *baseline*: ``shop.anchor.json`` for ``shop.json``."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json')}.anchor.json")


def load_anchor(baseline: Path, suite: str, variant: str = "") -> Anchor:
    """Read the anchor of *baseline*, if there is one."""
    try:
        return Anchor(load_baseline(anchor_path(baseline), suite, variant, accept=f"{_ACCEPT}=anchor"))
    except BaselineError as exc:
        return Anchor(problem=str(exc))
