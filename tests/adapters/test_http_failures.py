"""RAG systems behind an HTTP endpoint, when something goes wrong at the other end."""

from __future__ import annotations

import pickle
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpCallError, HttpRag
from pytest_auepora.base.retry import RetryPolicy
from pytest_auepora.errors import CallTimeoutError, OutputShapeError
from tests.loopback import nobody_listens

from .asking import ask
from .endpoint import Endpoint


def test_status_and_the_start_of_the_body_are_told(endpoint: Endpoint) -> None:
    endpoint.status, endpoint.body = 503, b"index is\n  loading " + b"x" * 300
    with pytest.raises(HttpCallError) as caught:
        ask(HttpRag(endpoint.url))
    assert caught.value.status == 503
    said = str(caught.value)
    assert said.startswith(f"POST {endpoint.url} answered 503 Service Unavailable: index is loading xxx")
    assert len(said.partition("Unavailable: ")[2]) == 200


@pytest.mark.parametrize(
    ("asked", "wait"),
    [({}, 0.5), ({"Retry-After": "20"}, 20), ({"retry-after-ms": "1500"}, 1.5), ({"Retry-After": "soon"}, 0.5)],
)
def test_what_the_endpoint_asks_to_wait_is_waited(endpoint: Endpoint, asked: dict[str, str], wait: float) -> None:
    endpoint.status, endpoint.headers = 429, asked
    with pytest.raises(HttpCallError) as caught:
        ask(HttpRag(endpoint.url))
    policy = RetryPolicy(("HttpCallError",))
    assert policy.pause(caught.value, 1) == wait
    assert caught.value.__context__ is None  # which goes along where tblib is installed, and holds an open reply
    again = pickle.loads(pickle.dumps(caught.value))  # on its way from a worker process
    assert (str(again), again.status, policy.pause(again, 1)) == (str(caught.value), 429, wait)


def test_a_date_that_the_endpoint_names_is_waited_for(endpoint: Endpoint) -> None:
    endpoint.status, endpoint.headers = 503, {"Retry-After": formatdate(time.time() + 3600, usegmt=True)}
    with pytest.raises(HttpCallError) as caught:
        ask(HttpRag(endpoint.url))
    assert caught.value.retry_after is not None
    assert 1800 < caught.value.retry_after <= 3600


def test_redirect_is_not_followed(endpoint: Endpoint) -> None:
    endpoint.status, endpoint.headers = 307, {"Location": endpoint.url + "/other"}
    with pytest.raises(HttpCallError, match="answered 307"):
        ask(HttpRag(endpoint.url))
    assert len(endpoint.asked) == 1


def test_slow_reply_is_given_up(endpoint: Endpoint) -> None:
    release = threading.Event()
    endpoint.body = lambda handler: release.wait(60)
    with pytest.raises(CallTimeoutError, match=r"did not answer within 0\.1 s"):
        ask(HttpRag(endpoint.url, timeout=0.1))
    release.set()


def test_reply_that_drips_is_given_up(endpoint: Endpoint) -> None:
    stop = threading.Event()

    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stop.wait(0.05):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    endpoint.body = drip
    with pytest.raises(CallTimeoutError):
        ask(HttpRag(endpoint.url, timeout=0.3))
    stop.set()


def test_connection_that_is_dropped(endpoint: Endpoint) -> None:
    endpoint.body = lambda handler: handler.connection.close()
    with pytest.raises(HttpCallError, match="could not be reached: ") as caught:
        ask(HttpRag(endpoint.url))
    assert caught.value.status is None


def test_nobody_listens() -> None:
    with nobody_listens() as url, pytest.raises(HttpCallError, match=r"could not be reached: .*refused"):
        ask(HttpRag(f"{url}/ask"))


def test_something_that_is_no_json(endpoint: Endpoint) -> None:
    endpoint.body = b"<html>oops</html>"
    with pytest.raises(OutputShapeError, match="answered 200 with something that is not JSON: <html>oops</html>"):
        ask(HttpRag(endpoint.url))
    endpoint.body = b""
    with pytest.raises(OutputShapeError, match=r"not JSON: \(an empty body\)"):
        ask(HttpRag(endpoint.url))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"answr": "x"}, r"answer is read at \$\.answer, and there is no 'answer' \(did you mean 'answr'\?\) in dict"),
        ({"answer": None, "hits": []}, r"there is NoneType: None, not a text"),
        ({"answer": {"text": "x"}, "hits": []}, r"there is dict with the keys 'text'.*not a text"),
        ({"answer": "x"}, r"documents is read at hits, and there is no 'hits' in dict"),
        ({"answer": "x", "hits": {"a": 1}}, r"documents is read at hits, and there is dict .*, not a list"),
        ({"answer": "x", "hits": ["a"]}, r"document 1 from .* is str: 'a', not a mapping"),
        ({"answer": "x", "hits": [{"_id": "a"}, {"id": "b"}]}, r"document 2 from .* has nothing at _id: dict"),
        (["x"], r"no 'answer' in list of 1"),
    ],
)
def test_wrong_shape_says_what_came_and_where(endpoint: Endpoint, said: Any, told: str) -> None:
    endpoint.says(said)
    with pytest.raises(OutputShapeError, match=told):
        ask(HttpRag(endpoint.url, documents="hits", doc_id="_id"))
