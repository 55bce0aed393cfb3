"""Requests to GitHub: lists of many pages, refusals in its own words, and the token seen by nobody else."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.comment import API, GitHub, GitHubError
from pytest_auepora.cli.common import UsageError
from tests.loopback import nobody_listens

from .github_server import FakeGitHub

COMMENTS = "issues/7/comments"


def client(github: FakeGitHub) -> GitHub:
    return GitHub(f"{github.url}/", "acme/shop", github.token)


@pytest.mark.parametrize(("there", "asked"), [(0, 1), (99, 1), (100, 2), (250, 3)])
def test_all_pages_are_read(github: FakeGitHub, there: int, asked: int) -> None:
    for number in range(there):
        github.comment(f"c{number}")
    assert [one["body"] for one in client(github).pages(COMMENTS)] == [f"c{number}" for number in range(there)]
    assert github.requests == [("GET", f"/repos/acme/shop/{COMMENTS}")] * asked


def test_no_page_is_read_before_it_is_needed(github: FakeGitHub) -> None:
    for number in range(150):
        github.comment(f"c{number}")
    assert next(client(github).pages(COMMENTS))["body"] == "c0"
    assert len(github.requests) == 1


def test_a_list_without_end_ends(github: FakeGitHub) -> None:
    github.answers += [(200, {}, str([7] * 100))] * 60
    assert sum(1 for _ in client(github).pages(COMMENTS)) == 5000
    assert len(github.answers) == 10


def test_a_query_is_one_whatever_is_in_it(github: FakeGitHub) -> None:
    github.pull(7, "friend:fix&head=mallory:main#x", "bbb")
    found = list(client(github).pages("pulls", {"head": "friend:fix&head=mallory:main#x"}))
    assert [one["number"] for one in found] == [7]


def test_what_is_sent_comes_back(github: FakeGitHub) -> None:
    made = client(github).send("POST", COMMENTS, {"body": "Grüße 🙂"})
    assert github.bodies == ["Grüße 🙂"]
    assert client(github).send("PATCH", f"issues/comments/{made['id']}", {"body": "new"})["body"] == "new"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            (403, {}, '{"message": "Resource not accessible by integration"}'),
            f"GitHub said 403 to GET {COMMENTS}: Resource not accessible by integration; the job needs `permissions: "
            "pull-requests: write`, which a pull request from a fork does not get",
        ),
        ((404, {}, "<html>"), f"GitHub said 404 to GET {COMMENTS}: nothing more; the job needs `permissions"),
        ((422, {}, '{"message": "' + "x" * 400 + '"}'), f"GitHub said 422 to GET {COMMENTS}: {'x' * 300}"),
        ((502, {}, ""), f"GitHub said 502 to GET {COMMENTS}: nothing more"),
        ((500, {}, "[1]"), f"GitHub said 500 to GET {COMMENTS}: nothing more"),
        ((500, {}, "[" * 50_000), f"GitHub said 500 to GET {COMMENTS}: nothing more"),
        ((200, {}, "not json"), f"GitHub gave no JSON for GET {COMMENTS}"),
        ((200, {}, '{"a": 1}'), f"GitHub gave no list for {COMMENTS}"),
        ((302, {"Location": "http://127.0.0.1:9/elsewhere"}, ""), f"GitHub said 302 to GET {COMMENTS}: nothing more"),
        ((400, {}, '{"message": "no t0ken here"}'), f"GitHub said 400 to GET {COMMENTS}: no "),
    ],
)
def test_what_it_refuses_is_told_without_the_token(
    github: FakeGitHub, answer: tuple[int, dict[str, str], str], message: str
) -> None:
    github.answers.append(answer)
    with pytest.raises(GitHubError) as caught:
        list(client(github).pages(COMMENTS))
    assert str(caught.value).startswith(message)
    assert github.token not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_nobody_there() -> None:
    with nobody_listens() as url, pytest.raises(GitHubError, match=r"^GitHub cannot be reached: "):
        GitHub(url, "acme/shop", "t0ken").send("POST", COMMENTS, {})


@pytest.mark.parametrize("api", [API, "https://github.example.org/api/v3", "http://localhost:1", "http://[::1]:1"])
def test_where_a_token_may_go(api: str) -> None:
    GitHub(api, "acme/shop", "t0ken")


@pytest.mark.parametrize(
    "api",
    ["http://api.example.org", "file:///etc/passwd", "", "api.github.com", "http://localhost.example.org", "HTTP:x"],
)
def test_where_a_token_would_travel_in_the_clear(api: str) -> None:
    with pytest.raises(UsageError, match="an https address is wanted"):
        GitHub(api, "acme/shop", "t0ken")
