"""Is the system worse?  The test of a family: means of metrics and slices, the pass rate, shares that have a number.

    differences per case ──sum in clusters──▶ sign flips, step-down maxT ───▶ adjusted p ─┐
                                          ├─▶ t corrected for skewness ────────────────────┴▶ worse, better
                                          └─▶ cluster-robust bound on the mean ────────────▶ same
                                                                    neither ──▶ inconclusive

    judge_family(members, clusters, alpha=…) → a `MemberVerdict` each    `outcome` is the decision of one look at alpha
    look_at(members, further, clusters, …)   → `Looks`: whether every case is to be asked once more before the suite
                                               fails, and the decisions of all looks together

Below ten clusters a steady member is judged by its mean alone, one that varies by an exact p without Hall's t.  Each
member counts its own clusters.  Which members need further looks:

    tolerance                    none: it decides at once
    steady, ten clusters or more none: it decides at once
    steady, fewer clusters       two or three, as answers that were accepted alike by luck have to be ruled out, by the
                                 rule of single cases; of each case the best answer counts
    varies                       one: the second alone is to be worse at 2·alpha, and the mean of both at alpha

Pure functions of plain mappings, without runs, files or pytest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..policy import CLUSTERS_FOR_STATISTICS, PolicyName
from .case_rule import MOST, answers_needed
from .precision import (
    TIE,
    MeanEstimate,
    count_clusters,
    detectable_losses,
    hall_t,
    mean,
    minimum_detectable_effect,
    t_quantile,
)

Outcome = Literal["worse", "better", "same", "inconclusive"]
"""``same``: nothing differs, or a drop of the margin is ruled out."""


@dataclass(frozen=True, slots=True)
class Member:
    """The differences of one member of a family between today and what was accepted.

    Attributes:
        name: as gates write it.
        differences: case id → today's value - centre, signed so that a drop is **negative** whatever the metric's
            direction.  A case without a number on one side is absent.
        min_effect: a smaller mean drop never fails, however significant.
        margin: to be the same, a true mean drop of this size must be ruled out.
        steady: whether no two accepted answers to a case differ in it.
        method: ``tolerance`` judges it by its mean alone, ``statistical`` by the test; ``auto`` by its mean alone where
            it is steady and has fewer than ten clusters.
        lost: what one lost answer costs: the mean of the centres above the metric's worst value; 1 for the pass rate.
        accepted: how many answers to each case were accepted, the fewest of any.
    """

    name: str
    differences: Mapping[str, float]
    min_effect: float = 0.01
    margin: float = 0.05
    steady: bool = False
    method: PolicyName = "auto"
    lost: float | None = None
    accepted: int = 1

    def is_decided_by_mean(self, n_clusters: int) -> bool:
        """Whether its mean drop alone decides, without a test for chance."""
        if self.method == "auto":
            return self.steady and n_clusters < CLUSTERS_FOR_STATISTICS
        return self.method == "tolerance"

    @property
    def answers_needed(self) -> int:
        """How many answers of today a drop has to be seen in, where its mean alone decides and answers were alike."""
        return answers_needed(self.accepted, 0) or MOST


@dataclass(frozen=True, slots=True)
class ChanceTest:
    """How often sign flips alone give as large a change of one member.

    Attributes:
        p_raw: one-sided mid-p of a drop, not corrected for other members.
        p_drop, p_gain: p of a drop and of a gain, corrected for the family: mid-p, or exact p if clusters are few.
        hall: Hall's t of the cluster sums; None if clusters are few.
        critical_value: the z that a drop has to exceed to be significant in this family; None if nothing differs.
    """

    p_raw: float
    p_drop: float
    p_gain: float
    hall: float | None
    critical_value: float | None


@dataclass(frozen=True, slots=True)
class MemberVerdict:
    """What one look says about a member of the family.

    Attributes:
        member: the differences.
        estimate: their mean and its standard error.
        alpha: family-wise level of a failure, and level of the lower bound.
        test: the test for chance; None if the mean alone decides.
    """

    member: Member
    estimate: MeanEstimate
    alpha: float
    test: ChanceTest | None

    @property
    def outcome(self) -> Outcome:
        """The decision of this look alone, at *alpha*."""
        return "worse" if self.is_worse() else self.outcome_unless_worse

    @property
    def outcome_unless_worse(self) -> Outcome:
        """The decision where a drop is not confirmed: better, same or inconclusive."""
        if self.is_better:
            return "better"
        return "same" if self.is_same else "inconclusive"

    @property
    def decides_at_once(self) -> bool:
        """Whether a drop needs no second look."""
        return self.member.method == "tolerance" or (self.member.steady and self.test is not None)

    @property
    def asks_again(self) -> bool:
        """Whether every case is to be asked once more before this member fails the suite."""
        return not self.decides_at_once and self.is_worse(2 * self.alpha)

    @property
    def drop(self) -> float:
        """The observed mean drop; negative for a gain, 0 if nothing was measured."""
        return -(self.estimate.mean or 0.0)

    @property
    def n_worse(self) -> int:
        """Cases that went down."""
        return sum(d < -TIE for d in self.member.differences.values())

    @property
    def n_better(self) -> int:
        """Cases that went up."""
        return sum(d > TIE for d in self.member.differences.values())

    @property
    def differs(self) -> bool:
        """Whether any case went down or up."""
        return bool(self.n_worse or self.n_better)

    def is_worse(self, level: float | None = None) -> bool:
        """Whether it is worse at a *level*, alpha unless given: significant, large enough, and not by skewness alone.

        Without a test for chance any mean drop above ``min_effect`` is.
        """
        return self._changed(-1, self.alpha if level is None else level)

    @property
    def is_better(self) -> bool:
        """Whether it is better at alpha, by the same test on gains."""
        return self._changed(1, self.alpha)

    def _changed(self, sign: int, level: float) -> bool:
        """Whether it is clearly better (*sign* 1) or worse (-1)."""
        size, test, least = -sign * self.drop, self.test, self.member.min_effect
        if test is None:
            return size > least + TIE
        if size <= TIE or size < least - TIE or (test.p_gain if sign > 0 else test.p_drop) > level:
            return False
        return test.hall is None or sign * test.hall > self._critical_t(level)

    @property
    def is_same(self) -> bool:
        """Whether nothing differs, or the lower bound clears the margin; by the mean alone, all that is not worse."""
        if not self.estimate.n_cases:
            return False
        if self.test is None or not self.differs:
            return not self.is_worse()
        return self.lower_bound is not None and self.lower_bound > -self.member.margin

    @property
    def lower_bound(self) -> float | None:
        """One-sided 1 - alpha lower bound of the true mean difference; None below two clusters."""
        return self.estimate.lower_bound(self.alpha)

    @property
    def is_skewed_only(self) -> bool:
        """Whether p is at most alpha, but Hall's t does not agree: a few cases changed much, most hardly."""
        test = self.test
        return (
            test is not None and test.hall is not None
            and test.p_drop <= self.alpha and not test.hall < -self._critical_t(self.alpha)
        )  # fmt: skip

    @property
    def detectable_shift(self) -> float | None:
        """The drop that is seen in 80 % of runs if every answer gets a little worse; None without spread or test."""
        if self.test is None or self.test.critical_value is None or not self.estimate.se:
            return None
        return minimum_detectable_effect(self.test.critical_value, self.estimate.se)

    @property
    def detectable_losses(self) -> int | None:
        """How many lost answers are seen in 80 % of runs; None without spread, or if not even all of them are."""
        if self.member.lost is None or not self.estimate.se:
            return None
        return detectable_losses(self.estimate.n_cases, self.member.lost, self.estimate.se)

    @property
    def cost_of_one(self) -> float | None:
        """By how much one lost answer lowers the mean, which a steady member shows; None without cases."""
        return self.member.lost / self.estimate.n_cases if self.member.lost and self.estimate.n_cases else None

    def _critical_t(self, level: float) -> float:
        return t_quantile(1.0 - level, self.estimate.n_clusters - 1)


