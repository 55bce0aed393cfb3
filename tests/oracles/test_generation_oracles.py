"""The overlap metrics against rouge-score, sacrebleu and an independent SQuAD evaluation, on real and random text."""

from __future__ import annotations

import json
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.bleu import Bleu
from pytest_auepora.metrics.generation_overlap import (
    BleuScore,
    EvidenceOverlapFaithfulness,
    ExactMatch,
    Rouge1,
    Rouge2,
    RougeL,
    RougeScores,
    SentenceBleu,
    TokenF1,
)
from pytest_auepora.metrics.text import words

Compared = Callable[[str, int], None]
Pair = tuple[str, list[str]]  # an answer and its references

WORDS = [
    *("the", "The", "of", "refund", "refunds", "refunded", "policy", "policies", "don't", "U.S.", "3.14", "1,000"),
    *("30-day", "cafés", "naïve", "e-mail", "dying", "running", "organization's", "skies", "<skipped>", "&amp;"),
    *("&quot;x&quot;", "(see)", "a/b", "[1]", "well-\nknown", "$5.00", "x²", "ﬁne", "İstanbul"),
]
SPACES = (" ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", "\x1c", "-\n", ". ", ", ", ",\t", ".\n")


def random_text(rng: random.Random, longest: int = 40) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(SPACES) for _ in range(rng.randint(1, longest)))


