"""How often whole runs are red: default settings, all guards on, through the functions that the plugin calls.

    python -m tests.benchmarks.verdict_rates --runs 300 --write docs/pages/verdict-simulation.md

Each run accepts a baseline as an update does (with its further answers, which say what is steady), asks the candidate
once, asks failing cases again, and takes the verdict.  Everything is seeded: the same command gives the same table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.baseline.model import again_plan, note_again
from pytest_auepora.regression.compare.cases import compare_case
from pytest_auepora.regression.guards.case_guard import Confirmations, judge_case, settle_confirmed
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from .score_sources import METRICS, ClapNq, Source

__all__ = ["System", "rate", "run_once"]

SIZES = (6, 10, 20, 50, 100, 200)
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ANSWER_METRICS = ("token_f1", "rougeL")
REGISTRY = Registry()

Scores = Mapping[str, float]


class System(NamedTuple):
    """What one case's answers score before and after: each function gives the scores of one more answer."""

    before: Callable[[], Scores]
    after: Callable[[], Scores]


Scenario = Callable[[int, Random], list[System]]


def run_once(systems: Sequence[System], policy: RegressionPolicy) -> Verdict:
    """Accept a baseline, run the candidate, and return the verdict on it."""
    ids = [f"c{i:03}" for i in range(len(systems))]
    first = [system.before() for system in systems]
    metrics = {name: REGISTRY.get(name) for name in first[0]}
    infos = {name: MetricInfo.of(metric) for name, metric in metrics.items()}
    plan = again_plan(ids, policy.again)
    accepted, now = (Run("suite", metrics=infos, expected_ids=tuple(ids)) for _ in range(2))
    for case_id, system, scores in zip(ids, systems, first, strict=True):
        answers = [_result(case_id, scores)]
        answers += [_result(case_id, system.before()) for _ in range(plan.get(case_id, 0))]
        note_again(answers[0], answers, infos)
        accepted.add(answers[:1])
    baseline, _ = merge(None, accepted, {"all"})
    confirmations = Confirmations()

    def judged(case_id: str, scores: Scores) -> CaseResult:
        result = _result(case_id, scores)
        comparison = compare_case(result, baseline.cases[case_id], infos, {})
        judge_case(result, {}, infos, comparison, policy, steady=baseline.steady)
        return result

    for case_id, system in zip(ids, systems, strict=True):
        result = judged(case_id, system.after())
        if confirmations.wants("suite", len(ids), result, policy):
            again = [judged(case_id, system.after()) for _ in range(policy.confirm)]
            note_again(result, [result, *again], infos)
            settle_confirmed(result, again)
        now.add([result])
    return judge(now, [], policy, metrics, baseline=baseline)


def _result(case_id: str, scores: Scores) -> CaseResult:
    found = {name: Score("number", value) for name, value in scores.items()}
    return CaseResult(case_id, scores=found, content_hash=case_id, cluster=case_id)


def _fixed(before: Scores, after: Scores) -> System:
    return System(lambda: before, lambda: after)


def sampling(
    data: Path, lost: float = 0.0, *, steady: bool = False, won: bool = False, assertions: bool = False
) -> Scenario:
    """A language model at temperature 0.7; a share of the answers lost in the candidate, or *won* back by it."""
    told = json.loads((data / "llm-noise-dev" / "scores.json").read_text("utf-8"))
    names = told["metrics"]
    questions = [answers for questions in told["scores"].values() for answers in questions]

    def drawn(n: int, rng: Random) -> list[System]:
        gone = set(rng.sample(range(n), max(1, round(lost * n)))) if lost else set()

        def one(i: int, answers: Sequence[Sequence[float]]) -> System:
            left = rng.sample(answers, len(answers))  # no answer is given twice
            ranking = {"recall@5": float(rng.random() < 0.8)} if steady else {}
            wanted = [name for name in names if assertions or name in ANSWER_METRICS]

            def answer(*, is_lost: bool) -> Scores:
                scores = dict(zip(names, left.pop(), strict=True))
                return {**{name: 0.0 if is_lost else scores[name] for name in wanted}, **ranking}

            return System(
                lambda: answer(is_lost=won and i in gone), lambda: answer(is_lost=not won and i in gone)
            )  # fmt: skip

        return [one(i, rng.choice(questions)) for i in range(n)]

    return drawn


