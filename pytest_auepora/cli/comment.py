"""``auepora comment REPORT.json``: the report on a pull request, as one comment that later runs update.

Made from the JSON alone, so the job that may write to pull requests runs no code of theirs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..base.http import HttpError, request_json
from ..errors import AueporaError
from ..reporting.formats.json_report import from_outside
from ..reporting.formats.markdown_report import MARKER
from ..reporting.formats.registry import report_text
from .common import PASSED, UsageError, read_report

API = "https://api.github.com"

_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
_BOT = "github-actions[bot]"
_KEY = re.compile(r"[\w .+/-]{1,60}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_TIMEOUT = 30.0
_PAGE = 100
_MOST_PAGES = 50
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    repo, api = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_API_URL") or API
    author = f"who writes: only comments by this account are updated (default: {_BOT})"
    add("report", metavar="REPORT.json", help="what --auepora-report json: wrote")
    add("--repo", metavar="OWNER/NAME", default=repo, help="the repository (default: $GITHUB_REPOSITORY)")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--pr", type=int, metavar="N", help="the number of the pull request")
    which.add_argument("--head", metavar="OWNER:BRANCH", help="the open pull request of this branch, if there is one")
    add("--sha", default="", help="with --head: only while this is the branch's latest commit")
    add("--key", default="", help="keeps the comments of several jobs apart")
    add("--author", default=_BOT, metavar="LOGIN", help=author)
    add("--api", metavar="URL", default=api, help="where the API is (default: $GITHUB_API_URL, which every job has)")
    add("--dry-run", action="store_true", help="print the comment, call nobody")


def run(args: argparse.Namespace) -> int:
    """Write the comment, and print where it is."""
    marker = marker_for(args.key)
    report = read_report(args.report)
    with from_outside(args.report):
        body = report_text("md", report).replace(MARKER, marker, 1)
    if args.dry_run:
        print(body, end="")
        return PASSED
    if not args.repo or not _REPOSITORY.fullmatch(args.repo):
        raise UsageError(f"--repo {args.repo or ''}: OWNER/NAME is wanted")
    tokens = [token for name in _TOKENS if (token := os.environ.get(name, "").strip())]
    if not tokens:
        raise UsageError(f"there is no token: set {' or '.join(_TOKENS)}")
    github = GitHub(args.api, args.repo, tokens[0])
    number = args.pr or _find_pull(github, args.head, args.sha)
    if number is None:
        print(f"no open pull request of {args.head}{f' at {args.sha}' if args.sha else ''}: nothing to write")
        return PASSED
    print(_put_comment(github, number, body, marker, args.author))
    return PASSED


def marker_for(key: str) -> str:
    """Return the first line of the comment, by which later runs find it: with *key* that of one job among several."""
    if not key:
        return MARKER
    if not _KEY.fullmatch(key) or "--" in key:
        raise UsageError(f"--key {key!r}: up to 60 letters, digits, blanks and . _ + / - are wanted")
    return MARKER.replace(" -->", f": {key} -->")


def _find_pull(github: GitHub, head: str, sha: str) -> int | None:
    """Return the number of the open pull request of *head* whose latest commit is *sha*; None without one."""
    if ":" not in head:
        raise UsageError(f"--head {head}: OWNER:BRANCH is wanted")
    for pull in github.pages("pulls", {"state": "open", "head": head}):
        if pull["head"]["label"] == head and sha in ("", pull["head"]["sha"]):
            return int(pull["number"])
    return None


def _put_comment(github: GitHub, number: int, body: str, marker: str, author: str) -> str:
    """Update the comment of this command, or write it; return what was done, with its address."""
    for comment in github.pages(f"issues/{number}/comments"):
        has_marker = (comment.get("body") or "").lstrip("\ufeff").startswith(marker)
        if not has_marker or (comment.get("user") or {}).get("login") != author:  # anybody can write the marker
            continue
        if comment["body"].rstrip() == body.rstrip():
            return f"as it was: {comment['html_url']}"
        if not isinstance(comment_id := comment["id"], int):
            raise AueporaError(f"GitHub gave a comment with the id {comment_id!r}")
        return f"updated: {github.send('PATCH', f'issues/comments/{comment_id}', {'body': body})['html_url']}"
    return f"written: {github.send('POST', f'issues/{number}/comments', {'body': body})['html_url']}"


class GitHubError(AueporaError):
    """GitHub refused, cannot be reached, or said something unexpected; the message never holds the token."""


class GitHub:
    """One repository, by the few requests to GitHub's REST API that a comment takes; each may raise `GitHubError`.

    Raises:
        UsageError: the token would travel in the clear.
    """

    def __init__(self, api: str, repository: str, token: str) -> None:
        parts = urlsplit(api)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise UsageError(f"--api {api}: an https address is wanted")
        self._root = f"{api.rstrip('/')}/repos/{repository}"
        self._token = token

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[Any]:
        """Yield what all pages of a list hold."""
        for page in range(1, _MOST_PAGES + 1):
            encoded = urlencode({**(query or {}), "per_page": _PAGE, "page": page})
            items = self.send("GET", f"{path}?{encoded}")
            if not isinstance(items, list):
                raise GitHubError(f"GitHub gave no list for {path}")
            yield from items
            if len(items) < _PAGE:
                return

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send *body* as JSON and return the reply."""
        headers = {
            "Accept": "application/vnd.github+json", "Authorization": f"Bearer {self._token}",
            "User-Agent": "pytest-auepora", "X-GitHub-Api-Version": "2022-11-28",
        }  # fmt: skip
        url = f"{self._root}/{path}"
        try:
            return request_json(method, url, body, headers=headers, timeout=_TIMEOUT, secrets=[self._token])[1]
        except HttpError as exc:
            raise _github_error(method, path.partition("?")[0], exc) from None


def _github_error(method: str, path: str, exc: HttpError) -> GitHubError:
    if exc.kind == "no JSON":
        return GitHubError(f"GitHub gave no JSON for {method} {path}")
    if exc.kind != "status":
        return GitHubError(f"GitHub cannot be reached: {exc.detail}")
    try:
        message = str(json.loads(exc.detail)["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        message = "nothing more"
    hint = "; the job needs `permissions: pull-requests: write`, which a pull request from a fork does not get"
    hint = hint if exc.status in (401, 403, 404) else ""
    return GitHubError(f"GitHub said {exc.status} to {method} {path}: {message[:300]}{hint}")
