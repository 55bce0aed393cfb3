"""The few requests to GitHub's REST API that a comment takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..errors import AueporaError
from ..http import HttpError, request_json
from .common import UsageError

API = "https://api.github.com"

_PAGE = 100
_MOST_PAGES = 50
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class GitHubError(AueporaError):
    """GitHub refused, cannot be reached, or said something unexpected; the message never holds the token."""


class GitHub:
    """One repository.

    Raises:
        UsageError: the token would travel in the clear.
    """

    def __init__(self, api: str, repository: str, token: str, *, timeout: float = 30.0) -> None:
        parts = urlsplit(api)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise UsageError(f"--api {api}: an https address is wanted")
        self._root = f"{api.rstrip('/')}/repos/{repository}"
        self._token = token
        self._timeout = timeout

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[Any]:
        """Yield what all pages of a list hold.

        Raises:
            GitHubError: see the class.
        """
        for page in range(1, _MOST_PAGES + 1):
            said = urlencode({**(query or {}), "per_page": _PAGE, "page": page})
            found = self._request("GET", f"{path}?{said}")
            if not isinstance(found, list):
                raise GitHubError(f"GitHub gave no list for {path}")
            yield from found
            if len(found) < _PAGE:
                return

    def send(self, method: str, path: str, body: Any) -> Any:
        """Send *body* as JSON and return the reply.

        Raises:
            GitHubError: see the class.
        """
        return self._request(method, path, body)

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "pytest-auepora",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        try:
            _, said = request_json(
                method, f"{self._root}/{path}", body, headers=headers, timeout=self._timeout, secrets=[self._token]
            )
        except HttpError as exc:
            raise _github_error(method, path.partition("?")[0], exc) from None
        return said


def _github_error(method: str, path: str, exc: HttpError) -> GitHubError:
    if exc.kind == "no JSON":
        return GitHubError(f"GitHub gave no JSON for {method} {path}")
    if exc.kind != "status":
        return GitHubError(f"GitHub cannot be reached: {exc.detail}")
    try:
        told = str(json.loads(exc.detail)["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        told = "nothing more"
    hint = ""
    if exc.status in (401, 403, 404):
        hint = "; the job needs `permissions: pull-requests: write`, which a pull request from a fork does not get"
    return GitHubError(f"GitHub said {exc.status} to {method} {path}: {told[:300]}{hint}")
