"""Calls that are made in several processes at once: the system has to serve them all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_auepora.calls.call import CallResult
from pytest_auepora.calls.caller import Caller
from pytest_auepora.calls.schedule import Fn

from .asking import LONG, arun_all, run_all

pytestmark = pytest.mark.usefixtures("nothing_stays")


def in_a_loop(caller: Caller, fns: list[Fn]) -> list[CallResult]:
    return asyncio.run(arun_all(caller, fns))


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}, {"concurrency": 2, "timeout": LONG}])
@pytest.mark.parametrize("call", [run_all, in_a_loop])
def test_the_concurrency_of_a_result_counts_those_of_all_processes(options: dict[str, Any], call: Any) -> None:
    with Caller(**options, processes=3) as caller:
        alone = call(caller, [lambda: None])
        together = call(caller, [lambda: None] * 4)
    assert [result.concurrency for result in alone] == [3]
    assert [result.concurrency for result in together] == [3 * options.get("concurrency", 1)] * 4


def test_so_it_does_where_calls_are_mapped() -> None:
    with Caller(2, processes=3) as caller:
        assert [result.concurrency for result in caller.map([lambda: None] * 4)] == [6] * 4
