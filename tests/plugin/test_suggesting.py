"""``--auepora-suggest``: noise is told, a patch is printed and written, the same system passes with it."""

from __future__ import annotations

import pytest

from .conftest import Example

NOISY = """\
def rag():
    import random

    def ask(query):
        text, found = answer(query)
        return (text if random.random() < 0.8 else text + " I think so."), found

    return ask
"""


@pytest.fixture
def noisy(project: Example) -> Example:
    project.system(NOISY)
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    return project


def test_a_golden_file_with_the_patch_passes(noisy: Example) -> None:
    before = noisy.golden.read_text()
    result = noisy.run("--auepora-seed", "1", "--auepora-suggest=out/patch.yaml", auepora=False)
    assert result.ret == 0, str(result.stdout)
    text = str(result.stdout)
    patch = (noisy.path / "out" / "patch.yaml").read_text()
    assert "= auepora suggests =" in text
    assert "within-case sd" in text
    assert all(line in text for line in patch.splitlines())
    assert "repeat: 5" in patch
    assert noisy.golden.read_text() == before
    noisy.golden.write_text(before + patch)
    assert noisy.run("--auepora-update", "--auepora-seed", "2").ret == 0
    for seed in ("3", "4"):
        result = noisy.run("--auepora-seed", seed)
        assert result.ret == 0, str(result.stdout)


def test_a_path_behind_the_option_is_no_file_to_write(noisy: Example) -> None:
    before = noisy.golden.read_bytes()
    result = noisy.run("--auepora-repeat", "2", "--auepora-suggest", "shop.golden.yaml", auepora=False)
    assert "learned from 2 answers to each of 5 cases" in str(result.stdout)
    assert noisy.golden.read_bytes() == before


def test_a_partial_run_suggests_nothing_a_bad_path_is_told(noisy: Example) -> None:
    result = noisy.run("-k", "warehouse", "--auepora-suggest")
    assert "nothing: 1 of 5 cases ran" in str(result.stdout)
    result = noisy.run("--auepora-suggest=shop.py/patch.yaml")
    assert "cannot be written" in str(result.stdout)
