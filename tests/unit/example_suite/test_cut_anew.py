"""The corpus of the example suite cut anew: what becomes of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from example_suite.simple_rag import (
    Breakage,
    build_rag,
    chunks_for,
)
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.labels.check import check_case, relabel
from pytest_auepora.labels.corpus import Chunk, corpus_of
from pytest_auepora.labels.repair import repair
from pytest_auepora.metrics.registry import Registry

from .parts import GOLDEN, corpus, suite

BY_ID = GOLDEN.with_name("by_chunk_id.yaml")


@cache
def long_chunks() -> Sequence[Document]:
    return tuple(chunks_for(Breakage.RECHUNK))


def remembered(_case_id: str, chunk_id: str) -> list[Chunk]:
    return [Chunk.of(d, "the old corpus") for d in corpus() if d.doc_id == chunk_id]


def test_the_corpus_is_cut_into_fewer_chunks_with_other_ids() -> None:
    assert len(long_chunks()) < 0.8 * len(corpus())
    assert not {d.doc_id for d in long_chunks()} & {d.doc_id for d in corpus()}
    assert "".join("".join(d.text.split()) for d in long_chunks()) == "".join("".join(d.text.split()) for d in corpus())


def test_labels_by_chunk_id_move_and_the_score_stays() -> None:
    cases = load_golden(BY_ID).cases
    now = corpus_of(long_chunks())
    checked = {case.id: check_case(case, now, [remembered]) for case in cases}
    kinds = {i: labels[0].finding.kind for i, labels in checked.items()}
    assert "valid" not in kinds.values()
    assert [kinds[i] for i in ("pass-purpose", "continue-where")] == ["re-anchorable"] * 2
    assert set(kinds.values()) == {"re-anchorable", "merged", "split"}  # which the others are differs by the Python
    rag = build_rag(Breakage.RECHUNK, list(long_chunks()))
    recall = Registry().get("recall@5")
    naive, relabelled = [], []
    for case in cases:
        out = rag.run(case.sample, top_k=case.top_k)
        naive.append(recall.measure(case.sample, out))
        out.memo.clear()
        relabelled.append(recall.measure(relabel(case, checked[case.id], now).sample, out))
    assert [m.value for m in naive if isinstance(m, Measurement)] == [0.0] * len(cases)
    assert [m.value for m in relabelled if isinstance(m, Measurement)] == [1.0] * len(cases)


def test_provable_labels_are_repaired_and_nothing_else(tmp_path: Path) -> None:
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
