"""Commands on an output that is not UTF-8: every one ends as ever, and says all it has to say."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
import yaml

from pytest_auepora.cli.main import main

GOLDEN = """\
suite: shop
metrics: [recall@1, token_f1]
cases:
  - id: größe
    query: Welche Größe → 😀 “日本”?
    relevant_docs: [größe.md]
    reference_answer: 七 ≥ 7
"""
OUTPUT = {"id": "größe", "answer": "八 “😀”", "documents": ["größe.md"], "timings": {"end_to_end": 0.1}}
TABLE = "query,reference_answer,relevant_docs\n何日 → 😀?,“七” Tage,größe.md\n"


class Said:
    """A command run on outputs of an encoding: its exit code, and what it printed."""

    def __init__(self, encoding: str, *argv: str) -> None:
        patch = pytest.MonkeyPatch()
        out, err = (TextIOWrapper(BytesIO(), encoding=encoding) for _ in range(2))
        with patch.context() as context:
            context.setattr(sys, "stdout", out)
            context.setattr(sys, "stderr", err)
            self.code = main(argv)
        for stream in (out, err):
            stream.flush()
        self.out, self.err = (stream.buffer.getvalue().decode(encoding) for stream in (out, err))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in {"pytest.ini": "[pytest]\n", "s.golden.yaml": GOLDEN, "cases.csv": TABLE,
                       "o.jsonl": json.dumps(OUTPUT, ensure_ascii=False)}.items():  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as context:
        context.chdir(folder)
        assert Said("utf-8", *SCORE, "--save").code == 0
    return folder


@pytest.fixture(autouse=True)
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


SCORE = ("score", "o.jsonl", "--golden", "s.golden.yaml", "-q", "--history", "h.sqlite")
COMMANDS = [
    (*SCORE,), (*SCORE, "--json"), ("runs", "--history", "h.sqlite"), ("report", "last", "--history", "h.sqlite"),
    ("report", "last", "--history", "h.sqlite", "--format", "md"), ("compare", "last", "last", "--history", "h.sqlite"),
    ("check", "s.golden.yaml"), ("check", "s.golden.yaml", "--json"), ("schema",), ("schema", "report"),
    ("import", "cases.csv", "--from", "csv"), ("perturb", "s.golden.yaml"), ("new", "s.golden.yaml"),
    ("runs", "--help"),
    ("review", "s.golden.yaml"), ("check", "größe.golden.yaml"), ("score", "--golden", "größe → 😀"), ("größe → 😀",),
]  # fmt: skip


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_every_command_ends_as_it_does_in_utf_8(argv: tuple[str, ...]) -> None:
    expected = Said("utf-8", *argv).code
    for encoding in ("cp1252", "ascii"):
        said = Said(encoding, *argv)
        assert said.code == expected
        assert said.out + said.err
        assert "Traceback" not in said.err


def test_symbols_are_said_in_ascii_and_letters_escaped() -> None:
    assert "shop" in (text := Said("ascii", *SCORE).out)
    assert "---" in text
    assert "\u2500" not in text
    assert r"gr\u00f6\u00dfe \u2192" not in (text := Said("ascii", "größe → 😀").err)
    assert r"gr\u00f6\u00dfe -> \ud83d\ude00" in text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_documents_that_are_redirected_are_read_again(encoding: str) -> None:
    imported = Said(encoding, "import", "cases.csv", "--from", "csv").out
    (case,) = yaml.safe_load(imported)["cases"]
    assert (case["query"], case["reference_answer"]) == ("何日 → 😀?", "“七” Tage")
    (variant, *_) = yaml.safe_load(Said(encoding, "perturb", "s.golden.yaml", "--kind", "casing").out)
    assert variant["query"].casefold() == "welche grösse → 😀 “日本”?"
    report = json.loads(Said(encoding, *SCORE, "--json").out)
    assert "größe" in json.dumps(report, ensure_ascii=False)
