"""Further looks: when every case is asked once more, and what all looks together decide."""

from __future__ import annotations

import pytest

from pytest_auepora.regression.statistics.family import Looks, Member, judge_family, look_at

from .families import binary


def looks(first: dict[str, float], second: dict[str, float]) -> Looks:
    return look_at([Member("m", first)], [[second]], {})


def wants_another(*members: Member) -> bool:
    return look_at(members, [], {}).wants_another


def test_a_drop_at_twice_alpha_is_looked_at_again() -> None:
    assert not wants_another(Member("m", binary(50, 2))), "p 1/8"
    assert wants_another(Member("m", binary(50, 3))), "p 1/16"
    assert wants_another(Member("m", binary(50, 6)))
    assert not wants_another(Member("m", binary(50, 0, 6)))


def test_what_decides_at_once_asks_for_no_look() -> None:
    lost, steady_lost = Member("m", binary(50, 6)), Member("s", binary(50, 6), steady=True)
    assert not wants_another(steady_lost)
    assert not wants_another(Member("s", binary(50, 3), steady=True)), "at 2 alpha only"
    assert not wants_another(Member("t", binary(50, 6), method="tolerance"))
    assert not wants_another(lost, steady_lost), "the suite has failed already"
    assert wants_another(lost, Member("s", binary(50, 0), steady=True))


def test_few_steady_clusters_ask_for_it_by_their_mean() -> None:
    fell, kept = ([Member("s", binary(7, lost), steady=True)] for lost in (1, 0))
    assert wants_another(*fell)
    assert not wants_another(*kept)
    assert judge_family(fell, {})[0].outcome == "worse", "where no second look can be"


@pytest.mark.parametrize(("again", "outcome"), [
    ({"c0000": -1.0}, "worse"),
    ({"c0000": -0.2}, "worse"),
    ({"c0000": 0.0}, "inconclusive"),
    ({"c0003": -1.0}, "inconclusive"),  # another case, so the metric varies after all
    ({"c0000": -0.05}, "inconclusive"),  # below min_effect over seven cases
])  # fmt: skip
def test_of_few_steady_cases_the_best_answer_counts(again: dict[str, float], outcome: str) -> None:
    lost, cleared = [binary(7, 1)], [{**binary(7, 0), **again}]
    for further in ([cleared], [lost, cleared], [lost, lost, cleared]):
        assert look_at([Member("s", binary(7, 1), steady=True)], further, {}).outcomes == [outcome]


@pytest.mark.parametrize(("accepted", "looks"), [(1, 2), (2, 3), (3, 2), (5, 2)])
def test_two_accepted_answers_alike_take_four_of_today(accepted: int, looks: int) -> None:
    """As the case rule has it: (1 - x)²·x⁴ is .022 at most, (1 - x)²·x² were .063."""
    member, lost = Member("s", binary(1, 1), steady=True, accepted=accepted), [binary(1, 1)]
    assert [look_at([member], [lost] * n, {}).wants_another for n in range(looks + 1)] == [True] * looks + [False]
    assert not look_at([member], [lost, [binary(1, 0)]], {}).wants_another, "it varies after all"


def test_a_suite_that_failed_is_looked_at_no_more() -> None:
    few = {f"c000{i}": -1.0 for i in range(7)}
    steady, varying = Member("s", binary(7, 1), steady=True, accepted=2), Member("m", few)
    assert look_at([steady, varying], [[binary(7, 1), dict.fromkeys(few, 0.0)]], {}).wants_another
    assert not look_at([steady, varying], [[binary(7, 1), few]], {}).wants_another


def test_what_varies_is_judged_by_its_first_two_answers() -> None:
    lost, kept = [binary(50, 6)], [binary(50, 0)]
    found = look_at([Member("m", lost[0])], [lost, kept, kept], {})
    assert (found.outcomes, found.wants_another) == (["worse"], False)


@pytest.mark.parametrize(("first", "second", "confirmed"), [
    (binary(50, 6), binary(50, 6), True),
    (binary(50, 3), binary(50, 6), True),  # the mean of both: three cases by 1, three by .5
    (binary(50, 3), binary(50, 3), False),  # p of the mean of both is still 1/16
    (binary(50, 6), binary(50, 2), False),  # not worse at 2 alpha alone
    (binary(50, 6), binary(50, 0), False),
    (binary(50, 6), binary(50, 0, 6), False),
])  # fmt: skip
def test_the_second_alone_and_the_mean_of_both_must_be_worse(
    first: dict[str, float], second: dict[str, float], *, confirmed: bool
) -> None:
    found = looks(first, second)
    assert found.confirmed is confirmed
    assert found.outcomes == (["worse"] if confirmed else ["inconclusive"])


def test_below_ten_clusters_ties_count_fully_in_both_looks() -> None:
    assert looks(dict.fromkeys("abcd", -1.0), dict.fromkeys("abcd", -1.0)).outcomes == ["inconclusive"]
    assert looks(dict.fromkeys("abcde", -1.0), dict.fromkeys("abcde", -1.0)).outcomes == ["worse"]


def test_the_whole_family_is_looked_at_anew() -> None:
    """A loss may show in one metric first and in another one then; the family is what fails."""
    lost, kept = binary(50, 7), binary(50, 0)
    found = look_at([Member("a", lost), Member("b", kept)], [[kept, lost]], {})
    assert [v.is_worse(0.1) for v in found.second] == [False, True]
    assert found.confirmed
    assert found.outcomes == ["worse", "worse"]


def test_a_member_that_only_the_first_look_saw_is_not_worse() -> None:
    found = look_at(
        [Member("a", binary(200, 9)), Member("b", binary(200, 4))], [[binary(200, 9), binary(200, 0, 4)]], {}
    )
    assert found.first[1].is_worse(0.1)
    assert found.outcomes == ["worse", "same"]


def test_the_mean_of_both_takes_what_has_a_number() -> None:
    found = looks({"a": -1.0, "b": -0.5}, {"b": -1.0, "c": 0.5})
    assert found.all[0].member.differences == {"a": -1.0, "b": -0.75, "c": 0.5}


def test_better_and_same_are_said_by_the_first_look_alone() -> None:
    found = look_at(
        [Member("won", binary(50, 0, 8)), Member("lost", binary(50, 8))], [[binary(50, 0), binary(50, 8)]], {}
    )
    assert found.outcomes == ["better", "worse"]


def test_members_that_decide_at_once_keep_their_first_decision() -> None:
    lost, kept = binary(50, 8), binary(50, 0)
    members = [Member("t", kept, method="tolerance"), Member("s", lost, steady=True), Member("m", lost)]
    found = look_at(members, [[lost, kept, lost]], {})
    assert found.outcomes == ["same", "worse", "worse"]
    by_mean_only = look_at([Member("t", kept, method="tolerance")], [[lost]], {})
    assert not by_mean_only.confirmed
