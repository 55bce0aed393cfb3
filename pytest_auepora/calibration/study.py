"""Compares a judge with people's labels: how far they agree, and whether its scores may fail a run.

The previous and the current judge are compared on the same labels by mid-p McNemar: Fagerland, Lydersen, Laake, BMC
Medical Research Methodology 13:91 (2013).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from statistics import median
from typing import Any, NamedTuple

from ..errors import MetricError
from ..regression.guards.calibration import Calibration, Estimate, JudgeChange, pair_of
from ..regression.thresholds import Bound
from .agreement import (
    Level,
    Table,
    bootstrap,
    krippendorff_alpha,
    percentiles,
    quadratic_kappa,
    resample,
    table_of,
    wilson,
)
from .labels import Item, LabelSet

_LEAST_LABELS = 100
_LEAST_OF_A_KIND = 20
_LEAST_KAPPA = 0.6
_LEAST_KAPPA_BOUND = 0.4
_LEAST_J = 0.5
_GRADE_DRAWS = 500  # enough for two places, and each takes a pass over all pairs of grades
_MANY_FAILURES = 0.05


@dataclass(slots=True)
class Study:
    """The result of a study.

    ``threshold`` is the score from which the judge says yes; ``figures`` are by name; ``labels`` are (people, judge) by
    the id of each measured item; ``shortfalls`` say why the judge may not gate, none where it may; ``change`` is the
    comparison with the judge before.
    """

    metric: str
    threshold: float
    figures: dict[str, Estimate]
    labels: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    shortfalls: list[str] = field(default_factory=list)
    change: JudgeChange | None = None

    @property
    def gate(self) -> bool:
        """Whether the judge has earned the right to fail a run."""
        return not self.shortfalls

    @property
    def reason(self) -> str:
        """Why it may, or why not."""
        return "people agree with the judge" if self.gate else "; ".join(self.shortfalls)

    def calibration(self, judge: Mapping[str, Any]) -> Calibration:
        """Return the calibration to store; *judge* is the `MetricInfo.judge` that gave the scores."""
        figures = {name: figure.rounded() for name, figure in self.figures.items()}
        labels = {item: pair_of(*pair) for item, pair in self.labels.items()}
        return Calibration(
            self.metric, self.gate, self.reason, dict(judge), self.threshold, figures, self.remarks, self.change, labels
        )


def study(
    metric: str, labels: LabelSet, *, threshold: float = 0.5, previous: Mapping[str, tuple[bool, bool]] | None = None
) -> Study:
    """Compare the judge's scores of *metric* with people's labels; each item has a score, or an error in its place.

    *threshold* is the score from which the judge says yes.  *previous* are the labels of the calibration before, to
    compare the two judges.

    Raises:
        MetricError: there is nothing to compare.
    """
    labelled = [(item, label) for item in labels.items if (label := labels.majority(item)) is not None]
    unreadable = [item for item, _ in labelled if item.error]
    usable = [(item, label) for item, label in labelled if item.score is not None and not item.error]
    if not usable:
        raise MetricError("no item has both a label and a score of the judge")
    left_out = {
        "without a label": labels.unlabelled,
        "on which people are divided": len(labels.items) - len(labelled),
        "without a score of the judge": len(labelled) - len(unreadable) - len(usable),
    }
    pairs = [_Pair(item, label, (item.score or 0.0) >= threshold) for item, label in usable]
    result = Study(metric, threshold, _agreement_figures(pairs))
    result.labels = {pair.item.name: (pair.people, pair.judge) for pair in pairs}
    result.figures["parse failures"] = wilson(len(unreadable), len(unreadable) + len(usable))
    among_people = _rater_figures(labels)
    result.figures |= _grade_figures(labels, [pair.item for pair in pairs]) | among_people
    result.change = compare_judges(previous, result.labels) if previous else None
    result.remarks = [f"{count} {which} are left out" for which, count in left_out.items() if count]
    result.remarks += _remarks(result, unreadable, among_people)
    result.shortfalls = _shortfalls(_count(pairs), result.figures["kappa"])
    return result


class _Pair(NamedTuple):
    """One measured item: what people say of it, and what the judge says."""

    item: Item
    people: bool
    judge: bool


def _count(pairs: Sequence[_Pair]) -> Table:
    return table_of([pair.people for pair in pairs], [pair.judge for pair in pairs])


def _agreement_figures(pairs: Sequence[_Pair]) -> dict[str, Estimate]:
    table = _count(pairs)
    groups = [pair.item.cluster for pair in pairs]
    independent = len(set(groups)) == len(groups)
    resamples = [_count([pairs[i] for i in ids]) for ids in resample(groups)]

    def with_interval(read: Callable[[Table], float | None]) -> Estimate:
        return percentiles(read(table), [read(resampled) for resampled in resamples], len(pairs))

    def share_figure(hits: float, n: float, read: Callable[[Table], float | None]) -> Estimate:
        return wilson(hits, n) if independent else with_interval(read)  # Wilson knows no groups

    return {
        "kappa": with_interval(lambda t: t.kappa),
        "alpha": with_interval(lambda t: t.alpha),
        "balanced accuracy": with_interval(lambda t: t.balanced_accuracy),
        "sensitivity": share_figure(table.tp, table.tp + table.fn, lambda t: t.sensitivity),
        "specificity": share_figure(table.tn, table.tn + table.fp, lambda t: t.specificity),
        "Youden's J": with_interval(lambda t: t.youden_j),
    }


def _grade_figures(labels: LabelSet, items: Sequence[Item]) -> dict[str, Estimate]:
    """Return the agreement of grades from 1 to 5; the judge's scores from 0 to 1 are scaled to 1 to 5."""
    if labels.scale != "grade":
        return {}
    exact = [(float(median(int(v) for v in item.people)), 1 + 4 * (item.score or 0.0)) for item in items]
    whole = [(grade, float(round(score))) for grade, score in exact]
    groups = [item.cluster for item in items]

    def of_grades(figure: Callable[[list[tuple[float, float]]], float | None]) -> Estimate:
        return bootstrap(lambda ids: figure([whole[i] for i in ids]), groups, _GRADE_DRAWS)

    return {
        "kappa of grades (quadratic)": of_grades(lambda rated: quadratic_kappa(*zip(*rated, strict=True))),
        "alpha of grades (ordinal)": of_grades(lambda rated: krippendorff_alpha(rated, "ordinal")),
        "alpha of grades (interval)": Estimate(krippendorff_alpha(exact, "interval"), n=len(exact)),
    }


