"""The file of a baseline: where it lies, how it is read, and that one run at a time changes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from urllib.parse import quote

from ...core.git import CONFLICT, conflict_line
from ...core.run import run_title
from ...errors import BaselineError, NotWrittenError
from ...shapes import Kind, ShapeError, check_shape, is_number
from .model import FORMAT, Baseline, case_of


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value < 10**9


def _is_json(value: Any) -> bool:
    try:
        return isinstance(value, str) and all(
            leaf is None or isinstance(leaf, (str, bool)) or is_number(leaf) for leaf in _leaves(json.loads(value))
        )
    except (ValueError, RecursionError):
        return False


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (list, dict)):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _leaves(part)
    else:
        yield data


_Count = Annotated[int, Kind("a whole number from 1 on", _whole(1))]
_Rank = Kind("a rank from 1 on, or null", lambda value: value is None or _whole(1)(value))
_Values = Annotated[
    list[float | None],
    Kind(
        "a list of finite numbers or null",
        lambda value: isinstance(value, list) and bool(value) and all(v is None or is_number(v) for v in value),
    ),
]


class _MetricKeys(TypedDict):
    version: _Count
    params: dict[str, Any]


class _Metric(_MetricKeys, total=False):
    steady: bool
    pairs: Annotated[int, Kind("a whole number from 0 on", _whole(0))]


class _CaseKeys(TypedDict):
    hash: str


class _Case(_CaseKeys, total=False):
    state: Literal["passed", "failed", "error", "skipped"]
    scores: dict[str, float | None]
    ranks: dict[str, Annotated[Any, _Rank]]
    repeats: _Count
    varied: dict[str, _Values]
    match: Literal["exact", "span", "fallback_doc", "none"]
    data: dict[str, Annotated[Any, Kind("a text that is JSON of finite numbers", _is_json)]]
    concurrency: _Count


class _FileKeys(TypedDict):
    suite: str
    cases: dict[str, _Case]


class BaselineShape(_FileKeys, total=False):
    """The file; keys of newer versions are passed over."""

    variant: str
    metrics: dict[str, _Metric]
    provenance: dict[str, Any]


_LONGEST = 100
_ACCEPT = "run the whole suite with --auepora-update"


def baseline_path(golden: Path, suite: str, variant: str, override: Path | None = None) -> Path:
    """Return where the baseline of *suite* lies: ``__baselines__/<suite>.json`` beside the golden file.

    *override* is a directory to use instead, or the very file when it ends in ``.json``.
    A configuration of a parametrized system has a file of its own.
    """
    if override is not None and override.suffix == ".json":
        return override
    folder = override if override is not None else golden.parent / "__baselines__"
    tail = f"@{_shortened(quote(variant, safe='-_.+ '))}" if variant else ""
    return folder / f"{suite}{tail}.json"


def _shortened(name: str) -> str:
    """A part of a file's name has some 255 bytes; what is cut is told apart by its hash."""
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 13]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Hold the lock of the baseline at *path*, so that what is read within is what will be replaced.

    Raises:
        BaselineError: another run holds it too long, or what is written within cannot be.
    """
    from ...core.files import locked  # who only reads has no need of it

    try:
        with locked(path):
            yield
    except NotWrittenError as exc:
        raise BaselineError(str(exc)) from exc


def load_baseline(path: Path, suite: str, variant: str = "") -> Baseline | None:
    """Read *path*, which should be the baseline of *suite* in this *variant*; None where there is no such file.

    Raises:
        BaselineError: the file is not a baseline, cut short, in conflict, of a newer format, or of
            another suite or configuration.
    """
    found = _load(path)
    if found is not None and (found.suite, found.variant) != (suite, variant):
        raise BaselineError(
            f"{path}: the baseline of {run_title(found.suite, found.variant)!r}, "
            f"wanted is {run_title(suite, variant)!r}; give --auepora-baseline a directory when there is more than one"
        )
    return found


def _load(path: Path) -> Baseline | None:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise BaselineError(f"{path}: not UTF-8 ({exc.reason} at byte {exc.start})") from None
    except OSError as exc:
        raise BaselineError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    return parse_baseline(text, str(path))


def parse_baseline(text: str, path: str) -> Baseline:
    """Read the text of a baseline; *path* is for messages.  Raises `BaselineError`."""
    if line := conflict_line(text):
        raise BaselineError(f"{path}:{line}: {CONFLICT}, or {_ACCEPT}")
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as exc:
        cut = "" if text.rstrip().endswith("}") else " (the file seems cut short)"
        raise BaselineError(
            f"{path}:{exc.lineno}:{exc.colno}: not JSON: {exc.msg}{cut}; restore it from version control, or {_ACCEPT}"
        ) from None
    except (ValueError, RecursionError) as exc:  # thousands of digits, or of brackets within each other
        raise _no_baseline(path, f"{type(exc).__name__}: {exc}") from None
    if not isinstance(raw, dict) or "format" not in raw:
        raise _no_baseline(path, "there is no 'format' key")
    if raw["format"] != FORMAT:
        raise BaselineError(
            f"{path}: baseline format {raw['format']!r}, this version reads {FORMAT}; "
            "it was written by another version of pytest-auepora"
        )
    try:
        check_shape(raw, BaselineShape)
    except ShapeError as exc:
        raise _no_baseline(path, str(exc)) from None
    cases = {name: case_of(case) for name, case in raw["cases"].items()}
    optional = {key: raw[key] for key in ("variant", "metrics", "provenance") if key in raw}
    return Baseline(raw["suite"], cases=cases, **optional)


def _no_baseline(path: str, why: str) -> BaselineError:
    return BaselineError(
        f"{path}: not a baseline file: {why}; if it should be one, restore it from version control, or {_ACCEPT}"
    )
