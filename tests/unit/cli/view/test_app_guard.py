"""Whoever is not this page, on this machine, gets nothing."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from pytest_auepora.cli.view.app import open_socket

from .conftest import LABEL, TOKEN, Page
from .histories import Stored

GUARDS = {
    "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin", "cache-control": "no-store",
}  # fmt: skip


def test_it_listens_on_the_loopback_interface_alone() -> None:
    with open_socket(0) as listening:
        assert ip_address(listening.getsockname()[0]).is_loopback
        with pytest.raises(OSError, match="in use"):
            open_socket(listening.getsockname()[1])
        with open_socket(0, listening.getsockname()[1]) as other:
            assert other.getsockname()[1] != listening.getsockname()[1], "the usual port is taken: any other"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]:80"])
@pytest.mark.parametrize("path", ["/", "/api/start", "/api/runs", "/export?run=last"])
def test_another_host_may_not_even_read(page: Page, host: str, path: str) -> None:
    reply = page(path, Host=host)
    assert reply.code in (400, 403)
    assert TOKEN not in reply.body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:9000", "[::1]:9000"])
def test_names_of_this_machine_may_read(page: Page, host: str) -> None:
    assert page("/api/start", Host=host).body == '{"token":"let-me-in"}'


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_another_page_may_link_here_and_ask_for_nothing_else(page: Page, site: str) -> None:
    assert page("/?run=last", Sec_Fetch_Site=site).code == 200
    for path in ("/api/runs", "/export?run=no-such-run"):
        assert (page(path, Sec_Fetch_Site=site).code == 403) == (site in ("cross-site", "same-site"))


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 403),
        ({"Origin": "HERE"}, 403),
        ({"x_auepora_token": TOKEN}, 403),
        ({"Origin": "HERE", "x_auepora_token": "of an earlier start"}, 403),
        ({"Origin": "http://evil.example", "x_auepora_token": TOKEN}, 403),
        ({"Origin": "null", "x_auepora_token": TOKEN}, 403),
        ({"Origin": "HERE", "x_auepora_token": TOKEN}, 200),
    ],
)
def test_only_the_page_itself_may_write(page: Page, history: Stored, headers: dict[str, str], code: int) -> None:
    given = {name: value.replace("HERE", f"http://{page.host}") for name, value in headers.items()}
    assert page("/api/label", "POST", LABEL, **given).code == code
    assert history.library.labels.exists() == (code == 200)


def test_nobody_may_frame_sniff_or_keep_it(page: Page) -> None:
    for path in ("/", "/api/runs", "/nowhere"):
        headers = page(path).headers
        policy = headers["content-security-policy"]
        directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert directives["frame-ancestors"] == directives["default-src"] == "'none'"
        assert "unsafe" not in policy
        assert {name: headers[name] for name in GUARDS} == GUARDS
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
