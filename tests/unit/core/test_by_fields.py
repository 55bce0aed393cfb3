"""What is made quickly behaves as the dataclasses of the standard library do."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import KW_ONLY, FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from pytest_auepora.core.by_fields import ByFields, Fixed, light_dataclass


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


@light_dataclass(eq=False, repr=False, slots=True)
class Light(Fixed):
    name: str
    number: float = 0.5
    parts: list[Any] = field(default_factory=list, hash=False)
    _: KW_ONLY
    last: int = 0
    longer: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longer", f"{self.name}{self.last}")


@dataclass(frozen=True, slots=True)
class Heavy:
    name: str
    number: float = 0.5
    parts: list[Any] = field(default_factory=list, hash=False)
    _: KW_ONLY
    last: int = 0
    longer: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longer", f"{self.name}{self.last}")


RIGHT: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}), ((), {"name": "a"}), (("a", 1.0), {"last": 2}), (("a",), {"parts": [1], "number": 2}),
    (("a", 1.0, [2]), {"last": 3}),
]  # fmt: skip
WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), (("a", 1.0, [], 4), {}), (("a",), {"name": "b"}), (("a",), {"other": 1}), (("a",), {"longer": "b"}),
    ((), {"number": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize(("args", "kwargs"), RIGHT)
def test_what_is_light_takes_what_a_dataclass_takes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    light, heavy = Light(*args, **kwargs), Heavy(*args, **kwargs)
    assert repr(light) == repr(heavy).replace("Heavy", "Light")
    assert hash(light) == hash(heavy)
    copies = [copy.copy(light), copy.deepcopy(light), pickle.loads(pickle.dumps(light)), Light(*args, **kwargs)]
    assert all(each == light for each in copies)
    assert replace(light, name="b").longer == replace(heavy, name="b").longer


@pytest.mark.parametrize(("args", "kwargs"), WRONG)
def test_what_is_light_refuses_what_a_dataclass_refuses(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for kind in (Light, Heavy):
        with pytest.raises(TypeError, match=r"argument|required|multiple|too many|unexpected"):
            kind(*args, **kwargs)


def test_lists_are_made_for_each() -> None:
    assert Light("a").parts is not Light("a").parts


def test_what_is_light_tells_its_parameters() -> None:
    light, heavy = inspect.signature(Light), inspect.signature(Heavy)
    assert [(p.name, p.kind) for p in light.parameters.values()] == [
        (p.name, p.kind) for p in heavy.parameters.values()
    ]
    assert light.parameters["number"].default == 0.5
    assert light.parameters["name"].default is inspect.Parameter.empty
    assert light.return_annotation is heavy.return_annotation is None


def test_what_is_light_may_have_more_after_what_is_named() -> None:
    @light_dataclass(eq=False, repr=False)
    class More(Light):
        more: int = 0

    assert list(inspect.signature(More).parameters) == ["name", "number", "parts", "more", "last"]
    assert More("a", 1.0, [], 3, last=4).longer == "a4"
    assert More("a", 1.0, [], 3, last=4).more == 3


def test_a_subclass_of_what_is_light_may_have_an_init_of_its_own() -> None:
    class Own(Light):
        def __init__(self, both: str) -> None:
            super().__init__(both, last=1)

    assert Own("a").longer == "a1"
    assert list(inspect.signature(Own).parameters) == ["both"]

    class Wrong(Light):
        def __init__(self) -> None:
            super().__init__("a", other=1)  # type: ignore[call-arg]

    with pytest.raises(TypeError, match="other"):
        Wrong()
