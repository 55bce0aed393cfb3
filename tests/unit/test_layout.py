"""The tests have the layout of the package, and stay small enough to be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "pytest_auepora"
OTHER_PLACES = {"pytest_plugin": "plugin", "adapters": "adapters"}
"""Rooms that are tested by running pytest, or with the frameworks installed, beside `tests/unit`."""


def test_every_module_has_a_file_of_tests() -> None:
    """But for those of at most 40 lines, and those without a function, which hold nothing but state."""
    missing = []
    for module in PACKAGE.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        if module.name == "__init__.py" or len(text.splitlines()) <= 40 or "def " not in text:
            continue
        place = module.relative_to(PACKAGE)
        test = place.with_name(f"test_{place.name}")
        found = [TESTS / "unit" / test]
        if place.parts[0] in OTHER_PLACES:
            found += (TESTS / OTHER_PLACES[place.parts[0]]).rglob(test.name)
        if not any(path.is_file() for path in found):
            missing.append(place.as_posix())
    assert missing == [], "write tests/unit/<room>/test_<module>.py"


def test_rooms_of_tests_are_rooms_of_the_package() -> None:
    unit = TESTS / "unit"
    rooms = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")} - {Path("example_suite")}
    assert [str(room) for room in sorted(rooms) if not (PACKAGE / room).is_dir()] == [], "no such room in the package"


def test_files_of_tests_are_at_most_300_lines() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in TESTS.rglob("*.py")}
    assert {path.relative_to(TESTS).as_posix(): n for path, n in lines.items() if n > 300} == {}, "divide by subject"


def test_folders_hold_at_most_22_files() -> None:
    folders = {path.parent for root in (PACKAGE, TESTS) for path in root.rglob("*.py")}
    crowded = {folder.relative_to(TESTS.parent).as_posix() for folder in folders if len([*folder.glob("*.py")]) > 22}
    assert crowded == set(), "divide by subject"


@pytest.mark.parametrize("pattern", [r"^\s*(from|import) _pytest\b", r"^\s*(async )?def test_\w{55,}\("])
def test_no_line_is_one_of(pattern: str) -> None:
    """Imports from the private parts of pytest; names of tests of 60 characters and more."""
    found = [
        f"{path.relative_to(TESTS)}: {match[0]}"
        for path in TESTS.rglob("*.py")
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == [], "use what pytest makes public; shorten the name of a test to 59 characters"


def test_unit_tests_import_nothing_from_benchmarks() -> None:
    unit = TESTS / "unit"
    texts = {path.name: path.read_text(encoding="utf-8") for path in unit.rglob("*.py")}
    users = [name for name, text in texts.items() if re.search(r"^(from|import) tests\.bench", text, re.MULTILINE)]
    assert users == [], "move what they share out of tests/benchmarks"


def test_unit_tests_run_no_pytest_inside_their_process() -> None:
    """It forgets what a run imported, and C extensions of later tests do not survive a second import."""
    unit = TESTS / "unit"
    users = [path.name for path in unit.rglob("*.py") if re.search(r"\bpytester\b", path.read_text(encoding="utf-8"))]
    assert [name for name in users if name != Path(__file__).name] == [], "move it to tests/plugin"


def test_the_source_archive_holds_every_file_that_git_does() -> None:
    """Its tests read pages, the guide for contributors and ``.ci/run``: a list of what goes in would have holes."""
    assert "targets.sdist" not in (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
