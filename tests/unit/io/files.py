"""Golden files written and read in tests."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.kinds import FieldType
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenCase, GoldenSuite
from pytest_auepora.io.importers.golden import golden_text
from pytest_auepora.io.importers.imported import ImportedSuite
from pytest_auepora.io.source import Source

CASE = "\ncases: [{id: a, query: Q}]\n"
DESIGN = """\
# golden/billing.golden.yaml
suite: billing
owner: search-team                 # shown when its gates fail
top_k: 5
metrics: [recall@5, ndcg@10, mrr@10, token_f1, rougeL]
thresholds:                        # suite gates, over the aggregate
  recall@5: 0.80
  p95_latency: {max: 2.0}
  ndcg@10: {min: 0.6, slice: {scenario: typo}}
case_thresholds: {recall@5: 0.5}   # every case
regression: {policy: auto, case_max_drop: 0.5}
cases:
  - id: refund-window
    query: How long do I have to ask for a refund?
    relevant_docs: [policy-4, {id: policy-7, grade: 2}, {doc: refunds.md, quote: "within 30 days"}]
    reference_answer: Within 30 days of purchase.
    must_contain: ["30 days"]
    forbidden: ["60 days"]
    tags: [smoke]                  # pytest markers
    thresholds: {token_f1: 0.4}
  - id: refund-window-typo
    variant_of: refund-window
    scenario: typo
    query: How lnog do I have to ask for a refnud?
    relevant_docs: [policy-4]
  - id: ceo-salary
    query: What does the CEO earn?
    relevant_docs: []              # nothing relevant: the system should refuse
"""
"""The example of the design."""


def write(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> Path:
    """Write *text*, its common indentation taken away."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    return path


def load(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> GoldenSuite:
    return load_golden(write(folder, text, name))


def only(folder: Path, text: str) -> GoldenCase:
    """The one case of a file that holds *text* under ``cases``."""
    (case,) = load(folder, f"cases:\n- {{id: a, query: Q, {text}}}\n").cases
    return case


def read(kind: FieldType, value: Any) -> tuple[Any, list[str]]:
    """What *kind* makes of *value*, and what it complains about."""
    source = Source("f.yaml", "")
    return kind.read(value, ("key",), source), [p.message for p in source.problems]


def problems(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> list[str]:
    """What reading *text* complains about: ``line:col: message``, the path left out."""
    path = write(folder, text, name)
    with pytest.raises(GoldenFileError) as caught:
        load_golden(path)
    for line in str(caught.value).splitlines():
        assert line.startswith(f"{path}:")
    return [str(p).removeprefix(f"{path}:").strip() for p in caught.value.problems]


def write_golden(suite: ImportedSuite, path: Path) -> None:
    write_atomically(path, golden_text(suite))


@contextmanager
def complains(told: str) -> Iterator[None]:
    with pytest.raises(GoldenFileError) as caught:
        yield
    assert told in str(caught.value)
