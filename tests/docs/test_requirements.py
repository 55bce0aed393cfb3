"""Every requirement of the documents has tests, and they exist."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection

import pytest

from pytest_auepora.base.text import did_you_mean
from pytest_auepora.core.types import TargetCategory

from .pages import ROOT

PAGE = ROOT / "docs" / "developers" / "requirements.md"
SEEDS = ROOT.parent / "shared" / "seeds"
NO_REQUIREMENTS = ("Taxonomy", "Allowed dep", "Forbidden dep", "Inputs", "Out of scope")
"""Sections that group others, or speak of the crates of another language."""
_TEST = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def rows() -> dict[int, list[list[str]]]:
    """Section, requirement and tests of every row, by document; -1 is beyond them."""
    out: dict[int, list[list[str]]] = defaultdict(list)
    number = -1
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"## Document (\d)", line):
            number = int(found[1])
        elif line.startswith("## "):
            number = -1
        elif line.startswith("| ") and not line.startswith("| Section |"):
            out[number].append([cell.strip() for cell in line.strip("| ").split(" | ")])
    return out


def _moved(test: str, known: Collection[str]) -> str:
    name = test.partition("::")[2]
    there = sorted(one for one in known if one.endswith(f"::{name}"))
    return f" is now {there[0]}" if there else did_you_mean(test, known)


def test_every_requirement_has_tests_that_exist() -> None:
    paths = (ROOT / "tests").rglob("test_*.py")
    known = {f"{path.stem}::{name}" for path in paths for name in _TEST.findall(path.read_text(encoding="utf-8"))}
    assert sum(map(len, rows().values())) > 140
    missing = []
    for requirements in rows().values():
        for section, says, told in requirements:
            tests = re.findall(r"`(\w+::\w+)`", told)
            assert tests, f"{section} {says}: no test"
            missing += [f"{section} {says}: {test}{_moved(test, known)}" for test in tests if test not in known]
    assert missing == []


def test_a_class_is_named_where_its_requirement_is_proven() -> None:
    texts: dict[str, list[str]] = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for name in _TEST.findall(text):
            texts[name].append(text)
    unnamed = [
        f"{section}: {name}"
        for requirements in rows().values()
        for section, says, told in requirements
        for name in re.findall(r"`([A-Z]\w*[a-z]\w*)", says)
        if not any(name in text for test in re.findall(r"::(\w+)`", told) for text in texts[test])
    ]
    assert unnamed == []


def test_parts_beyond_the_documents_have_several_requirements() -> None:
    parts = Counter(section for section, *_ in rows()[-1])
    assert parts.keys() >= {"Cause", "Reuse", "Mutation", "Repro"}
    assert min(parts[part] for part in ("Cause", "Reuse", "Mutation", "Repro")) > 1


@pytest.mark.shared_data
@pytest.mark.parametrize("number", range(5))
def test_every_section_of_the_documents_has_a_requirement(number: int) -> None:
    found = sorted(SEEDS.glob(f"{number:03}_*.txt"))
    if not found:
        pytest.skip("the documents are not beside the project")
    text = re.sub(r"```.*?```", "", found[0].read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = {head.strip() for head in re.findall(r"(?:^|\s)#{2,4} ([^\n(]+)", text)}
    heads = {re.sub(r"^(\d+(?:\.\d+)*)\.? .*", r"\1", head) for head in heads}  # by number, where they have one
    sections = {row[0] for row in rows()[number]}
    bare = {h for h in heads if not any(h.startswith((s, f"{s} ")) or s.startswith(f"{h}.") for s in sections)}
    assert len(heads) > 5
    assert {head for head in bare if not head.startswith(NO_REQUIREMENTS)} == set()


def test_the_readme_maps_the_targets() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [target.name for target in TargetCategory if f"`{target.name}`" not in text] == []
