"""A request ends in time, whatever its server sends, and whatever it sends it through."""

from __future__ import annotations

import gc
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_auepora.base.http import HttpError, opener, request_json

pytestmark = pytest.mark.usefixtures("no_proxy")

LIMIT = 0.4
TOO_LATE = 3.0
"""Seconds; what trickles goes on for four, and a machine under load takes longer than the limit."""
Script = Sequence["tuple[float, bytes]"]
"""What a server sends: after so many seconds, these bytes."""

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
GOOD: Script = [(0, HEAD + b"true")]


def slowly(*parts: bytes) -> Script:
    return [(0.1, part) for part in parts]


@contextmanager
def scripted(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve one connection: read what is there, then send *script*, then wait until the client goes."""
    done = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            plain = listening.accept()[0]
            with tls.wrap_socket(plain, server_side=True) if tls else plain as connection:
                connection.recv(65536)
                for pause, data in script:
                    if not done.wait(pause):
                        connection.sendall(data)
                done.wait(20)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://localhost:{listening.getsockname()[1]}/"
        finally:
            done.set()
            thread.join(20)


def ask(url: str, timeout: float = LIMIT) -> tuple[object, float]:
    """Return what is answered, or the kind of the error, and the seconds it took."""
    start = time.monotonic()
    try:
        answer: object = request_json("POST", url, {"q": "?"}, headers={}, timeout=timeout)[1]
    except HttpError as exc:
        answer = exc.kind
    return answer, time.monotonic() - start


TRICKLES: dict[str, Script] = {
    "header": [(0, b"HTTP/1.1 200 OK\r\nX: "), *slowly(*[b"a"] * 40)],
    "body": [(0, b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n"), *slowly(*[b" "] * 40)],
    "late start": [(0.3, HEAD + b"t")],
    "chunks": [(0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), *slowly(*[b"1\r\n \r\n"] * 40)],
    "interim": slowly(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 40),
}


@pytest.mark.parametrize("script", TRICKLES.values(), ids=TRICKLES)
def test_what_trickles_is_given_up_in_time(script: Script) -> None:
    with scripted(script) as url:
        kind, seconds = ask(url)
    assert kind == "late"
    assert seconds < TOO_LATE


def test_a_refusal_whose_body_trickles_is_told_in_time() -> None:
    with scripted([(0, b"HTTP/1.1 403 No\r\nContent-Length: 40\r\n\r\n"), *slowly(*[b"x"] * 40)]) as url:
        kind, seconds = ask(url)
    assert kind == "status"
    assert seconds < TOO_LATE


def test_slow_but_in_time_is_read_whole() -> None:
    with scripted(slowly(HEAD, b"t", b"ru", b"e")) as url:
        assert ask(url, 20.0)[0] is True


@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
def test_a_proxy_that_trickles_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for a tunnel; plain requests go through it as well."""
    for scheme in ("http", "https"):
        with scripted([(0, b"HTTP/1.1 200 OK\r\nX: "), *slowly(*[b"a"] * 40)]) as proxy:
            monkeypatch.setenv(f"{scheme}_proxy", proxy)
            opener.cache_clear()
            kind, seconds = ask(f"{scheme}://rag.example/")
        assert kind == "late"
        assert seconds < TOO_LATE
    opener.cache_clear()
    gc.collect()  # Python 3.10 and 3.11 leave the socket of a tunnel that fails to it


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """What a server of ours speaks TLS with; clients trust it."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("the certificate is made by openssl")
    made = (
        f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run([*made.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    opener.cache_clear()
    yield context
    opener.cache_clear()


@pytest.mark.slow
def test_the_same_holds_for_https(tls: ssl.SSLContext) -> None:
    with scripted(GOOD, tls) as url:
        assert ask(url, 20.0)[0] is True
    for name in ("header", "body", "late start"):
        with scripted(TRICKLES[name], tls) as url:
            kind, seconds = ask(url)
        assert kind == "late"
        assert seconds < TOO_LATE


def test_a_handshake_that_trickles_is_given_up_in_time() -> None:
    hello = b"\x16\x03\x03\x40\x00\x02"  # the start of a long record
    with scripted([(0, hello), *slowly(*[b"\0"] * 40)]) as url:
        kind, seconds = ask(url.replace("http:", "https:"))
    assert kind == "late"
    assert seconds < TOO_LATE


def test_a_server_that_reads_nothing_is_given_up_in_time(tls: ssl.SSLContext) -> None:
    for context in (None, tls):
        with scripted([], context) as url:
            start = time.monotonic()
            with pytest.raises(HttpError, match="no reply within"):
                request_json("POST", url, "x" * 30_000_000, headers={}, timeout=2 * LIMIT)
        assert time.monotonic() - start < 10  # the server holds the connection for 20
