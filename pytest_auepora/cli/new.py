"""``auepora new [DIR]``: a system, golden cases and the fixture between them, to begin with."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from ..core.files import write_atomically
from .common import PASSED, UsageError

__all__ = ["FORMS", "add_arguments", "run", "starter_files"]

FORMS: Mapping[str, tuple[str, str]] = {
    "function": ("", ""),
    "async": ("", ""),
    "http": ("", ""),
    "langchain": ("langchain_core", "langchain-core"),
    "llamaindex": ("llama_index", "llama-index-core"),
    "haystack": ("haystack", "haystack-ai"),
}
"""Form of the system → the module it imports and the package that has it, where it needs one."""

_DOCUMENTS = ("delivery.md", "opening.md", "returns.md", "warranty.md")
_SCHEMA = "golden/auepora.schema.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="where to (default: here)")
    parser.add_argument("--rag", choices=FORMS, default="function", help="what your system is (default: function)")


def run(given: argparse.Namespace) -> int:
    """Write the files, none of them over another, and say what to do next."""
    made = starter_files(given.rag)
    folder: Path = given.folder
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no directory")
    if there := [name for name in made if (folder / name).exists()]:
        raise UsageError(f"nothing was written: already there: {', '.join(str(folder / name) for name in there)}")
    for name, text in made.items():
        write_atomically(folder / name, text)
        print(f"wrote {folder / name}")
    print(_next_steps(folder, given.rag))
    return PASSED


def starter_files(form: str) -> dict[str, str]:
    """Return path → text of all that is written for a system of *form*."""
    from ..io.golden.schema import golden_schema

    starter = files(__package__) / "starter"

    def text(*parts: str) -> str:
        return starter.joinpath(*parts).read_text(encoding="utf-8")

    return {
        "conftest.py": text("conftest", f"{form}.py.txt"),
        "starter_rag.py": text("starter_rag.py.txt"),
        **{f"documents/{name}": text("documents", name) for name in _DOCUMENTS},
        "golden/starter.golden.yaml": text("starter.golden.yaml.txt"),
        _SCHEMA: json.dumps(golden_schema(), indent=1, ensure_ascii=False) + "\n",
    }


def _next_steps(folder: Path, form: str) -> str:
    module, package = FORMS[form]
    shown = os.path.relpath(folder)
    steps = [f"cd {shown}"] if shown != "." else []
    if module and find_spec(module) is None:
        steps.append(f"pip install {package}")
    steps.append("pytest --auepora")
    return (
        f"\nNext:\n"
        f"1. Run it:  {' && '.join(steps)}\n"
        "2. Put your system into conftest.py and your questions into golden/starter.golden.yaml; run it again.\n"
        "3. Accept what you see:  pytest --auepora --auepora-update  and commit golden/__baselines__/;\n"
        "   in CI:  pytest --auepora --auepora-require-baseline"
    )