def random_pairs(n: int, seed: int) -> Iterator[Pair]:
    """Answers that are edits of their references, so that scores spread over the whole range."""
    rng = random.Random(seed)
    for _ in range(n):
        references = [random_text(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
        kept = [w for w in re.split(r"(\s)", rng.choice(references)) if rng.random() < 0.8]
        answer = "".join(kept) + (random_text(rng, 10) if rng.random() < 0.5 else "")
        yield (answer if answer.strip() else "refund"), references


def has_word(text: str) -> bool:
    return re.search("[A-Za-z0-9]", text) is not None


def clapnq_rows(data: Path) -> list[dict[str, Any]]:
    text = (data / "clapnq-dev" / "clapnq_dev_answerable.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@lru_cache(maxsize=1)
def clapnq_pairs(data: Path) -> list[Pair]:
    """Each human answer against the other answers to its question; single ones against the next question's."""
    rows = clapnq_rows(data)
    answers = [[o["answer"] for o in row["output"] if has_word(o["answer"])] for row in rows]
    pairs = []
    for here, after in zip(answers, answers[1:] + answers[:1], strict=True):
        for i, answer in enumerate(here):
            pairs.append((answer, here[:i] + here[i + 1 :] or after))
    for row, here in zip(rows, answers, strict=True):
        pairs += [(row["passages"][0]["text"], here), (row["input"], here)]
    return pairs


@lru_cache(maxsize=1)
def xquad_pairs(data: Path) -> list[Pair]:
    """Each gold answer, whole and as part of the words around it, against itself and the next question's."""
    raw = json.loads((data / "xquad-en" / "xquad.en.json").read_text(encoding="utf-8"))
    pairs: list[Pair] = []
    for paragraph in (p for article in raw["data"] for p in article["paragraphs"]):
        context, answers = paragraph["context"], [q["answers"][0] for q in paragraph["qas"]]
        for one, other in zip(answers, answers[1:] + answers[:1], strict=True):
            start, end = one["answer_start"], one["answer_start"] + len(one["text"])
            around = context[max(0, start - 12) : end + 12]
            pairs += [(one["text"], [one["text"]]), (around, [one["text"]]), (one["text"], [other["text"], around])]
    return pairs


def case(pair: Pair, evidence: str = "") -> tuple[EvaluationSample, SystemOutputs]:
    answer, references = pair
    reference = Response(references[0], metadata={"alternatives": references[1:]})
    retrieved = [RetrievedDocument(Document("d", evidence), 1.0, 1)] if evidence else []
    return EvaluationSample("s", "q", reference_answer=reference), SystemOutputs(retrieved, Response(answer))


def measured(metric: Metric, pair: Pair) -> Measurement:
    seen = metric.measure(*case(pair))
    assert isinstance(seen, Measurement), seen
    return seen


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


def test_rouge_is_rouge_score_on_random_text(rouge_scorers: dict[bool, Any], compared: Compared) -> None:
    compared("rouge-score, random pairs", compare_rouge(rouge_scorers, list(random_pairs(1500, seed=7))))


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
    for answer, references in pairs:
        theirs = oracle.sentence_score(answer, references)
        seen = measured(per_case, (answer, references))
        assert seen.value == pytest.approx(min(theirs.score / 100, 1), abs=1e-9), (answer, references)
    cases = [case(p) for p in pairs]
    result = corpus.compute([s for s, _ in cases], [o for _, o in cases])
    depth = max(len(r) for _, r in pairs)
    columns = [[(r[i] if i < len(r) else None) for _, r in pairs] for i in range(depth)]
    theirs = oracle_bleu(sacrebleu, options, effective_order=False).corpus_score([a for a, _ in pairs], columns)
    assert result.value == pytest.approx(theirs.score / 100, abs=1e-9)
    assert result.details["precisions"] == pytest.approx(theirs.precisions, abs=1e-9)
    assert (result.details["answer_words"], result.details["reference_words"]) == (theirs.sys_len, theirs.ref_len)
    return len(pairs) + 1


@pytest.mark.parametrize("options", BLEU_OPTIONS, ids=lambda o: "-".join(map(str, o.values())) or "default")
def test_bleu_is_sacrebleu_on_random_text(sacrebleu: Any, options: dict[str, Any], compared: Compared) -> None:
    compared("sacrebleu, random pairs", compare_bleu(sacrebleu, options, list(random_pairs(600, seed=11))))


@pytest.mark.shared_data
def test_bleu_is_sacrebleu_on_human_answers(sacrebleu: Any, shared_data: Path, compared: Compared) -> None:
    compared("sacrebleu, CLAPnq answers", compare_bleu(sacrebleu, {}, clapnq_pairs(shared_data)))


def test_13a_cut_word_by_word_is_13a_of_the_line(sacrebleu: Any, compared: Compared) -> None:
    """What makes remembering per word sound: 13a never looks past white space, whatever stands there."""
    oracle, ours, rng = sacrebleu.BLEU(), Bleu(), random.Random(5)
    alphabet = (
        string.ascii_letters + string.digits + string.punctuation * 2 + " \t\n\r\x0b\x1c\x85\u00a0\u2028\u3000ßé中"
    )
    n = 20_000
    for _ in range(n):
        line = "".join(rng.choices(alphabet, k=rng.randint(0, 24)))
        assert ours.words(line) == oracle._preprocess_segment(line).split(), repr(line)
    compared("sacrebleu, 13a tokens of random lines", n)


# --- SQuAD, written here from the definition of its evaluation, v1.1


def squad_normalise(text: str) -> str:
    no_punctuation = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", no_punctuation).split())


def squad_f1(prediction: str, truth: str) -> float:
    given, wanted = squad_normalise(prediction).split(), squad_normalise(truth).split()
    same = sum((Counter(given) & Counter(wanted)).values())
    if same == 0:
        return 0.0
    precision, recall = 1.0 * same / len(given), 1.0 * same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def compare_squad(pairs: list[Pair], **options: bool) -> int:
    exact, f1 = ExactMatch(**options), TokenF1(**options)
    for answer, references in pairs:
        assert measured(f1, (answer, references)).value == max(squad_f1(answer, r) for r in references)
        same = max(squad_normalise(answer) == squad_normalise(r) for r in references)
        assert measured(exact, (answer, references)).value == same
    return 2 * len(pairs)


@pytest.mark.shared_data
def test_em_and_f1_are_squads_on_xquad(shared_data: Path, compared: Compared) -> None:
    pairs = xquad_pairs(shared_data)
    n = compare_squad(pairs) + compare_squad(pairs, multilingual=False)
    compared("SQuAD v1.1 evaluation, XQuAD", n)


@pytest.mark.shared_data
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


def test_mean_of_rouge_variants_is_their_mean(rouge_scorers: dict[bool, Any], compared: Compared) -> None:
    metric, n = RougeScores(variants=("rouge1", "rougeL")), 0
    for answer, references in random_pairs(200, seed=17):
        theirs = rouge_scorers[True].score_multi(references, answer)
        expected = (theirs["rouge1"].fmeasure + theirs["rougeL"].fmeasure) / 2
        assert measured(metric, (answer, references)).value == expected
        n += 1
    compared("rouge-score, mean of variants", n)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """In an interpreter of its own: naming every metric and scoring EM and F1 needs no heavy package."""
    import subprocess

    code = (
        "import sys\n"
        "from pytest_auepora.metrics import generation_text as g\n"
        "from pytest_auepora.core.types import *\n"
        "metrics = [getattr(g, n)() for n in g.__all__]\n"
        "s = EvaluationSample('1', 'q', reference_answer=Response('x y'))\n"
        "o = SystemOutputs([], Response('x z'))\n"
        "g.ExactMatch().measure(s, o); g.TokenF1().measure(s, o); g.RougeL(use_stemmer=False).measure(s, o)\n"
        "print([m for m in ('nltk', 'rouge_score', 'sacrebleu', 'numpy', 'asyncio') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
