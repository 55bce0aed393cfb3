"""A project whose documents are cut into chunks, and cut anew: what the tests of labels start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import Example

PAGES = """
PAGES = {
    "refunds": ["Refunds are made to the card you paid with.", "A refund can be asked for within 30 days.",
                "Gift cards are final and not returned at all."],
    "delivery": ["Parcels leave the house within two working days.", "You get a message with a tracking number.",
                 "The number tells you where your parcel is just now."],
}


def cut(page, how):
    lines = PAGES[page]
    if how == "merged" and page == "refunds":
        return [" ".join(lines[:2]), lines[2]]
    if how == "split":
        return [half for line in lines for half in (line[:24], line[24:])]
    return lines


def chunks(how="old"):
    sign = "#" if how == "old" else ":"
    return [
        {"id": f"{page}{sign}{n}", "text": text, "metadata": {"document_id": page}}
        for page in PAGES
        for n, text in enumerate(cut(page, how), 1)
    ]


def words(text):
    return {w.strip(".,?").lower() for w in text.split()}


def ask(query, top_k, how):
    ranked = sorted(chunks(how), key=lambda c: -len(words(query) & words(c["text"])))
    return ranked[0]["text"], ranked[:top_k]
"""

CONFTEST = """
import pathlib
import pytest
import shop


@pytest.fixture(scope="session")
def rag():
    pathlib.Path("called").touch()
    return lambda query, top_k: shop.ask(query, top_k, {how!r})


@pytest.fixture(scope="session")
def auepora_corpus_ids():
    return shop.chunks({how!r})
"""

GOLDEN = """\
suite: shop          # chunks as the index names them
top_k: 2
metrics: [recall@2, mrr@2, token_f1]
thresholds: {recall@2: 1.0}
cases:
  - id: window       # asked most
    query: When can a refund be asked for?
    relevant_docs: [ 'refunds#2' ]   # within 30 days
  - id: tracking
    query: What tells me where my parcel is?
    relevant_docs:
      - {id: "delivery#3", grade: 2}
  - id: quoted
    query: Are gift cards final?
    relevant_docs: [{doc: refunds, quote: Gift cards are final}]
"""


def rechunk(project: Example, how: str) -> None:
    project.write("conftest.py", CONFTEST.format(how=how))


def called(project: Example) -> bool:
    return (project.path / "called").exists()


def accepted_under_old_chunks(project: Example) -> Example:
    """Make *project* a suite accepted under the old chunks, with its history."""
    project.write("shop.py", PAGES)
    project.write("shop.golden.yaml", GOLDEN)
    rechunk(project, "old")
    project.accept()
    (project.path / "called").unlink()
    return project
