"""RAG systems behind an HTTP endpoint, on a real server."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from functools import partial
from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpCallError, HttpRag
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.retry import RetryPolicy
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import CallTimeoutError, OutputShapeError, SystemShapeError
from tests.loopback import Quiet, nobody_listens, served

from .asking import SAMPLE, ask, ids

SECRET = "s3cret-token-value"


class Endpoint:
    """What the server noted of what it was asked, and what it is told to answer."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.status = 200
        self.body: bytes | Callable[[Any], object] = b"{}"
        self.headers: dict[str, str] = {}

    def says(self, value: Any) -> None:
        self.body = json.dumps(value).encode()


class Handler(Quiet):
    def __init__(self, endpoint: Endpoint, *args: Any) -> None:
        self.endpoint = endpoint
        super().__init__(*args)

    def answer(self) -> None:
        endpoint, sent = self.endpoint, self.sent()
        headers = {k.lower(): v for k, v in self.headers.items()}
        body = json.loads(sent) if sent else None
        endpoint.asked.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
        if callable(endpoint.body):
            endpoint.body(self)
            return
        self.send_response(endpoint.status)
        for name, value in endpoint.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(endpoint.body)))
        self.end_headers()
        self.wfile.write(endpoint.body)

    do_GET = do_POST = do_PUT = answer  # noqa: N815


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    with served(partial(Handler, made)) as url:
        made.url = f"{url}/ask"
        yield made


# -- asked and answered


def test_question_and_answer(endpoint: Endpoint) -> None:
    endpoint.says({"answer": "Within 30 days.", "hits": [{"id": "a", "text": "A.", "score": 0.5}, {"id": "b"}]})
    system = as_system(HttpRag(endpoint.url, documents="hits"))
    assert not system.is_async
    assert system.name == f"HTTP {endpoint.url.removeprefix('http://')}"
    outputs = ask(system)
    (asked,) = endpoint.asked
    assert (asked["method"], asked["path"], asked["body"]) == ("POST", "/ask", {"question": SAMPLE.query})
    assert asked["headers"]["content-type"] == asked["headers"]["accept"] == "application/json"
    assert outputs.response.text == "Within 30 days."
    assert ids(outputs) == ["a", "b"]
    assert outputs.retrieved[0].score == 0.5
    assert outputs.extra["status"] == 200


def test_what_an_orchestration_layer_reports(endpoint: Endpoint) -> None:
    timings = {"parse_ms": 5, "retrieval_ms": 120, "synthesis_ms": 80, "total_ms": 220, "zone": "eu"}
    endpoint.says({"answer": "Yes.", "timings": timings, "retry": {"attempts": 3}, "privacy": {"mode": "bypass"}})
    outputs = ask(HttpRag(endpoint.url))
    assert outputs.timings == {
        "parse": 0.005, "retrieval": 0.12, "synthesis": 0.08, "generation": 0.08, "end_to_end": 0.22,
    }  # fmt: skip
    assert outputs.extra == {**outputs.extra, "status": 200, "retry": {"attempts": 3}, "privacy": {"mode": "bypass"}}
    endpoint.says({"answer": "Yes.", "timings": "fast"})
    assert ask(HttpRag(endpoint.url)).timings == {"end_to_end": 1.5}


def test_paths_and_names_of_a_search_engine(endpoint: Endpoint) -> None:
    endpoint.says({
        "choices": [{"message": {"content": "Yes."}}],
        "data": {"hits": [{"_id": 7, "chunk_id": "no", "_score": 2.5, "_source": {"body": "B.", "lang": "en"}}]},
    })  # fmt: skip
    outputs = ask(HttpRag(endpoint.url, answer="$.choices[0].message['content']", documents="data.hits",
                          doc_id="_id", text="_source.body", score="_score"))  # fmt: skip
    assert outputs.response.text == "Yes."
    (found,) = outputs.retrieved
    assert (found.doc.doc_id, found.doc.text, found.score) == ("7", "B.", 2.5)
    assert found.doc.metadata["_source"] == {"body": "B.", "lang": "en"}


def test_retriever_alone_and_the_whole_reply_as_its_documents(endpoint: Endpoint) -> None:
    endpoint.says([{"id": "a"}, {"id": "b"}])
    outputs = ask(HttpRag(endpoint.url, answer=None, documents="$"))
    assert (outputs.response.text, ids(outputs)) == ("", ["a", "b"])


def test_body_is_filled_in_and_a_number_stays_one(endpoint: Endpoint) -> None:
    endpoint.says({"answer": ""})
    body = {"q": "Q: {query}?", "k": "{top_k}", "tags": ["{sample_id}", "{other}", 3, None]}
    sample = EvaluationSample("case {query}", 'say "{top_k}" in ünïcode')
    ask(HttpRag(endpoint.url, json=body), sample)
    assert endpoint.asked[0]["body"] == {
        "q": 'Q: say "{top_k}" in ünïcode?', "k": 5, "tags": ["case {query}", "{other}", 3, None],
    }  # fmt: skip


