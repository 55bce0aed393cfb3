"""The source of answers: the system, or an earlier run in its place; and how often each case is asked.

``--auepora-replay`` has an earlier run answer all cases, ``--auepora-resume`` those that it has answers to; what reads
the history is imported then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System, as_system
from ..calls.call import Fn
from ..core.run import run_title
from ..errors import HistoryError, UnknownRunError, names_words
from ..evaluation.replay import Answering, RecordedRun, ask_case, replayed, resumed
from ..regression.baseline import GIT_COMMIT
from ..regression.guards.case_guard import wants_confirmation
from .compat import fixtures_only_for, worker_input
from .keys import CASE, SUITE
from .session import AueporaSession, SessionSuite, SuiteVariant

if TYPE_CHECKING:
    from ..calls.caller import Caller
    from ..core.run import CaseResult, Run
    from ..evaluation.case_flow import CaseFlow
    from ..history.answers import RunIds, SentRun
    from ..io.golden.model import GoldenCase
    from ..regression.verdict import Verdict

_INPUT = "auepora_replay"
_OPTIONS = {"replayed": "auepora_replay", "resumed": "auepora_resume"}


def source_for(rag: Any, variant: SuiteVariant) -> AnswerSource:
    """Return what answers the cases of *variant*: *rag*, a fixture's value, or an earlier run in its place.

    Raises:
        SystemShapeError: *rag* is nothing that can be asked.
    """
    source = variant.latest_source  # each test may make its system anew
    if source is None or source.rag is not rag:
        source = variant.latest_source = _make_source(rag, variant)
    return source


def _make_source(rag: Any, variant: SuiteVariant) -> AnswerSource:
    session, golden = variant.suite.session, variant.suite.golden
    run = golden.name, variant.name, variant.suite.path
    if session.replay is not None and session.replay.asks_nothing:
        system = session.replay.replayed(*run)
        return AnswerSource(variant, rag, system, system.provenance)  # what was known then
    system = as_system(rag)
    seed = {} if session.options.seed is None else {"seed": session.options.seed}
    provenance = {**system.provenance, **seed, **session.project.provenance(golden.name, golden.path)}
    recorded = session.replay.source(*run) if session.replay is not None else None
    if recorded is not None and not changed_provenance(recorded.run.provenance, provenance):
        system = resumed(recorded, system)
    return AnswerSource(variant, rag, system, provenance)


@dataclass(eq=False, repr=False)
class AnswerSource:
    """Answers the cases of *variant*; holds what is the same for all of them.

    Attributes:
        rag: the fixture's value.
        system: made from it, or from an earlier run.
        provenance: how the answers come about, as far as known.
    """

    variant: SuiteVariant
    rag: Any
    system: System
    provenance: dict[str, Any]

    @property
    def suite(self) -> SessionSuite:
        """The suite of the cases."""
        return self.variant.suite

    @property
    def session(self) -> AueporaSession:
        """The session that asks."""
        return self.variant.suite.session

    @cached_property
    def _replayed(self) -> Answering | None:
        """The system, where nothing is asked."""
        return self.system if isinstance(self.system, Answering) and self.system.base is None else None

    @cached_property
    def caller(self) -> Caller:
        """Makes the calls."""
        return self.session.callers.caller_for(self.system)

    @cached_property
    def flow(self) -> CaseFlow:
        """Ends the cases, with the provenance of this source."""
        flow = self.variant.flow
        return replace(flow, run=replace(flow.run, provenance=self.provenance))

    @cached_property
    def again(self) -> Mapping[str, int]:
        """How many more answers are asked for, by case, to learn what varies."""
        return {} if isinstance(self.system, Answering) else self.suite.again

    def ask(self, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to the system for the time *repeat*, counted from 0."""
        return ask_case(self.system, case, repeat, seed=self.session.options.seed)

    def times(self, case: GoldenCase) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._replayed is not None and self.session.options.repeat is None:
            return self._replayed.times(case)
        return self.suite.repeats

    def confirms(self, case: GoldenCase, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if result.state != "failed" or self.session.options.intents or self.suite.repeats > 1:
            return range(0)
        if self._replayed is not None:
            return self._replayed.confirms(case)
        golden, timed = self.suite.golden, case.benchmark is not None
        wanted = wants_confirmation(result, self.suite.confirmed, len(golden.cases), golden.policy, timed=timed)
        return range(1, 1 + golden.policy.confirm) if wanted else range(0)


def make_replay(config: pytest.Config, place: str | Path | None) -> Replay:
    """Return the replay of an earlier run of the history at *place*, as one of the two options asks for.

    Raises:
        pytest.UsageError: there is no such run.
    """
    requested = {kind: name for kind, option in _OPTIONS.items() if (name := config.getoption(option))}
    if len(requested) > 1:
        raise pytest.UsageError("--auepora-replay asks the system nothing, --auepora-resume the rest: give one of them")
    ((kind, name),) = requested.items()
    option = f"--{_OPTIONS[kind].replace('_', '-')}"
    if (inputs := worker_input(config, _INPUT)) is not None:
        return _worker_replay(kind, name, inputs, place)
    if place is None:
        raise pytest.UsageError(f"{option}: history is switched off, so there are no runs to take answers from")
    from ..history.answers import choose_runs, load_recorded
    from ..history.settings import is_url
    from ..history.store import HistoryStore

    store = HistoryStore(place, config.rootpath)
    path = "" if is_url(place) else str(place)
    try:
        chosen = choose_runs(store, name)
        replay = Replay(kind, name, chosen, lambda run_id: load_recorded(store, run_id), history=store.name, path=path)
        for run_id in chosen.values():  # before anything is asked
            replay.read(run_id)
    except UnknownRunError as exc:
        raise pytest.UsageError(f"{option}: {exc}") from None
    except HistoryError as exc:
        pytest.exit(f"{option}: {exc}", returncode=pytest.ExitCode.TESTS_FAILED)
    return replay


def _worker_replay(kind: str, name: str, inputs: dict[str, Any], place: str | Path | None) -> Replay:
    """Return the replay of a worker, from its *inputs*; on another host these include the runs."""
    from ..history.answers import decode_recorded, load_recorded
    from ..history.store import HistoryStore

    sent: dict[str, SentRun] = inputs["sent"]

    def load(run_id: str) -> RecordedRun:
        if run_id in sent:
            return decode_recorded(run_id, sent[run_id])
        return load_recorded(HistoryStore(inputs["path"] or place or ""), run_id)

    chosen = {(suite, variant, path): run_id for suite, variant, path, run_id in inputs["chosen"]}
    return Replay(kind, name, chosen, load, history=inputs["history"])


class Replay:
    """The runs that answer, by golden file and configuration, in every process; each is read when its first case asks.

    In the controller it says of every run where its answers came from, and tells workers which runs answer.

    Args:
        kind: ``replayed`` or ``resumed``.
        name: what the user called the run.
        chosen: the runs, by id.
        load: reads one of them.
        history: the name of their history.
        path: its file, if it is one; a worker may run in another folder.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        chosen: RunIds,
        load: Callable[[str], RecordedRun],
        *,
        history: str,
        path: str = "",
    ) -> None:
        self.kind, self.name, self.chosen, self.history, self.path = kind, name, chosen, history, path
        self.read = cache(load)

    @property
    def asks_nothing(self) -> bool:
        """Whether the system may not be called, nor be made."""
        return self.kind == "replayed"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set up no system where none may be asked."""
        if self.asks_nothing and CASE in item.stash:
            funcargs: dict[str, Any] = getattr(item, "funcargs", {})
            for name in fixtures_only_for(item, item.stash[SUITE].golden.fixture):
                funcargs.setdefault(name, None)

    def source(self, suite: str, variant: str, path: str) -> RecordedRun | None:
        """Return the run that answers for *suite*, the golden file at *path*, under *variant*, if there is one."""
        run_id = self.chosen.get((suite, variant, path)) or self.chosen.get((suite, variant, ""))
        return None if run_id is None else self.read(run_id)

    def replayed(self, suite: str, variant: str, path: str) -> System:
        """Return what answers in place of the system of *suite*, the golden file at *path*."""
        wanted = run_title(suite, variant)
        titles = sorted({run_title(*key) for *key, _ in self.chosen})
        if wanted in titles:
            wanted, titles = path, sorted(other for *key, other in self.chosen if run_title(*key) == wanted)
        missing = f"{self.history} has no recorded run of {wanted}: {self.name!r} is of {' and '.join(titles)}"
        return replayed(self.source(suite, variant, path), missing=missing)

    def pytest_report_header(self) -> str:
        """Name the runs and say whether calls are made."""
        runs = sorted(set(self.chosen.values()))
        calls = "no calls" if self.asks_nothing else "calls only for what is missing there"
        return f"auepora: answers from {names_words(runs, 3)}, {calls}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give all workers the same runs, whatever is stored in between, and wherever they are."""
        spec = node.gateway.spec
        is_here = spec.popen and not spec.via
        node.workerinput[_INPUT] = {
            "chosen": [[*key, run_id] for key, run_id in self.chosen.items()],
            "history": self.history,
            "path": self.path,
            "sent": {} if is_here else self._sent_runs,
        }

    @cached_property
    def _sent_runs(self) -> dict[str, SentRun]:
        from ..history.answers import encode_recorded

        return {run_id: encode_recorded(self.read(run_id)) for run_id in self.chosen.values()}

    @pytest.hookimpl(tryfirst=True)
    def pytest_auepora_run_finished(self, run: Run, verdict: Verdict) -> None:
        """Note in the run and its verdict where its answers come from."""
        source = self.source(run.suite, run.variant, run.path)
        if source is None:
            verdict.notes.append(f"no recorded run of {run.title}; nothing was taken")
            return
        taken = sum(c.extra.get("recorded_in") == source.run_id for c in run.cases.values())
        run.origin = {"kind": self.kind, "run": source.run_id, "taken": taken}
        if self.asks_nothing:
            verdict.notes.append(f"replayed from run {source.run_id}: its answers, no calls")
            return
        rest = ", the others asked" if taken < len(run.cases) else ""
        verdict.notes.append(f"{taken} of {len(run.cases)} answers taken from run {source.run_id}{rest}")
        if changed := changed_provenance(source.run.provenance, run.provenance):
            changes = ", ".join(f"{key} {then} → {now}" for key, (then, now) in changed.items())
            reason = f"answered under other conditions, so nothing was taken: {changes}"
            verdict.notes.append(f"run {source.run_id} {reason}")
        commits = [str(provenance.get(GIT_COMMIT, ""))[:8] for provenance in (source.run.provenance, run.provenance)]
        if taken and all(commits) and commits[0] != commits[1]:
            verdict.notes.append(f"run {source.run_id} was made at commit {commits[0]}, this is {commits[1]}")


def changed_provenance(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two provenances as they look after JSON, except the commit."""
    from ..regression.compare import provenance_changes

    return provenance_changes(then, json.loads(json.dumps(now, default=str)))
