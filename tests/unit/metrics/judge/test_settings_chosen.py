"""One judge for all metrics that were given none, so that limits and budget hold for the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.metrics.judge.settings import critic_from_environment, use_judge


@pytest.fixture(autouse=True)
def nobody_else() -> Iterator[None]:
    yield
    use_judge()


def write(folder: Path, text: str) -> Path:
    file = folder / f"judge-{len(text)}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_all_metrics_share_one_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_judge(
        write(tmp_path, "url: http://127.0.0.1:1/v1\nmodel: a\nbudget: {requests: 10}\n"), concurrency=3, processes=2
    )
    first = critic_from_environment()
    assert critic_from_environment() is first
    assert (first.model, first.concurrency) == ("a", 3)
    assert first.budget.requests == 5
    monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "b")
    assert critic_from_environment().model == "b"
    monkeypatch.setenv("AUEPORA_JUDGE", str(write(tmp_path, "url: http://127.0.0.1:1/v1\nmodel: c\nconcurrency: 4\n")))
    assert (critic_from_environment().model, critic_from_environment().concurrency) == ("b", 4)


def test_a_new_choice_forgets_what_was_spent(tmp_path: Path) -> None:
    file = write(tmp_path, "url: http://127.0.0.1:1/v1\nmodel: a\n")
    use_judge(file)
    critic_from_environment().usage.add(requests=3)
    assert critic_from_environment().usage.requests == 3
    use_judge(file)
    assert critic_from_environment().usage.requests == 0
