"""The pages for developers: what they name is there, and the way of a case is the one it takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from .pages import ROOT

DEVELOPERS = ROOT / "docs" / "developers"
PAGE = (DEVELOPERS / "architecture.md").read_text(encoding="utf-8")
GUIDES = [ROOT / "CONTRIBUTING.md", *sorted(DEVELOPERS.glob("*.md"))]
WHERE_TO_WORK = [ROOT / "CONTRIBUTING.md", DEVELOPERS / "architecture.md", DEVELOPERS / "extending.md"]
PACKAGE = ROOT / "pytest_auepora"


def places(name: str) -> list[Path]:
    """The files that a page may mean by *name*, the end of a path."""
    found = [path for folder in (PACKAGE, ROOT / "tests", ROOT / "docs") for path in folder.rglob(Path(name).name)]
    return [path for path in [ROOT / name, *found] if path.as_posix().endswith(f"/{name}") and path.is_file()]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_what_the_pages_name_is_there(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|toml))`", text))
    assert [name for name in named if not places(name)] == []
    inside = re.findall(r"`(\w+)`(?: in |, )`([\w/]+\.py)`", text)
    lost = [(n, f) for n, f in inside if not any(n in path.read_text(encoding="utf-8") for path in places(f))]
    assert lost == []


@pytest.mark.parametrize("guide", WHERE_TO_WORK, ids=lambda path: path.name)
def test_tables_and_classes_that_the_pages_name_are_there(guide: Path) -> None:
    """A name in capitals is a table or a class of ours, defined somewhere."""
    named = set(re.findall(r"`(_?[A-Z]\w*)`", guide.read_text(encoding="utf-8")))
    code = "\n".join(p.read_text(encoding="utf-8") for d in (PACKAGE, ROOT / "tests") for p in d.rglob("*.py"))
    assert [name for name in named if not re.search(rf"^\s*(class )?{name}\b", code, re.MULTILINE)] == []


def steps() -> list[str]:
    """The files of the table of steps."""
    rows = re.findall(r"^\| \d+ \| (.*?) \|", PAGE, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


CONFTEST = """
import atexit, collections, json, sys, threading, pytest

calls = collections.Counter()

def count(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
        calls[frame.f_code] += 1

def told():
    sys.setprofile(None)
    often = {code.co_filename for code, n in calls.items() if n >= N_CASES}
    json.dump([sorted({code.co_filename for code in calls}), sorted(often)], open("calls.json", "w"))

if "--auepora-update" not in sys.argv:
    threading.setprofile(count)
    sys.setprofile(count)
    atexit.register(told)

@pytest.fixture(scope="session")
def rag():
    return lambda query: {"answer": f"It is {query}", "documents": [{"id": query, "text": f"about {query}"}]}
"""
N_CASES = 60


class Called(NamedTuple):
    """The files of the package with a function that a run calls, and those with one that each case calls."""

    at_all: set[str]
    by_case: set[str]


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Called:
    folder = tmp_path_factory.mktemp("way")
    case = "- {id: c%d, query: q%d, relevant_docs: [q%d], reference_answer: It is q%d}\n"
    cases = "".join(case.replace("%d", str(i)) for i in range(N_CASES))
    (folder / "way.golden.yaml").write_text(f"metrics: [recall@5, mrr, token_f1]\ncases:\n{cases}", encoding="utf-8")
    (folder / "conftest.py").write_text(
        CONFTEST.replace("N_CASES", str(N_CASES)).replace("PACKAGE", repr(f"{PACKAGE}{os.sep}")), encoding="utf-8"
    )
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for more in (["--auepora-update"], []):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--auepora", *more]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    found = json.loads((folder / "calls.json").read_text(encoding="utf-8"))
    return Called(*({Path(name).relative_to(PACKAGE).as_posix() for name in names} for names in found))


@pytest.mark.slow
def test_the_steps_are_the_way_of_a_case(called: Called) -> None:
    found = set(steps())
    assert len(found) <= 25
    assert f"These {len(found)} files" in PAGE
    assert found - called.by_case == {"io/golden/load.py"}  # once a file
    assert found <= called.at_all


@pytest.mark.slow
def test_the_page_says_how_many_files_a_case_calls(called: Called) -> None:
    told = re.search(r"calls functions of (\d+) files", PAGE)
    assert told is not None
    assert abs(len(called.by_case) - int(told[1])) <= 4, f"architecture.md: it is {len(called.by_case)} files"


def other_files() -> tuple[set[str], dict[str, int]]:
    """The files that the second table names, without suffix, and how many it counts of the other rooms."""
    named: set[str] = set()
    counted: dict[str, int] = {}
    table = PAGE.split("| files | what they do for a case |", 1)[1].split("\n\n", 1)[0]
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        counted |= {room: int(n) for room, n in re.findall(r"`([\w/]+/)` \((\d+)\)", row)}
        room, _, names = row.rpartition("`: ") if "`: " in row else ("", "", row)
        first, *elsewhere = names.split("; ")
        named |= {room.strip("`") + name for name in re.findall(r"`([\w/]+\w)`", first)}
        named |= {name for rest in elsewhere for name in re.findall(r"`([\w/]+\w)`", rest)}
    return named, counted


@pytest.mark.slow
def test_the_other_files_of_a_case_are_on_the_page(called: Called) -> None:
    named, counted = other_files()
    there = {name.removesuffix(".py") for name in called.by_case - set(steps())}
    assert named - there == set(), "no case calls them"
    rest = there - named
    found = {room: sum(name.startswith(room) for name in rest) for room in counted}
    assert rest - {name for room in counted for name in rest if name.startswith(room)} == set()
    assert {room: n for room, n in found.items() if abs(n - counted[room]) > 1} == {}
