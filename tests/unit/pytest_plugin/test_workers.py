from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.pytest_plugin.workers import Workers


class Node:
    """A worker, as far as a scheduler sees it."""

    def __init__(self) -> None:
        self.gateway = SimpleNamespace(id="gw")
        self.shutting_down = False
        self.got: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        assert indices, "a worker that gets nothing waits for ever"
        self.got += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def workers() -> Workers:
    """The controller's part of a session without an option."""
    session: Any = SimpleNamespace(options=SimpleNamespace(override=None))
    return Workers(session)


def scheduler(dist: str, tests: list[str], nodes: list[Node]) -> Any:
    """What hands out *tests* to *nodes*, which have collected them."""
    values = {"dist": dist, "tx": [f"{len(nodes)}*popen"]}
    config: Any = SimpleNamespace(
        getoption=values.get, getvalue=values.get, option=SimpleNamespace(**values, loadscopereorder=False)
    )
    made = workers().pytest_xdist_make_scheduler(config, None)
    for node in nodes:
        made.add_node(node)
        made.add_node_collection(node, tests)
    made.schedule()
    return made


def replaced(made: Any, tests: list[str]) -> Node:
    node = Node()
    made.add_node(node)
    made.add_node_collection(node, tests)
    made.schedule()
    return node


A, B = ([f"{name}.golden.yaml::case{i}" for i in range(3)] for name in "ab")


@pytest.mark.parametrize("dist", ["loadfile", "loadscope", "loadgroup"])
def test_only_the_case_that_killed_its_worker_is_lost(dist: str) -> None:
    tests = [f"{test}@{test[0]}" for test in A + B] if dist == "loadgroup" else A + B
    nodes = [Node(), Node()]
    made = scheduler(dist, tests, nodes)
    made.mark_test_complete(nodes[0], 0)
    assert made.remove_node(nodes[0]) == tests[1]
    assert replaced(made, tests).got == [2], "neither what had run, nor what killed the worker"


def test_the_last_case_of_a_file_leaves_nothing_to_hand_out() -> None:
    nodes = [Node(), Node()]
    made = scheduler("loadfile", A + B, nodes)
    for i in range(2):
        made.mark_test_complete(nodes[0], i)
    assert made.remove_node(nodes[0]) == A[2]
    node = replaced(made, A + B)
    assert (node.got, node.shutting_down) == ([], True)


def test_a_worker_that_ends_having_run_everything_lost_nothing() -> None:
    nodes = [Node()]
    made = scheduler("loadfile", A, nodes)
    for i in range(3):
        made.mark_test_complete(nodes[0], i)
    assert made.remove_node(nodes[0]) is None


def test_a_test_of_the_users_own_is_handed_out_again() -> None:
    tests = ["test_a.py::test_0", "test_a.py::test_1"]
    made = scheduler("loadfile", tests, nodes := [Node()])
    assert made.remove_node(nodes[0]) == tests[0]
    assert replaced(made, tests).got == [0, 1]


@pytest.mark.parametrize("dist", ["load", "worksteal", "each", "no"])
def test_where_single_tests_are_handed_out_nothing_is_changed(dist: str) -> None:
    config: Any = SimpleNamespace(getoption={"dist": dist}.get)
    assert workers().pytest_xdist_make_scheduler(config, None) is None
