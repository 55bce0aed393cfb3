"""What a run covers: everything or a selection; and which committed baselines a run of everything did not use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ..errors import BaselineError
from .session import CASE

_CHOOSING = ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob")
_TOLD = "auepora_cases"
"""What a worker says at its end: how many cases it collected, and how many of them were selected."""


def _selects(config: pytest.Config) -> bool:
    """Whether the command line names a part of the project, by options or by paths."""
    if any(getattr(config.option, name, None) for name in _CHOOSING):
        return True
    here, root = config.invocation_params.dir, config.rootpath
    if config.args == [str(here)]:  # none was given
        return False
    given = {(here / arg).resolve() for arg in config.args}
    paths = [str(root / part) for part in config.getini("testpaths")]
    wanted = {Path(one).resolve() for path in paths for one in glob(path, recursive=True)}  # noqa: PTH207 - absolute
    return root.resolve() not in given and not (wanted and wanted <= given)


class Selection:
    """Counts golden cases before and after everybody has deselected; in every process that collects tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.collected = self.selected = 0

    @property
    def is_everything(self) -> bool:
        """Whether the run is of all golden cases that there are; known once tests have run."""
        return not _selects(self.config) and self.collected == self.selected

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Count what there is."""
        self.collected = sum(CASE in item.stash for item in items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what is left."""
        self.selected = sum(CASE in item.stash for item in session.items)

    def pytest_sessionfinish(self) -> None:
        """Tell the controller."""
        if (out := getattr(self.config, "workeroutput", None)) is not None:
            out[_TOLD] = [self.collected, self.selected]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear it: each worker has collected all there is."""
        self.collected, self.selected = getattr(node, "workeroutput", {}).get(_TOLD, (self.collected, self.selected))


_TOOLS = (".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".eggs", ".*cache*", "__pycache__", "node_modules")
"""Folders of other programs, which may be large."""


class Unused(NamedTuple):
    """A baseline that no run used: its file, relative to the rootdir, and its suite with the configuration."""

    path: str
    title: str

    def __str__(self) -> str:
        return (
            f"{self.path}: no run used this baseline of {self.title}, so nothing is held to it; bring back its golden "
            "file or configuration, or delete the baseline"
        )


def unused_baselines(config: pytest.Config, used: Iterable[Path], override: Path | None) -> Iterator[Unused]:
    """Yield the baselines below the collected folders, or in *override*, that are none of those *used*.

    An anchor goes with its baseline.
    """
    from ..core.files import shown_path
    from ..core.run import run_title
    from ..regression.anchor import anchor_path
    from ..regression.baseline.file import parse_baseline

    known = {path.resolve() for path in used}
    known |= {anchor_path(path) for path in known}
    for path in _baseline_files(config, override):
        beside = path.with_name(path.name.replace(".anchor.json", ".json"))
        if path.resolve() in known or (beside != path and beside.exists()):
            continue
        try:
            found = parse_baseline(path.read_text(encoding="utf-8"), str(path))
        except (BaselineError, OSError, UnicodeDecodeError):
            continue  # nobody knows that it is one
        yield Unused(shown_path(path, config.rootpath), run_title(found.suite, found.variant))


def _baseline_files(config: pytest.Config, override: Path | None) -> list[Path]:
    if override is not None:
        return sorted(override.glob("*.json")) if override.is_dir() else []
    pruned = [one for one in config.getini("norecursedirs") if one != ".*"]  # a suite may have been hidden so
    here, files = config.invocation_params.dir, set[Path]()
    for top in config.args:
        for folder, folders, names in os.walk(here / top):
            folders[:] = [name for name in folders if not any(fnmatch(name, one) for one in (*pruned, *_TOOLS))]
            if Path(folder).name == "__baselines__":
                files.update(Path(folder, name) for name in names if name.endswith(".json"))
    return sorted(files)
