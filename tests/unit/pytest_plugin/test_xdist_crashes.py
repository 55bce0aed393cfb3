from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.pytest_plugin.xdist import Crashes

CRASHED = "a.golden.yaml::crashed"


class Distribution:
    """As much of pytest-xdist's session as replaces workers; its hosts are gone."""

    def __init__(self) -> None:
        self.shouldstop: bool | str = False
        self.said: list[str] = []
        self.nodemanager = SimpleNamespace(setup_node=self.refuse)

    def report_line(self, line: str) -> None:
        self.said.append(line)

    def refuse(self, spec: object, putevent: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")


class Assigned(dict[Any, Any]):
    """Work that whichever worker asks for it has."""

    def __init__(self, units: OrderedDict[str, dict[str, bool]]) -> None:
        super().__init__()
        self._units = units

    def get(self, _: Any, default: Any = None) -> Any:
        return self._units


def lost(scheduler: Any) -> Distribution:
    """Lose a worker that cannot be replaced, with the work it had."""
    distribution = Distribution()
    plugins = SimpleNamespace(getplugin={"dsession": distribution}.get)
    crashes = Crashes()
    looking = crashes.pytest_xdist_make_scheduler(SimpleNamespace(pluginmanager=plugins))  # type: ignore[arg-type]
    next(looking)
    with pytest.raises(StopIteration):
        looking.send(scheduler)
    node = SimpleNamespace(gateway=SimpleNamespace(id="gw3", spec="execmodel=main_thread_only//ssh=one"))
    crashes.pytest_testnodedown(node)
    scheduler.remove_node(node)
    assert distribution.nodemanager.setup_node("ssh=one", print) is node
    return distribution


def scheduler(**more: Any) -> Any:
    made: dict[str, Any] = {"nodes": [], "collection_is_completed": True, "pending": []}
    made["remove_node"] = lambda node: None
    return SimpleNamespace(**{**made, **more})


GONE = "worker gw3 (ssh=one) is lost and cannot be replaced (ConnectionRefusedError: [Errno 111] Connection refused)"


def test_others_that_still_take_work_go_on() -> None:
    able = SimpleNamespace(shutting_down=False)
    done = lost(scheduler(nodes=[able], pending=[1, 2]))
    assert (done.shouldstop, done.said) == (False, [GONE])


def test_nothing_left_is_no_reason_to_stop() -> None:
    assert lost(scheduler(nodes=[SimpleNamespace(shutting_down=True)])).shouldstop is False


def test_what_nobody_can_take_over_is_counted() -> None:
    done = lost(scheduler(nodes=[SimpleNamespace(shutting_down=True)], pending=[3, 4]))
    assert done.shouldstop == f"{GONE}; 2 tests were left that nobody could take over"


def test_of_units_of_work_the_case_that_crashed_is_not_left() -> None:
    units = OrderedDict({"a.golden.yaml": {"a.golden.yaml::done": True, CRASHED: False, "a.golden.yaml::left": False}})
    made = scheduler(workqueue=OrderedDict(), assigned_work=Assigned(units))
    made.remove_node = lambda _: made.workqueue.update(units)
    assert lost(made).shouldstop == f"{GONE}; 1 test was left that nobody could take over"


def test_a_host_lost_before_it_had_collected() -> None:
    assert lost(scheduler(collection_is_completed=False)).shouldstop == f"{GONE}, before any case was run"
