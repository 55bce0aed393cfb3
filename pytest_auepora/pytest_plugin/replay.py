"""An earlier run in the place of the system: ``--auepora-replay`` has it answer all cases, ``--auepora-resume`` those
that it has answers to.

What reads the history is imported then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System
from ..base.text import names_words
from ..core.run import Run, run_title
from ..errors import HistoryError, UnknownRunError
from ..evaluation.replay import RecordedRun, replayed
from ..regression.baseline import GIT_COMMIT
from ..regression.compare import Change, Incomparable, provenance_changes
from ..regression.outcomes import Note
from ..regression.verdict import Verdict
from .compat import set_up_without, worker_input
from .keys import CASE, SYSTEM
from .options import Options

if TYPE_CHECKING:
    from ..history.answers import RunIds, SentRun
_INPUT = "auepora_replay"
_OPTIONS = {"replayed": "auepora_replay", "resumed": "auepora_resume"}


def make_replay(config: pytest.Config, options: Options) -> Replay | None:
    """Return the replay of an earlier run of the history, if one of the two options asks for it.

    Raises:
        pytest.UsageError: there is no such run.
    """
    requested = {kind: name for kind, option in _OPTIONS.items() if (name := config.getoption(option))}
    if not requested:
        return None
    if len(requested) > 1:
        raise pytest.UsageError("--auepora-replay asks the system nothing, --auepora-resume the rest: give one of them")
    ((kind, name),) = requested.items()
    place = options.history_place
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
        self, kind: str, name: str, chosen: RunIds, load: Callable[[str], RecordedRun], *, history: str, path: str = ""
    ) -> None:
        self.kind, self.name, self.chosen, self.history, self.path = kind, name, chosen, history, path
        self.asks_nothing = kind == "replayed"  # the system is not even set up
        self.read = cache(load)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set up no system where none may be asked."""
        if self.asks_nothing and CASE in item.stash:
            set_up_without(item, item.stash[SYSTEM])

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
            verdict.notes.append(Note("nothing recorded", detail=run.title))
            return
        taken = sum(case.recorded_in == source.run_id for case in run.cases.values())
        run.origin = {"kind": self.kind, "run": source.run_id, "taken": taken}
        if self.asks_nothing:
            verdict.notes.append(Note("replayed", detail=source.run_id))
            return
        counts = {"taken": taken, "cases": len(run.cases)}
        verdict.notes.append(Note("resumed", detail=source.run_id, data=counts))
        if changed := changed_provenance(source.run.provenance, run.provenance):
            why = Incomparable(changes=tuple(Change(key, *values) for key, values in changed.items()))
            verdict.notes.append(Note("recorded otherwise", detail=source.run_id, why=why))
        commits = [str(provenance.get(GIT_COMMIT, ""))[:8] for provenance in (source.run.provenance, run.provenance)]
        if taken and all(commits) and commits[0] != commits[1]:
            why = Incomparable(changes=(Change(GIT_COMMIT, *commits),))
            verdict.notes.append(Note("recorded at another commit", detail=source.run_id, why=why))


def changed_provenance(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two provenances as they look after JSON, except the commit."""
    return provenance_changes(then, json.loads(json.dumps(now, default=str)))
