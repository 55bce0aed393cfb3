"""The test `suite` behind the cases of each configuration: its outcome is that of the suite's gates.

An item like those of cases: it runs while their fixtures live, and counts, JUnit, ``--lf``, plugins and editors know
it.  Workers of pytest-xdist have none, as none of them sees all cases: there the controller publishes it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from ..adapters.systems import as_system
from ..core.run import Run
from ..evaluation.further import FurtherAnswers, Steps, adrive, drive
from ..io.golden.names import SUITE_ITEM
from .asking import AnswerSource, keep_result, source_for
from .compat import fixture_definitions, is_worker, set_up_without
from .keys import CASE, CORPUS, SYSTEM
from .output import SuiteOutcome, fail, wrapped
from .session import SUITE, AueporaSession, SuiteVariant
from .suite_judge import JUDGE, SuiteJudge

_WIDE_SCOPES = ("module", "package", "session")
_SUITES = "auepora_suites"
"""Key of a worker's output: suites of which it was to run all but the test `suite`; cases it was not to ask again."""
_ALONE = "its cases were not run, so there is nothing to judge: run the whole golden file"


def run_suite(session: AueporaSession) -> None:
    """Body of every test `suite` whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    _report(session.running, drive(_judge(session, _source_of(session.running))))


async def run_suite_async(session: AueporaSession) -> None:
    """Body of a test `suite` whose system comes from an async fixture: calls stay in the fixture's loop."""
    __tracebackhide__ = True
    session.callers.remember_task(session.running)
    _report(session.running, await adrive(_judge(session, _source_of(session.running))))


def _source_of(item: pytest.Function) -> AnswerSource | None:
    """Return what answers the cases of the suite once more; None where nothing does."""
    variant = item.stash[SUITE].variant_of(item)
    source: AnswerSource | None = variant.source
    if can_ask_again(item):
        source = source_for(item.funcargs[item.stash[SYSTEM]], variant)
    elif not variant.suite.session.asks_nothing:
        return None
    return source


def _judge(session: AueporaSession, source: AnswerSource | None) -> Steps[SuiteOutcome | None]:
    """Judge the suite of the running item, after what *source* is asked again; None where a case has no result."""
    item, judge = session.running, session.config.stash.get(JUDGE, None)
    suite = item.stash[SUITE]
    variant, cases = suite.variant_of(item), [case for case in suite.golden.cases if case.benchmark is None]
    if judge is None or (run := judge.full_run(variant)) is None:
        return None
    if (told := judge.told(variant)) is not None:  # it is run again
        return told
    if source is None:
        return judge.judge_suite(variant)
    again = source.again(item, item.funcargs.get(CORPUS))
    again.begin = session.begin_bar
    if variant.plan is not None and not session.asks_nothing:
        for finished in (yield from again.complete(variant.plan, run.cases, cases)):
            keep_result(item, source.flow, finished, "accepted")
    if not again.may_look(run, suite.golden.cases):
        again.budget.refused[run.path, run.variant, ""] = None
    looks: list[Run] = []
    while True:
        can_look = again.may_look(run, suite.golden.cases, len(looks))
        if (outcome := judge.judge_suite(variant, looks, can_look=can_look)) is not None:
            break
        answers, looked = yield from again.look(run, suite.golden.cases, len(looks))
        for finished in looked:
            keep_result(item, source.flow, finished, "look")
        looks.append(answers)
    if session.options.why:
        yield from _explain(judge, source, again)
    return outcome


def _explain(judge: SuiteJudge, source: AnswerSource, again: FurtherAnswers) -> Steps[None]:
    """Ask what the suite of the running item got worse by, and put it into its verdict."""
    from ..cause.why import find_cause

    session = source.suite.session
    rag = session.running.funcargs.get(session.running.stash[SYSTEM])
    if rag is None or (question := judge.question(source.variant)) is None or question.verdict.cause is not None:
        return
    if session.asks_nothing:
        question.system = as_system(rag)
        again.caller = session.callers.caller_for(question.system)
    question.verdict.cause = yield from find_cause(question, again)


def _report(item: pytest.Item, outcome: SuiteOutcome | None) -> None:
    """Fail, skip or pass *item* as the gates of its suite say."""
    __tracebackhide__ = True
    if outcome is None:
        pytest.fail(_ALONE, pytrace=False)
    names = {name for name, _ in outcome.properties}  # this may be a rerun
    item.user_properties[:] = [entry for entry in item.user_properties if entry[0] not in names] + outcome.properties
    if outcome.state == "skipped":
        pytest.skip(outcome.text)
    if outcome.state == "failed":
        fail(wrapped(item.config, outcome.text), outcome.lines[0])


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
                    variant.can_return = not is_worker(session.config) and is_shared(item)
                else:
                    suites[variant] = item  # the last of those that a parameter of somebody else's makes
        complete = {v for v, items in cases.items() if {i.stash[CASE].id for i in items} == v.suite.cases.keys()}
        self._session.unselected = {v.key for v in complete - suites.keys()}
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
        self._session.suite_items |= {v.key: item.nodeid for v, item in kept_suites}
        if dropped := [item for item in session.items if is_suite(item) and item not in kept]:
            session.config.hook.pytest_deselected(items=dropped)
        session.items[:] = placed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set up no system for a test `suite` that could not ask it again."""
        if is_suite(item) and not (can_ask_again(item) or self._explains_replay(item)):
            set_up_without(item, item.stash[SYSTEM])

    def _explains_replay(self, item: pytest.Item) -> bool:
        """Whether *item* needs the system that the cases of a replay do without."""
        return self._session.options.why and self._session.asks_nothing and is_shared(item)

    def pytest_sessionfinish(self) -> None:
        """Send to the controller what was not selected, and not asked."""
        if (out := getattr(self._session.config, "workeroutput", None)) is not None:
            unselected, refused = self._session.unselected, self._session.budget.refused
            out[_SUITES] = [[list(key) for key in unselected], [list(who) for who in refused]]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Read it: each worker collects all tests."""
        unselected, refused = getattr(node, "workeroutput", {}).get(_SUITES, ((), ()))
        self._session.unselected |= {(path, variant) for path, variant in unselected}
        self._session.budget.refused |= dict.fromkeys((path, variant, case_id) for path, variant, case_id in refused)


def is_suite(item: pytest.Item) -> bool:
    """Whether *item* judges a suite."""
    return SUITE in item.stash and CASE not in item.stash


def can_ask_again(item: pytest.Item) -> bool:
    """Whether the test `suite` *item* gets the system that its cases got: it was set up, and for more than one test."""
    suite = item.stash[SUITE]
    if suite.session.asks_nothing or suite.variant_of(item).source is None:
        return False
    return is_shared(item)


def is_shared(item: pytest.Item) -> bool:
    """Whether the system of *item* is set up for several tests."""
    definitions = fixture_definitions(item).get(item.stash[SYSTEM], ())
    return any(definition.scope in _WIDE_SCOPES for definition in definitions[-1:])


def _is_meant(session: pytest.Session) -> bool:
    """Whether a test `suite` without its cases is there on purpose, to say that it has nothing to judge.

    It is named, nothing else is selected, or pytest goes on where it stopped the last time.
    """
    is_named = any(f"::{SUITE_ITEM}" in arg for arg in session.config.args)
    return is_named or all(map(is_suite, session.items)) or bool(session.config.getoption("stepwise", False))