def nearly_steady(share: float, bad: float) -> Scenario:
    """A share of the cases varies, each answer of theirs bad with a chance of *bad*; the others never change."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one() -> System:
            varies = rng.random() < share

            def answer() -> Scores:
                return {"recall@5": float(not (varies and rng.random() < bad)), "mrr@10": 1.0}

            return System(answer, answer)

        return [one() for _ in range(n)]

    return drawn


def swapped(source: Source, kind: str) -> Scenario:
    """Another retriever that is no better and no worse: before and after exchanged at random in every case."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.rechunked() if kind == "rechunked" else source.retuned()
        out = []
        for i in rng.sample(range(len(pairs)), n):
            before, after = pairs[i] if rng.random() < 0.5 else pairs[i][::-1]
            out.append(_fixed(dict(zip(METRICS, before, strict=True)), dict(zip(METRICS, after, strict=True))))
        return out

    return drawn


def chunks_lost(source: Source, share: float) -> Scenario:
    """A deterministic retriever whose index has lost a share of its chunks."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.lost_chunks(share, rng.sample(range(len(source)), n), rng)
        return [_fixed(*(dict(zip(METRICS, side, strict=True)) for side in pair)) for pair in pairs]

    return drawn


def one_document(n: int, rng: Random) -> list[System]:
    """A deterministic retriever that has lost one document."""
    lost = rng.randrange(n)
    good = {"recall@5": 1.0, "mrr@10": 1.0}
    return [_fixed(good, {"recall@5": 0.0, "mrr@10": 0.0} if i == lost else good) for i in range(n)]


def rate(scenario: Scenario, n: int, runs: int, policy: RegressionPolicy, seed: int = 0) -> Counter[str]:
    """Return how often runs of *n* cases were red, and how often each word was said."""
    rng, seen = Random(f"{seed} {n}"), Counter[str]()
    for _ in range(runs):
        verdict = run_once(scenario(n, rng), policy)
        seen[verdict.word] += 1
        seen["red"] += verdict.outcome == "failed"
    return seen


def tables(data: Path) -> dict[str, dict[str, tuple[Scenario, RegressionPolicy]]]:
    """Return the scenarios, by heading and name."""
    auto, net = RegressionPolicy(), RegressionPolicy(case_guard="net")
    clapnq = ClapNq(data / "clapnq-dev")
    return {
        "Nothing got worse": {
            "sampling model": (sampling(data), auto),
            "sampling model behind a deterministic retriever": (sampling(data, steady=True), auto),
            "sampling model, with assertions that it breaks now and then": (sampling(data, assertions=True), auto),
            "nearly steady: 1 % of the cases vary, bad in 30 %": (nearly_steady(0.01, 0.3), auto),
            "nearly steady: 10 % of the cases vary, bad in 10 %": (nearly_steady(0.1, 0.1), auto),
            "nearly steady: 10 % of the cases vary, bad in 30 %": (nearly_steady(0.1, 0.3), auto),
            "re-chunked, `case_guard: net`": (swapped(clapnq, "rechunked"), net),
            "retuned, `case_guard: net`": (swapped(clapnq, "retuned"), net),
        },
        "Something did": {
            "sampling model, a tenth of the answers lost": (sampling(data, 0.1), auto),
            "sampling model, a fifth of the answers lost": (sampling(data, 0.2), auto),
            "a tenth of the chunks lost": (chunks_lost(clapnq, 0.1), auto),
            "a tenth of the chunks lost, `case_guard: net`": (chunks_lost(clapnq, 0.1), net),
            "one document lost": (one_document, auto),
        },
        "Something got better": {
            "sampling model, a fifth of the answers won back": (sampling(data, 0.2, won=True), auto)
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and put them below the marker of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300, help="simulated runs per row")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with clapnq-dev and llm-noise-dev")
    parser.add_argument("--write", type=Path, help="put the tables below the marker of this Markdown file")
    given = parser.parse_args(arguments)
    error = (0.05 * 0.95 / given.runs) ** 0.5
    lines = [f"{given.runs} runs per row, seed {given.seed}; one standard error of a share of 5 % is {error:.1%}.", ""]
    for heading, rows in tables(given.data).items():
        lines += [
            f"## {heading}",
            "",
            "| system | n | red | better | same | inconclusive |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        for name, (scenario, policy) in rows.items():
            for n in given.sizes:
                seen = rate(scenario, n, given.runs, policy, given.seed)
                words = " | ".join(f"{seen[word] / given.runs:.1%}" for word in ("better", "same", "inconclusive"))
                lines.append(f"| {name} | {n} | **{seen['red'] / given.runs:.1%}** | {words} |")
                print(lines[-1], file=sys.stderr, flush=True)
        lines.append("")
    text = "\n".join(lines)
    print(text)
    if given.write:
        head, marker, _ = given.write.read_text("utf-8").partition("<!-- tables -->\n")
        given.write.write_text(f"{head}{marker}\n{text}", "utf-8")


if __name__ == "__main__":
    # before numpy is loaded: for products this small, threads cost more than they gain
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
