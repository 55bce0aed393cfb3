"""What is there and cannot be read could not be judged; users' texts are obeyed by nobody; runs by what people type."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pytest_auepora.base.complaints import Problem
from pytest_auepora.cli.common import Sources, UsageError, open_history, read_report, write_output
from pytest_auepora.core.run import Run
from pytest_auepora.errors import AueporaError, NotComparableError
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.report import Report

from ..reporting.builders import baseline_of, run_of, verdict_of
from .conftest import GOOD, WORSE, Shell

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


# --- runs: kept, committed, in a baseline or a report

BILLING, DENSE, TRAVEL = run_of([GOOD]), run_of([WORSE], variant="dense"), run_of([GOOD], suite="travel")


def report(shell: Shell, *runs: Run) -> str:
    report = Report(runs, [verdict_of(run) for run in runs], [Problem("a", 1, 2, "x")])
    shell.write("ci.json", json_report(report))
    return "ci.json"


def titles(found: list[tuple[str, Run]]) -> list[tuple[str, str]]:
    return [(name, run.title) for name, run in found]


@pytest.mark.parametrize("name", ["last~1", "ID", "ID[:-2]"])
def test_a_run_that_was_kept(shell: Shell, ids: list[str], name: str) -> None:
    first = {"ID": ids[0], "ID[:-2]": ids[0][:-2]}.get(name, name)
    if ids[1].startswith(first):
        pytest.skip("both ids begin so")
    said, run = Sources().find(first)
    assert (said, run.cases["one"].state, run.provenance) == (ids[0], "passed", {"model": "m-1"})


def test_last_is_the_last_of_the_run_it_is_held_against(shell: Shell, ids: list[str]) -> None:
    assert Sources().find("last", BILLING)[0] == ids[1]
    with pytest.raises(AueporaError, match="no run"):
        Sources().find("last", TRAVEL)


def test_a_baseline(shell: Shell) -> None:
    shell.write("old.json", baseline_of(DENSE).dumps())
    name, run = Sources().find("old.json", BILLING)
    assert (name, run.title, run.path) == ("old.json", "billing[dense]", BILLING.path)
    assert run.cases["one"].scores["recall@5"].value == 0.0
    assert Sources().find("old.json")[1].path == ""
    assert titles(Sources().find_all("old.json", BILLING)) == [("old.json", "billing[dense]")]


def test_the_run_of_a_report_that_is_like_the_other(shell: Shell) -> None:
    name = report(shell, BILLING, DENSE, TRAVEL)
    assert Sources().find(name, DENSE)[1] == DENSE
    with pytest.raises(UsageError, match=r" billing, billing\[dense\], travel$"):
        Sources().find(name)
    with pytest.raises(UsageError, match=r" billing, billing\[dense\];"):
        Sources().find(report(shell, BILLING, DENSE))
    for names in ((BILLING, DENSE), (TRAVEL,)):
        with pytest.raises(UsageError, match="; wanted is other"):
            Sources().find(report(shell, *names), run_of([GOOD], suite="other"))


def test_all_configurations_of_a_report(shell: Shell) -> None:
    name = report(shell, BILLING, DENSE, TRAVEL)
    assert titles(Sources().find_all(name, DENSE)) == [("ci.json[]", "billing"), ("ci.json[dense]", "billing[dense]")]
    assert titles(Sources().find_all(name, TRAVEL)) == [("ci.json", "travel")]
    with pytest.raises(UsageError, match=r"travel$"):
        Sources().find_all(name)
    with pytest.raises(UsageError, match="; wanted is other"):
        Sources().find_all(name, run_of([], suite="other"))
    with pytest.raises(UsageError, match=r"is a report on nothing$"):
        Sources().find_all(report(shell))


def test_the_run_of_a_report_that_is_of_the_same_file(shell: Shell) -> None:
    boats = replace(run_of([WORSE]), path="boats/billing.golden.yaml")
    name = report(shell, BILLING, boats, DENSE)
    assert [Sources().find(name, run)[1] for run in (BILLING, boats)] == [BILLING, boats]
    assert [len(Sources().find_all(name, run)) for run in (BILLING, boats)] == [2, 1]
    with pytest.raises(UsageError, match=r"is a report on billing, billing, billing\[dense\]$"):
        Sources().find_all(name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "odd.json:1:2: not JSON"),
        ("[]", r"odd.json: expected a mapping, found \[\]"),
        ("[" * 100_000, "odd.json:.*(nests too deep|not JSON)"),  # as deep as this Python goes
        ('{"suites": 3}', "odd.json: not an auepora report: there is no key 'format'"),
        ('{"format": 99, "suites": []}', "odd.json: not an auepora report: format 99, this version reads 2"),
    ],
)
def test_a_file_that_is_neither_says_why(shell: Shell, text: str, said: str) -> None:
    shell.write("odd.json", text)
    with pytest.raises(AueporaError, match=said):
        Sources().find("odd.json")
    with pytest.raises(NotComparableError, match=r"^odd\.json: "):
        read_report("odd.json")


def test_a_file_that_cannot_be_read(shell: Shell) -> None:
    (shell.path / "bytes.json").write_bytes(b"\xff{}")
    (shell.path / "folder.json").mkdir()
    for name, why in (("lost.json", "No such file"), ("bytes.json", "not UTF-8"), ("folder.json", "")):
        with pytest.raises(UsageError, match=f"^{name}: cannot be read: {why}"):
            read_report(name)


def test_a_report_with_its_verdicts_and_mistakes(shell: Shell) -> None:
    read = read_report(report(shell, BILLING, DENSE))
    assert read.runs == [BILLING, DENSE]
    assert [one.outcome for one in read.verdicts] == [verdict_of(run).outcome for run in read.runs]
    assert read.mistakes == [Problem("a", 1, 2, "x")]


@pytest.fixture
def committed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A repository with two commits of a baseline: of a run that was fine, and of one that was not."""
    if shutil.which("git") is None:
        pytest.skip("needs git")

    def git(*args: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *args], cwd=shell.path, check=True, capture_output=True)

    git("init", "-q")
    for run in (BILLING, run_of([WORSE])):
        shell.write("golden/__baselines__/billing.json", baseline_of(run).dumps())
        git("add", "golden")
        git("commit", "-qm", "baseline")
    return shell


