"""What the files of the small project say: its system, plain, counted and timed, and its golden cases."""

from __future__ import annotations

RAG = """
DOCS = {
    "refunds": "A refund can be asked for within 30 days of purchase.",
    "shipping": "Parcels leave the warehouse within two working days.",
    "returns": "Returns are free when the label of the parcel is used.",
    "warranty": "The warranty lasts for 24 months from the day of delivery.",
    "contact": "Support answers by telephone from nine to five.",
}


def words(text):
    return {w.strip(".,?!").lower() for w in text.split() if len(w) > 3}


def search(query, docs=DOCS):
    hits = {k: len(words(query) & words(v)) for k, v in docs.items()}
    return [k for k in sorted(docs, key=lambda k: (-hits[k], k)) if hits[k]]


def answer(query, docs=DOCS):
    found = search(query, docs)
    text = docs[found[0]] if found else "I don't know."
    return text, [{"id": k, "text": docs[k], "score": 1.0 / (i + 1)} for i, k in enumerate(found)]
"""

CONFTEST = """
import pytest
from shop import DOCS, answer


@pytest.fixture(scope="session")
def rag():
    return answer
"""

COUNTING = """\
def client():
    if not pathlib.Path("key.txt").exists():
        raise RuntimeError("no key")
    return answer


@pytest.fixture(scope="session")
def rag(client):
    def ask(query):
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        if pathlib.Path("down.txt").exists() and "warehouse" in query:
            raise ConnectionError("no route")
        return client(query)

    return ask
"""

TIMED = """\
def rag():
    slow = pathlib.Path("slow").exists()

    def ask(query):
        text, found = answer(query)
        return {"answer": text, "retrieved": found, "timings": {"end_to_end": 2.0 if slow else 1.0}}

    return ask
"""

GOLDEN = """\
suite: shop
metrics: [recall@1, recall@3, mrr, token_f1, refusal_correctness]
thresholds:
  recall@3: 0.9
cases:
  - id: refund-window
    query: Within how many days can a refund be asked for after purchase?
    relevant_docs: [refunds]
    reference_answer: A refund can be asked for within 30 days of purchase.
    must_contain: ["30 days"]
    tags: [smoke]
    thresholds: {token_f1: 0.5}
  - id: warehouse
    query: When do parcels leave the warehouse?
    relevant_docs: [shipping]
    reference_answer: Parcels leave the warehouse within two working days.
  - id: free-returns
    query: Are returns free with the label?
    relevant_docs: [returns]
  - id: warranty
    query: How many months does the warranty last from delivery?
    relevant_docs: [warranty]
    reference_answer: 24 months
  - id: ceo-salary
    query: Xyzzy plugh?
    relevant_docs: []
"""
