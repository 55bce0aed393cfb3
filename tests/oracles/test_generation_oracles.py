"""The overlap metrics against rouge-score, sacrebleu and an independent SQuAD evaluation, on real and random text."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.metrics.generation_overlap import (
    EvidenceOverlapFaithfulness,
    ExactMatch,
    Rouge1,
    Rouge2,
    RougeL,
    TokenF1,
)
from pytest_auepora.metrics.generation_text import BleuScore, RougeScores, SentenceBleu
from pytest_auepora.metrics.text.tokens import words

from ..mutations import tries
from .squad import squad_f1, squad_normalise
from .texts import Compared, Pair, case, clapnq_pairs, clapnq_rows, measured, random_pairs, xquad_pairs

# --- ROUGE


@pytest.fixture(scope="module")
def rouge_scorers() -> dict[bool, Any]:
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="the oracle of ROUGE is rouge-score")
    kinds = ["rouge1", "rouge2", "rougeL"]
    return {stem: rouge_scorer.RougeScorer(kinds, use_stemmer=stem) for stem in (True, False)}


def compare_rouge(scorers: dict[bool, Any], pairs: list[Pair]) -> int:
    """Precision, recall and F of three variants, each identical to the last bit; returns how many were compared."""
    compared = 0
    for stem, scorer in scorers.items():
        metrics: dict[str, Metric] = {
            "rouge1": Rouge1(use_stemmer=stem),
            "rouge2": Rouge2(use_stemmer=stem),
            "rougeL": RougeL(use_stemmer=stem),
        }
        for answer, references in pairs:
            expected = scorer.score_multi(references, answer)
            for kind, metric in metrics.items():
                seen = measured(metric, (answer, references))
                theirs = expected[kind]
                ours = (seen.details["precision"], seen.details["recall"], seen.value)
                assert ours == (theirs.precision, theirs.recall, theirs.fmeasure), (kind, stem, answer, references)
                compared += 3
    return compared


@tries(200, 800)
@pytest.mark.slow
def test_rouge_is_rouge_score_on_random_text(rouge_scorers: dict[bool, Any], compared: Compared, tries: int) -> None:
    compared("rouge-score, random pairs", compare_rouge(rouge_scorers, list(random_pairs(tries, seed=7))))


@pytest.mark.slow
@pytest.mark.shared_data
def test_rouge_is_rouge_score_on_human_answers(
    rouge_scorers: dict[bool, Any], shared_data: Path, compared: Compared
) -> None:
    short = [p for p in clapnq_pairs(shared_data) if len(p[0]) < 900]
    compared("rouge-score, CLAPnq answers", compare_rouge(rouge_scorers, short))


def test_stems_are_rouge_scores(compared: Compared) -> None:
    """Every stem of a few thousand words, those with suffixes on top, one by one."""
    tokenize = pytest.importorskip("rouge_score.tokenizers", reason="the oracle of ROUGE is rouge-score")
    theirs = tokenize.DefaultTokenizer(use_stemmer=True)
    rng = random.Random(3)
    stems = ["".join(rng.choices("aeioubcdfglmnprsty", k=rng.randint(1, 7))) for _ in range(400)]
    endings = ("", "s", "es", "ed", "ing", "ational", "iveness", "fully", "y", "ies", "ement", "1")
    vocabulary = [s + e for s in stems for e in endings]
    for word in vocabulary:
        assert list(words(word, stem=True)) == theirs.tokenize(word)
    compared("rouge-score, stems", len(vocabulary))


# --- BLEU


@pytest.fixture(scope="module")
def sacrebleu() -> Any:
    return pytest.importorskip("sacrebleu", reason="the oracle of BLEU is sacrebleu")


BLEU_OPTIONS: list[dict[str, Any]] = [
    {},
    {"max_order": 2, "smooth_method": "floor", "smooth_value": 0.2},
    {"smooth_method": "add-k", "lowercase": True},
    {"smooth_method": "none", "tokenizer": "intl"},
    {"tokenizer": "char", "max_order": 6},
]


def oracle_bleu(sacrebleu: Any, options: dict[str, Any], *, effective_order: bool) -> Any:
    return sacrebleu.BLEU(
        max_ngram_order=options.get("max_order", 4),
        smooth_method=options.get("smooth_method", "exp"),
        smooth_value=options.get("smooth_value"),
        tokenize=options.get("tokenizer", "13a"),
        lowercase=options.get("lowercase", False),
        effective_order=effective_order,
    )


def compare_bleu(sacrebleu: Any, options: dict[str, Any], pairs: list[Pair]) -> int:
    per_case, corpus = SentenceBleu(**options), BleuScore(**options)
    oracle = oracle_bleu(sacrebleu, options, effective_order=True)
    cases = [case(p) for p in pairs]
    samples, outputs = [s for s, _ in cases], [o for _, o in cases]
    for (answer, references), at_once in zip(pairs, per_case.measure_many(samples, outputs), strict=True):
        theirs = oracle.sentence_score(answer, references)
        seen = measured(per_case, (answer, references))
        assert seen.value == min(theirs.score / 100, 1), (answer, references)
        assert at_once == seen, (answer, references)
    result = corpus.compute(samples, outputs)
    depth = max(len(r) for _, r in pairs)
    columns = [[(r[i] if i < len(r) else None) for _, r in pairs] for i in range(depth)]
    theirs = oracle_bleu(sacrebleu, options, effective_order=False).corpus_score([a for a, _ in pairs], columns)
    assert (result.value, result.details["precisions"]) == (theirs.score / 100, theirs.precisions)
    assert (result.details["answer_words"], result.details["reference_words"]) == (theirs.sys_len, theirs.ref_len)
    return len(pairs) + 1


@pytest.mark.parametrize("options", BLEU_OPTIONS, ids=lambda o: "-".join(map(str, o.values())) or "default")
def test_bleu_is_sacrebleu_on_random_text(sacrebleu: Any, options: dict[str, Any], compared: Compared) -> None:
    compared("sacrebleu, random pairs", compare_bleu(sacrebleu, options, list(random_pairs(100, seed=11))))


@pytest.mark.slow
@pytest.mark.shared_data
def test_bleu_is_sacrebleu_on_human_answers(sacrebleu: Any, shared_data: Path, compared: Compared) -> None:
    compared("sacrebleu, CLAPnq answers", compare_bleu(sacrebleu, {}, clapnq_pairs(shared_data)))


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_bleu_counts_are_sacrebleus_where_words_repeat(sacrebleu: Any, order: int, compared: Compared) -> None:
    """Few words, so that n-grams of every order come back and are clipped; some texts are empty, references several."""
    ours, rng, n = BleuScore(max_order=order), random.Random(order), 100
    for _ in range(n):
        words = ["a", "b", "c.", "Ünï", "中", "1,5", "-", "a"][: rng.randint(1, 8)]
        lengths = rng.choices((0, 1, 3, 9, 30), k=rng.randint(2, 4))
        given, *wanted = (" ".join(rng.choices(words, k=length)) for length in lengths)
        theirs = sacrebleu.BLEU(max_ngram_order=order, effective_order=True).sentence_score(given, wanted)
        seen = ours.statistics(given, wanted)
        assert seen == [theirs.sys_len, theirs.ref_len, *theirs.counts, *theirs.totals], (given, wanted)
    compared("sacrebleu, counts of n-grams", n)


# --- SQuAD


def compare_squad(pairs: list[Pair], **options: bool) -> int:
    exact, f1 = ExactMatch(**options), TokenF1(**options)
    for answer, references in pairs:
        assert measured(f1, (answer, references)).value == max(squad_f1(answer, r) for r in references)
        same = max(squad_normalise(answer) == squad_normalise(r) for r in references)
        assert measured(exact, (answer, references)).value == same
    return 2 * len(pairs)


@pytest.mark.shared_data
@pytest.mark.slow
def test_em_and_f1_are_squads_on_xquad(shared_data: Path, compared: Compared) -> None:
    pairs = xquad_pairs(shared_data)
    n = compare_squad(pairs) + compare_squad(pairs, multilingual=False)
    compared("SQuAD v1.1 evaluation, XQuAD", n)


@pytest.mark.shared_data
@pytest.mark.slow
def test_em_and_f1_are_squads_on_human_answers(shared_data: Path, compared: Compared) -> None:
    compared("SQuAD v1.1 evaluation, CLAPnq answers", compare_squad(clapnq_pairs(shared_data)))


def test_em_and_f1_are_squads_on_any_text(compared: Compared) -> None:
    rng = random.Random(13)
    odd = [
        chr(c)
        for lo, hi in ((0x20, 0x250), (0x600, 0x640), (0x4E00, 0x4E20), (0x1F600, 0x1F610))
        for c in range(lo, hi)
    ]

    def text() -> str:
        return "".join(
            rng.choice(odd) if rng.random() < 0.4 else rng.choice(["the ", "a", " an ", "x", " "]) for _ in range(30)
        )

    pairs: list[Pair] = []
    while len(pairs) < 2000:
        reference, answer = text(), text()
        if squad_normalise(reference) and squad_normalise(answer):
            pairs.append((answer if rng.random() < 0.7 else reference.upper(), [reference]))
    compared("SQuAD v1.1 evaluation, random text", compare_squad(pairs, multilingual=False))


# --- evidence overlap


@pytest.mark.shared_data
@pytest.mark.parametrize("n", [1, 2, 3])
def test_evidence_overlap_on_human_answers(shared_data: Path, n: int, compared: Compared) -> None:
    """CLAPnq's answers against their passages, counted again with plain sets over ASCII passages."""
    metric, done = EvidenceOverlapFaithfulness(n=n), 0
    for row in clapnq_rows(shared_data):
        passage = row["passages"][0]["text"]
        for answer in (o["answer"] for o in row["output"]):
            if not (len(answer.split()) > n and passage.isascii() and answer.isascii()):
                continue
            cut = [w for w in re.split(r"[^a-z0-9]+", answer.lower()) if w]
            known = [w for w in re.split(r"[^a-z0-9]+", passage.lower()) if w]
            windows = {tuple(known[i : i + n]) for i in range(len(known) - n + 1)}
            grams = [tuple(cut[i : i + n]) for i in range(len(cut) - n + 1)]
            seen = metric.measure(*case((answer, [answer]), evidence=passage))
            assert isinstance(seen, Measurement)
            assert seen.value == sum(g in windows for g in grams) / len(grams)
            done += 1
    compared("independent n-gram count, CLAPnq answers", done)


