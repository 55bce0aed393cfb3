"""Exactness: our numbers beside those of the programs that the field uses, on real questions and answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pytest_auepora import score_rankings
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.registry import Registry
from tests.oracles.squad import squad_f1, squad_normalise
from tests.oracles.texts import Pair, clapnq_pairs, clapnq_rows, has_word, measured, xquad_pairs

__all__ = ["Compared", "compared", "table"]

RETRIEVAL = {
    "recall@5": "recall_5", "precision@5": "P_5", "hit@1": "success_1", "mrr": "recip_rank", "map": "map",
    "map@10": "map_cut_10", "ndcg@10[gain=linear]": "ndcg_cut_10", "r_precision": "Rprec",
}  # fmt: skip
"""Our names and trec_eval's."""


class Compared(NamedTuple):
    """Numbers of a metric on some data: how many were compared, the largest difference, and the mean of ours."""

    metric: str
    program: str
    data: str
    numbers: int
    apart: float
    mean: float


def _compared(metric: str, program: str, data: str, ours: Iterable[float], theirs: Iterable[float]) -> Compared:
    both = list(zip(ours, theirs, strict=True))
    apart = max(abs(x - y) for x, y in both)
    return Compared(metric, program, data, len(both), apart, sum(x for x, _ in both) / len(both))


def _rankings(texts: list[str], questions: list[tuple[str, int]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is relevant to each question, the text at its index, and the ten that BM25 finds."""
    import bm25s

    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize([q for q, _ in questions], stopwords="en", show_progress=False)
    ids, _ = index.retrieve(asked, k=10, show_progress=False)
    judged = {f"q{i}": {f"p{home}": 1} for i, (_, home) in enumerate(questions)}
    # scores that fall strictly: trec_eval would break ties by id, and a system's order is what is compared here
    found = {f"q{i}": {f"p{p}": float(10 - rank) for rank, p in enumerate(row)} for i, row in enumerate(ids)}
    return judged, found


def _clapnq(data: Path) -> tuple[list[str], list[tuple[str, int]]]:
    rows = clapnq_rows(data)
    other = (data / "clapnq-dev" / "clapnq_dev_unanswerable.jsonl").read_text(encoding="utf-8")
    passages = {p["text"]: p for row in [*rows, *map(json.loads, other.splitlines())] for p in row["passages"]}
    home = {text: i for i, text in enumerate(passages)}
    texts = [f"{p['title']} {p['text']}" for p in passages.values()]
    return texts, [(row["input"], home[row["passages"][0]["text"]]) for row in rows]


def _xquad(data: Path) -> tuple[list[str], list[tuple[str, int]]]:
    raw = json.loads((data / "xquad-en" / "xquad.en.json").read_text(encoding="utf-8"))
    paragraphs = [p for article in raw["data"] for p in article["paragraphs"]]
    return [p["context"] for p in paragraphs], [(q["question"], i) for i, p in enumerate(paragraphs) for q in p["qas"]]


def _retrieval(name: str, texts: list[str], questions: list[tuple[str, int]]) -> Iterator[Compared]:
    import pytrec_eval

    judged, found = _rankings(texts, questions)
    ours = score_rankings(judged, found, list(RETRIEVAL))
    asked = {their.replace("_5", ".5").replace("_10", ".10").replace("_1", ".1") for their in RETRIEVAL.values()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(found)
    for our, their in RETRIEVAL.items():
        yield _compared(our, "trec_eval", name, (ours[q][our] for q in judged), (theirs[q][their] for q in judged))


def _texts(name: str, pairs: list[Pair]) -> Iterator[Compared]:
    import sacrebleu
    from rouge_score.rouge_scorer import RougeScorer

    def ours(name: str) -> list[float]:
        metric: Metric = Registry().get(name)
        return [_number(metric, pair) for pair in pairs]

    kinds = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(kinds, use_stemmer=True)
    scored = [scorer.score_multi(references, answer) for answer, references in pairs]
    for kind in kinds:
        yield _compared(kind, "rouge-score", name, ours(kind), (s[kind].fmeasure for s in scored))
    bleu, chrf = sacrebleu.BLEU(effective_order=True), sacrebleu.CHRF()
    theirs = (min(bleu.sentence_score(answer, references).score / 100, 1) for answer, references in pairs)
    yield _compared("sentence_bleu", "sacrebleu", name, ours("sentence_bleu"), theirs)
    theirs = (chrf.sentence_score(answer, references).score / 100 for answer, references in pairs)
    yield _compared("chrf", "sacrebleu", name, ours("chrf"), theirs)
    squad = (max(squad_f1(answer, one) for one in references) for answer, references in pairs)
    yield _compared("token_f1", "SQuAD", name, ours("token_f1"), squad)
    exact = (float(any(squad_normalise(answer) == squad_normalise(r) for r in refs)) for answer, refs in pairs)
    yield _compared("exact_match", "SQuAD", name, ours("exact_match"), exact)


def _number(metric: Metric, pair: Pair) -> float:
    value = measured(metric, pair).value
    assert value is not None
    return value


def compared(data: Path) -> Iterator[Compared]:
    """Yield what was compared, metric by metric."""
    yield from _retrieval("ClapNQ", *_clapnq(data))
    yield from _retrieval("XQuAD", *_xquad(data))
    yield from _texts("ClapNQ", [pair for pair in clapnq_pairs(data) if len(pair[0]) < 900])
    yield from _texts("XQuAD", [pair for pair in xquad_pairs(data) if all(map(has_word, [pair[0], *pair[1]]))])


def table(data: Path) -> Iterator[str]:
    """Yield the lines of the table, a metric a line."""
    of_metric: dict[str, list[Compared]] = {}
    for one in compared(data):
        of_metric.setdefault(one.metric, []).append(one)
    sets = list(dict.fromkeys(one.data for of_one in of_metric.values() for one in of_one))
    yield f"| metric | program | numbers compared | largest difference | {' | '.join(f'mean, {x}' for x in sets)} |"
    yield f"|---|---|{'--:|' * (2 + len(sets))}"
    for metric, of_one in of_metric.items():
        apart = max(one.apart for one in of_one)
        cells = [f"{sum(one.numbers for one in of_one):,}", "0" if apart == 0 else f"{apart:.0e}"]
        cells += [f"{one.mean:.4f}" for one in of_one]
        yield f"| `{metric}` | {of_one[0].program} | {' | '.join(cells)} |"
