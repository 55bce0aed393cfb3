"""Projects of peers: the cases and the system that `projects.golden` writes, scored with other people's tools."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import fmean

from . import by_hand
from .projects import INSTANT, WAITING, golden

__all__ = ["BY_HAND", "PYTEST_EVALS", "peer_project"]

BY_HAND = """\
import json
import pathlib

import pytest

from by_hand import scores

CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case, rag):
    answer, documents = rag(case["query"])
    found = scores(case, answer, documents)
    assert found["recall@5"] >= 0
    assert found["token_f1"] >= 0
"""

PYTEST_EVALS = """\
import json
import pathlib
from statistics import fmean

import pytest

from by_hand import check, scores

CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())


@pytest.mark.eval(name="bench")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case, rag, eval_bag):
    answer, documents = rag(case["query"])
    eval_bag.scores = scores(case, answer, documents)


@pytest.mark.eval_analysis(name="bench")
def test_all(eval_results):
    assert len(eval_results) == len(CASES)
    check({name: fmean(one.result.scores[name] for one in eval_results) for name in eval_results[0].result.scores})
"""


def peer_project(folder: Path, n: int, files: dict[str, str], *, seconds: float = 0) -> Path:
    """Write the same cases and the same system as `golden` does, for the peer whose own *files* are; return its path.

    The means that the peer has to come to are written beside them.

    Args:
        folder: where; made if need be.
        n: how many cases.
        files: name → text.
        seconds: how long a call of the system waits.
    """
    from pytest_auepora.io.golden.load import load_golden

    function = WAITING.format(seconds=seconds) if seconds else INSTANT
    golden(folder, n, function=function, imports="import time")
    samples = [case.sample for case in load_golden(folder / "bench.golden.yaml").cases]
    cases = [
        {
            "id": s.sample_id,
            "query": s.query,
            "relevant": [document.doc_id for document in s.relevant_docs or ()],
            "reference": s.reference_answer.text if s.reference_answer else "",
        }
        for s in samples
    ]
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    found = [by_hand.scores(case, *answers[case["query"]]) for case in cases]
    means = {name: fmean(one[name] for one in found) for name in found[0]}
    for name, text in (files | {"cases.json": json.dumps(cases), "expected.json": json.dumps(means)}).items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(by_hand.__file__, folder / "by_hand.py")
    return folder
