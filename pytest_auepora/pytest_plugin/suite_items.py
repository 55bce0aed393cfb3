"""The test `suite` behind the cases of each configuration: its outcome is that of the suite's gates.

An item like those of cases: it runs while their fixtures live, and counts, JUnit, ``--lf``, plugins and editors know
it.  Workers of pytest-xdist have none, as none of them sees all cases: there the controller publishes it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from ..io.golden.names import SUITE_ITEM
from .compat import fixture_definitions, fixtures_only_for, is_worker
from .keys import CASE, SYSTEM
from .output import wrapped
from .session import SUITE, AueporaSession, SuiteVariant

_WIDE_SCOPES = ("module", "package", "session")
_UNSELECTED = "auepora_unselected"
"""Key of a worker's output: what of its suites it was to run without the test `suite`."""
_ALONE = "its cases were not run, so there is nothing to judge: run the whole golden file"


def run_suite(session: AueporaSession) -> None:
    """Body of every test `suite` whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    _judge(session)


async def run_suite_async(session: AueporaSession) -> None:
    """Body of a test `suite` whose system comes from an async fixture."""
    __tracebackhide__ = True
    _judge(session)


def _judge(session: AueporaSession) -> None:
    """Fail, skip or pass the running item as the gates of its suite say."""
    __tracebackhide__ = True
    item, judge = session.running, session.judge_suite
    outcome = judge(item.stash[SUITE].variant_of(item)) if judge is not None else None
    if outcome is None:
        pytest.fail(_ALONE, pytrace=False)
    names = {name for name, _ in outcome.properties}  # this may be a rerun
    item.user_properties[:] = [entry for entry in item.user_properties if entry[0] not in names] + outcome.properties
    if outcome.state == "skipped":
        pytest.skip(outcome.text)
    if outcome.state == "failed":
        pytest.fail(wrapped(item.config, outcome.text), pytrace=False)


class SuiteItems:
    """In every process that runs cases: puts each test `suite` where it belongs."""

    def __init__(self, session: AueporaSession) -> None:
        self._session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Put each behind the last case of its configuration; drop it where some of these are not selected.

        Here, and not where items are sorted, as plugins that shuffle them would take it away again.  One that was not
        selected stays so.
        """
        cases: dict[SuiteVariant, list[pytest.Item]] = defaultdict(list)
        suites: dict[SuiteVariant, pytest.Item] = {}
        for item in session.items:
            if SUITE in item.stash:
                variant = item.stash[SUITE].variant_of(item)
                if CASE in item.stash:
                    cases[variant].append(item)
                else:
                    suites[variant] = item  # the last of those that a parameter of somebody else's makes
        complete = {v for v, items in cases.items() if {i.stash[CASE].id for i in items} == v.suite.cases.keys()}
        self._session.unselected = {(v.suite.path, v.name) for v in complete - suites.keys()}
        behind = {cases[v][-1]: suites[v] for v in complete & suites.keys()}
        alone = {suite for variant, suite in suites.items() if variant not in cases and _is_meant(session)}
        if is_worker(session.config):
            behind, alone = {}, set()
        placed: list[pytest.Item] = []
        for item in session.items:
            if not is_suite(item) or item in alone:
                placed.append(item)
            if item in behind:
                placed.append(behind[item])
        kept = {*behind.values(), *alone}
        kept_suites = ((variant, item) for variant, item in suites.items() if item in kept)
        self._session.suite_items |= {(v.suite.path, v.name): item.nodeid for v, item in kept_suites}
        if dropped := [item for item in session.items if is_suite(item) and item not in kept]:
            session.config.hook.pytest_deselected(items=dropped)
        session.items[:] = placed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set up no system for a test `suite` that could not ask it again."""
        if is_suite(item) and not can_ask_again(item):
            funcargs: dict[str, Any] = getattr(item, "funcargs", {})
            for name in fixtures_only_for(item, item.stash[SYSTEM]):
                funcargs.setdefault(name, None)

    def pytest_sessionfinish(self) -> None:
        """Send to the controller what was not selected."""
        if (out := getattr(self._session.config, "workeroutput", None)) is not None:
            out[_UNSELECTED] = [list(key) for key in self._session.unselected]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Read it: each worker collects all tests."""
        if (unselected := getattr(node, "workeroutput", {}).get(_UNSELECTED)) is not None:
            self._session.unselected = {(path, variant) for path, variant in unselected}


def is_suite(item: pytest.Item) -> bool:
    """Whether *item* judges a suite."""
    return SUITE in item.stash and CASE not in item.stash


def can_ask_again(item: pytest.Item) -> bool:
    """Whether the test `suite` *item* gets the system that its cases got: it was set up, and for more than one test."""
    suite = item.stash[SUITE]
    if suite.session.asks_nothing or suite.variant_of(item).source is None:
        return False
    definitions = fixture_definitions(item).get(item.stash[SYSTEM], ())
    return any(definition.scope in _WIDE_SCOPES for definition in definitions[-1:])


def _is_meant(session: pytest.Session) -> bool:
    """Whether a test `suite` without its cases is there on purpose, to say that it has nothing to judge.

    It is named, nothing else is selected, or pytest goes on where it stopped the last time.
    """
    is_named = any(f"::{SUITE_ITEM}" in arg for arg in session.config.args)
    return is_named or all(map(is_suite, session.items)) or bool(session.config.getoption("stepwise", False))
