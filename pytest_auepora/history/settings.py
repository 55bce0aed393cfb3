"""The place of the history, and the root and settings of a project, found as pytest finds them.

pytest itself is not used, because the command line and the library work without it.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..base.files import write_atomically
from ..errors import HistoryError

KEEP = 200
"""Runs kept of each suite and configuration by default."""

KEEP_RECORDED = 20
"""Number of the latest of these runs whose answers are kept as well."""

FOLDER = ".auepora"
"""The directory of the history; it gets a .gitignore, as its content does not belong in version control."""

FILE = f"{FOLDER}/history.sqlite"
"""The history of a project, relative to its root."""

VARIABLE = "AUEPORA_HISTORY"
"""The environment variable for the place of the history: a path, or a URL that must not be in a file."""

JOURNALS = "unfinished-*.jsonl"
"""The names of journals, each with the id of its run."""

_OFF = ("off", "no", "none", "false")  # values of the place that switch the history off
_ROOT_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
"""Files that mark a root even if they are empty."""
_TABLES = dict.fromkeys(_ROOT_FILES, "pytest") | {
    "pyproject.toml": "tool.pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
"""Files in which pytest looks for settings, in its order, each with its table."""


class Keep(NamedTuple):
    """How much of each suite and configuration a history keeps.

    ``runs``, ``answers`` (runs whose answers are kept as well), ``characters`` (of one answer with its documents);
    None is all of them.
    """

    runs: int | None = KEEP
    answers: int | None = KEEP_RECORDED
    characters: int | None = 1_000_000


def read_keep(words: Iterable[str]) -> Keep:
    """Parse words of ``auepora_keep``, the rest is as by default; raises `HistoryError` where one cannot be read."""
    values: dict[str, int | None] = Keep()._asdict()
    for word in words:
        name, _, text = word.partition("=")
        number = int(text) if text.isdecimal() and len(text) < 16 else {"all": None, "none": 0}.get(text, -1)
        if name not in values or number == -1 or (number == 0 and name != "answers"):
            raise HistoryError(
                f"auepora_keep = {word}: expected runs=N, answers=N or characters=N, where N is a number from 1 on "
                "or all; answers=none stores no answer"
            )
        values[name] = number
    return Keep(**values)


def make_folder(folder: Path) -> None:
    """Create the directory of a history or a journal."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == FOLDER and not (ignore := folder / ".gitignore").exists():
        write_atomically(ignore, "*\n")


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether *place* names a server rather than a file."""
    return isinstance(place, str) and "://" in place


def find_place(configured: str, root: Path) -> str | Path | None:
    """Return *configured* (a URL, or relative to *root*), else `VARIABLE`, else `FILE`; None if the history is off."""
    configured = configured.strip() or os.environ.get(VARIABLE, "").strip()
    if configured.lower() in _OFF:
        return None
    return configured if is_url(configured) else root / (configured or FILE)


def lacks_sqlite(place: str | Path) -> bool:
    """Whether a history at *place* is a SQLite file, and this Python was built without SQLite."""
    return not is_url(place) and find_spec("_sqlite3") is None


def journal_folder(place: str | Path, root: Path) -> Path:
    """Return the folder of the journals of the history at *place*: that of its file, or `FOLDER` of the project."""
    return root / FOLDER if is_url(place) else Path(place).parent


def find_journals(folder: Path) -> list[Path]:
    """Return the journals in *folder*, including those of running runs."""
    return sorted(path for path in folder.glob(JOURNALS) if path.is_file()) if folder.is_dir() else []


def project_folders(start: Path) -> Iterator[Path]:
    """Yield *start* and the folders above it that may be of the same project: up to its repository, below the home.

    The home itself is a project's only for who works in it, as containers do.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    for folder in (start, *start.parents):
        if folder == home and folder not in (start, Path.cwd()):
            return
        yield folder
        if (folder / ".git").exists():
            return


def find_settings(start: Path) -> tuple[Path, dict[str, Any]]:
    """Return the nearest directory of the project around *start* that has settings of pytest, and the settings.

    If there are none, *start* itself.  A file that cannot be read has none: pytest reports it.
    """
    return _find_settings(start) or (start, {})


def _find_settings(start: Path) -> tuple[Path, dict[str, Any]] | None:
    for folder in project_folders(start):
        for name, table in _TABLES.items():
            if not (path := folder / name).is_file():
                continue
            if (settings := _read_table(path, table)) is not None or name in _ROOT_FILES:
                return folder, settings or {}
    return None


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of pytest in the file at *path*; none where it cannot be read."""
    return _read_table(path, _TABLES.get(path.name, "tool.pytest")) or {}


def project_root(start: Path) -> Path:
    """Return the root of the project: the folder of its settings, else that of its history, else *start* itself."""
    if (found := _find_settings(start)) is not None:
        return found[0]
    return next((folder for folder in project_folders(start) if (folder / FILE).is_file()), start)


def project_place(start: Path) -> str | Path | None:
    """Return the place of the history as the settings of the project around *start* say; None if it is switched off."""
    folder, settings = find_settings(start)
    configured = str(settings.get("auepora_history", "")).strip()
    return find_place(configured, folder if configured else project_root(start))


def project_keep(start: Path) -> Keep:
    """Return what the settings of the project around *start* keep; raises `HistoryError` where they cannot be read."""
    words = find_settings(start)[1].get("auepora_keep", ())
    return read_keep(words.split() if isinstance(words, str) else map(str, words))


def _read_table(path: Path, table: str) -> dict[str, Any] | None:
    """Return the settings in *table* of a file, None if it has none."""
    values: Any
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            # the latter comes with pytest
            values = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)
        else:
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            values = {name: dict(parser[name]) for name in parser.sections()}
    except (OSError, ValueError, configparser.Error):
        return None
    for part in table.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    if not isinstance(values, Mapping):
        return None
    options = values.get("ini_options")  # of pyproject.toml
    return {**values, **options} if isinstance(options, Mapping) else {**values}
