"""The example suite: its corpus, its RAG, its golden cases, and that each way to break it is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from example_suite.corpus import build_corpus, load_topics
from example_suite.example_plan import build_plan, load_dataset
from example_suite.simple_rag import (
    REFUSAL,
    SWITCH,
    Bm25Retriever,
    Breakage,
    Lexicon,
    SentenceGenerator,
    build_rag,
    chunks_for,
)
from pytest_auepora.core.case_scores import Score
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.scoring import aggregate, score_case
from pytest_auepora.core.types import Document, EvaluationSample, SystemOutputs
from pytest_auepora.io.golden import load_golden
from pytest_auepora.io.golden_model import GoldenSuite
from pytest_auepora.labels.check import check_case
from pytest_auepora.labels.corpus import corpus_of
from pytest_auepora.labels.fallback import settle
from pytest_auepora.labels.passages import Passage
from pytest_auepora.labels.repair import repair
from pytest_auepora.metrics.gold import fold_quote
from pytest_auepora.metrics.registry import Registry

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "example_suite" / "python_reference.golden.yaml"


@cache
def corpus() -> Sequence[Document]:
    return tuple(build_corpus())


@cache
def lexicon() -> Lexicon:
    return Lexicon(corpus())


@cache
def suite() -> GoldenSuite:
    return load_golden(GOLDEN)


@cache
def outputs(breakage: Breakage) -> dict[str, SystemOutputs]:
    """What the system, broken or not, gives for every golden case that it does not fail on."""
    rag = build_rag(breakage, list(corpus()))
    out: dict[str, SystemOutputs] = {}
    for case in suite().cases:
        try:
            out[case.id] = rag.run(case.sample, top_k=case.top_k)
        except ConnectionError:
            assert breakage is Breakage.RAISE
    return out


@cache
def means(breakage: Breakage) -> dict[str, float]:
    """Return the aggregates over the cases that gave an answer."""
    registry = Registry()
    metrics = [registry.get(name) for name in suite().metrics]
    given = outputs(breakage)
    scores: dict[str, list[Score]] = {m.name: [] for m in metrics}
    for case in suite().cases:
        if case.id in given:
            for name, score in score_case(metrics, case.sample, given[case.id]).items():
                scores[name].append(score)
    found = {m.name: aggregate(m, scores[m.name]).value for m in metrics}
    return {name: value for name, value in found.items() if value is not None}


# --- corpus ---


def test_ids_are_unique_readable_and_say_where_the_chunk_comes_from() -> None:
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


def test_a_page_without_headings_is_a_section_and_indented_lines_stay_with_their_own() -> None:
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


def test_the_same_question_gives_the_same_answer_from_a_second_index() -> None:
    again = build_rag(chunks=build_corpus())
    for case in suite().cases[::9]:
        first, second = outputs(Breakage.NONE)[case.id], again.run(case.sample)
        assert [(r.doc.doc_id, r.score) for r in first.retrieved] == [(r.doc.doc_id, r.score) for r in second.retrieved]
        assert first.response == second.response


def test_it_answers_in_the_words_of_what_it_found() -> None:
    for case_id, out in outputs(Breakage.NONE).items():
        if not out.response.metadata["refused"]:
            assert any(out.response.text in " ".join(r.doc.text.split()) for r in out.retrieved), case_id


def test_words_in_quotes_are_code_and_count_although_they_are_small_talk_elsewhere() -> None:
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


# --- golden cases ---


def test_there_are_cases_of_every_kind() -> None:
    cases = suite().cases
    scenarios = Counter(case.sample.labels.get("scenario") for case in cases)
    assert len(cases) >= 45
    assert scenarios["typo"] >= 5
    assert scenarios["paraphrase"] >= 5
    assert sum(case.sample.relevant_docs == [] for case in cases) >= 5
    grades = {d.metadata["grade"] for case in cases for d in case.sample.relevant_docs or () if "grade" in d.metadata}
    assert 2 in grades
    assert sum(len(case.sample.relevant_docs or ()) > 1 for case in cases) >= 5
    assert any("smoke" in case.tags for case in cases)


def test_every_quote_stands_in_exactly_one_chunk_of_this_python() -> None:
    labels = [(case.id, doc) for case in suite().cases for doc in case.sample.relevant_docs or ()]
    assert labels
    wrong = []
    for case_id, label in labels:
        assert label.metadata["match"] == "quote"
        chunks = [d.text for d in corpus() if d.metadata["document_id"] == label.doc_id]
        found = sum(fold_quote(label.text) in fold_quote(text) for text in chunks)
        if found != 1:
            wrong.append((case_id, label.doc_id, label.text, found))
    assert wrong == []


def test_a_typo_variant_keeps_the_labels_and_differs_in_the_query() -> None:
    for case in suite().cases:
        if case.sample.labels.get("scenario") == "typo":
            base = suite().case(case.sample.labels["variant_of"]).sample
            assert case.sample.relevant_docs == base.relevant_docs
            assert case.sample.query != base.query
            assert abs(len(case.sample.query) - len(base.query)) <= 4


def test_the_committed_baseline_is_of_these_very_cases() -> None:
    path = GOLDEN.parent / "__baselines__" / "python_reference.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert {k: v["hash"] for k, v in stored["cases"].items()} == {c.id: c.content_hash for c in suite().cases}


def test_retrieval_scores_what_the_baseline_says_whatever_python_this_is() -> None:
    path = GOLDEN.parent / "__baselines__" / "python_reference.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["cases"]
    metrics = [Registry().get(name) for name in ("recall@5", "mrr@5", "ndcg@5")]
    fallen = {}
    for case in suite().cases:
        for name, score in score_case(metrics, case.sample, outputs(Breakage.NONE)[case.id]).items():
            before = stored[case.id]["scores"][name]
            if (before is None) != (score.value is None) or (score.value or 0.0) < (before or 0.0) - 0.5:
                fallen[case.id, name] = (before, score.value)
    assert fallen == {}


def test_the_thresholds_hold_with_room_to_spare() -> None:
    found = means(Breakage.NONE)
    gates = {g.metric: g.bound.limit for g in suite().gates if not g.slice and g.metric in found}
    assert len(gates) >= 5
    assert {name: found[name] for name, limit in gates.items() if found[name] < limit + 0.03} == {}


# --- breaking it ---


@pytest.mark.parametrize("breakage", [Breakage.RETRIEVER, Breakage.INDEX])
def test_a_broken_retriever_hurts_retrieval(breakage: Breakage) -> None:
    whole, broken = means(Breakage.NONE), means(breakage)
    for name in ("recall@5", "mrr@5", "ndcg@5"):
        assert broken[name] < whole[name] - 0.15
    assert broken["recall@5"] < 0.9


def test_a_broken_generator_hurts_answers_and_refusals_and_leaves_retrieval_alone() -> None:
    whole, broken = means(Breakage.NONE), means(Breakage.GENERATOR)
    assert broken["recall@5"] == whole["recall@5"]
    assert broken["token_f1"] < whole["token_f1"] - 0.3
    assert broken["assertion_pass"] < 0.2
    assert broken["refusal_correctness"] < whole["refusal_correctness"] - 0.5


def test_a_broken_connection_loses_the_same_questions_every_time() -> None:
    lost = set(outputs(Breakage.NONE)) - set(outputs(Breakage.RAISE))
    assert 8 <= len(lost) <= 30
    rag = build_rag(Breakage.RAISE, list(corpus()))
    with pytest.raises(ConnectionError, match="shard 2"):
        rag.run(suite().case(sorted(lost)[0]).sample)


def test_hanging_means_the_same_questions_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("example_suite.simple_rag.time.sleep", slept.append)
    rag = build_rag(Breakage.HANG, list(corpus()))
    for case in suite().cases:
        try:
            rag.run(case.sample)
        except ConnectionError:
            continue
    assert len(slept) == len(outputs(Breakage.NONE)) - len(outputs(Breakage.RAISE))
    assert min(slept) >= 600


def test_the_switch_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    assert Breakage.from_environment() is Breakage.NONE
    monkeypatch.setenv(SWITCH, " Retriever ")
    assert Breakage.from_environment() is Breakage.RETRIEVER
    monkeypatch.setenv(SWITCH, "retreiver")
    with pytest.raises(ValueError, match="expected one of retriever, index, generator, raise, hang, rechunk"):
        Breakage.from_environment()


# --- the plan ---


def test_the_plan_covers_retrieval_generation_and_the_system() -> None:
    targets = {target.name.split("_")[0] for target in build_plan().grouped_by_target()}
    assert {"RETRIEVAL", "GENERATION", "NEGATIVE", "LATENCY"} <= targets
    build_plan().validate_dataset(list(load_dataset()))
    with pytest.raises(ValueError, match="relevant_docs"):
        build_plan().validate_dataset([EvaluationSample("x", "q")])


def test_the_plan_runs_as_a_script_from_anywhere_and_agrees_with_the_suite(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != SWITCH}
    script = ROOT / "example_suite" / "example_plan.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=120
    )
    assert f"{suite().name}: {len(suite().cases)} cases" in done.stdout
    for name in ("recall@5", "mrr@5", "ndcg@5", "token_f1", "rougeL", "refusal_correctness"):
        row = next(line for line in done.stdout.splitlines() if f"| {name} |" in line)
        assert float(row.split("|")[3]) == pytest.approx(means(Breakage.NONE)[name], abs=5e-5)


# --- cut anew ---

BY_ID = GOLDEN.with_name("by_chunk_id.yaml")


@cache
def long_chunks() -> Sequence[Document]:
    return tuple(chunks_for(Breakage.RECHUNK))


def remembered(_case_id: str, chunk_id: str) -> list[Passage]:
    return [
        Passage(d.text, d.metadata["document_id"], (d.metadata["start"], d.metadata["end"]), "the old corpus")
        for d in corpus()
        if d.doc_id == chunk_id
    ]


def test_the_same_corpus_is_cut_into_fewer_chunks_under_other_ids() -> None:
    assert len(long_chunks()) < 0.8 * len(corpus())
    assert not {d.doc_id for d in long_chunks()} & {d.doc_id for d in corpus()}
    assert "".join("".join(d.text.split()) for d in long_chunks()) == "".join("".join(d.text.split()) for d in corpus())


def test_labels_by_chunk_id_move_and_the_score_does_not_fall_with_them() -> None:
    cases = load_golden(BY_ID).cases
    now = corpus_of(long_chunks())
    checked = {case.id: check_case(case, now, [remembered]) for case in cases}
    kinds = {i: labels[0].finding.kind for i, labels in checked.items()}
    assert "valid" not in kinds.values()
    assert [kinds[i] for i in ("pass-purpose", "continue-where")] == ["re-anchorable"] * 2
    assert set(kinds.values()) == {"re-anchorable", "merged", "split"}  # which the others are differs by the Python
    rag = build_rag(Breakage.RECHUNK, list(long_chunks()))
    recall = Registry().get("recall@5")
    naive, settled = [], []
    for case in cases:
        out = rag.run(case.sample, top_k=case.top_k)
        naive.append(recall.measure(case.sample, out))
        out.memo.clear()
        settled.append(recall.measure(settle(case, checked[case.id], now).sample, out))
    assert [m.value for m in naive if isinstance(m, Measurement)] == [0.0] * len(cases)
    assert [m.value for m in settled if isinstance(m, Measurement)] == [1.0] * len(cases)


def test_the_provable_labels_are_repaired_and_nothing_else_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / BY_ID.name
    path.write_bytes(BY_ID.read_bytes())
    now = corpus_of(long_chunks())
    checked = [check_case(case, now, [remembered]) for case in load_golden(path).cases]
    done = repair(path, checked)
    assert len(done.new_ids) >= 4
    text = BY_ID.read_text(encoding="utf-8")
    for labels in checked:
        for one in labels:
            if new := done.new_ids.get((one.case_id, one.index)):
                text = text.replace(one.name, new)
    assert path.read_text(encoding="utf-8") == text
    again = [check_case(case, now) for case in load_golden(path).cases]
    assert sum(one.finding.moved for labels in again for one in labels) == len(again) - len(done.new_ids)
    assert repair(path, again).new_ids == {}


def test_quotes_survive_where_ids_do_not() -> None:
    now = corpus_of(long_chunks())
    found = [one for case in suite().cases for one in check_case(case, now)]
    assert len(found) > 80
    assert [one.name for one in found if one.finding.moved] == []
