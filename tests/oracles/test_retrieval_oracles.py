"""The retrieval metrics against trec_eval, on random rankings: equal to 1e-12; and on real questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora import score_rankings
from pytest_auepora.core.metrics_base import Measurement, NotApplicable
from pytest_auepora.metrics.registry import Registry

from .rankings import CUTS, EXACT, Case, cases

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is trec_eval itself")


def _trec(some: Sequence[Case], measures: set[str], level: int = 1) -> dict[str, dict[str, float]]:
    judged = {case.name: case.judged for case in some}
    run = {case.name: dict(case.returned) for case in some}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(judged, measures, level).evaluate(run)
    return found


def _cut(measure: str) -> str:
    return f"{measure}.{','.join(map(str, CUTS))}"


def test_many_rankings_at_once(compared: Callable[[str, int], None]) -> None:
    some = [case for case in cases(11, 400) if case.returned]  # trec_eval leaves a query without a result out
    ours = {"recall@5": "recall_5", "precision@10": "P_10", "hit@3": "success_3", "mrr": "recip_rank", "map": "map",
            "map@10": "map_cut_10", "ndcg@10[gain=linear]": "ndcg_cut_10", "r_precision": "Rprec"}  # fmt: skip
    theirs = _trec(some, {name if "_" not in name or name == "recip_rank" else ".".join(name.rsplit("_", 1))
                          for name in ours.values()})  # fmt: skip
    found = score_rankings({c.name: c.judged for c in some}, {c.name: dict(c.returned) for c in some}, ours)
    assert found.keys() == theirs.keys()
    for query, scores in found.items():
        expected = [theirs[query][name] for name in ours.values()]
        assert list(scores.values()) == pytest.approx(expected, abs=EXACT, rel=EXACT)
    compared("trec_eval", len(found) * len(ours))


PLAIN = {"recip_rank", "map", "Rprec"} | {_cut(m) for m in ("recall", "P", "success", "map_cut", "ndcg_cut")}


def _names(option: str = "") -> dict[str, str]:
    """Our name → trec_eval's, with *option* in every bracket."""
    bracket = f"[{option}]" if option else ""
    linear = f"[gain=linear{',' + option if option else ''}]"
    names = {f"mrr{bracket}": "recip_rank", f"map{bracket}": "map", f"r_precision{bracket}": "Rprec"}
    for k in CUTS:
        names |= {
            f"recall@{k}{bracket}": f"recall_{k}",
            f"precision@{k}{bracket}": f"P_{k}",
            f"hit@{k}{bracket}": f"success_{k}",
            f"map@{k}{bracket}": f"map_cut_{k}",
            f"ndcg@{k}{linear}": f"ndcg_cut_{k}",
        }
    return names


@pytest.mark.parametrize("ties", [False, True])
def test_trec_eval(same: Callable[..., None], ties: bool) -> None:
    """Graded and missing judgments, short and empty lists; with ties the order is trec_eval's."""
    some = cases(1 + ties, 600, ties=ties)
    theirs = _trec(some, PLAIN)
    for case in some:
        for ours, name in _names("ties=trec" if ties else "").items():
            same(ours, case, theirs[case.name][name], "trec_eval")


def test_trec_eval_breaks_ties_differently_from_the_system() -> None:
    """The option is needed: without it some tied rankings score differently."""
    some = cases(2, 200, ties=True)
    theirs = _trec(some, {"recip_rank"})
    metric = Registry().get("mrr")
    ours = [metric.measure(case.sample, case.outputs) for case in some]
    assert any(
        isinstance(m, Measurement) and m.value != pytest.approx(theirs[case.name]["recip_rank"])
        for m, case in zip(ours, some, strict=True)
    )


def test_bpref(same: Callable[..., None]) -> None:
    """Judgments of grade 0 are what bpref is about; without any it is n/a here, where trec_eval gives recall."""
    some = cases(3, 900, ties=True)
    theirs = _trec(some, {"bpref"})
    left_out = 0
    for case in some:
        if 0 in case.judged.values():
            same("bpref[ties=trec]", case, theirs[case.name]["bpref"], "trec_eval")
        else:
            left_out += 1
            assert isinstance(Registry().get("bpref").measure(case.sample, case.outputs), NotApplicable)
    assert left_out > 10


def _without_repeats(case: Case) -> Case:
    return Case(
        case.name, case.judged, list({name: (name, score) for name, score in reversed(case.returned)}.values())[::-1]
    )


def _repeats_as_strangers(case: Case) -> Case:
    """The same list with every repeat under an id that nobody judged."""
    names = [name for name, _ in case.returned]
    renamed = [f"again{at}" if name in names[:at] else name for at, name in enumerate(names)]
    return Case(case.name, case.judged, [(n, score) for n, (_, score) in zip(renamed, case.returned, strict=True)])


