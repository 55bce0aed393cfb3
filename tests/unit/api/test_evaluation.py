"""A suite evaluated without pytest: its verdict, and a second look where the first alone would be too often red."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.errors import UnknownNameError

GOLDEN = "suite: shop\nmetrics: [token_f1]\ncases:\n" + "".join(
    f"- {{id: c{i}, query: Question {i}, reference_answer: within thirty days of purchase}}\n" for i in range(12)
)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "shop.golden.yaml"
    path.write_text(GOLDEN)
    return path


def test_a_score_is_a_number_and_an_unknown_name_is_told(golden: Path) -> None:
    done = evaluate(golden, lambda query: "within thirty days of purchase")
    assert done["token_f1"] == 1.0
    with pytest.raises(UnknownNameError, match="did you mean 'token_f1'"):
        done["token_f2"]


def test_a_suite_that_never_varied_is_asked_once(golden: Path) -> None:
    asked = Counter[str]()

    def system(query: str) -> str:
        asked[query] += 1
        return "within thirty days of purchase"

    assert evaluate(golden, system).verdict.outcome == "passed"
    assert set(asked.values()) == {1}
