"""A judge held against people's labels: the figures, what it goes by besides, and whether its scores may fail a run.

The judge before and the judge now, on the same labels: mid-p McNemar, Fagerland, Lydersen, Laake, BMC Medical Research
Methodology 13:91 (2013).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from statistics import median
from typing import Any

import numpy as np

from ..errors import MetricError
from ..regression.guards.calibration import Calibration
from ..regression.thresholds import Bound
from .agreement import (
    Cut,
    Figure,
    Level,
    Table,
    bootstrap,
    cohen_kappa,
    cut_scores,
    krippendorff_alpha,
    newcombe,
    percentiles,
    resampled_counts,
    table_of,
    wilson,
)
from .labels import Item, LabelSet

LEAST_LABELS = 100
LEAST_OF_A_KIND = 20
LEAST_KAPPA = 0.6
LEAST_KAPPA_BOUND = 0.4
LEAST_J = 0.5
ALPHA = 0.05
TOLERATED = 0.05
"""Share of items on which a judge may contradict itself."""
_MANY_FAILURES = 0.05
_FEWEST = 5


@dataclass(slots=True)
class Study:
    """What came out.

    Attributes:
        metric: the name of the judged metric.
        cut: how scores became yes and no.
        figures: name → number with interval.
        biases: checks of what the judge goes by.
        labels: item id → (people, judge), of the items that were measured.
        remarks: what the reader has to know besides.
        shortfalls: why the judge may not gate; empty where it may.
    """

    metric: str
    cut: Cut
    figures: dict[str, Figure]
    biases: list[Bias] = field(default_factory=list)
    labels: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    shortfalls: list[str] = field(default_factory=list)
    change: Change | None = None

    @property
    def gate(self) -> bool:
        """Whether the judge has earned the right to fail a run."""
        return not self.shortfalls

    @property
    def reason(self) -> str:
        """Why it may, or why not."""
        return "people agree with the judge" if self.gate else "; ".join(self.shortfalls)

    def calibration(self, judge: Mapping[str, Any]) -> Calibration:
        """Return what is kept; *judge* is the `MetricInfo.judge` that gave the scores."""
        statistics: dict[str, Any] = {
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
            "biases": {bias.name: bias.to_dict() for bias in self.biases},
            "threshold": self.cut.way,
            "remarks": self.remarks,
        }
        if self.change is not None:
            statistics["former judge"] = self.change.to_dict()
        return Calibration(
            self.metric, self.gate, self.reason, judge, round(self.cut.threshold, 6), statistics, self.labels
        )


def study(
    metric: str, labels: LabelSet, *, threshold: str = "0.5", former: Mapping[str, tuple[bool, bool]] | None = None
) -> Study:
    """Hold the judge's scores in *labels* against people's.

    Args:
        metric: the name of the judged metric.
        labels: items, each with a score or the error that took its place.
        threshold: the score from which the judge says yes; ``cv`` and ``split`` choose it (`cut`).
        former: the labels of the calibration before, to compare the two judges.

    Raises:
        MetricError: there is nothing to compare, or the threshold is none.
    """
    remarks = [] if not labels.unlabelled else [f"{labels.unlabelled} without a label are left out"]
    decided = [(item, said) for item in labels.items if (said := labels.people_say(item)) is not None]
    if tied := len(labels.items) - len(decided):
        remarks.append(f"{tied} on which people are divided are left out")
    failed = [item for item, _ in decided if item.error]
    usable = [(item, said) for item, said in decided if item.scores and not item.error]
    if silent := len(decided) - len(failed) - len(usable):
        remarks.append(f"{silent} without a score of the judge are left out")
    if not usable:
        raise MetricError("no item has both a label and a score of the judge")
    people = [said for _, said in usable]
    scores = [item.scores[0] for item, _ in usable]
    cut = cut_scores(threshold, people, scores, [item.cluster for item, _ in usable])
    items = [usable[i][0] for i in cut.measured]
    out = Study(metric, cut, {}, remarks=remarks)
    people = [people[i] for i in cut.measured]
    out.labels = {item.id: pair for item, *pair in zip(items, people, cut.yes, strict=True)}  # type: ignore[misc]
    out.figures = _figures(people, cut.yes, items)
    out.figures["parse failures"] = wilson(len(failed), len(failed) + len(usable))
    out.figures |= _of_grades(labels, items) | _of_people(labels)
    out.biases = _biases(items, people, cut)
    out.change = compare_judges(former, out.labels) if former else None
    out.remarks += _remarks(out, failed, threshold)
    out.shortfalls = _shortfalls(table_of(people, cut.yes), out.figures["kappa"])
    return out


def _figures(people: Sequence[bool], judge: Sequence[bool], items: Sequence[Item]) -> dict[str, Figure]:
    table = table_of(people, judge)
    groups = [item.cluster for item in items]
    alone = len(set(groups)) == len(groups)
    cells = [(0 if p else 1) if j else (2 if p else 3) for p, j in zip(people, judge, strict=True)]
    drawn = [Table(*counts) for counts in resampled_counts(cells, groups, 4)]

    def over(read: Callable[[Table], float | None]) -> Figure:
        return percentiles(read(table), [read(one) for one in drawn], len(items))

    def share(hits: float, n: float, read: Callable[[Table], float | None]) -> Figure:
        return wilson(hits, n) if alone else over(read)  # Wilson knows no groups

    return {
        "kappa": over(lambda t: t.kappa),
        "alpha": over(lambda t: t.alpha),
        "balanced accuracy": over(lambda t: t.balanced_accuracy),
        "sensitivity": share(table.tp, table.tp + table.fn, lambda t: t.sensitivity),
        "specificity": share(table.tn, table.tn + table.fp, lambda t: t.specificity),
        "Youden's J": over(lambda t: t.youden_j),
    }


def _of_grades(labels: LabelSet, items: Sequence[Item]) -> dict[str, Figure]:
    """Of grades from 1 to 5, the agreement of the grades themselves: the judge's unit interval as 1 to 5."""
    if labels.kind != "grade":
        return {}
    given = [float(median(int(v) for v in item.people)) for item in items]
    exact = [1 + 4 * item.scores[0] for item in items]
    whole = [float(round(value)) for value in exact]
    groups = [item.cluster for item in items]

    def pairs(ids: Sequence[int], other: Sequence[float]) -> list[tuple[float, float]]:
        return [(given[i], other[i]) for i in ids]

    draws = 500  # enough for two places, and each takes a pass over all pairs of grades
    return {
        "kappa of grades (quadratic)": bootstrap(
            lambda ids: cohen_kappa(*zip(*pairs(ids, whole), strict=True), quadratic=True), groups, draws
        ),
        "alpha of grades (ordinal)": bootstrap(
            lambda ids: krippendorff_alpha(pairs(ids, whole), "ordinal"), groups, draws
        ),
        "alpha of grades (interval)": Figure(
            krippendorff_alpha(pairs(range(len(given)), exact), "interval"), n=len(given)
        ),
    }


