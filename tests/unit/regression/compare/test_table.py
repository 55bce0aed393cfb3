"""How the cases of a large run compare: found when each was judged, or at the end, it is the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.core.result_table import ResultTable
from pytest_auepora.core.run import Run
from pytest_auepora.regression.baseline.model import Baseline, BaselineCase, metric_key
from pytest_auepora.regression.compare.cases import Comparison, ScoreChange, compare, compare_case
from pytest_auepora.regression.compare.comparability import incomparable_metrics
from pytest_auepora.regression.compare.table import ComparedTable

from ..runs import case, run

THEN = run(
    case("same", mrr=0.5), case("fell", mrr=1.0, recall_at_1=1.0), case("fixed", state="failed", mrr=0.25),
    case("edited", content="old", mrr=1.0), case("broke", recall_at_1=1.0), case("lost", mrr=1.0), case("left", mrr=1),
)  # fmt: skip
NOW = run(
    case("same", mrr=0.5), case("fell", state="failed", mrr=0.5, recall_at_1=0.0), case("fixed", mrr=1.0),
    case("edited", content="new", mrr=0.5), case("broke", state="error", recall_at_1="error"), case("lost", mrr=None),
    case("left", state="skipped"), case("new", mrr=1.0),
)  # fmt: skip
NOW.cases["fixed"].extra["labels"] = {"match": "span"}
IDS = tuple(NOW.cases)


def accepted() -> Baseline:
    infos = {name: metric_key(info) for name, info in THEN.metrics.items()}
    return Baseline("suite", metrics=infos, cases={i: BaselineCase.of(r, THEN.metrics) for i, r in THEN.cases.items()})


def in_columns(baseline: Baseline, order: list[str], seen: list[str]) -> tuple[Run, ComparedTable]:
    """Return the run as results came in that *order*, and how those that were *seen* were found to compare."""
    now = run(expected=IDS)
    now.cases = table = ResultTable(IDS, {case_id: row for row, case_id in enumerate(IDS)})
    compared = ComparedTable(table, baseline.cases, incomparable_metrics(now, baseline))
    for case_id in order:
        now.add([NOW.cases[case_id]])
        if case_id in seen:
            compared.put(compare_case(NOW.cases[case_id], baseline.cases.get(case_id), now.metrics, {}))
    return now, compared


def text(comparison: Comparison) -> str:
    cases = comparison.cases.values()
    return repr([(*(getattr(case, name) for name in case.__dataclass_fields__), case.worst) for case in cases])


@pytest.mark.parametrize("seed", range(5))
def test_what_was_found_as_cases_came_is_what_is_found_at_the_end(seed: int) -> None:
    order, baseline = random.Random(seed).sample(IDS, len(IDS)), accepted()
    seen = order[: seed * 2]
    now, known = in_columns(baseline, order, seen)
    found = compare(now, baseline, known)
    assert found.cases is known
    assert text(found) == text(compare(NOW, baseline)) == text(compare(now, baseline))
    assert (found.lost, found.apart) == (compare(NOW, baseline).lost, compare(NOW, baseline).apart)
    assert list(found.lost) == ["lost"]
    assert list(found.apart) == ["fixed"]
    assert found.count() == compare(NOW, baseline).count()
    for name in NOW.metrics:
        assert found.metric(name) == compare(NOW, baseline).metric(name)


def test_a_case_that_is_run_again_is_compared_again() -> None:
    baseline = accepted()
    now, known = in_columns(baseline, [*IDS], [*IDS])
    again = case("lost", mrr=0.75)
    now.add([again])
    known.forget("lost")
    known.forget("never seen")
    assert compare(now, baseline, known).cases["lost"].changes == {"mrr": ScoreChange(1.0, 0.75, -0.25)}
    assert not known["lost"].lost
    known.forget("fell")
    known.put(compare_case(case("fell", mrr=1.0), baseline.cases["fell"], now.metrics, {}))
    assert list(known["fell"].changes) == ["mrr"]


def other_baseline(now: Run, baseline: Baseline) -> Any:
    return now, accepted()


def other_results(now: Run, baseline: Baseline) -> Any:
    return in_columns(baseline, [*IDS], [])[0], baseline


def other_chunker(now: Run, baseline: Baseline) -> Any:
    now.provenance = {"chunker_version": 2}
    return now, baseline


@pytest.mark.parametrize("change", [other_baseline, other_results, other_chunker])
def test_what_was_found_does_not_count_where_something_else_is_compared(change: Callable[[Run, Baseline], Any]) -> None:
    baseline = accepted()
    now, known = in_columns(baseline, [*IDS], [*IDS])
    now, baseline = change(now, baseline)
    found = compare(now, baseline, known)
    assert found.cases is not known
    assert text(found) == text(compare(now, baseline))
    assert bool(found.incomparable) == (change is other_chunker)
