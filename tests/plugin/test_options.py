"""Options and settings: what they imply, how they are read, what is said of mistakes."""

from __future__ import annotations

import pytest

from .conftest import Example

IMPLYING = [
    "--auepora-update", "--auepora-require-baseline", "--auepora-baseline=kept", "--auepora-concurrency=2",
    "--auepora-repeat=2", "--auepora-seed=1", "--auepora-timeout=9", "--auepora-report=md:r.md", "--auepora-suggest",
    "--auepora-labels=strict", "--auepora-seed=0", "--auepora-run-name=mine",
]  # fmt: skip


@pytest.mark.parametrize("option", IMPLYING)
def test_every_option_implies_auepora(project: Example, option: str) -> None:
    collected = project.run(option, "--collect-only", "-q", auepora=False).outlines
    assert sum(line.startswith("shop.golden.yaml::") for line in collected) == 6


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("auepora_keep = runs=0", "auepora_keep = runs=0: expected runs=N"),
        ("auepora_keep = answer=3", "auepora_keep = answer=3: expected runs=N"),
        ("auepora_concurrency = many", "auepora_concurrency"),
        ("auepora_timeout = -1", "expected more than 0"),
    ],
)
def test_a_setting_that_cannot_be_read(project: Example, setting: str, said: str) -> None:
    project.pytester.makeini(f"[pytest]\n{setting}")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in str(result.stderr)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--auepora-update=improve", "unknown word improve (did you mean 'improved'?)"),
        ("--auepora-labels=repare", "unknown word repare (did you mean 'repair'?)"),
        ("--auepora-labels=", "expected some of check, repair, strict, old=FILE"),
    ],
)
def test_an_unknown_word_is_a_usage_error(project: Example, option: str, said: str) -> None:
    result = project.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in str(result.stderr)