def _of_people(labels: LabelSet) -> dict[str, Figure]:
    """How far people agree with each other: no judge can be expected to agree with them more."""
    several = [item for item in labels.items if len(item.people) > 1]
    if not several:
        return {}
    level: Level = "ordinal" if labels.kind == "grade" else "nominal"
    groups = [item.cluster for item in several]
    found = bootstrap(lambda ids: krippendorff_alpha([several[i].people for i in ids], level), groups, 500)
    return {f"alpha among people ({level})": found}


@dataclass(frozen=True, slots=True)
class Bias:
    """One check.  ``meaning`` is a sentence with the figure's meaning; ``suspicious`` if chance hardly explains it."""

    name: str
    figure: Figure
    meaning: str
    suspicious: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {**self.figure.to_dict(), "meaning": self.meaning, "suspicious": self.suspicious}


def _biases(items: Sequence[Item], people: Sequence[bool], cut: Cut) -> list[Bias]:
    """Return the checks for which there is something to look at."""
    judge = cut.yes
    found = [_base_rate(items, people, judge)]
    if any(item.answer for item in items):
        found += [_length(items, people), *_verbosity(items, people, judge)]
    swapped = [item.swapped for item in items]
    again = [item.scores[1] if len(item.scores) > 1 else None for item in items]
    found += _contradictions("position", cut, swapped, "answers judged otherwise with the evidence in reverse")
    found += _contradictions("repeats", cut, again, "answers judged otherwise when asked again")
    return found + _drift(items, people, judge)


