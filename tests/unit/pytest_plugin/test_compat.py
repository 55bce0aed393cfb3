"""Where pytest, or a plugin, no longer tells what it does not promise: cases still run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.pytest_plugin.compat import (
    fixture_definitions,
    is_anyio_automatic,
    is_worker,
    loop_scope,
    positional_fixtures,
    process_count,
    set_up_without,
    variant_of,
    worker_input,
)


def _unknown(*_: Any) -> Any:
    raise ValueError("unknown configuration value")


def _definition(scope: str, *argnames: str) -> Any:
    return SimpleNamespace(scope=scope, argnames=argnames, func=print)


def test_without_fixture_definitions_the_system_is_left_out() -> None:
    item: Any = SimpleNamespace(fixturenames=["rag", "client"], funcargs={})
    assert fixture_definitions(item) == {}
    set_up_without(item, "rag")
    assert item.funcargs == {"rag": None}


def test_without_ids_all_parameters_are_the_configuration() -> None:
    info = SimpleNamespace(name2fixturedefs={"rag": [_definition("session")]})
    spec = SimpleNamespace(id="bm25-1", params={"rag": "bm25", "count": 1}, _idlist=["bm25", "1"])
    item: Any = SimpleNamespace(callspec=spec, _fixtureinfo=info)
    assert variant_of(item, "rag") == "bm25"
    del spec._idlist
    assert variant_of(item, "rag") == "bm25-1"
    del item.callspec
    assert variant_of(item, "rag") == ""


@pytest.mark.parametrize("scope", ["session", "function"])
def test_without_the_setting_the_loop_is_of_the_fixtures_scope(scope: str) -> None:
    config: Any = SimpleNamespace(getini=_unknown)
    assert loop_scope(config, _definition(scope)) == scope


def test_anyio_without_modes_is_not_automatic() -> None:
    config: Any = SimpleNamespace(getoption=lambda *_: None, getini=_unknown)
    assert not is_anyio_automatic(config)


def test_what_a_worker_is_told() -> None:
    worker: Any = SimpleNamespace(workerinput={"workercount": 3, "said": "x"})
    assert is_worker(worker)
    assert (worker_input(worker, "said"), worker_input(worker, "else", 0), process_count(worker)) == ("x", 0, 3)
    alone: Any = SimpleNamespace()
    assert not is_worker(alone)
    assert (worker_input(alone, "said"), process_count(alone)) == (None, 1)


def test_without_ids_no_parameter_is_a_position() -> None:
    spec = SimpleNamespace(id="rag0", params={"rag": object()}, indices={"rag": 0})
    item: Any = SimpleNamespace(callspec=spec)
    assert positional_fixtures(item, "rag") == []
    spec._idlist = ["rag0"]
    assert positional_fixtures(item, "rag") == ["rag"]
    del spec.indices
    assert positional_fixtures(item, "rag") == []
