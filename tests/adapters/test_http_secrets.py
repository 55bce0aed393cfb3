"""Secrets of an HTTP endpoint, which no message, name or report may show."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpCallError, HttpRag
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import OutputShapeError, SystemShapeError

from .asking import ask
from .endpoint import SECRET, Endpoint


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