@pytest.mark.slow
def test_mean_of_rouge_variants_is_their_mean(rouge_scorers: dict[bool, Any], compared: Compared) -> None:
    metric, n = RougeScores(variants=("rouge1", "rougeL")), 0
    for answer, references in random_pairs(200, seed=17):
        theirs = rouge_scorers[True].score_multi(references, answer)
        expected = (theirs["rouge1"].fmeasure + theirs["rougeL"].fmeasure) / 2
        assert measured(metric, (answer, references)).value == expected
        n += 1
    compared("rouge-score, mean of variants", n)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """In an interpreter of its own: naming every metric, EM, F1 and ROUGE without stems need no heavy package."""
    import subprocess

    code = (
        "import sys\n"
        "from pytest_auepora.metrics import generation_text as g\n"
        "from pytest_auepora.core.types import *\n"
        "metrics = [getattr(g, n)() for n in g.__all__]\n"
        "s = EvaluationSample('1', 'q', reference_answer=Response('x y'))\n"
        "o = SystemOutputs([], Response('x z'))\n"
        "g.ExactMatch().measure(s, o); g.TokenF1().measure(s, o); g.RougeL(use_stemmer=False).measure(s, o)\n"
        "print([m for m in ('nltk', 'sacrebleu', 'numpy', 'asyncio') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
