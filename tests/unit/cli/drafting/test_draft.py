"""``auepora draft``: priced, asked for, resumed; drafts in the golden file, reasons in the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.drafting.documents import SHORTEST
from pytest_auepora.drafting.files import DraftJournal
from pytest_auepora.io.golden.load import load_golden

from ...drafting.scripted import Scripted
from ...metrics.judge.judge_server import JudgeServer, Reply, chat, judge_server
from ..conftest import Shell

PAGES = Path(__file__).resolve().parents[4] / "docs" / "pages" / "how-to"
DRAFT = ("draft", "docs", "-o", "golden/docs.golden.yaml", "--quota", "single-hop=1")


REJECTIONS = {"quote not found", "answerable without the documents"}
"""Of what the scripted model tries first."""


def rejected_by(shell: Shell) -> dict[str, list[str]]:
    return DraftJournal(shell.path / "golden" / "docs.drafts.jsonl").rejections()


@pytest.fixture
def model() -> Scripted:
    return Scripted(["", "paraphrased", "guessable"])


@pytest.fixture
def server(shell: Shell, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    for name in ("ci.md", "cost.md", "hooks.md", "latency.md"):
        shell.write(f"docs/{name}", (PAGES / name).read_text(encoding="utf-8"))
    monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "scripted")
    with judge_server(answer=lambda body: chat(model.complete(prompt=body["messages"][0]["content"]))) as server:
        monkeypatch.setenv("AUEPORA_JUDGE_URL", server.url)
        yield server


def test_the_price_is_told_and_nothing_asked(shell: Shell, server: JudgeServer) -> None:
    said = shell(*DRAFT, "--estimate")
    assert said.code == 0
    assert said.out.startswith("4 documents, ")
    assert "4 cases wanted: " in said.out
    assert "tokens" in said.out
    assert server.bodies == []
    assert not (shell.path / "golden").exists()


def test_documents_too_short_to_ask_about_are_told(shell: Shell, server: JudgeServer) -> None:
    shell.write("short/hours.md", "We open at nine.")
    said = shell("draft", "short", "-o", "golden/short.golden.yaml", "--yes")
    assert (said.code, str(SHORTEST) in said.out, server.bodies) == (0, True, [])


def test_the_cost_is_told_where_prices_are_known(shell: Shell, server: JudgeServer) -> None:
    shell.write("judge.yaml", f"url: {server.url}\nmodel: m\nprices: {{input: 1000, output: 1000}}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUEPORA_JUDGE", "judge.yaml")
        assert ", cost about " in shell(*DRAFT, "--estimate").out
    assert "cost" not in shell(*DRAFT, "--estimate").out


def test_an_estimate_needs_no_judge(shell: Shell, server: JudgeServer) -> None:
    with_judge = shell(*DRAFT, "--estimate").out
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUEPORA_JUDGE_URL")
        patch.delenv("AUEPORA_JUDGE_MODEL")
        assert shell(*DRAFT, "--estimate").out == with_judge
        said = shell(*DRAFT, "--yes")
    assert said.code == 3
    assert "AUEPORA_JUDGE" in said.err
    assert "critic" not in said.err


def test_nobody_is_asked_without_a_word(shell: Shell, server: JudgeServer) -> None:
    said = shell(*DRAFT)
    assert said.code == 2
    assert "--yes" in said.err
    assert server.bodies == []


def test_drafts_and_reasons(shell: Shell, server: JudgeServer, model: Scripted) -> None:
    said = shell(*DRAFT, "--yes")
    assert said.code == 0, said.err
    suite = load_golden(shell.path / "golden" / "docs.golden.yaml")
    assert len(suite.cases) == len(suite.skipped) == model.made.count("")
    assert f"{len(suite.cases)} of 4 drafted in golden/docs.golden.yaml" in said.out
    assert f"judge: {len(server.bodies)} requests, " in said.out
    rejected = len(model.made) - len(suite.cases)
    assert f"{rejected} tries were" in said.out
    rejections = rejected_by(shell)
    assert set(rejections) == REJECTIONS
    assert all(f"{len(about):>5}  {reason}" in said.out for reason, about in rejections.items())
    rows = [json.loads(x) for x in (shell.path / "golden" / "docs.drafts.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(model.made)
    assert all(row["by"]["model"]["model"] == "scripted" for row in rows)


def test_what_was_interrupted_goes_on(shell: Shell, server: JudgeServer, model: Scripted) -> None:
    shell(*DRAFT, "--yes")
    whole = (shell.path / "golden" / "docs.golden.yaml").read_bytes()
    asked = len(server.bodies)
    said = shell(*DRAFT, "--yes")
    assert said.code == 0, said.err
    assert (shell.path / "golden" / "docs.golden.yaml").read_bytes()[: len(whole)] == whole
    made = len(model.made)
    assert len(server.bodies) - asked < asked
    shell("draft", "docs", "-o", "golden/docs.golden.yaml", "--quota", "single-hop=2", "--yes")
    assert len(model.made) > made


def test_what_people_have_or_did_not_want_is_not_drafted_again(
    shell: Shell, server: JudgeServer, model: Scripted
) -> None:
    shell(*DRAFT, "--yes")
    first, second = list(model.written)[:2]
    other = "golden/other.golden.yaml"
    shell.write("more/old.golden.yaml", f"suite: old\ncases:\n  - {{id: a, query: {json.dumps(first)}}}\n")
    decided = {"id": "x", "decision": "rejected", "query": second}
    shell.write("golden/other.drafts.jsonl", json.dumps(decided) + "\n")
    (shell.path / "golden" / "docs.golden.yaml").unlink()
    again = Scripted()
    server.answer = lambda body: chat(again.complete(prompt=body["messages"][0]["content"]))
    said = shell("draft", "docs", "-o", other, "--quota", "single-hop=1", "--known", "more", "--yes")
    assert "    2  near-duplicate" in said.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-o", "docs.yaml"), "a golden file ends in .golden.yaml"),
        (("-o", "d.golden.yaml", "--max-overlap", "2"), "--max-overlap is a share"),
        (("-o", "d.golden.yaml", "--quota", "hops=2"), "unknown kind 'hops'"),
    ],
)
def test_arguments_that_make_no_sense(shell: Shell, server: JudgeServer, arguments: tuple[str, ...], told: str) -> None:
    said = shell("draft", "docs", *arguments)
    assert said.code in (2, 3)
    assert told in said.err


def test_without_a_judge_the_error_says_how_to_name_one(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    shell.write("docs/a.md", "# A\n\nSome text.\n")
    said = shell(*DRAFT, "--yes")
    assert said.code == 3
    assert "AUEPORA_JUDGE_URL" in said.err


def test_a_model_that_is_down_ends_it(shell: Shell, monkeypatch: pytest.MonkeyPatch, server: JudgeServer) -> None:
    server.answer = None
    server.script = [Reply({"error": {"message": "no such model"}}, status=404)]
    said = shell(*DRAFT, "--yes")
    assert said.code == 3
    assert "such model" in said.err
    assert not (shell.path / "golden" / "docs.golden.yaml").exists()


def test_a_reply_that_is_cut_off_rejects_its_try_and_says_why(shell: Shell, server: JudgeServer) -> None:
    server.answer = None
    server.script = [chat("no", finish="length")]
    said = shell(*DRAFT, "--yes")
    ((reason, about),) = rejected_by(shell).items()
    assert f"{len(about):>5}  {reason}: {about[0]}\n" in said.out
    assert "max_tokens" in about[0]
