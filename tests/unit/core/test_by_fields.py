"""What is made quickly behaves as the dataclasses of the standard library do."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from pytest_auepora.core.by_fields import ByFields, Fixed


@dataclass(eq=False, repr=False)
class Quick(ByFields):
    name: str
    parts: list[Any] = field(default_factory=list)
    memo: dict[str, int] = field(default_factory=dict, repr=False, compare=False)


@dataclass
class Usual:
    name: str
    parts: list[Any] = field(default_factory=list)
    memo: dict[str, int] = field(default_factory=dict, repr=False, compare=False)


@dataclass(eq=False, repr=False, slots=True)
class QuickFixed(Fixed):
    name: str
    number: float = 0.5
    told: dict[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class UsualFixed:
    name: str
    number: float = 0.5
    told: dict[str, int] = field(default_factory=dict, hash=False)


ARGUMENTS: list[tuple[Any, ...]] = [("a",), ("a", [1, "b"]), ("b", [1, "b"]), ("a", [1, "b"], {"x": 1})]


@pytest.mark.parametrize("left", ARGUMENTS)
@pytest.mark.parametrize("right", ARGUMENTS)
def test_equal_where_a_dataclass_is(left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    assert (Quick(*left) == Quick(*right)) is (Usual(*left) == Usual(*right))
    assert (Quick(*left) != Quick(*right)) is (Usual(*left) != Usual(*right))


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_shown_as_a_dataclass_is(arguments: tuple[Any, ...]) -> None:
    assert repr(Quick(*arguments)) == repr(Usual(*arguments)).replace("Usual", "Quick")


def test_what_holds_itself_is_shown() -> None:
    one = Quick("a")
    one.parts.append(one)
    assert repr(one) == "Quick(name='a', parts=[...])"


def test_another_class_is_not_equal() -> None:
    class Further(Quick):
        pass

    assert Quick("a") != Usual("a")
    assert Quick("a") != Further("a")
    assert Quick("a") != "a"
    assert Further("a") == Further("a")


def test_what_can_change_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Quick("a"))


def test_what_is_fixed_cannot_be_changed() -> None:
    one = QuickFixed("a")
    with pytest.raises(FrozenInstanceError, match="'number'"):
        one.number = 1.0
    with pytest.raises(FrozenInstanceError, match="'name'"):
        del one.name
    with pytest.raises(AttributeError):
        one.other = 1
    assert one == QuickFixed("a", 0.5)


def test_what_is_fixed_has_the_hash_of_its_fields() -> None:
    for arguments in (("a",), ("a", 1.5), ("a", 1.5, {"x": 1})):
        assert hash(QuickFixed(*arguments)) == hash(UsualFixed(*arguments))
    assert len({QuickFixed("a"), QuickFixed("a"), QuickFixed("b")}) == 2


@pytest.mark.parametrize("one", [Quick("a", [1]), QuickFixed("a", 1.5, {"x": 1})])
def test_copies_are_equal(one: Any) -> None:
    copies = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), replace(one)]
    assert all(each == one and each is not one for each in copies)
    assert replace(one, name="b") != one


def test_a_subclass_may_be_a_usual_dataclass() -> None:
    @dataclass
    class Longer(Quick):
        more: int = 0

    assert Longer("a", more=1) != Longer("a", more=2)
    assert [f.name for f in fields(Longer)] == ["name", "parts", "memo", "more"]
    assert repr(Longer("a", more=1)).endswith("Longer(name='a', parts=[], more=1)")