def judge_family(members: Sequence[Member], clusters: Mapping[str, str], *, alpha: float = 0.05) -> list[MemberVerdict]:
    """Judge all *members* together, so that any that varies fails by chance in at most *alpha* of runs.

    Their differences are finite and may cover different cases.  *clusters* has the cluster of each case that is not
    independent of others (a variant of a question); a case that it does not list is its own cluster.
    """
    estimates = [MeanEstimate.of(member.differences, clusters) for member in members]
    is_tested = [not m.is_decided_by_mean(e.n_clusters) for m, e in zip(members, estimates, strict=True)]
    tests = iter(_tests([member for member, tested in zip(members, is_tested, strict=True) if tested], clusters, alpha))
    return [
        MemberVerdict(member, estimate, alpha, next(tests) if tested else None)
        for member, estimate, tested in zip(members, estimates, is_tested, strict=True)
    ]


def _tests(members: Sequence[Member], clusters: Mapping[str, str], alpha: float) -> list[ChanceTest]:
    """Test *members* jointly for chance."""
    if not any(any(m.differences.values()) for m in members):  # the most frequent run, without importing numpy
        sizes = [count_clusters(m.differences, clusters) for m in members]
        exact, mid_p = ChanceTest(0.5, 1.0, 1.0, None, None), ChanceTest(0.5, 0.5, 0.5, 0.0, None)
        return [exact if size < CLUSTERS_FOR_STATISTICS else mid_p for size in sizes]
    from .signflip import cluster_sums, sign_flip_test

    sums, counts = cluster_sums([m.differences for m in members], clusters)
    test, out = sign_flip_test(sums, alpha=alpha), list[ChanceTest]()
    for m in range(len(members)):
        own = sums[counts[:, m] > 0, m].tolist()
        few = len(own) < CLUSTERS_FOR_STATISTICS
        p_drop, p_gain = (test.p_exact, test.gain_exact) if few else (test.p_adjusted, test.gain_adjusted)
        hall = None if few else hall_t(own)
        out.append(ChanceTest(float(test.p_raw[m]), float(p_drop[m]), float(p_gain[m]), hall, test.critical_value))
    return out


