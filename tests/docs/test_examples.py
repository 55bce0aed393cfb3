"""What the documentation shows is run: its files are written, its commands give what it says they give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .bench import CUT, Bench, check_screen, follow
from .pages import PAGES, ROOT, Shown, fences, has_steps, pages, read

README = ROOT / "README.md"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def followed() -> list[Any]:
    """Return the pages with something to do; how-tos and the walk through the code are followed in .ci/run."""
    slow = [pytest.mark.slow]
    return [
        pytest.param(p, marks=slow if "how-to" in p.parts or p.stem == "walk-through" else [], id=name_of(p))
        for p in pages()
        if has_steps(p)
    ]


@pytest.mark.parametrize("path", followed())
def test_a_page_does_what_it_says(path: Path, pytester: pytest.Pytester) -> None:
    page, bench = read(path), Bench(pytester)
    if page.project:
        bench.lay_out(read(PAGES / page.project))
    if passed_over := follow(page, bench):
        pytest.skip(f"everything else holds, but {'; '.join(passed_over)}")


def test_the_check_of_screens_can_fail() -> None:
    printed = "recall@5   0.963  81/89\n======= 12 passed in 0.31s ======="
    check_screen("here", f"{CUT}\nrecall@5  0.963 81/89\n{CUT}\n== 12 passed in 4.10s ==", printed)
    with pytest.raises(AssertionError, match="not printed"):
        check_screen("here", "recall@5  0.964 81/89", printed)
    with pytest.raises(AssertionError, match="in this place"):
        check_screen("here", f"12 passed\n{CUT}\nrecall@5", printed)


def blocks(*kinds: str) -> Iterator[tuple[str, str]]:
    for path in pages():
        for token in fences(path):
            if token.info.partition(" ")[0] in kinds:
                yield f"{name_of(path)}:{token.map[0] + 1 if token.map else 0}", token.content


def test_every_python_block_is_python_and_every_yaml_block_yaml() -> None:
    seen = 0
    for where, text in blocks("python"):
        compile(text, where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        seen += 1
    for _, text in blocks("yaml"):
        yaml.safe_load(text)
        seen += 1
    assert seen > 20


def test_no_page_shows_a_screen_that_nobody_ran() -> None:
    unchecked = []
    for path in pages():
        shown = sum(isinstance(step, Shown) for step in read(path).steps)
        texts = sum(token.info.partition(" ")[0] == "text" for token in fences(path))
        unchecked += [f"{name_of(path)}: {texts - shown} of {texts}"] * (texts != shown)
    assert not unchecked


def test_the_commands_of_the_readme_are_those_of_ci() -> None:
    commands = [t.content.strip() for t in fences(README) if t.info == "console" and ".venv/bin/pytest" in t.content]
    assert len(commands) == 2
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [command for command in commands if command not in steps] == []


def test_pages_and_navigation_entries_are_the_same() -> None:
    settings = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/-]+\.md", settings)
    assert sorted(listed) == sorted(p.relative_to(PAGES).as_posix() for p in PAGES.rglob("*.md"))


def test_links_of_the_readme_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
