"""``auepora new [DIR]``: a system, golden cases and the fixture between them, to begin with."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from ..base.files import write_atomically
from ..io.golden.fields import golden_schema
from .common import PASSED, UsageError

FORMS: Mapping[str, tuple[str, str]] = {
    "function": ("", ""),
    "async": ("", ""),
    "http": ("", ""),
    "langchain": ("langchain_core", "langchain-core"),
    "llamaindex": ("llama_index", "llama-index-core"),
    "haystack": ("haystack", "haystack-ai"),
}
"""Form of the system → the module it imports and the package that has it, where it needs one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="where to (default: here)")
    parser.add_argument("--rag", choices=FORMS, default="function", help="what your system is (default: function)")


def run(args: argparse.Namespace) -> int:
    """Write the files, none of them over another, and say what to do next."""
    folder: Path = args.folder
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a directory")
    name = suite_name(folder)
    starter = starter_files(args.rag, name)
    if existing := [path for path in starter if (folder / path).exists()]:
        raise UsageError(f"nothing was written: already there: {', '.join(str(folder / path) for path in existing)}")
    for path, text in starter.items():
        write_atomically(folder / path, text)
        print(f"wrote {folder / path}")
    print(_next_steps(folder, args.rag, name))
    return PASSED


def suite_name(folder: Path) -> str:
    """Return a name for the suite and the module in *folder* that no other folder of the repository has.

    Python knows a module by its name alone: two of one name, in one pytest run, would be one system.
    """
    folder, current = folder.resolve(), Path.cwd()
    default_root = current if current in folder.parents else folder.parent
    root = next((parent for parent in folder.parents if (parent / ".git").exists()), default_root)
    name = re.sub(r"\W+", "_", "_".join(folder.relative_to(root).parts), flags=re.ASCII).strip("_").lower()
    return name if name[:1].isalpha() else f"rag_{name}".rstrip("_")


def starter_files(form: str, name: str) -> dict[str, str]:
    """Return path → text of the files for a system of *form*; *name* names the suite and the module."""
    starter = files(__package__) / "starter"

    def text(file: str) -> str:
        return starter.joinpath(file).read_text(encoding="utf-8").replace("NAME", name)

    documents = sorted(file.name for file in (starter / "documents").iterdir())
    return {
        "conftest.py": text(f"conftest/{form}.py.txt"),
        f"{name}_rag.py": text("rag.py.txt"),
        **{f"documents/{file.removesuffix('.txt')}": text(f"documents/{file}") for file in documents},
        f"golden/{name}.golden.yaml": text("golden.yaml.txt"),
        "golden/auepora.schema.json": json.dumps(golden_schema(), indent=1, ensure_ascii=False) + "\n",
    }


def _next_steps(folder: Path, form: str, name: str) -> str:
    module, package = FORMS[form]
    folder_name = os.path.relpath(folder)
    steps = [f"cd {folder_name}"] if folder_name != "." else []
    steps += [f"pip install {package}"] if module and find_spec(module) is None else []
    steps.append("pytest --auepora")
    return (
        f"\nNext:\n"
        f"1. Run it:  {' && '.join(steps)}\n"
        f"2. Put your system into conftest.py and your questions into golden/{name}.golden.yaml; run it again.\n"
        "3. Accept what you see:  pytest --auepora --auepora-update  and commit golden/__baselines__/;\n"
        "   in CI:  pytest --auepora --auepora-require-baseline"
    )
