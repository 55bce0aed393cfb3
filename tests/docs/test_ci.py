"""The workflows of the how-to: what GitHub and GitLab would run is run, against a GitHub on loopback."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.cli.main import main
from pytest_auepora.reporting.formats.markdown_report import MARKER

from ..unit.cli.github_server import serving
from .bench import Bench
from .pages import PAGES, Command, File, read

PAGE = PAGES / "how-to" / "ci.md"


def files() -> dict[str, Any]:
    found = {step.path: yaml.safe_load(step.text) for step in read(PAGE).steps if isinstance(step, File)}
    workflows = {f".github/workflows/{name}.yml" for name in ("rag", "rag-with-key", "rag-comment")}
    assert set(found) == {*workflows, ".gitlab-ci.yml"}
    return found


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in files()[f".github/workflows/{name}.yml"]["jobs"].values() for step in job["steps"]]


def command(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))


def test_only_actions_of_github_itself_are_used() -> None:
    used = {step["uses"] for name in ("rag", "rag-with-key", "rag-comment") for step in steps(name) if "uses" in step}
    assert used
    assert {one.partition("/")[0] for one in used} == {"actions"}


def test_the_job_that_runs_foreign_code_can_write_nothing() -> None:
    rag, with_key, comment = (
        files()[f".github/workflows/{name}.yml"] for name in ("rag", "rag-with-key", "rag-comment")
    )
    assert rag["permissions"] == with_key["permissions"] == {"contents": "read"}
    assert comment["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("checkout" in step.get("uses", "") for step in steps("rag-comment"))
    assert comment[True]["workflow_run"]["workflows"] == [rag["name"]]  # `on` is a boolean of YAML 1.1
    # names of branches are chosen by whoever opens the pull request: they reach no shell but as variables
    assert not any("${{" in step.get("run", "") for step in steps("rag-comment"))


def test_the_artifact_is_what_the_other_job_reads() -> None:
    upload = next(step["with"] for step in steps("rag") if "upload-artifact" in step.get("uses", ""))
    download = next(step["with"] for step in steps("rag-comment") if "download-artifact" in step.get("uses", ""))
    assert upload["name"] == download["name"]
    (said,) = (step["run"] for step in steps("rag-comment") if step.get("run", "").startswith("auepora"))
    assert Path(command(said)[2]).parent.name == download["path"]
    assert Path(upload["path"]).match("rag.*")


def test_the_workflows_do_what_the_page_says(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(pytester)
    bench.lay_out(read(PAGES / "tutorial.md"))
    (run,) = (command(step["run"]) for step in steps("rag") if step.get("run", "").startswith("pytest"))
    gitlab = files()[".gitlab-ci.yml"]["rag"]
    (other,) = (command(line) for line in gitlab["script"] if line.startswith("pytest"))
    assert bench.run(Command(0, run, {}))[0] == 1  # nothing accepted yet
    assert bench.run(Command(0, ("pytest", "--auepora-update"), {}))[0] == 0
    for arguments in (run, other):
        code, told = bench.run(Command(0, arguments, {}))
        assert code == 0, told
    artifacts = gitlab["artifacts"]
    for name in (*artifacts["paths"], *artifacts["reports"].values(), "rag.json"):
        assert (pytester.path / name).is_file(), name
    _comment(pytester.path, monkeypatch)
    assert "written: https://example.org/" in capsys.readouterr().out


def _comment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (step,) = (step for step in steps("rag-comment") if step.get("run", "").startswith("auepora"))
    (folder / "artifact").mkdir()
    (folder / "rag.json").rename(folder / "artifact" / "rag.json")
    event = {
        "github.event.workflow_run.head_repository.owner.login": "friend",
        "github.event.workflow_run.head_branch": "fix/it",
        "github.event.workflow_run.head_sha": "abc",
        "github.token": "t0ken",
    }
    for name, text in step["env"].items():
        monkeypatch.setenv(name, re.sub(r"\$\{\{ (\S+) \}\}", lambda said: event[said[1]], text))
    with serving() as github:
        monkeypatch.setenv("GITHUB_API_URL", github.url)
        monkeypatch.setenv("GITHUB_REPOSITORY", "acme/shop")
        github.pull(7, "friend:fix/it", "abc")
        program, *arguments = (os.path.expandvars(word) for word in command(step["run"]))
        assert (program, main(arguments)) == ("auepora", 0)
        assert github.bodies[0].startswith(f"{MARKER}\n## ✅ auepora: passed")
