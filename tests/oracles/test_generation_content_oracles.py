"""chrF against sacrebleu; recall, containment and support against counts written here from their definitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.generation_overlap import AnswerRecall, ContainsAnswer, KPrecision
from pytest_auepora.metrics.text.bleu import Chrf
from pytest_auepora.metrics.text.numbers import UnsupportedNumbers

from .squad import squad_normalise
from .texts import Compared, Pair, case, clapnq_pairs, clapnq_rows, has_word, measured, random_pairs, xquad_pairs


def compare_chrf(pairs: list[Pair], **options: Any) -> int:
    sacrebleu = pytest.importorskip("sacrebleu", reason="the oracle of chrF is sacrebleu")
    metric, oracle = Chrf(**options), sacrebleu.CHRF(**options)
    for answer, references in pairs:
        theirs = oracle.sentence_score(answer, references).score / 100
        assert measured(metric, (answer, references)).value == pytest.approx(theirs, abs=1e-9), (answer, references)
    cases = [case(p) for p in pairs]
    depth = max(len(r) for _, r in pairs)
    columns = [[(r[i] if i < len(r) else None) for _, r in pairs] for i in range(depth)]
    result = metric.compute([s for s, _ in cases], [o for _, o in cases])
    corpus = oracle.corpus_score([a for a, _ in pairs], columns).score / 100
    assert result.details["corpus"] == pytest.approx(corpus, abs=1e-9)
    return len(pairs) + 1


@pytest.mark.parametrize("options", [{}, {"char_order": 3, "beta": 1, "lowercase": True}], ids=["default", "options"])
@pytest.mark.slow
def test_chrf_is_sacrebleu_on_random_text(options: dict[str, Any], compared: Compared) -> None:
    pairs = [*random_pairs(300, seed=23), ("北京", ["北京大学", "东京"]), ("a", ["abcdefgh"]), ("é", ["e"])]
    compared("sacrebleu chrF, random pairs", compare_chrf(pairs, **options))


@pytest.mark.slow
@pytest.mark.shared_data
def test_chrf_is_sacrebleu_on_real_answers(shared_data: Path, compared: Compared) -> None:
    pairs = [p for p in clapnq_pairs(shared_data) if len(p[0]) < 700][:300] + xquad_pairs(shared_data)[:900]
    compared("sacrebleu chrF, CLAPnq and XQuAD", compare_chrf(pairs))


def compare_recall(pairs: list[Pair]) -> int:
    recall, contains = AnswerRecall(), ContainsAnswer()
    for answer, references in pairs:
        cut = squad_normalise(answer)
        wanted = [Counter(squad_normalise(r).split()) for r in references]
        expected = max(sum((Counter(cut.split()) & w).values()) / sum(w.values()) for w in wanted)
        assert measured(recall, (answer, references)).value == expected
        held = any(f" {squad_normalise(r)} " in f" {cut} " for r in references)
        assert measured(contains, (answer, references)).value == held, (answer, references)
    return 2 * len(pairs)


@pytest.mark.shared_data
@pytest.mark.slow
def test_recall_and_containment_on_real_answers(shared_data: Path, compared: Compared) -> None:
    compared("independent recall count, XQuAD", compare_recall(xquad_pairs(shared_data)))
    compared("independent recall count, CLAPnq", compare_recall(clapnq_pairs(shared_data)))


@pytest.mark.shared_data
def test_k_precision_on_human_answers(shared_data: Path, compared: Compared) -> None:
    metric, n = KPrecision(), 0
    for row in clapnq_rows(shared_data):
        passage = row["passages"][0]["text"]
        for answer in (o["answer"] for o in row["output"] if has_word(o["answer"])):
            given, known = Counter(squad_normalise(answer).split()), Counter(squad_normalise(passage).split())
            seen = metric.measure(*case((answer, [answer]), evidence=passage))
            assert isinstance(seen, Measurement)
            assert seen.value == sum((given & known).values()) / sum(given.values())
            n += 1
    compared("independent K-precision count, CLAPnq", n)


@pytest.mark.shared_data
def test_human_answers_hardly_state_numbers_the_passage_lacks(shared_data: Path) -> None:
    """Answers written from the passage are a check of false alarms: almost every number must be found."""
    metric, bad, asked = UnsupportedNumbers(), 0, 0
    for row in clapnq_rows(shared_data):
        for answer in (o["answer"] for o in row["output"]):
            seen = metric.measure(*case((answer, [answer]), evidence=row["passages"][0]["text"]))
            if isinstance(seen, Measurement):
                asked += 1
                bad += seen.value != 0
    assert asked > 150
    assert bad / asked < 0.02