@dataclass(frozen=True, slots=True)
class Looks:
    """All looks at one family; members are in the same order in each.

    Attributes:
        answers: how many answers to each case there are by now.
        first: by the first answers of today.
        second: by the second answers alone; empty without them.
        all: by all together: the mean of the first two, or the best one of a member that is judged by its mean alone.
    """

    answers: int
    first: Sequence[MemberVerdict]
    second: Sequence[MemberVerdict]
    all: Sequence[MemberVerdict]

    @property
    def wants_another(self) -> bool:
        """Whether every case is to be asked once more: a member asks for it, and none has failed yet.

        Heed it for the family that may fail the run only, and if nothing else is red yet.
        """
        if any(verdict.decides_at_once and verdict.is_worse() for verdict in self.first):
            return False
        if not self.second:
            return any(verdict.asks_again for verdict in self.first)
        open_yet = (v for v in self.all if v.asks_again and v.test is None)
        return not self.confirmed and any(self.answers < verdict.member.answers_needed for verdict in open_yet)

    @property
    def confirmed(self) -> bool:
        """Whether the second answers alone are worse at 2·alpha, and the mean of both at alpha, in the whole family."""
        again = any(v.test is not None and v.is_worse(2 * v.alpha) for v in self.second)
        return again and any(v.test is not None and v.is_worse() for v in self.all)

    @property
    def outcomes(self) -> list[Outcome]:
        """The decision on each member: worse by all looks, or at once; else what the first look says."""
        if not self.second:
            return [verdict.outcome for verdict in self.first]
        confirmed = self.confirmed

        def is_worse(first: MemberVerdict, by_all: MemberVerdict) -> bool:
            if first.decides_at_once and first.is_worse():
                return True
            return first.member.method != "tolerance" and (confirmed or by_all.test is None) and by_all.is_worse()

        pairs = zip(self.first, self.all, strict=True)
        return ["worse" if is_worse(first, by_all) else first.outcome_unless_worse for first, by_all in pairs]


def look_at(
    members: Sequence[Member],
    further: Sequence[Sequence[Mapping[str, float]]],
    clusters: Mapping[str, str],
    *,
    alpha: float = 0.05,
) -> Looks:
    """Judge *members*, and the whole family anew by each look in *further*: the differences of each member in it.

    Where a case has a number in some of the looks only, these count.
    """
    looks = [[replace(member, differences=own) for member, own in zip(members, look, strict=True)] for look in further]
    together = [_together(of_one, clusters) for of_one in zip(members, *looks, strict=True)]
    first, *second = (judge_family(look, clusters, alpha=alpha) for look in (members, *looks[:1]))
    of_all = judge_family(together, clusters, alpha=alpha) if looks else first
    return Looks(1 + len(looks), first, second[0] if second else (), of_all)


def _together(looks: Sequence[Member], clusters: Mapping[str, str]) -> Member:
    """Return what several *looks* at one member show: the best answers of each case, or the mean of its first two."""
    cases = dict.fromkeys(case for look in looks for case in look.differences)
    by_mean = looks[0].is_decided_by_mean(count_clusters(cases, clusters))
    seen = {case: [look.differences[case] for look in looks if case in look.differences] for case in cases}
    return replace(looks[0], differences={i: max(own) if by_mean else mean(own[:2]) for i, own in seen.items()})
