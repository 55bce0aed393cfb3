"""How often whole runs are red: default settings, all guards on, through the functions that the plugin calls.

    python -m tests.benchmarks.verdict_rates --write docs/pages/verdict-simulation.md

Each run accepts a baseline as an update does (with its further answers, which say what is steady), asks the candidate
once, asks failing cases again, and takes the verdict.  Everything is seeded: the same command gives the same table.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from pytest_auepora.regression.determinism import record_repeats, repeat_plan
from pytest_auepora.regression.guards.case_guard import judge_case, merge_confirmed, wants_confirmation

from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.evaluation.case_flow import merge_repeats
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.compare import compare_case
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.suggest import learn
from pytest_auepora.regression.thresholds import Gate
from pytest_auepora.regression.verdict import Verdict, judge

from .score_sources import SAMPLED, ClapNq, Mixture, Source, made_up_answers, real_answers
from .verdict_scenarios import (
    Scenario,
    Scores,
    System,
    chunks_lost,
    in_slices,
    nearly_steady,
    one_document,
    sampling,
    swapped,
    uneven,
    variants,
)

__all__ = ["Row", "rate", "run_once", "suggested"]

SIZES = (6, 10, 20, 50, 100, 200)
NAIVE_DROP = 0.02
WORDS = {
    "red": "**red**", "better": "*better*", "mixed": "*mixed*, of those that are red", "inconclusive": "*inconclusive*",
    "naive": "a mean fell by 0.02: what a comparison of means would call worse",
}  # fmt: skip
SHOWN = {
    "Nothing got worse": ("red", "inconclusive", "naive"),
    "Something did": ("red", "inconclusive"),
    "Something got better": ("red", "mixed", "better"),
}
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
REGISTRY = Registry()


class Row(NamedTuple):
    """A row of the table: what happens, and how it is judged; with *learned* answers, by what is suggested."""

    scenario: Scenario
    policy: RegressionPolicy = RegressionPolicy()
    learned: int = 0


def run_once(systems: Sequence[System], policy: RegressionPolicy, gates: Sequence[Gate] = ()) -> Verdict:
    """Accept a baseline, run the candidate, and return the verdict on it."""
    ids = [f"c{i:03}" for i in range(len(systems))]
    first = [system.before() for system in systems]
    metrics = {name: REGISTRY.get(name) for name in first[0]}
    infos = {name: MetricInfo.of(metric) for name, metric in metrics.items()}
    plan = repeat_plan(ids, policy.again)
    accepted, now = (Run("suite", metrics=infos, expected_ids=tuple(ids)) for _ in range(2))
    for case_id, system, scores in zip(ids, systems, first, strict=True):
        answers = [result_of(case_id, scores, system)]
        answers += [result_of(case_id, system.before(), system) for _ in range(plan.get(case_id, 0))]
        record_repeats(answers[0], answers, infos)
        accepted.add(answers[:1])
    baseline, _ = merge(None, accepted, {"all"})
    asked: list[CaseResult] = []

    def judged(case_id: str, system: System) -> CaseResult:
        result = result_of(case_id, system.after(), system)
        comparison = compare_case(result, baseline.cases[case_id], infos)
        judge_case(result, {}, infos, comparison, policy, steady=baseline.steady)
        return result

    for case_id, system in zip(ids, systems, strict=True):
        result = judged(case_id, system)
        if wants_confirmation(result, asked, len(ids), policy):
            again = [judged(case_id, system) for _ in range(policy.confirm)]
            record_repeats(result, [result, *again], infos)
            merge_confirmed(result, again)
        now.add([result])
    return judge(now, gates, policy, metrics, baseline=baseline)


def suggested(systems: Sequence[System], policy: RegressionPolicy, answers: int) -> tuple[RegressionPolicy, list[Gate]]:
    """Return policy and thresholds as `--auepora-suggest` makes them of so many answers to each case."""
    first = [[system.before() for _ in range(answers)] for system in systems]
    infos = {name: MetricInfo.of(REGISTRY.get(name)) for name in first[0][0]}
    run = Run("suite", metrics=infos)
    for i, (system, scores) in enumerate(zip(systems, first, strict=True)):
        run.add([merge_repeats([result_of(f"c{i:03}", one, system) for one in scores], infos)])
    learned = learn(run, (), policy)
    return (replace(policy, assertions="report") if learned.by_chance else policy), learned.gates


def result_of(case_id: str, scores: Scores, system: System) -> CaseResult:
    """Return what one answer of *system* measured."""
    found = {name: Score("number", value) for name, value in scores.items()}
    cluster = system.cluster or case_id
    return CaseResult(case_id, scores=found, content_hash=case_id, cluster=cluster, labels=dict(system.labels))


def rate(
    scenario: Scenario, n: int, runs: int, policy: RegressionPolicy, seed: int = 0, *, learned: int = 0
) -> Counter[str]:
    """Return in how many runs of *n* cases the verdict was red and each word was said, and a mean fell by 0.02.

    With *learned* answers to each case, suggested settings are taken over before the baseline is accepted.
    """
    rng, seen = Random(f"{seed} {n}"), Counter[str]()
    for _ in range(runs):
        systems = scenario(n, rng)
        own, gates = suggested(systems, policy, learned) if learned else (policy, ())
        verdict = run_once(systems, own, gates)
        changes = [verdict.comparison.metric(name) for name in verdict.aggregates] if verdict.comparison else []
        seen[verdict.word] += 1
        seen["red"] += verdict.outcome == "failed"
        seen["naive"] += any(change is not None and change.gain <= -NAIVE_DROP for change in changes)
    return seen


def tables(data: Path | None) -> dict[str, dict[str, Row]]:
    """Return the scenarios, by heading and name; of made-up scores where there are no *data*."""
    net = RegressionPolicy(case_guard="net")
    source: Source = ClapNq(data / "clapnq-dev") if data else Mixture()
    steady, mixed = (
        real_answers(data / "llm-noise-dev", steady=only) if data else made_up_answers(steady=only)
        for only in (True, False)
    )
    slices = ("part", "half")
    return {
        "Nothing got worse": {
            "sampling model, steady questions": Row(sampling(steady)),
            "sampling model, mixed questions": Row(sampling(mixed)),
            "mixed, behind a deterministic retriever": Row(sampling(mixed, retriever=True)),
            "mixed, five slices": Row(in_slices(sampling(mixed)), RegressionPolicy(slices=slices)),
            "steady, with assertions": Row(sampling(steady, metrics=SAMPLED)),
            "mixed, with assertions": Row(sampling(mixed, metrics=SAMPLED)),
            "mixed, `assertions: report`": Row(
                sampling(mixed, metrics=SAMPLED), RegressionPolicy(assertions="report")
            ),
            "mixed, with assertions, settings as suggested": Row(
                sampling(mixed, metrics=SAMPLED, endless=True), learned=5
            ),
            "nearly steady: 1 % of the cases vary, bad in 30 %": Row(nearly_steady(0.01, 0.3)),
            "nearly steady: 10 % of the cases vary, bad in 10 %": Row(nearly_steady(0.1, 0.1)),
            "nearly steady: 10 % of the cases vary, bad in 30 %": Row(nearly_steady(0.1, 0.3)),
            "re-chunked, `case_guard: net`": Row(swapped(source, "rechunked"), net),
            "re-chunked, `net`, five slices": Row(
                in_slices(swapped(source, "rechunked")), RegressionPolicy(case_guard="net", slices=slices)
            ),
            "re-chunked, `net`, five forms of each question": Row(variants(source), net),
            "retuned, `net`": Row(swapped(source, "retuned"), net),
            "a tenth fell by 0.5, the others rose, `net`": Row(uneven(-0.5), net),
            "a tenth rose by 0.5, the others fell, `net`": Row(uneven(0.5), net),
        },
        "Something did": {
            "sampling model, steady questions, a tenth of the answers lost": Row(sampling(steady, 0.1)),
            "sampling model, mixed questions, a tenth of the answers lost": Row(sampling(mixed, 0.1)),
            "sampling model, steady questions, a fifth of the answers lost": Row(sampling(steady, 0.2)),
            "sampling model, mixed questions, a fifth of the answers lost": Row(sampling(mixed, 0.2)),
            "a tenth of the chunks lost": Row(chunks_lost(source, 0.1)),
            "a tenth of the chunks lost, `case_guard: net`": Row(chunks_lost(source, 0.1), net),
            "one document lost": Row(one_document),
        },
        "Something got better": {
            "sampling model, mixed questions, a fifth of the answers won": Row(sampling(mixed, 0.2, won=True)),
            "a tenth of the chunks won": Row(chunks_lost(source, 0.1, won=True)),
            "a tenth of the chunks won, `case_guard: net`": Row(chunks_lost(source, 0.1, won=True), net),
        },
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and put them below the marker of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300, help="simulated runs per row")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with clapnq-dev and llm-noise-dev")
    parser.add_argument("--write", type=Path, help="put the tables below the marker of this Markdown file")
    given = parser.parse_args(arguments)
    data = given.data if given.data.is_dir() else None
    error = (0.05 * 0.95 / given.runs) ** 0.5
    told = f"{given.runs} runs per row, seed {given.seed}; one standard error of a share of 5 % is {error:.1%}."
    lines = [told if data else f"{told} Scores are made up.", ""]
    for heading, rows in tables(data).items():
        seen: dict[str, list[Counter[str]]] = {name: [] for name in rows}
        for name, row in rows.items():
            for n in given.sizes:
                seen[name].append(rate(row.scenario, n, given.runs, row.policy, given.seed, learned=row.learned))
                print(f"{name}, {n}: {dict(seen[name][-1])}", file=sys.stderr, flush=True)
        lines += [f"## {heading}", ""]
        for word in SHOWN[heading]:
            lines += [f"| {WORDS[word]} | {' | '.join(f'n = {n}' for n in given.sizes)} |"]
            lines += [f"|---|{'--:|' * len(given.sizes)}"]
            lines += [
                f"| {name} | {' | '.join(f'{one[word] / given.runs:.1%}' for one in counts)} |"
                for name, counts in seen.items()
            ]
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