def _difference(name: str, figure: Figure, meaning: str) -> Bias:
    away = figure.low is not None and figure.high is not None and not figure.low <= 0 <= figure.high
    return Bias(name, figure, meaning, away)


def _base_rate(items: Sequence[Item], people: Sequence[bool], judge: Sequence[bool]) -> Bias:
    def rate(ids: Sequence[int]) -> float | None:
        return sum(judge[i] - people[i] for i in ids) / len(ids) if ids else None

    figure = bootstrap(rate, [item.cluster for item in items])
    return _difference("base rate", figure, "share of yes, the judge's above people's")


def _length(items: Sequence[Item], people: Sequence[bool]) -> Bias:
    """Correlate rank of length with rank of score, each within what people say: what length adds to the truth."""
    scores, lengths = np.zeros(len(items)), np.zeros(len(items))
    for label in (True, False):
        inside = np.array([i for i, p in enumerate(people) if p == label], dtype=int)
        scores[inside] = _ranks([items[i].scores[0] for i in inside])
        lengths[inside] = _ranks([len(items[i].answer) for i in inside])

    def correlation(ids: Sequence[int]) -> float | None:
        a, b = scores[list(ids)], lengths[list(ids)]
        spread = float(np.sqrt((a @ a) * (b @ b)))
        return float(a @ b) / spread if spread > 0 else None

    meaning = "rank correlation of answer length and score among answers people judge alike"
    return _difference("length", bootstrap(correlation, [item.cluster for item in items]), meaning)


def _ranks(values: Sequence[float]) -> Any:
    """Ranks about their mean, equal values sharing their mean rank."""
    if not values:
        return np.zeros(0)
    _, inverse, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return ranks - ranks.mean()


def _verbosity(items: Sequence[Item], people: Sequence[bool], judge: Sequence[bool]) -> list[Bias]:
    """Wrongly accepted among the long answers and among the short."""
    refused = [(len(item.answer), yes) for item, said, yes in zip(items, people, judge, strict=True) if not said]
    middle = median([length for length, _ in refused]) if refused else 0
    long = [yes for length, yes in refused if length > middle]
    short = [yes for length, yes in refused if length <= middle]
    if min(len(long), len(short)) < _FEWEST:
        return []
    meaning = "share of answers people refuse and the judge accepts, long ones above short ones"
    return [_difference("verbosity", newcombe(sum(long), len(long), sum(short), len(short)), meaning)]


def _contradictions(name: str, cut: Cut, other: Sequence[float | None], meaning: str) -> list[Bias]:
    pairs = [(yes, score >= cut.threshold) for yes, score in zip(cut.yes, other, strict=True) if score is not None]
    if not pairs:
        return []
    figure = wilson(sum(a != b for a, b in pairs), len(pairs))
    kappa = table_of([a for a, _ in pairs], [b for _, b in pairs]).kappa
    with_itself = "" if kappa is None else f"; κ of the judge with itself {kappa:.2f}"
    return [Bias(name, figure, f"share of {meaning}{with_itself}", (figure.low or 0.0) > TOLERATED)]


