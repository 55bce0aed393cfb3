"""The report on a pull request: written once, then updated; by nobody else's comment and no redirect led astray."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.comment import marker_for
from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.formats.markdown_report import COMMENT_LIMIT, MARKER, markdown_report
from pytest_auepora.reporting.report import Report

from ..reporting.builders import Case, run_of, verdict_of
from .conftest import Said, Shell
from .github_server import FakeGitHub


@pytest.fixture
def comment(shell: Shell, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> Comment:
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    return Comment(shell, github)


class Comment:
    """The command, on a report and a server."""

    def __init__(self, shell: Shell, github: FakeGitHub) -> None:
        self.shell = shell
        self.github = github
        self.report(Case("one"))

    def report(self, *cases: Case) -> str:
        run = run_of(cases)
        self.shell.write("a.json", json_report(Report([run], [verdict_of(run)])))
        return markdown_report(Report([run], [verdict_of(run)]))

    def __call__(self, *args: str, pr: bool = True) -> Said:
        number = ["--pr", "7"] if pr else []
        return self.shell("comment", "a.json", "--repo", "acme/shop", "--api", self.github.url, *number, *args)


def test_the_first_run_writes_and_later_ones_update(comment: Comment, github: FakeGitHub) -> None:
    github.comment("Looks good to me.", "somebody")
    said = comment()
    assert (said.code, said.out) == (0, "written: https://example.org/c101\n")
    text = comment.report(Case("one", error="E: down"))
    said = comment()
    assert (said.code, said.out) == (0, "updated: https://example.org/c101\n")
    assert github.bodies == ["Looks good to me.", text]
    assert text.startswith(f"{MARKER}\n## ❌")
    before = len(github.requests)
    assert comment().out.endswith(" https://example.org/c101\n")
    assert github.requests[before:] == [("GET", "/repos/acme/shop/issues/7/comments")]


def test_it_finds_its_own_among_many(comment: Comment, github: FakeGitHub) -> None:
    for i in range(150):
        github.comment(f"comment {i}", "somebody")
    comment()
    comment.report(Case("two"))
    comment()
    assert sum(body.startswith(MARKER) for body in github.bodies) == 1


def test_somebody_elses_comment_with_the_marker_stays_as_it_is(comment: Comment, github: FakeGitHub) -> None:
    theirs = f"{MARKER}\nall fine, merge me"
    github.comment(theirs, "mallory")
    github.comment(f"> {MARKER}\nquoted")
    comment()
    assert github.bodies[0] == theirs
    assert len(github.comments) == 3


def test_several_jobs_have_a_comment_each(comment: Comment, github: FakeGitHub) -> None:
    for key in ("nightly", "smoke", "nightly", ""):
        comment(*(["--key", key] if key else []))
    assert [body.splitlines()[0] for body in github.bodies] == [
        "<!-- auepora report: nightly -->",
        "<!-- auepora report: smoke -->",
        MARKER,
    ]


def test_another_account_updates_its_own(comment: Comment, github: FakeGitHub) -> None:
    github.comment(f"{MARKER}\nold", "rag-robot")
    assert comment("--author", "rag-robot").out.startswith("updated: ")


def test_the_pull_request_is_found_by_its_branch(comment: Comment, github: FakeGitHub) -> None:
    github.pull(6, "mallory:main", "aaa")
    github.pull(7, "friend:fix", "bbb")
    assert comment("--head", "friend:fix", "--sha", "bbb", pr=False).out.startswith("written: ")
    said = comment("--head", "friend:fix", "--sha", "old", pr=False)
    assert (said.code, len(github.bodies)) == (0, 1)
    assert "friend:fix at old" in said.out
    assert comment("--head", "friend:gone", pr=False).out.startswith("no open")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--pr", "7", "--repo", "shop"), "--repo shop: OWNER/NAME is wanted"),
        (("--pr", "7", "--repo", "acme/shop/../x"), "OWNER/NAME is wanted"),
        (("--pr", "7", "--key", "--> <b>"), "--key '--> <b>': up to 60 letters"),
        (("--head", "main"), "--head main: OWNER:BRANCH is wanted"),
        (("--pr", "7", "--api", "http://api.example.org"), "an https address is wanted"),
    ],
)
def test_wrong_arguments(comment: Comment, github: FakeGitHub, args: tuple[str, ...], message: str) -> None:
    said = comment(*args, pr=False)
    assert (said.code, message in said.err) == (2, True), said.err
    assert not github.requests


def test_no_token(comment: Comment, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    said = comment()
    assert (said.code, "GITHUB_TOKEN" in said.err, "GH_TOKEN" in said.err) == (2, True, True)
    monkeypatch.setenv("GH_TOKEN", github.token)
    assert comment().code == 0


def test_what_github_refuses_is_told_without_the_token(comment: Comment, github: FakeGitHub) -> None:
    github.answers.append((403, {}, '{"message": "Resource not accessible by integration"}'))
    said = comment()
    assert (said.code, "accessible" in said.err) == (3, True), said.err
    assert github.token not in said.err
    assert not github.comments


def test_nobody_there(comment: Comment) -> None:
    said = comment("--api", "http://127.0.0.1:9")
    assert (said.code, "reached" in said.err) == (3, True)


def test_a_dry_run_calls_nobody(comment: Comment, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    said = comment("--dry-run")
    assert said.out.startswith(MARKER)
    assert not github.requests


def test_what_is_no_report_is_not_written(comment: Comment, github: FakeGitHub) -> None:
    comment.shell.write("a.json", '{"format": 1, "suites": [{"run": 3}]}')
    said = comment()
    assert (said.code, "a.json:" in said.err) == (3, True)
    assert not github.requests


def test_a_long_report_fits_into_a_comment(comment: Comment, github: FakeGitHub) -> None:
    comment.report(*[Case(f"c{i}", error=f"E{i}: {'x' * 300}") for i in range(400)])
    assert comment("--key", "a" * 60).code == 0
    assert len(github.bodies[0]) <= COMMENT_LIMIT


def test_the_longest_key_has_room_beside_the_report() -> None:
    assert COMMENT_LIMIT + len(marker_for("a" * 60)) - len(MARKER) <= 65_536
