"""The corpus of the example suite, and its RAG."""

from __future__ import annotations

from collections import Counter

import pytest

from example_suite.corpus import build_corpus, load_topics
from example_suite.simple_rag import (
    K1,
    REFUSAL,
    WORDINGS,
    B,
    Bm25Retriever,
    Breakage,
    Lexicon,
    SentenceGenerator,
    build_rag,
    indexed_text,
    terms,
)
from pytest_auepora.core.types import Document
from pytest_auepora.metrics.ranking.gold import fold_quote

from .parts import corpus, lexicon, outputs, suite

# --- corpus ---


def test_ids_are_unique_and_say_where_the_chunk_is_from() -> None:
    ids = [d.doc_id for d in corpus()]
    assert len(set(ids)) == len(ids) > 400
    assert "assert#1" in ids
    for doc in corpus():
        assert doc.doc_id.startswith(doc.metadata["document_id"])
        assert not set(doc.doc_id) & set(" \n\"'")


def test_chunks_lie_where_they_say_and_do_not_overlap() -> None:
    topics = load_topics()
    ends: dict[str, int] = {}
    for doc in corpus():
        meta = doc.metadata
        assert topics[meta["document_id"]][meta["start"] : meta["end"]] == doc.text
        assert meta["start"] >= ends.get(meta["document_id"], 0)
        ends[meta["document_id"]] = meta["end"]


def test_no_text_is_lost_between_the_chunks_of_an_unshared_page() -> None:
    text = load_topics()["debugger"]
    kept = " ".join(d.text for d in corpus() if d.metadata["document_id"] == "debugger").split()
    headings = {d.metadata["heading"] for d in corpus()}
    wanted = Counter(text.split())
    assert Counter(kept) <= wanted
    lost = wanted - Counter(kept)
    allowed = Counter(word for h in headings for word in h.split())
    assert {w for w in lost if w not in allowed and w.strip("*=-~^")} == set()


def test_a_passage_repeated_on_other_pages_is_taken_once() -> None:
    sentence = 'terminates the loop without executing the "else" clause'
    pages = [name for name, text in load_topics().items() if sentence in fold_quote(text)]
    owners = [d.metadata["document_id"] for d in corpus() if sentence in fold_quote(d.text)]
    assert "compound" in pages
    assert sorted(owners) == ["for", "while"]


def test_adding_text_to_one_section_renames_no_chunk_of_another() -> None:
    page = "Title\n*****\n\nIntro.\n\n\nFirst part\n==========\n\nOne.\n\n\nSecond part\n===========\n\nTwo.\n"
    grown = page.replace("One.", "One.\n\n" + "More words. " * 200 + "\n\nEnd.")
    before = {d.doc_id: d.text for d in build_corpus({"page": page})}
    after = {d.doc_id: d.text for d in build_corpus({"page": grown})}
    assert before == {"page#1": "Intro.", "page/first-part#1": "One.", "page/second-part#1": "Two."}
    assert len(after) > len(before)
    assert after["page/second-part#1"] == before["page/second-part#1"]


def test_a_page_without_headings_is_one_section() -> None:
    filler = "Words to fill. " * 58
    page = f"{filler}\n\nstr.join(iterable)\n\n   Return a string which is the concatenation.\n"
    texts = [d.text for d in build_corpus({"plain": page})]
    assert texts[-1].startswith("str.join(iterable)")
    assert texts[-1].endswith("concatenation.")


# --- RAG ---


@pytest.mark.parametrize("k", [1, 3, 5, 20])
def test_it_returns_k_documents_best_first(k: int) -> None:
    retriever = Bm25Retriever(corpus(), lexicon())
    hits = retriever.retrieve('What does the "with" statement do with an exception?', top_k=k)
    assert [h.rank for h in hits] == list(range(1, k + 1))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert len({h.doc.doc_id for h in hits}) == k


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    docs = [Document(f"d{i}", "the same words here", {"heading": "h"}) for i in range(30)]
    hits = Bm25Retriever(docs, Lexicon(docs)).retrieve("same words", top_k=7)
    assert [h.doc.doc_id for h in hits] == [f"d{i}" for i in range(7)]


def test_a_second_index_gives_the_same_answer() -> None:
    again = build_rag(chunks=build_corpus())
    for case in suite().cases[::9]:
        first, second = outputs(Breakage.NONE)[case.id], again.run(case.sample)
        assert [(r.doc.doc_id, r.score) for r in first.retrieved] == [(r.doc.doc_id, r.score) for r in second.retrieved]
        assert first.response == second.response


def test_it_answers_in_the_words_of_what_it_found() -> None:
    for case_id, out in outputs(Breakage.NONE).items():
        if not out.response.metadata["refused"]:
            found = [" ".join(r.doc.text.split()) for r in out.retrieved]
            pieces = [wording.split("{}") for wording in WORDINGS]
            said = {out.response.text.removeprefix(before).removesuffix(after) for before, after in pieces}
            assert any(sentence in text for sentence in said for text in found), case_id


def test_quoted_small_talk_is_code_and_counts() -> None:
    retriever = Bm25Retriever(corpus(), lexicon())
    assert retriever.retrieve('What is "not"?')
    assert retriever.retrieve("What is not?") == []


def test_a_misspelt_question_finds_what_the_question_finds() -> None:
    assert lexicon().query_terms("Are dictonaries mutabel?") == lexicon().query_terms("Are dictionaries mutable?")
    assert lexicon().query_terms("PyTorch") == ["pytorch"]  # nothing is close to it


def test_without_anything_found_it_refuses() -> None:
    response = SentenceGenerator(lexicon()).generate("What is a quokka?", [])
    assert response.text == REFUSAL
    assert response.metadata["refused"] is True


def test_scores_and_rankings_are_those_of_bm25s() -> None:
    bm25s = pytest.importorskip("bm25s", reason="holds BM25 to it")
    chunks = corpus()
    retriever, index = Bm25Retriever(chunks, lexicon()), bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index([terms(indexed_text(chunk)) for chunk in chunks], show_progress=False)
    for case in suite().cases:
        known = [term for term in lexicon().query_terms(case.sample.query) if term in index.vocab_dict]
        scores = [float(score) for score in index.get_scores(known)] if known else [0.0] * len(chunks)
        best = [i for i in sorted(range(len(chunks)), key=lambda i: -scores[i])[:5] if scores[i] > 0]
        hits = retriever.retrieve(case.sample.query)
        assert [hit.doc.doc_id for hit in hits] == [chunks[i].doc_id for i in best]
        assert [hit.score for hit in hits] == pytest.approx([scores[i] for i in best], abs=1e-5)
