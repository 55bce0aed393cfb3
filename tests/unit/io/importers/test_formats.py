"""Every format is found, reads and writes; a slip in its name is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.errors import UnknownNameError
from pytest_auepora.io.importers import FORMATS, export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite, ImportProblem


def test_format_option_and_file_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown format 'raga' \(did you mean 'ragas'\?\)"):
        import_cases(tmp_path, "raga")
    with pytest.raises(ImportProblem, match="ragas has no option 'split'; it takes none"):
        import_cases(tmp_path, "ragas", split="dev")
    with pytest.raises(ImportProblem, match="there is no "):
        import_cases(tmp_path / "nowhere.json", "ragas")


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_reads_and_writes(fmt: str) -> None:
    assert callable(FORMATS[fmt].function("load"))
    assert callable(FORMATS[fmt].function("save"))


@pytest.mark.parametrize(("fmt", "name"), [("promptfoo", "a.csv"), ("ragas", "a.yaml"), ("csv", "a.json")])
def test_a_file_ends_as_what_is_in_it(tmp_path: Path, fmt: str, name: str) -> None:
    with pytest.raises(ImportProblem, match=f"{name}: {fmt} is written as"):
        export_cases(ImportedSuite([{"id": "a", "query": "Why?"}]), tmp_path / name, fmt)