def test_get_puts_the_query_into_the_url_and_sends_no_body(endpoint: Endpoint) -> None:
    endpoint.says({"answer": "yes"})
    ask(HttpRag(endpoint.url + "?q={query}&k={top_k}", method="get"), EvaluationSample("c", "a&b=c/d é"))
    (asked,) = endpoint.asked
    assert (asked["method"], asked["path"], asked["body"]) == ("GET", "/ask?q=a%26b%3Dc%2Fd%20%C3%A9&k=5", None)


def test_header_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", SECRET)
    endpoint.says({"answer": "yes"})
    ask(HttpRag(endpoint.url, headers={"Authorization": "Bearer ${RAG_TOKEN}", "X-Team": "search"}))
    sent = endpoint.asked[0]["headers"]
    assert (sent["authorization"], sent["x-team"]) == (f"Bearer {SECRET}", "search")


# -- what goes wrong at the other end


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
    with pytest.raises(OutputShapeError, match="answered 200 with something that is no JSON: <html>oops</html>"):
        ask(HttpRag(endpoint.url))
    endpoint.body = b""
    with pytest.raises(OutputShapeError, match=r"no JSON: \(an empty body\)"):
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


# -- secrets


@pytest.mark.parametrize("status", [200, 401])
def test_secret_that_the_endpoint_sends_back_is_hidden(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("RAG_TOKEN", SECRET)
    endpoint.status, endpoint.body = status, f"Bearer {SECRET} is not known".encode()
    rag = HttpRag(endpoint.url, headers={"Authorization": "Bearer ${RAG_TOKEN}"})
    with pytest.raises((HttpCallError, OutputShapeError), match="is not known") as caught:
        ask(rag)
    for text in (str(caught.value), repr(caught.value), repr(rag), as_system(rag).name):
        assert SECRET not in text
    assert "Authorization" in repr(rag)


HITS = {"answer": "x", "hits": [{"text": f"{'x' * 20} {SECRET}", "you sent": f"Bearer {SECRET}"}]}


@pytest.mark.parametrize("sent", [{"answer": f"no: {SECRET}"}, {"answer": {f"Bearer {SECRET}": SECRET}}, HITS])
def test_a_secret_inside_a_reply_is_in_no_message(endpoint: Endpoint, sent: Any) -> None:
    endpoint.says(sent)
    rag = HttpRag(endpoint.url, documents="hits", doc_id="_id", headers={"X-Tenant": SECRET})
    with pytest.raises(OutputShapeError) as caught:
        ask(rag)
    assert SECRET[:6] not in str(caught.value)


def test_a_secret_inside_an_answer_or_a_document_is_masked(endpoint: Endpoint) -> None:
    endpoint.says({"answer": f"for {SECRET}", "hits": [{"id": "a", "text": f"Authorization: Bearer {SECRET}"}]})
    outputs = ask(HttpRag(endpoint.url, documents="hits", headers={"Authorization": f"Bearer {SECRET}"}))
    assert SECRET not in repr(outputs)
    assert outputs.response.text == "for ***"


def test_words_of_other_headers_stay_in_answers(endpoint: Endpoint) -> None:
    endpoint.says({"answer": "paid by production"})
    assert ask(HttpRag(endpoint.url, headers={"X-Stage": "production"})).response.text == "paid by production"


def test_query_string_is_in_no_repr_and_no_message(endpoint: Endpoint) -> None:
    endpoint.status = 500
    rag = HttpRag(endpoint.url + f"?key={SECRET}")
    with pytest.raises(HttpCallError) as caught:
        ask(rag)
    assert SECRET not in str(caught.value) + repr(rag) + as_system(rag).name


def test_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAG_TOKEN", raising=False)
    with pytest.raises(SystemShapeError, match=r"the header Authorization needs \$RAG_TOKEN, which is not in the env"):
        HttpRag("http://127.0.0.1/", headers={"Authorization": "Bearer ${RAG_TOKEN}"})


@pytest.mark.parametrize(("value", "why"), [(SECRET + "\n", "holds a line break"), (SECRET + "…", "cannot send")])
def test_value_that_cannot_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch, value: str, why: str) -> None:
    monkeypatch.setenv("RAG_TOKEN", value)
    with pytest.raises(SystemShapeError, match=why) as caught:
        HttpRag("http://127.0.0.1/", headers={"X-Key": "${RAG_TOKEN}"})
    assert SECRET not in str(caught.value)


# -- configuration


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "ftp://a/b"}, "'ftp' is no http"),
        ({"url": "localhost:80/ask"}, "is no http"),
        ({"url": "https://me:pw@host/"}, "put it into a header"),
        ({"answer": None}, "nothing would be measured"),
        ({"answer": ""}, "an empty text is no path"),
        ({"answer": "a[b"}, "is no path"),
        ({"timeout": 0}, "seconds, above 0"),
        ({"headers": {"a b": "c"}}, "no name of an HTTP header"),
    ],
)
def test_configuration_that_cannot_be(options: dict[str, Any], told: str) -> None:
    with pytest.raises(SystemShapeError, match=told) as caught:
        HttpRag(**{"url": "http://127.0.0.1/", **options})
    assert "pw" not in str(caught.value)
