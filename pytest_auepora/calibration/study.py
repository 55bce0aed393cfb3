"""Compares a judge with people's labels: agreement, biases, and whether its scores may fail a run.

The previous and the current judge are compared on the same labels by mid-p McNemar: Fagerland, Lydersen, Laake, BMC
Medical Research Methodology 13:91 (2013).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..base.grouping import grouped
from ..errors import MetricError
from ..regression.guards.calibration import Calibration
from ..regression.thresholds import Bound
from .agreement import (
    Decisions,
    Estimate,
    Level,
    Table,
    apply_threshold,
    bootstrap,
    krippendorff_alpha,
    newcombe,
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
_ALPHA = 0.05
_TOLERATED = 0.05
"""Share of items on which a judge may contradict itself."""
_GRADE_DRAWS = 500  # enough for two places, and each takes a pass over all pairs of grades
_MANY_FAILURES = 0.05
_FEWEST = 5


@dataclass(slots=True)
class Study:
    """The result of a study.

    ``figures`` are by name; ``labels`` are (people, judge) by the id of each measured item; ``shortfalls`` say why the
    judge may not gate, none where it may; ``change`` is the comparison with the judge before.
    """

    metric: str
    decisions: Decisions
    figures: dict[str, Estimate]
    biases: list[Bias] = field(default_factory=list)
    labels: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    shortfalls: list[str] = field(default_factory=list)
    change: JudgeComparison | None = None

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
        statistics: dict[str, Any] = {
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
            "biases": {bias.name: bias.to_dict() for bias in self.biases},
            "threshold": self.decisions.method,
            "remarks": self.remarks,
        }
        if self.change is not None:
            statistics["former judge"] = self.change.to_dict()
        threshold = round(self.decisions.threshold, 6)
        return Calibration(self.metric, self.gate, self.reason, judge, threshold, statistics, self.labels)


def study(
    metric: str, labels: LabelSet, *, threshold: str = "0.5", previous: Mapping[str, tuple[bool, bool]] | None = None
) -> Study:
    """Compare the judge's scores of *metric* with people's labels; each item has a score, or an error in its place.

    *threshold* is the score from which the judge says yes; ``cv`` and ``split`` choose it (`apply_threshold`).
    *previous* are the labels of the calibration before, to compare the two judges.

    Raises:
        MetricError: there is nothing to compare, or the threshold is none.
    """
    labelled = [(item, label) for item in labels.items if (label := labels.majority(item)) is not None]
    unreadable = [item for item, _ in labelled if item.error]
    usable = [(item, label) for item, label in labelled if item.scores and not item.error]
    if not usable:
        raise MetricError("no item has both a label and a score of the judge")
    left_out = {
        "without a label": labels.unlabelled,
        "on which people are divided": len(labels.items) - len(labelled),
        "without a score of the judge": len(labelled) - len(unreadable) - len(usable),
    }
    decisions = apply_threshold(
        threshold,
        [label for _, label in usable],
        [item.scores[0] for item, _ in usable],
        [item.cluster for item, _ in usable],
    )
    pairs = [_Pair(*usable[i], yes) for i, yes in zip(decisions.measured, decisions.yes, strict=True)]
    result = Study(metric, decisions, _agreement_figures(pairs))
    result.labels = {pair.item.id: (pair.people, pair.judge) for pair in pairs}
    result.figures["parse failures"] = wilson(len(unreadable), len(unreadable) + len(usable))
    result.figures |= _grade_figures(labels, [pair.item for pair in pairs]) | _rater_figures(labels)
    result.biases = _biases(pairs, decisions.threshold)
    result.change = compare_judges(previous, result.labels) if previous else None
    result.remarks = [f"{count} {which} are left out" for which, count in left_out.items() if count]
    result.remarks += _remarks(result, unreadable, threshold)
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
    exact = [(float(median(int(v) for v in item.people)), 1 + 4 * item.scores[0]) for item in items]
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


@dataclass(frozen=True, slots=True)
class Bias:
    """One check.  ``meaning`` is a sentence with the figure's meaning; ``suspicious`` if chance hardly explains it."""

    name: str
    figure: Estimate
    meaning: str
    suspicious: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {**self.figure.to_dict(), "meaning": self.meaning, "suspicious": self.suspicious}


def _biases(pairs: Sequence[_Pair], threshold: float) -> list[Bias]:
    """Return the bias checks for which there are data."""

    def rate(ids: Sequence[int]) -> float | None:
        return sum(pairs[i].judge - pairs[i].people for i in ids) / len(ids) if ids else None

    figure = bootstrap(rate, [pair.item.cluster for pair in pairs])
    checks = [_difference_bias("base rate", figure, "share of yes, the judge's above people's")]
    if any(pair.item.answer for pair in pairs):
        checks += [_length_bias(pairs), *_verbosity_biases(pairs)]
    swapped = [(pair.judge, pair.item.swapped >= threshold) for pair in pairs if pair.item.swapped is not None]
    checks += _contradiction_biases("position", swapped, "answers judged otherwise with the evidence in reverse")
    repeated = [(pair.judge, pair.item.scores[1] >= threshold) for pair in pairs if len(pair.item.scores) > 1]
    checks += _contradiction_biases("repeats", repeated, "answers judged otherwise when asked again")
    return checks + _drift_biases(pairs)


def _difference_bias(name: str, figure: Estimate, meaning: str) -> Bias:
    off_zero = figure.low is not None and figure.high is not None and not figure.low <= 0 <= figure.high
    return Bias(name, figure, meaning, off_zero)