def recall(run: Run) -> float | None:
    return run.cases["one"].scores["recall@5"].value


def test_a_committed_baseline(committed: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert recall(Sources().find("git:HEAD", BILLING)[1]) == 0.0
    name, before = Sources().find("git:HEAD~1", BILLING)
    assert (name, recall(before), before.path) == ("git:HEAD~1", 1.0, BILLING.path)
    assert recall(Sources().find("git:HEAD~1:golden/__baselines__/billing.json")[1]) == 1.0
    assert titles(Sources().find_all("git:HEAD:golden/__baselines__/billing.json", BILLING))[0][1] == "billing"
    monkeypatch.chdir(committed.path / "golden")
    assert recall(Sources().find("git:HEAD~1:__baselines__/billing.json")[1]) == 1.0
    shutil.rmtree(committed.path / "golden" / "__baselines__")
    assert recall(Sources().find("git:HEAD~1:__baselines__/billing.json")[1]) == 1.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("git:", "'git:' names no commit; write git:REF or git:REF:path/of/baseline.json"),
        ("git::a.json", "'git::a.json' names no commit"),
        ("git:HEAD", "'git:HEAD' does not say which baseline; write git:HEAD:path/of/baseline.json"),
        ("git:HEAD:", "'git:HEAD:' does not say which baseline"),
    ],
)
def test_a_commit_or_a_baseline_that_is_not_named(committed: Shell, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Sources().find(name)


@pytest.mark.parametrize("name", ["git:no-such", "git:HEAD:golden/lost.json", "git:--help", "git:HEAD:lost/er/a.json"])
def test_what_git_does_not_have_is_told_in_its_words(committed: Shell, name: str) -> None:
    with pytest.raises(AueporaError, match=r"^git: ") as caught:
        Sources().find(name, BILLING)
    assert "usage" not in str(caught.value)


def test_a_committed_file_that_is_no_baseline(committed: Shell) -> None:
    with pytest.raises(AueporaError, match="__baselines__ at HEAD:1:1: not JSON"):
        Sources().find("git:HEAD:golden/__baselines__")


@pytest.mark.parametrize(
    "args", [("report", "XX"), ("compare", "XX"), ("compare", "last~2"), ("runs", "--delete", "XX")]
)
def test_an_unknown_run_is_a_usage_error(shell: Shell, ids: list[str], args: tuple[str, ...]) -> None:
    said = shell(*args)
    assert said.code == 2
    assert said.err.startswith("auepora: no run ")


def test_history_that_is_switched_off(shell: Shell, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUEPORA_HISTORY", "off")
    with pytest.raises(UsageError, match="history is switched off by auepora_history or AUEPORA_HISTORY; name one"):
        open_history("")
    with pytest.raises(UsageError, match="switched off"):
        open_history("off")
    named = str(Path(FOLDER) / "history.sqlite")
    assert open_history(named).resolve("last") == ids[1]
    monkeypatch.setenv("AUEPORA_HISTORY", named)
    assert open_history("").resolve("last") == ids[1]
