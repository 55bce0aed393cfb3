"""What is there and cannot be read could not be judged; what users wrote is printed and obeyed by nobody."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import yaml

from pytest_auepora.cli.common import write_output

from .conftest import Shell

EVIL = "x\n::set-output name=x::y \u202egnp.exe \U000e0041 ##[error]z"
OBEYED = re.compile("^\\s*::[\\w-]+[ :]|[\u202a-\u202e\U000e0000-\U000e007f]", re.MULTILINE)


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


def test_what_an_import_prints_is_obeyed_by_nobody(shell: Shell) -> None:
    rows = io.StringIO()
    csv.writer(rows).writerows([["id", "query", "reference_answer"], [EVIL, EVIL, f"{EVIL * 20}\n## title"]])
    shell.write("rows.csv", rows.getvalue())
    said = shell("import", "rows.csv", "--from", "csv")
    assert OBEYED.search(said.out + said.err) is None
    assert "##[" not in said.out
    (case,) = yaml.safe_load(said.out)["cases"]
    assert (case["query"], case["reference_answer"]) == (EVIL, f"{EVIL * 20}\n## title")


@pytest.mark.parametrize(
    "command",
    [
        "check evil.golden.jsonl", "check evil.golden.jsonl --json", "perturb evil.golden.jsonl",
        "score outputs.jsonl --golden evil.golden.jsonl", "score outputs.jsonl --golden evil.golden.jsonl --json",
        "score evil.jsonl --golden evil.golden.jsonl", "runs",
    ],
)  # fmt: skip
def test_what_users_wrote_is_obeyed_by_nobody(shell: Shell, command: str) -> None:
    head = {"suite": "evil", "owner": EVIL, "metrics": ["token_f1"], "thresholds": {"token_f1": 0.9}}
    case = {"id": "warranty", "query": f"When {EVIL}", "reference_answer": EVIL, "relevant_docs": [EVIL]}
    shell.write("evil.golden.jsonl", "\n".join(map(json.dumps, [head, case])))
    shell.write("outputs.jsonl", json.dumps({"id": "warranty", "answer": EVIL, "documents": [EVIL]}))
    shell.write("evil.jsonl", json.dumps({"id": EVIL, "answer": "x"}))
    if command == "runs":
        shell("score", "outputs.jsonl", "--golden", "evil.golden.jsonl", "--variant", EVIL, "--save")
    said = shell(*command.split())
    assert said.out or said.err
    assert OBEYED.search(said.out + said.err) is None
    if command.endswith("--json"):
        assert json.loads(said.out)


def test_json_holds_no_controls(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\x7f \x9b31m \u202e \u2028 \U000e0041 ü"
    write_output(json.dumps([text], ensure_ascii=False), None)
    out = capsys.readouterr().out
    assert out.isprintable()
    assert "ü" in out
    assert json.loads(out) == [text]