def _drift(items: Sequence[Item], people: Sequence[bool], judge: Sequence[bool]) -> list[Bias]:
    """How far the judge is above people in the last batch, beyond the first."""
    order = list(dict.fromkeys(item.batch for item in items if item.batch))
    if len(order) < 2:
        return []
    first, last = order[0], order[-1]

    def change(name: str, values: Sequence[bool], what: str) -> Bias:
        then, now = ([v for v, item in zip(values, items, strict=True) if item.batch == b] for b in (first, last))
        figure = newcombe(sum(now), len(now), sum(then), len(then))
        return _difference(name, figure, f"{what} in the batch {last!r} above {first!r}")

    wrong = [said != yes for said, yes in zip(people, judge, strict=True)]
    return [
        change("drift of the judge", wrong, "share of wrong judgements"),
        change("drift of the labels", people, "share of yes among people"),
    ]


def _remarks(out: Study, failed: Sequence[Item], threshold: str) -> list[str]:
    told = []
    rate = out.figures["parse failures"].value or 0.0
    if rate > _MANY_FAILURES:
        told.append(f"{len(failed)} replies of the judge were no score ({failed[0].error}); they are in no figure")
    ceiling = next((f.value for n, f in out.figures.items() if n.startswith("alpha among people")), None)
    if ceiling is not None and ceiling < LEAST_KAPPA:
        told.append(f"people agree little with each other (α {ceiling:.2f}): make the question clearer first")
    if out.cut.way == "split":
        told.append(f"the threshold was chosen on the other half; --threshold {threshold} measures one half only")
    return told


def _shortfalls(table: Table, kappa: Figure) -> list[str]:
    """Say what is missing for the right to gate; all of it, in the order in which it is mended."""
    out = []
    if table.n < LEAST_LABELS:
        out.append(f"{table.n:g} labels, at least {LEAST_LABELS} are wanted")
    for word, n in (("yes", table.tp + table.fn), ("no", table.tn + table.fp)):
        if n < LEAST_OF_A_KIND:
            out.append(f"{n:g} of them {word}, at least {LEAST_OF_A_KIND} are wanted")
    if kappa.value is None or kappa.value < LEAST_KAPPA:
        shown = "cannot be told" if kappa.value is None else f"is {_shown(kappa.value, LEAST_KAPPA)}"
        out.append(f"κ {shown}, at least {LEAST_KAPPA} is wanted")
    if kappa.low is None or kappa.low < LEAST_KAPPA_BOUND:
        shown = (
            "has no lower bound" if kappa.low is None else f"may be as low as {_shown(kappa.low, LEAST_KAPPA_BOUND)}"
        )
        out.append(f"κ {shown}, at least {LEAST_KAPPA_BOUND} is wanted")
    if table.youden_j is None or table.youden_j < LEAST_J:
        shown = "cannot be told" if table.youden_j is None else f"is {_shown(table.youden_j, LEAST_J)}"
        out.append(f"sensitivity + specificity - 1 {shown}, at least {LEAST_J} is wanted")
    return out


def _shown(value: float, least: float) -> str:
    return Bound("min", least).shown(value, 2)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the items that both judges were held against.

    ``fixed`` were wrong before and are right now, ``broken`` the other way round; ``p`` is the two-sided mid-p.
    """

    n: int
    fixed: int
    broken: int
    p: float

    @property
    def outcome(self) -> str:
        """``better``, ``worse``, or ``no clear difference``."""
        if self.p > ALPHA:
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


def compare_judges(before: Mapping[str, tuple[bool, bool]], now: Mapping[str, tuple[bool, bool]]) -> Change | None:
    """Compare two judges' labels, item id → (people, judge); None without an item both know with the same label."""
    shared = [
        (people, before[i][1], judge) for i, (people, judge) in now.items() if i in before and before[i][0] == people
    ]
    if not shared:
        return None
    fixed = sum(new == people != old for people, old, new in shared)
    broken = sum(old == people != new for people, old, new in shared)
    return Change(len(shared), fixed, broken, mid_p_mcnemar(fixed, broken))
