"""Rows of the table that run within this process: loading, metrics, the verdict."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.registry import Registry

from .measuring import Row, timed
from .projects import golden, vocabulary, words_of

__all__ = ["rankings", "rows", "scoring", "text_pairs"]

RETRIEVAL = {
    "recall@5": "recall.5", "precision@5": "P.5", "hit@5": "success.5", "mrr": "recip_rank", "map": "map",
    "ndcg@10": "ndcg_cut.10",
}  # fmt: skip
"""Our names and trec_eval's."""


def text_pairs(n: int, shortest: int = 20, longest: int = 200, seed: int = 1) -> list[tuple[str, str]]:
    """Return references and answers that have most of their words."""
    rng = Random(seed)
    known = vocabulary(rng)
    pairs = []
    for _ in range(n):
        reference = words_of(rng, known, shortest, longest)
        answer = " ".join(w for w in reference.split() if rng.random() < 0.8)
        pairs.append((reference, f"{answer} {words_of(rng, known, 1, 20)}"))
    return pairs


def scoring(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Callable[[], float]:
    """Return what scores *pairs* with the metrics called *names*, each text for the first time."""
    from pytest_auepora.metrics.text import tokens as text

    metrics = [Registry().get(name) for name in names]
    samples = [EvaluationSample(str(i), "q", reference_answer=Response(r)) for i, (r, _) in enumerate(pairs)]

    def run() -> float:
        outputs = [SystemOutputs([], Response(answer)) for _, answer in pairs]
        for cached in text._CACHES:
            cached.cache_clear()
        return timed(lambda: [metric.compute(samples, outputs) for metric in metrics])

    return run


def rankings(n: int, seed: int = 1) -> tuple[list[EvaluationSample], list[list[tuple[str, float]]]]:
    """Return cases with five relevant documents, and for each 10 to 100 ranked ones with falling scores.

    Ids are those of one corpus, each text once in memory, as retrievers return them.
    """
    rng = Random(seed)
    corpus = [f"d{x}" for x in range(1000)]
    samples, ranked = [], []
    for i in range(n):
        ids = rng.sample(corpus, rng.randint(10, 100))
        relevant = dict.fromkeys([*rng.sample(corpus, 3), *rng.sample(ids, 2)])
        samples.append(EvaluationSample(str(i), "q", [Document(doc_id) for doc_id in relevant]))
        ranked.append([(doc_id, 1.0 - rank / 1000) for rank, doc_id in enumerate(ids)])
    return samples, ranked


def rows(*, quick: bool) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    n_pairs, n_cases = (1000, 2000) if quick else (10_000, 10_000)

    def loading() -> Row:
        import yaml

        from pytest_auepora.io.golden.load import load_golden

        with tempfile.TemporaryDirectory() as name:
            text = (golden(Path(name), n_cases) / "bench.golden.yaml").read_text(encoding="utf-8")
        path = Path(tempfile.mkdtemp()) / "bench.golden.yaml"
        path.write_text(text, encoding="utf-8")
        return Row(
            loading.__doc__ or "", "<= 1.2", lambda: timed(lambda: load_golden(path)),
            lambda: timed(lambda: yaml.load(text, yaml.CSafeLoader)), "yaml.CSafeLoader alone",
        )  # fmt: skip

    def parsing() -> Row:
        """the same file, parsed only"""
        import yaml

        folder = golden(Path(tempfile.mkdtemp()), n_cases)
        path = folder / "bench.golden.yaml"
        text = path.read_text(encoding="utf-8")
        return Row(
            parsing.__doc__ or "", "<= 1.2", lambda: timed(lambda: parsed(path)),
            lambda: timed(lambda: yaml.load(text, yaml.CSafeLoader)), "yaml.CSafeLoader alone",
        )  # fmt: skip

    def parsed(path: Path) -> object:
        from pytest_auepora.base.garbage import garbage_collection_paused
        from pytest_auepora.io.source import MAX_BYTES, Source
        from pytest_auepora.io.yaml.nodes import load_yaml

        with garbage_collection_paused():
            return load_yaml(Source.load(path, MAX_BYTES))

    def rouge() -> Row:
        from rouge_score.rouge_scorer import RougeScorer

        pairs = text_pairs(n_pairs)
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
        return Row(
            rouge.__doc__ or "", ">= 3", scoring(("rouge1", "rouge2", "rougeL"), pairs),
            lambda: timed(lambda: [scorer.score(*pair) for pair in pairs]), "rouge-score",
        )  # fmt: skip

    def f1() -> Row:
        from tests.oracles.squad import squad_f1

        pairs = text_pairs(n_pairs)
        return Row(
            f1.__doc__ or "", ">= 1", scoring(("token_f1",), pairs),
            lambda: timed(lambda: [squad_f1(a, r) for r, a in pairs]), "the SQuAD evaluation",
        )  # fmt: skip

    def stored() -> Row:
        return opening(n_cases)

    loading.__doc__ = f"loading {n_cases:,} YAML cases with line numbers"
    rouge.__doc__ = f"ROUGE-1, -2 and -L, {n_pairs:,} pairs of 20 to 200 words"
    f1.__doc__ = f"token F1, {n_pairs:,} pairs"
    stored.__doc__ = f"the first screen of a stored run of {n_cases:,} cases"
    yield from (loading, parsing, rouge, f1, case_retrieval, significance, verdict, stored)


def opening(n: int) -> Row:
    """the first screen of a stored run"""
    import json

    from pytest_auepora.api.evaluation import evaluate
    from pytest_auepora.cli.view.content import run_page
    from pytest_auepora.cli.view.library import Library
    from pytest_auepora.history.store import HistoryStore
    from pytest_auepora.regression.accept import Acceptance, accept

    folder = golden(Path(tempfile.mkdtemp()), n)
    path, baseline = folder / "bench.golden.yaml", folder / "baseline.json"
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    accept(baseline, evaluate(path, lambda query: tuple(answers[query])).run, Acceptance({"all"}))
    seen = evaluate(path, lambda query: tuple(answers[query]), baseline=baseline)
    store = HistoryStore(folder / "history.sqlite", folder)
    run_id = store.add(seen.run, seen.verdict)
    with closing(sqlite3.connect(folder / "history.sqlite")) as database:
        rows = database.execute("SELECT result_json, compared_json FROM eval_query_results").fetchall()

    def ours() -> float:
        library = Library(store, folder, folder / "labels")  # a new one has read nothing yet
        return timed(lambda: run_page(library, library.pair(run_id)))

    return Row(
        f"the first screen of a stored run of {n:,} cases", "<= 3", ours,
        lambda: timed(lambda: [json.loads(text) for row in rows for text in row]), "json.loads of its rows",
    )  # fmt: skip


def case_retrieval(n: int = 20_000) -> Row:
    """six retrieval metrics over documents of cases"""
    import pytrec_eval

    samples, ranked = rankings(n)
    metrics = [Registry().get(name) for name in RETRIEVAL]
    outputs = [
        SystemOutputs([RetrievedDocument(Document(i), s, k) for k, (i, s) in enumerate(r, 1)], Response(""))
        for r in ranked
    ]

    def ours() -> float:
        for one in outputs:
            one.memo.clear()
        return timed(lambda: [metric.compute(samples, outputs) for metric in metrics])

    gold = {s.sample_id: {d.doc_id: 1 for d in s.relevant_docs or ()} for s in samples}
    run = {s.sample_id: dict(r) for s, r in zip(samples, ranked, strict=True)}
    theirs = pytrec_eval.RelevanceEvaluator(gold, set(RETRIEVAL.values()))
    return Row(case_retrieval.__doc__ or "", ">= 0.3", ours, lambda: timed(lambda: theirs.evaluate(run)), "pytrec_eval")


def significance() -> Row:
    """the test of 500 cases x 20 metrics for chance"""
    from pytest_auepora.regression.statistics.family import Member, judge_family

    rng = Random(3)
    family: list[Any] = [
        Member(f"m{m}", {f"c{i}": rng.choice((-0.2, 0.0, 0.0, 0.1)) for i in range(500)}) for m in range(20)
    ]
    judge_family(family, {})
    return Row(
        significance.__doc__ or "", "<= 1", lambda: timed(lambda: judge_family(family, {})), lambda: 0.3, "0.3 s"
    )


TWENTY = (
    *(f"{name}@{k}" for name in ("recall", "precision", "hit", "ndcg") for k in (1, 3, 5)),
    "mrr", "map", "exact_match", "token_f1", "rouge1", "rouge2", "rougeL", "sentence_bleu",
)  # fmt: skip


def verdict() -> Row:
    """the verdict on 500 cases x 20 metrics"""
    import json

    from pytest_auepora.api.evaluation import evaluate
    from pytest_auepora.io.golden.load import load_golden
    from pytest_auepora.regression.accept import Acceptance, accept
    from pytest_auepora.regression.verdict import judge

    rng, folder = Random(3), golden(Path(tempfile.mkdtemp()), 500)
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))

    def worse(query: str) -> Any:
        answer, documents = answers[query]
        return (answer[: rng.randrange(len(answer))], documents[::-1]) if rng.random() < 0.2 else (answer, documents)

    suite = load_golden(folder / "bench.golden.yaml")
    suite.metrics = TWENTY
    baseline = folder / "baseline.json"
    assert accept(baseline, evaluate(suite, lambda query: tuple(answers[query])).run, Acceptance({"all"})).written
    seen = evaluate(suite, worse, baseline=baseline)

    def judged() -> None:
        found = judge(seen.run, suite.gates, suite.policy, seen.metrics, baseline=seen.baseline)
        assert len(found.aggregates) >= len(TWENTY)
        assert found.outcome == "failed"

    return Row(verdict.__doc__ or "", "<= 1", lambda: timed(judged), lambda: 0.3, "0.3 s")
