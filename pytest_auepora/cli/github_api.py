"""The few requests to GitHub's REST API that a comment takes, by the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..errors import AueporaError
from .common import UsageError

__all__ = ["API", "GitHub", "GitHubError"]

API = "https://api.github.com"

_PAGE = 100
_MOST_PAGES = 50
_LONGEST_REPLY = 50 * 2**20
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
        return self._request(method, path, json.dumps(body).encode())

    def _request(self, method: str, path: str, data: bytes | None = None) -> Any:
        import http.client
        import urllib.error
        import urllib.request

        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "pytest-auepora",
            "X-GitHub-Api-Version": "2022-11-28",
            **({"Content-Type": "application/json"} if data is not None else {}),
        }
        request = urllib.request.Request(f"{self._root}/{path}", data, headers, method=method)
        try:
            with _opener().open(request, timeout=self._timeout) as response:
                return json.loads(response.read(_LONGEST_REPLY))
        except urllib.error.HTTPError as exc:
            with exc:
                raise _refused(method, path, exc.code, exc.read(4000)) from None
        except (OSError, http.client.HTTPException) as exc:
            raise GitHubError(f"GitHub cannot be reached: {getattr(exc, 'reason', None) or exc}") from None
        except ValueError:
            raise GitHubError(f"GitHub gave no JSON for {method} {path.partition('?')[0]}") from None


def _refused(method: str, path: str, status: int, raw: bytes) -> GitHubError:
    try:
        told = str(json.loads(raw)["message"])
    except (ValueError, KeyError, TypeError):
        told = "nothing more"
    hint = ""
    if status in (401, 403, 404):
        hint = "; the job needs `permissions: pull-requests: write`, which a pull request from a fork does not get"
    return GitHubError(f"GitHub said {status} to {method} {path.partition('?')[0]}: {told[:300]}{hint}")


def _opener() -> Any:
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        """A redirect would carry the token to somebody else."""

        def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
            return None

    return urllib.request.build_opener(NoRedirect)
