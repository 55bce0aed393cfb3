"""What a command names and is not there is a usage error; what is there and cannot be read could not be judged."""

from __future__ import annotations

import pytest

from .conftest import Shell


@pytest.mark.parametrize(
    "command",
    [
        "score nope.jsonl --golden shop.golden.yaml",
        "score outputs.jsonl --golden nope.yaml",
        "calibrate nope.jsonl",
        "perturb nope.golden.yaml",
        "import nope --from beir",
        "check nope.golden.yaml",
        "report nope.json",
        "compare nope.json nope.json",
        "comment nope.json --pr 1 --repo a/b",
    ],
)
def test_what_is_named_and_not_there_is_a_usage_error(shell: Shell, command: str) -> None:
    said = shell(*command.split())
    assert said.code == 2
    assert "nope" in said.err.splitlines()[-1]
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("score broken.jsonl --golden shop.golden.yaml", 3),
        ("score outputs.jsonl --golden broken.golden.yaml", 3),
        ("perturb broken.golden.yaml", 3),
        ("report broken.json", 3),
        ("check broken.golden.yaml", 1),
    ],
)
def test_what_is_there_and_cannot_be_read_is_not_judged(shell: Shell, command: str, code: int) -> None:
    for name in ("broken.jsonl", "broken.json", "broken.golden.yaml"):
        (shell.path / name).write_text("[1, {\n", encoding="utf-8")
    said = shell(*command.split())
    assert said.code == code
    assert "broken" in said.err + said.out
    assert "Traceback" not in said.err
