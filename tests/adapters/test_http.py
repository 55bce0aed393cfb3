"""RAG systems behind an HTTP endpoint: what they are asked, what is read from their replies, how they are set up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpRag
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import PRINCIPAL
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import SystemShapeError

from .asking import SAMPLE, ask, ids
from .endpoint import SECRET, Endpoint


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


@pytest.mark.parametrize("stream", [False, True])
def test_who_asks_is_told_in_a_header(endpoint: Endpoint, stream: bool) -> None:
    endpoint.says({"answer": "yes"})
    system = HttpRag(endpoint.url, headers={"X-User": "{principal}", "X-Other": "{unknown}"}, stream=stream)
    assert PRINCIPAL in as_system(system).takes
    for who in ("intern", "manager"):
        ask(system, replace(SAMPLE, labels={"as": who}))
    assert [asked["headers"]["x-user"] for asked in endpoint.asked] == ["intern", "manager"]
    assert endpoint.asked[0]["headers"]["x-other"] == "{unknown}"
    assert PRINCIPAL not in as_system(HttpRag(endpoint.url, headers={"X-User": "me"})).takes


@pytest.mark.parametrize(("who", "told"), [("a\r\nX-Admin: 1", "a line break"), ("\u0141ukasz", "cannot send")])
def test_a_name_that_no_header_can_hold_is_an_error(endpoint: Endpoint, who: str, told: str) -> None:
    system = HttpRag(endpoint.url, headers={"X-User": "{principal}"})
    with pytest.raises(SystemShapeError, match=f"header X-User holds .*{told}"):
        ask(system, replace(SAMPLE, labels={"as": who}))
    assert not endpoint.asked


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "ftp://a/b"}, "'ftp' is not an http"),
        ({"url": "localhost:80/ask"}, "is not an http"),
        ({"url": "http://host:99999/"}, "no http.* URL: Port out of range"),
        ({"url": "http://[::1/"}, "no http.* URL: Invalid IPv6"),
        ({"url": "https://me:pw@host/"}, "put it into a header"),
        ({"answer": None}, "nothing would be measured"),
        ({"answer": ""}, "an empty text is not a path"),
        ({"answer": "a[b"}, "is not a path"),
        ({"timeout": 0}, "seconds, above 0"),
        ({"headers": {"a b": "c"}}, "not the name of an HTTP header"),
    ],
)
def test_configuration_that_cannot_be(options: dict[str, Any], told: str) -> None:
    with pytest.raises(SystemShapeError, match=told) as caught:
        HttpRag(**{"url": "http://127.0.0.1/", **options})
    assert "pw" not in str(caught.value)
