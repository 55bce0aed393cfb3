"""Where history lies, and the project around a directory: its root, and what its settings say, as pytest finds them.

pytest itself is not asked, as the command line and the library work without it.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import HistoryError

KEEP = 200
"""Runs kept of each suite and configuration unless something else is asked for."""

KEEP_RECORDED = 20
"""Of these, the latest whose answers are kept as well."""

FOLDER = ".auepora"
"""The directory whose content is not for version control; it gets a .gitignore of its own."""

FILE = f"{FOLDER}/history.sqlite"
"""The history of a project, relative to its root."""

VARIABLE = "AUEPORA_HISTORY"
"""The environment variable that says where history lies: a path, or a URL that is too secret for a file."""

_JOURNAL = ("unfinished-", ".jsonl")

OFF = ("off", "no", "none", "false")
"""What to write instead of a place to keep no history."""

_KEY = "auepora_history"
_FILES: dict[str, tuple[tuple[str, ...], ...]] = {
    "pytest.toml": (("pytest",),),
    ".pytest.toml": (("pytest",),),
    "pytest.ini": (("pytest",),),
    ".pytest.ini": (("pytest",),),
    "pyproject.toml": (("tool", "pytest"), ("tool", "pytest", "ini_options")),
    "tox.ini": (("pytest",),),
    "setup.cfg": (("tool:pytest",),),
}
"""Where pytest looks, in its order, and in which tables."""
_ALWAYS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
"""Files that make a root although they are empty."""


class Keep(NamedTuple):
    """How much of each suite and configuration a history keeps.

    ``runs``, ``answers`` (runs whose answers are kept as well), ``characters`` (of one answer with its documents);
    None is all of them.
    """

    runs: int | None = KEEP
    answers: int | None = KEEP_RECORDED
    characters: int | None = 1_000_000


def read_keep(words: Iterable[str]) -> Keep:
    """Return what the words of ``auepora_keep`` say; the rest is as by default.

    Raises:
        HistoryError: a word that cannot be read.
    """
    found: dict[str, int | None] = Keep()._asdict()
    for word in words:
        name, _, text = word.partition("=")
        number = int(text) if text.isdecimal() and len(text) < 16 else {"all": None, "none": 0}.get(text, -1)
        if name not in found or number == -1 or (number == 0 and name != "answers"):
            raise HistoryError(
                f"auepora_keep = {word}: expected runs=N, answers=N or characters=N, where N is a number from 1 on "
                "or all; answers=none stores no answer"
            )
        found[name] = number
    return Keep(**found)


def make_folder(folder: Path) -> None:
    """Make the directory that a history or a journal lies in."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == FOLDER and not (ignore := folder / ".gitignore").exists():
        ignore.write_text("*\n", encoding="utf-8")


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether *place* names a server rather than a file."""
    return isinstance(place, str) and "://" in place


def find_place(said: str, root: Path) -> str | Path | None:
    """Return where history lies: *said* (a path relative to *root*, or a URL), else `VARIABLE`, else `FILE`.

    None where history is switched off.
    """
    said = said.strip() or os.environ.get(VARIABLE, "").strip()
    if said.lower() in OFF:
        return None
    return said if is_url(said) else root / (said or FILE)


def folder_of(place: str | Path, root: Path) -> Path:
    """Return where journals of the history at *place* lie: beside its file, or in the project's own folder."""
    return root / FOLDER if is_url(place) else Path(place).parent


def journal_path(folder: Path, name: str) -> Path:
    """Return the file in *folder* for the journal of the run called *name*."""
    return folder / f"{_JOURNAL[0]}{name}{_JOURNAL[1]}"


def journals_in(folder: Path) -> list[Path]:
    """Return the journals in *folder*, those of runs that go on included."""
    return sorted(folder.glob("*".join(_JOURNAL))) if folder.is_dir() else []


def settings_of(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the nearest directory from *start* upwards that has settings of pytest, and the settings.

    None where there are none.  A file that cannot be read has none: pytest is who complains about it.
    """
    for folder in (start, *start.parents):
        for name, tables in _FILES.items():
            path = folder / name
            if path.is_file() and (found := _read(path, tables)) is not None:
                return folder, found
            if path.is_file() and name in _ALWAYS:
                return folder, {}
    return None


def project_root(start: Path) -> Path:
    """Return the root of the project: where its history is, else where its settings are, else *start* itself."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder
    found = settings_of(start)
    return start if found is None else found[0]


def project_place(start: Path) -> str | Path | None:
    """Return where the history of the project around *start* lies: what its settings say counts first.

    None where it is switched off.
    """
    found = settings_of(start)
    if found is not None and (said := str(found[1].get(_KEY, "")).strip()):
        return find_place(said, found[0])
    return find_place("", project_root(start))


def project_keep(start: Path) -> Keep:
    """Return how much the history of the project around *start* keeps, by its settings.

    Raises:
        HistoryError: they cannot be read.
    """
    found = settings_of(start)
    said = found[1].get("auepora_keep", ()) if found is not None else ()
    return read_keep(said.split() if isinstance(said, str) else map(str, said))


def _read(path: Path, tables: tuple[tuple[str, ...], ...]) -> dict[str, Any] | None:
    """Return what the tables of *path* say together, None where it has none of them."""
    try:
        raw = _toml(path) if path.suffix == ".toml" else _ini(path)
    except (OSError, ValueError, configparser.Error):
        return None
    out: dict[str, Any] | None = None
    for table in tables:
        inner: Any = raw
        for part in table:
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping):
            out = {**(out or {}), **inner}
    return out


def _ini(path: Path) -> Mapping[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(path.read_text(encoding="utf-8"))
    return {name: dict(parser[name]) for name in parser.sections()}


def _toml(path: Path) -> Mapping[str, Any]:
    reader = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")  # the latter comes with pytest
    found: Mapping[str, Any] = reader.loads(path.read_text(encoding="utf-8"))
    return found
