"""Baselines that no run used: their golden file or configuration is gone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ...base.complaints import Problem
from ...base.files import shown_path
from ...core.run import run_title
from ...errors import BaselineError
from ...regression.baseline_file import anchor_path, read_baseline

_TOOLS = (".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".eggs", ".*cache*", "__pycache__", "node_modules")
"""Folders of other programs, which may be large."""


def unused_baselines(config: pytest.Config, used: Iterable[Path], override: Path | None) -> Iterator[Problem]:
    """Yield the baselines below the collected folders, or in *override*, that are none of those *used*.

    An anchor goes with its baseline.
    """
    used_paths = {path.resolve() for path in used}
    used_paths |= {anchor_path(path) for path in used_paths}
    for path in _baseline_files(config, override):
        baseline_path = path.with_name(path.name.replace(".anchor.json", ".json"))
        if path.resolve() in used_paths or (baseline_path != path and baseline_path.exists()):
            continue
        try:
            baseline = read_baseline(path)
        except BaselineError:
            continue  # nobody knows that it is one
        if baseline is not None:  # it was not deleted meanwhile
            message = (
                f"no run used this baseline of {run_title(baseline.suite, baseline.variant)}, so nothing was compared "
                "with it; bring back its golden file or configuration, or delete the baseline"
            )
            yield Problem(shown_path(path, config.rootpath), 0, 0, message)


def _baseline_files(config: pytest.Config, override: Path | None) -> list[Path]:
    if override is not None:
        return sorted(override.glob("*.json")) if override.is_dir() else []
    # suites may lie in hidden folders
    skipped = [*(pattern for pattern in config.getini("norecursedirs") if pattern != ".*"), *_TOOLS]
    start, files = config.invocation_params.dir, set[Path]()
    for top in config.args:
        for folder, folders, names in os.walk(start / top):
            folders[:] = [name for name in folders if not any(fnmatch(name, pattern) for pattern in skipped)]
            if Path(folder).name == "__baselines__":
                files.update(Path(folder, name) for name in names if name.endswith(".json"))
    return sorted(files)
