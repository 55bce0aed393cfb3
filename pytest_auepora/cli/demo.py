"""``auepora demo``: the example in a folder of its own, judged as it is, then with its retriever broken."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..base.files import shipped_folder
from .common import FAILED, PASSED, UsageError

_EXAMPLE = "example_suite"
_BREAK = "AUEPORA_EXAMPLE_BREAK"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    where = "where the example is copied to, a new folder (default: a temporary one)"
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help=where)


def run(args: argparse.Namespace) -> int:
    """Run pytest on the example twice; the exit code says whether the first was green and the second red."""
    if args.folder is not None and args.folder.exists():
        raise UsageError(f"{args.folder} exists already; name a folder that does not")
    folder = (args.folder or Path(tempfile.mkdtemp(prefix="auepora-demo-"))).resolve()
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(shipped_folder(_EXAMPLE, _EXAMPLE), folder / _EXAMPLE, ignore=ignored)
    print("A RAG over the Python language reference, 89 golden cases, the baseline it was accepted with.\n")
    green = _judge(folder)
    print("\nNow somebody breaks its retriever: questions are no longer stemmed, the index still is.\n")
    red = _judge(folder, "retriever", "--auepora-report", "html:report.html")
    print(f"\nThe example is in {folder / _EXAMPLE}")
    if (report := folder / "report.html").exists():
        print(f"The report is {report}")
    print("For a system of your own: auepora new")
    return PASSED if (green, red) == (0, 1) else FAILED


def _judge(folder: Path, broken: str = "", *options: str) -> int:
    """Show the command, run it with no other plugin than ours, and return its exit code."""
    told = f"{_BREAK}={broken} " if broken else ""
    print(f"$ {told}{' '.join(['pytest --auepora', _EXAMPLE, *options])}", flush=True)
    ours = ["-p", "pytest_auepora.pytest_plugin.entry", "-p", "no:cacheprovider", "--no-header", "--auepora"]
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_", "AUEPORA_"))}
    env = {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", _BREAK: broken}
    done = subprocess.run([sys.executable, "-m", "pytest", *ours, _EXAMPLE, *options], cwd=folder, env=env, check=False)
    return done.returncode
