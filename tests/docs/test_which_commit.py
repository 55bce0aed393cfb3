"""The wrapper of the page on `git bisect`, on repositories of five commits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from .pages import PAGES, Edit, File, Page, read

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="the wrapper is for sh")]

GONE = ("hired for up to 14 days", "hired for two weeks")
FAILING = ("    return ask", "    raise RuntimeError('no index')")


def lay_out(page: Page, folder: Path) -> None:
    for step in page.steps:
        path = folder / step.path if isinstance(step, (File, Edit)) else folder
        if isinstance(step, File):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
        elif isinstance(step, Edit):
            path.write_text(path.read_text("utf-8").replace(step.old, step.new), encoding="utf-8")


@pytest.fixture
def sh(tmp_path: Path) -> Callable[[str], str]:
    """Run a line in the repository; its output."""
    folder = tmp_path / "shop"
    lay_out(read(PAGES / "tutorial.md"), folder)
    names = {f"GIT_{who}_{what}": "n@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **names, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
           "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

    def run(line: str) -> str:
        done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("breaking", "not_starting"), [(3, 0), (5, 3)], ids=["the third", "the last, beyond one that does not start"]
)
def test_the_commit_that_broke_a_case_is_found(
    tmp_path: Path, sh: Callable[[str], str], breaking: int, not_starting: int
) -> None:
    shop = tmp_path / "shop"
    (wrapper,) = (
        s for s in read(PAGES / "how-to/which-commit.md").steps if isinstance(s, File) and s.path == "bisect.sh"
    )
    (tmp_path / "bisect.sh").write_text(wrapper.text, encoding="utf-8")
    sh("git init -q && printf '.auepora/\\n' > .gitignore && pytest -q --auepora --auepora-update")
    sh("cp -r golden/__baselines__ ../accepted && git add . && git commit -qm accepted && git tag good")
    for i in range(1, 6):
        (shop / "notes.txt").write_text(f"commit {i}", encoding="utf-8")
        if i == breaking:
            change(shop, "rag.py", *GONE)
        if i == not_starting:
            change(shop, "conftest.py", *FAILING)
        if i == not_starting + 1 > 1:
            change(shop, "conftest.py", *FAILING[::-1])
        sh(f"git add . && git commit -qm 'commit {i}'")
    told = sh("git bisect start HEAD good && git bisect run sh ../bisect.sh hire-length")
    first_bad = next(line.split()[0] for line in told.splitlines() if line.endswith("is the first bad commit"))
    assert sh(f"git log -1 --format=%s {first_bad}").strip() == f"commit {breaking}"


def test_a_commit_without_the_case_is_not_judged(tmp_path: Path, sh: Callable[[str], str]) -> None:
    (wrapper,) = (
        s for s in read(PAGES / "how-to/which-commit.md").steps if isinstance(s, File) and s.path == "bisect.sh"
    )
    (tmp_path / "bisect.sh").write_text(wrapper.text, encoding="utf-8")
    sh("pytest -q --auepora --auepora-update && cp -r golden/__baselines__ ../accepted")
    codes: Mapping[str, int] = {"hire-length": 0, "no-such-case": 125}
    assert {case: int(sh(f"sh ../bisect.sh {case} > ../said; echo $?")) for case in codes} == codes
