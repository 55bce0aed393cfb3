"""How long a golden file takes to load, beside PyYAML's C loader on the same text.

Run it as ``python -m tests.benchmarks.golden_loading [cases]``.  Times are CPU seconds, best of several rounds;
PyYAML only builds plain values, this package also locates, checks and hashes every case.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.source import Source
from pytest_auepora.io.yaml.nodes import load_yaml
from pytest_auepora.metrics.registry import Registry

WORDS = (
    "refund",
    "policy",
    "window",
    "days",
    "order",
    "invoice",
    "customer",
    "account",
    "password",
    "how",
    "long",
    "do",
)


def golden_text(cases: int) -> str:
    """Return a golden file like those people write."""
    pick = random.Random(1)

    def words(count: int) -> str:
        return " ".join(pick.choice(WORDS) for _ in range(count))

    lines = [
        "top_k: 5",
        "metrics: [recall@5, ndcg@10, mrr@10, token_f1, rougeL]",
        "thresholds: {recall@5: 0.8}",
        "cases:",
    ]
    for i in range(cases):
        lines += [
            f"  - id: case-{i}",
            f"    query: {words(9)}?",
            f"    relevant_docs: [policy-{pick.randrange(999)}, {{id: policy-{pick.randrange(1000, 1999)}, grade: 2}}]",
            f"    reference_answer: {words(12)}.",
            f'    must_contain: ["{words(2)}"]',
            "    tags: [smoke]",
        ]
        if i % 3 == 0:
            lines.append("    thresholds: {token_f1: 0.4}")
        if i % 4 == 1:
            lines += [f"    variant_of: case-{i - 1}", "    scenario: typo"]
    return "\n".join(lines) + "\n"


def best(what: Callable[[], Any], rounds: int = 5) -> float:
    """Return the CPU seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        made = what()
        times.append(time.process_time() - start)
        del made
    return min(times)


def main(cases: int) -> None:
    """Print the times."""
    text = golden_text(cases)
    registry = Registry()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.golden.yaml"
        path.write_text(text, encoding="utf-8")
        load_golden(path, registry)  # imports
        pyyaml = best(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
        rows = {
            "yaml.load, CSafeLoader": pyyaml,
            "values and places": best(lambda: load_yaml(Source("x", text))),
            "load_golden": best(lambda: load_golden(path, registry)),
        }
    print(f"{cases} cases, {len(text):,} characters")
    for name, seconds in rows.items():
        print(f"{name:24} {seconds:7.3f} s  {seconds / cases * 1e6:6.1f} µs a case  {seconds / pyyaml:5.2f} x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