def _rater_figures(labels: LabelSet) -> dict[str, Estimate]:
    """Return how far people agree with each other: the ceiling for any judge."""
    items = [item for item in labels.items if len(item.people) > 1]
    if not items:
        return {}
    level: Level = "ordinal" if labels.scale == "grade" else "nominal"
    groups = [item.cluster for item in items]
    figure = bootstrap(lambda ids: krippendorff_alpha([items[i].people for i in ids], level), groups, _GRADE_DRAWS)
    return {f"alpha among people ({level})": figure}


def _remarks(result: Study, unreadable: Sequence[Item], among_people: Mapping[str, Estimate]) -> list[str]:
    remarks = []
    if (result.figures["parse failures"].value or 0.0) > _MANY_FAILURES:
        why = unreadable[0].error
        remarks.append(f"{len(unreadable)} replies of the judge were no score ({why}); they are in no figure")
    ceiling = next((figure.value for figure in among_people.values()), None)
    if ceiling is not None and ceiling < _LEAST_KAPPA:
        remarks.append(f"people agree little with each other (α {ceiling:.2f}): make the question clearer first")
    return remarks


def _shortfalls(table: Table, kappa: Estimate) -> list[str]:
    """Return everything that the judge lacks to gate, in the order in which it is mended."""
    shortfalls = []
    if table.n < _LEAST_LABELS:
        shortfalls.append(f"{table.n:g} labels, at least {_LEAST_LABELS} are wanted")
    for word, n in (("yes", table.tp + table.fn), ("no", table.tn + table.fp)):
        if n < _LEAST_OF_A_KIND:
            shortfalls.append(f"{n:g} of them {word}, at least {_LEAST_OF_A_KIND} are wanted")
    for figure, value, least in (
        ("κ", kappa.value, _LEAST_KAPPA),
        ("the lower bound of κ", kappa.low, _LEAST_KAPPA_BOUND),
        ("sensitivity + specificity - 1", table.youden_j, _LEAST_J),
    ):
        if value is None or value < least:
            found = "unknown" if value is None else Bound("min", least).shown(value, 2)
            shortfalls.append(f"{figure} is {found}, at least {least} is wanted")
    return shortfalls


def mid_p_mcnemar(b: int, c: int) -> float:
    """Return the two-sided mid-p of *b* against *c* discordant pairs under even chances; 1 without any."""
    n, few = b + c, min(b, c)
    if not n:
        return 1.0
    point = comb(n, few)  # whole numbers: no pair is too many
    if b == c:
        return 1 - point / (1 << (n + 1))
    return (2 * sum(comb(n, i) for i in range(few + 1)) - point) / (1 << n)


def compare_judges(before: Mapping[str, tuple[bool, bool]], now: Mapping[str, tuple[bool, bool]]) -> JudgeChange | None:
    """Compare two judges' labels, item id → (people, judge); None without an item both know with the same label."""
    shared = [
        (people, before[i][1], judge) for i, (people, judge) in now.items() if i in before and before[i][0] == people
    ]
    if not shared:
        return None
    fixed = sum(new == people != old for people, old, new in shared)
    broken = sum(old == people != new for people, old, new in shared)
    return JudgeChange(len(shared), fixed, broken, round(mid_p_mcnemar(fixed, broken), 6))
