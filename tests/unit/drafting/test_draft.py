"""Drafts of a scripted model over this project's own pages: what is kept, what is rejected and why, counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_auepora.drafting.documents import DocumentPassage, passages_of, read_documents
from pytest_auepora.drafting.draft import Draft, Drafting
from pytest_auepora.metrics.ranking.gold import fold_quote

from .scripted import Scripted

PAGES = Path(__file__).resolve().parents[3] / "docs" / "pages" / "how-to"
SINGLE = {
    "unreadable": "unreadable reply",
    "paraphrased": "quote not found",
    "short": "quote too short",
    "leans": "not self-contained",
    "vague": "not self-contained",
    "copies": "copies the quote",
    "unanswerable": "not answerable from its quote",
    "other answer": "not answerable from its quote",
    "guessable": "answerable without the documents",
    "duplicate": "near-duplicate",
}


@pytest.fixture(scope="module")
def passages() -> list[DocumentPassage]:
    return passages_of(read_documents(PAGES))


def drafted(passages: list[DocumentPassage], faults: list[str], quotas: dict[str, int]) -> tuple[Scripted, list[Draft]]:
    model = Scripted(faults)
    return model, list(Drafting(passages, model, quotas).run())


def test_what_is_rejected_over_real_documents_and_why(passages: list[DocumentPassage]) -> None:
    model, outcomes = drafted(passages, ["", *SINGLE, "also"], {"single-hop": 2})
    reasons = Counter[str](o.reason for o in outcomes)
    expected = Counter(SINGLE.get(fault, "") for fault in model.made)
    assert reasons == expected
    assert len(outcomes) == len(model.made) > 60
    assert len([r for r in SINGLE.values() if reasons[r]]) == len(SINGLE)


def test_a_kept_draft_quotes_its_document_word_for_word(passages: list[DocumentPassage]) -> None:
    texts = {name: fold_quote(text) for name, text in read_documents(PAGES).items()}
    _, outcomes = drafted(passages, ["", "also"], {"single-hop": 1})
    cases = [outcome.case for outcome in outcomes if outcome.case is not None]
    assert {o.job.doc for o in outcomes} == set(texts)
    assert all(label["quote"] in texts[label["doc"]] for case in cases for label in case["relevant_docs"])
    assert all(case["status"] == "draft" and case["scenario"] == "single-hop" for case in cases)
    assert {len(case["relevant_docs"]) for case in cases} == {1, 2}
    assert len({case["id"] for case in cases}) == len(cases)
    assert cases[0]["metadata"]["drafted_by"].startswith("scripted, prompts ")


def test_other_passages_become_labels_only_with_their_own_words(passages: list[DocumentPassage]) -> None:
    _, outcomes = drafted(passages[:12], ["also, made up"], {"single-hop": 1})
    assert [len(o.case["relevant_docs"]) for o in outcomes if o.case] == [1] * len(outcomes)


def test_two_hops_need_both_quotes(passages: list[DocumentPassage]) -> None:
    faults = ["", "one", "one is enough", "unanswerable"]
    model, outcomes = drafted(passages[:40], faults, {"multi-hop": 1})
    expected = {
        "": "", "one": "no quote of each passage", "one is enough": "one quote is enough",
        "unanswerable": "not answerable from its quote",
    }  # fmt: skip
    assert Counter(o.reason for o in outcomes) == Counter(expected[fault] for fault in model.made)
    good = [o.case for o in outcomes if o.case is not None]
    assert good
    assert all(len(case["relevant_docs"]) == 2 for case in good)
    assert all(len(set(o.job.passages)) == 2 for o in outcomes)


def test_unanswerable_is_checked_against_the_whole_corpus(passages: list[DocumentPassage]) -> None:
    model, outcomes = drafted(passages[:40], ["", "answered"], {"unanswerable": 1})
    expected = Counter("the corpus answers it" if fault else "" for fault in model.made)
    assert Counter(o.reason for o in outcomes) == expected
    case = next(o.case for o in outcomes if o.case is not None)
    assert case["relevant_docs"] == []
    assert "reference_answer" not in case
    shown = sum(len(p.text) for p in passages[:40])
    assert model.asked.count("which") >= len(model.made) * (shown // 12_000)


def test_the_same_seed_tries_the_same_passages(passages: list[DocumentPassage]) -> None:
    def tried(seed: int) -> list[str]:
        return [o.job.key for o in Drafting(passages[:40], Scripted(), {"single-hop": 1}, seed=seed).run()]

    assert tried(0) == tried(0)
    assert tried(0) != tried(1)


def test_quotas_hold_and_are_filled_by_further_tries(passages: list[DocumentPassage]) -> None:
    _, outcomes = drafted(passages[:40], ["paraphrased", ""], {"single-hop": 2})
    kept = Counter(o.job.doc for o in outcomes if o.case)
    tried = Counter(o.job.doc for o in outcomes)
    assert max(kept.values()) == 2
    assert max(tried.values()) > 2


def test_what_was_done_is_not_asked_again(passages: list[DocumentPassage]) -> None:
    first = list(Drafting(passages[:40], Scripted(["", "paraphrased"]), {"single-hop": 1}).run())
    done = {outcome.job.key: outcome.case is not None for outcome in first}
    again = Drafting(passages[:40], Scripted(), {"single-hop": 1}, finished=done)
    assert not {job.key for jobs in again.queues.values() for job in jobs} & set(done)
    kept = {(o.job.doc, o.job.kind) for o in first if o.case is not None}
    assert {key for key, n in again.missing.items() if n == 0} == kept
    half = dict(list(done.items())[:5])
    model = Scripted()
    resumed = Drafting(passages[:40], model, {"single-hop": 1}, finished=half)
    wanted = [key for key, jobs in resumed.queues.items() if jobs]
    assert wanted
    list(resumed.run())
    assert len(model.made) == len(wanted)


def test_known_questions_are_not_asked_again(passages: list[DocumentPassage]) -> None:
    first = Scripted()
    asked = [o.question for o in Drafting(passages[:8], first, {"single-hop": 1}).run()]
    again = list(Drafting(passages[:8], Scripted(), {"single-hop": 1}, known=asked).run())
    assert all(o.reason == "near-duplicate" and o.about.startswith("Regarding") for o in again[: len(asked)])


def test_the_price_bounds_what_is_asked(passages: list[DocumentPassage]) -> None:
    quotas = {"single-hop": 1, "multi-hop": 1, "unanswerable": 1}
    good = Scripted()
    drafting = Drafting(passages[:60], good, quotas)
    least, most = drafting.price()
    list(drafting.run())
    assert len(good.asked) <= least.calls <= most.calls
    assert least.prompt_tokens < most.prompt_tokens
    unsure = Scripted(["", "other answer", "unsure"])
    list(Drafting(passages[:60], unsure, quotas).run())
    assert "same" in unsure.asked
    assert len(unsure.asked) <= most.calls