@pytest.mark.parametrize(
    ("option", "as_they_see_it"), [("", _repeats_as_strangers), ("duplicates=collapse", _without_repeats)]
)
def test_repeated_ids(same: Callable[..., None], option: str, as_they_see_it: Callable[[Case], Case]) -> None:
    """By default a repeat is a slot without gain; collapsed, the list is what trec_eval sees after removing it."""
    some = cases(4, 300, repeats=True)
    theirs = _trec([as_they_see_it(case) for case in some], PLAIN)
    for case in some:
        for ours, name in _names(option).items():
            same(ours, case, theirs[case.name][name], "trec_eval, repeats")


def test_binary_gain_by_trec_eval(same: Callable[..., None]) -> None:
    """Grades do not matter: what linear gain gives on judgments of 0 and 1."""
    some = cases(10, 300)
    flat = [Case(c.name, {n: min(g, 1) for n, g in c.judged.items()}, c.returned) for c in some]
    theirs = _trec(flat, {_cut("ndcg_cut")})
    for case in some:
        for k in CUTS:
            same(f"ndcg@{k}[gain=binary]", case, theirs[case.name][f"ndcg_cut_{k}"], "trec_eval, gains of 1")


def test_exponential_gain_by_trec_eval(same: Callable[..., None]) -> None:
    """2^grade - 1 is what linear gain gives on judgments that were transformed so."""
    some = cases(5, 600)
    transformed = [Case(c.name, {n: 2**g - 1 for n, g in c.judged.items()}, c.returned) for c in some]
    theirs = _trec(transformed, {_cut("ndcg_cut")})
    for case in some:
        for k in CUTS:
            same(f"ndcg@{k}", case, theirs[case.name][f"ndcg_cut_{k}"], "trec_eval, gains 2^g - 1")


def test_capped_recall_and_found_average_precision(same: Callable[..., None]) -> None:
    """Both options are trec_eval's numbers over another denominator."""
    some = cases(6, 300)
    theirs = _trec(some, {_cut("recall"), _cut("map_cut"), _cut("P")})
    for case in some:
        relevant = sum(grade > 0 for grade in case.judged.values())
        for k in CUTS:
            row = theirs[case.name]
            found = round(row[f"recall_{k}"] * relevant)
            same(f"recall@{k}[capped=true]", case, found / min(k, relevant), "trec_eval, other denominator")
            total = row[f"map_cut_{k}"] * relevant
            same(f"map@{k}[norm=found]", case, total / found if found else 0.0, "trec_eval, other denominator")
            given = min(k, len(case.returned))
            hits = row[f"P_{k}"] * k
            same(
                f"precision@{k}[denominator=returned]",
                case,
                hits / given if given else 0.0,
                "trec_eval, other denominator",
            )


@pytest.mark.shared_data
def test_real_questions_give_the_known_figures(shared_data: Path, compared: Callable[[str, int], None]) -> None:
    """BM25 over 597 passages and 300 answerable questions of CLAP NQ, against figures taken with trec_eval."""
    some = _bm25(shared_data / "clapnq-dev")
    theirs = _trec(some, {"recip_rank", "success.1", "recall.5,10", "ndcg_cut.10"})
    known = {
        "mrr": (0.9045, "recip_rank"),
        "hit@1": (0.8633, "success_1"),
        "recall@5": (0.9500, "recall_5"),
        "recall@10": (0.9633, "recall_10"),
        "ndcg@10": (0.9192, "ndcg_cut_10"),
    }
    for ours, (figure, name) in known.items():
        result = Registry().get(ours).compute([c.sample for c in some], [c.outputs for c in some])
        assert result.details["num_samples"] == 300
        assert result.value == pytest.approx(figure, abs=5e-5)
        assert result.value == pytest.approx(sum(row[name] for row in theirs.values()) / 300, abs=EXACT)
    compared("trec_eval, CLAP NQ", len(known))


def _bm25(folder: Path) -> list[Case]:
    bm25s = pytest.importorskip("bm25s", reason="the rankings are BM25's")
    files = [folder / f"clapnq_dev_{name}.jsonl" for name in ("answerable", "unanswerable")]
    asked = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    own = [f"{row['passages'][0]['title']} {row['passages'][0]['text']}" for row in asked]
    corpus = list(dict.fromkeys(own))
    assert len(corpus) == 597
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(_tokens(corpus), show_progress=False)
    found, _ = index.retrieve(_tokens([row["input"] for row in asked[:300]]), k=10, show_progress=False)
    return [
        Case(f"q{at}", {f"p{corpus.index(own[at])}": 1}, [(f"p{i}", 10.0 - rank) for rank, i in enumerate(row)])
        for at, row in enumerate(found)
    ]


def _tokens(texts: list[str]) -> Any:
    import bm25s

    return bm25s.tokenize(texts, stopwords="en", show_progress=False)