def _length_bias(pairs: Sequence[_Pair]) -> Bias:
    """Correlate rank of length with rank of score, each within what people say: what length adds to the truth."""
    scores, lengths = np.zeros(len(pairs)), np.zeros(len(pairs))
    for label in (True, False):
        inside = [i for i, pair in enumerate(pairs) if pair.people == label]
        scores[inside] = _ranks([pairs[i].item.scores[0] for i in inside])
        lengths[inside] = _ranks([len(pairs[i].item.answer) for i in inside])

    def correlation(ids: Sequence[int]) -> float | None:
        score_ranks, length_ranks = scores[list(ids)], lengths[list(ids)]
        spread = float(np.sqrt((score_ranks @ score_ranks) * (length_ranks @ length_ranks)))
        return float(score_ranks @ length_ranks) / spread if spread > 0 else None

    meaning = "rank correlation of answer length and score among answers people judge alike"
    return _difference_bias("length", bootstrap(correlation, [pair.item.cluster for pair in pairs]), meaning)


def _ranks(values: Sequence[float]) -> Any:
    """Ranks about their mean, equal values sharing their mean rank."""
    if not values:
        return np.zeros(0)
    _, inverse, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return ranks - ranks.mean()


def _verbosity_biases(pairs: Sequence[_Pair]) -> list[Bias]:
    """Compare the shares of wrongly accepted answers among the long ones and among the short ones."""
    refused = [(len(pair.item.answer), pair.judge) for pair in pairs if not pair.people]
    middle = median([length for length, _ in refused]) if refused else 0
    long = [yes for length, yes in refused if length > middle]
    short = [yes for length, yes in refused if length <= middle]
    if min(len(long), len(short)) < _FEWEST:
        return []
    meaning = "share of answers people refuse and the judge accepts, long ones above short ones"
    return [_difference_bias("verbosity", newcombe(sum(long), len(long), sum(short), len(short)), meaning)]


def _contradiction_biases(name: str, verdict_pairs: Sequence[tuple[bool, bool]], meaning: str) -> list[Bias]:
    if not verdict_pairs:
        return []
    figure = wilson(sum(first != second for first, second in verdict_pairs), len(verdict_pairs))
    kappa = table_of([first for first, _ in verdict_pairs], [second for _, second in verdict_pairs]).kappa
    with_itself = "" if kappa is None else f"; κ of the judge with itself {kappa:.2f}"
    return [Bias(name, figure, f"share of {meaning}{with_itself}", (figure.low or 0.0) > _TOLERATED)]


def _drift_biases(pairs: Sequence[_Pair]) -> list[Bias]:
    """Compare the judge's errors, and people's labels, in the last batch with those in the first."""
    batches = grouped((pair.item.batch, pair) for pair in pairs if pair.item.batch)
    if len(batches) < 2:
        return []
    (first, earlier), *_, (last, later) = batches.items()

    def change(name: str, counts: Callable[[_Pair], bool], what: str) -> Bias:
        figure = newcombe(sum(map(counts, later)), len(later), sum(map(counts, earlier)), len(earlier))
        return _difference_bias(name, figure, f"{what} in the batch {last!r} above {first!r}")

    return [
        change("drift of the judge", lambda pair: pair.judge != pair.people, "share of wrong judgements"),
        change("drift of the labels", lambda pair: pair.people, "share of yes among people"),
    ]


def _remarks(result: Study, unreadable: Sequence[Item], threshold: str) -> list[str]:
    remarks = []
    if (result.figures["parse failures"].value or 0.0) > _MANY_FAILURES:
        why = unreadable[0].error
        remarks.append(f"{len(unreadable)} replies of the judge were no score ({why}); they are in no figure")
    ceiling = next((f.value for n, f in result.figures.items() if n.startswith("alpha among people")), None)
    if ceiling is not None and ceiling < _LEAST_KAPPA:
        remarks.append(f"people agree little with each other (α {ceiling:.2f}): make the question clearer first")
    if result.decisions.method == "split":
        remarks.append(f"the threshold was chosen on the other half; --threshold {threshold} measures one half only")
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


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """How the current judge compares with the previous one on the items both have judged.

    ``fixed`` were wrong before and are right now, ``broken`` the other way round; ``p`` is the two-sided mid-p.
    """

    n: int
    fixed: int
    broken: int
    p: float

    @property
    def outcome(self) -> str:
        """``better``, ``worse``, or ``no clear difference``."""
        if self.p > _ALPHA:
            return "no clear difference"
        return "better" if self.fixed > self.broken else "worse"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {**asdict(self), "p": round(self.p, 6), "outcome": self.outcome}


def mid_p_mcnemar(b: int, c: int) -> float:
    """Return the two-sided mid-p of *b* against *c* discordant pairs under even chances; 1 without any."""
    n, few = b + c, min(b, c)
    if not n:
        return 1.0
    point = comb(n, few)  # whole numbers: no pair is too many
    if b == c:
        return 1 - point / (1 << (n + 1))
    return (2 * sum(comb(n, i) for i in range(few + 1)) - point) / (1 << n)


def compare_judges(
    before: Mapping[str, tuple[bool, bool]], now: Mapping[str, tuple[bool, bool]]
) -> JudgeComparison | None:
    """Compare two judges' labels, item id → (people, judge); None without an item both know with the same label."""
    shared = [
        (people, before[i][1], judge) for i, (people, judge) in now.items() if i in before and before[i][0] == people
    ]
    if not shared:
        return None
    fixed = sum(new == people != old for people, old, new in shared)
    broken = sum(old == people != new for people, old, new in shared)
    return JudgeComparison(len(shared), fixed, broken, mid_p_mcnemar(fixed, broken))
