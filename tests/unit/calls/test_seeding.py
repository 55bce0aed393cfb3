"""Seeds: the same numbers for the same call, and none of it left behind."""

from __future__ import annotations

import asyncio
import random
import sys
import types
from collections.abc import Awaitable
from typing import Any

import numpy as np
import pytest

from pytest_auepora.calls.caller import Caller
from pytest_auepora.calls.seeding import derive_seed, generators_seeded, seeded


def draw() -> tuple[float, float]:
    return random.random(), float(np.random.random())


def test_a_seed_depends_on_case_and_repeat_and_is_documented() -> None:
    # the first 8 bytes of sha256(b"7|refund-window|0"), halved
    assert derive_seed(7, "refund-window") == 0x6C114A45F145FBD8
    seeds = {derive_seed(s, c, r) for s in (0, 1) for c in ("a", "b") for r in range(3)}
    assert len(seeds) == 12


def test_the_same_call_draws_the_same_and_another_does_not() -> None:
    one, other = seeded(draw, derive_seed(7, "a")), seeded(draw, derive_seed(7, "a", 1))
    assert one() == one()
    assert one() != other()


def test_states_are_put_back_also_after_an_error() -> None:
    random.seed(1)
    np.random.seed(1)
    expected = draw()
    random.seed(1)
    np.random.seed(1)

    def fail() -> None:
        draw()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        seeded(fail, 5)()
    assert draw() == expected


def test_a_coroutine_is_seeded_while_it_runs() -> None:
    async def ask() -> tuple[float, float]:
        first = random.random()
        await asyncio.sleep(0)
        return first, random.random()

    def returns_one() -> Awaitable[tuple[float, float]]:
        return ask()

    expected = random.Random(3)
    wanted = expected.random(), expected.random()
    with Caller() as caller:
        assert caller.call("a", seeded(ask, 3, is_async=True)).value == wanted
        assert caller.call("b", seeded(returns_one, 3)).value == wanted


def test_a_coroutine_nobody_runs_leaves_nothing_unawaited() -> None:
    seeded(lambda: asyncio.sleep(0), 3, is_async=True)().close()


class FakeTorch(types.ModuleType):
    """The four functions that are used; its one generator is Python's."""

    def __init__(self, *, on_gpu: bool) -> None:
        super().__init__("torch")
        self.state: list[Any] = ["before"]
        self.gpu: list[Any] = ["gpu before"]
        self.cuda = types.SimpleNamespace(
            is_initialized=lambda: on_gpu,
            get_rng_state_all=lambda: list(self.gpu),
            set_rng_state_all=lambda state: self.gpu.__setitem__(slice(None), state),
        )

    def get_rng_state(self) -> list[Any]:
        return list(self.state)

    def set_rng_state(self, state: list[Any]) -> None:
        self.state[:] = state

    def manual_seed(self, seed: int) -> None:
        self.state[:] = [seed]
        self.gpu[:] = [seed]


@pytest.mark.parametrize("on_gpu", [True, False])
def test_torch_is_seeded_where_it_is_loaded(monkeypatch: pytest.MonkeyPatch, on_gpu: bool) -> None:
    torch = FakeTorch(on_gpu=on_gpu)
    monkeypatch.setitem(sys.modules, "torch", torch)
    with generators_seeded(5):
        assert torch.state == [5]
    assert torch.state == ["before"]
    if on_gpu:
        assert torch.gpu == ["gpu before"]


def test_the_real_torch() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_rng_state()
    assert torch.equal(seeded(lambda: torch.rand(3), 9)(), seeded(lambda: torch.rand(3), 9)())
    assert torch.equal(torch.get_rng_state(), before)
