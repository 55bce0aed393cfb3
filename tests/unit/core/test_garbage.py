"""The collector is left as it was, what was made meanwhile counts as old, and what is garbage is still found."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from pytest_auepora.core import garbage
from pytest_auepora.core.garbage import garbage_collection_paused


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    was_on, frozen = gc.isenabled(), gc.get_freeze_count()
    gc.collect()
    gc.enable()
    yield
    if gc.get_freeze_count() > frozen:
        gc.unfreeze()
    if was_on:
        gc.enable()
    else:
        gc.disable()


class Loop:
    """Garbage that only the collector can find."""

    def __init__(self) -> None:
        self.me = self


def many() -> list[list[int]]:
    return [[i] for i in range(2 * garbage._WORTH_IT)]


@pytest.mark.parametrize("all_kept", [False, True])
def test_it_is_off_meanwhile_and_on_again_afterwards(all_kept: bool) -> None:
    with garbage_collection_paused(all_kept=all_kept):
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), garbage_collection_paused(all_kept=all_kept):
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    with garbage_collection_paused(all_kept=all_kept):
        made = many()
    assert not gc.isenabled()
    assert made


@pytest.mark.skipif(not hasattr(gc, "freeze"), reason="this interpreter cannot tell old objects from new")
def test_frozen_objects_count_as_old_and_garbage_is_found() -> None:
    with garbage_collection_paused(all_kept=True):
        made, lost = many(), Loop()
    found = weakref.ref(lost)
    assert gc.get_count()[0] < garbage._WORTH_IT
    assert made
    del lost
    gc.collect()
    assert found() is None


@pytest.mark.skipif(not hasattr(gc, "freeze"), reason="this interpreter freezes nothing")
def test_what_the_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with garbage_collection_paused(all_kept=True):
        made = many()
    assert gc.get_freeze_count() == frozen
    assert made
