"""What a command names and is not there is a usage error, and so is a number out of its range."""

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
    ("command", "told"),
    [
        ("runs --limit many", "--limit: a whole number, 0 or more, is wanted, not 'many'"),
        ("runs --prune 0", "--prune: a whole number, 1 or more, is wanted, not '0'"),
        ("view --port 70000", "--port: a whole number, 0 to 65535, is wanted, not '70000'"),
    ],
)
def test_a_number_out_of_its_range_is_a_usage_error(shell: Shell, command: str, told: str) -> None:
    said = shell(*command.split())
    assert said.code == 2
    assert told in said.err
