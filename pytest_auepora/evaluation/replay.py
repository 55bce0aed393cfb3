"""Who answers a golden case: the system, or an earlier run in its place, for every case or for those it has.

Nothing that scores answers is imported here: calls are under way before that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any

from ..adapters.parts import ask_with_noise
from ..adapters.systems import System
from ..base.pages import reference
from ..calls.seeding import derive_seed, seeded
from ..core.conversation import AS, CHAT_HISTORY, PRINCIPAL
from ..core.rag_interface import NOISE_DOCS
from ..core.run import Run
from ..core.telemetry import with_resources
from ..core.types import EvaluationSample
from ..errors import AueporaError, HistoryError, NotRecordedError, SystemShapeError
from ..io.golden.model import GoldenCase
from ..regression.baseline import metric_key
from .case_result import Ended
from .recording import RecordedAnswer, Recording

SECOND_LOOK = 1000
"""The number of the answer that is the second look at the suite, then the third; other answers are far fewer."""


class CaseEndedError(AueporaError):
    """A call says that its case is not measured: the earlier run skipped it, or expected it to fail."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended
        super().__init__(ended.reason)


def ask_case(system: System, case: GoldenCase, repeat: int = 0, *, seed: int | None = None) -> Callable[[], Any]:
    """Return the call that puts *case* to *system* for the time *repeat*, counted from 0, its random numbers seeded.

    What an earlier run answers in place of the system is not asked.
    """
    is_noise_added = _has_noise(case.sample) and NOISE_DOCS not in system.takes
    if system.unserved is not None and (is_noise_added or 0 < repeat < SECOND_LOOK):
        system = system.unserved  # a case that is about to fail is asked itself, as is one that is asked in two steps
    if isinstance(system, Answering) and (recorded := system.answer(case, repeat)) is not None:
        return recorded
    if (key := _untaken(system, case.sample)) is not None:
        return partial(_refuse, system, key)
    fn: Callable[[], Any] = partial(system.invoke, case.sample, case.top_k)
    if is_noise_added:
        fn = partial(ask_with_noise, system, case.sample, case.top_k)
    if seed is not None:
        fn = seeded(fn, derive_seed(seed, case.id, repeat), is_async=system.is_async)
    return with_resources(fn, is_async=system.is_async) if case.resources else fn


_HOW_TAKEN = {
    NOISE_DOCS: "has no context to put them into; return (retriever, generator) from the fixture, or say "
    "takes_noise_docs = True on a system that reads sample.labels['noise_docs']",
    CHAT_HISTORY: "takes no earlier turns; a function takes them as chat_history, history, messages or sample",
    PRINCIPAL: "is not told who asks; a function is by a parameter principal, metadata or sample",
}
_PAGES = {NOISE_DOCS: "golden-files", CHAT_HISTORY: "conversations", PRINCIPAL: "permissions"}


def _has_noise(sample: EvaluationSample) -> bool:
    return bool(sample.labels.get(NOISE_DOCS))


def _untaken(system: System, sample: EvaluationSample) -> str | None:
    """Return what *sample* has that would not reach *system*; None where it all does."""
    labels, takes = sample.labels, system.takes
    if sample.chat_history and CHAT_HISTORY not in takes:
        return CHAT_HISTORY
    if _has_noise(sample) and NOISE_DOCS not in takes and system.generate is None:
        return NOISE_DOCS
    return PRINCIPAL if AS in labels and PRINCIPAL not in takes else None


def _refuse(system: System, key: str) -> Any:
    """Say why a case cannot be asked; without what *key* stands for it would be another question, and might pass."""
    raise SystemShapeError(
        f"{AS if key == PRINCIPAL else key}: {system.name} {_HOW_TAKEN[key]}: {reference(_PAGES[key])}"
    )


@dataclass(eq=False, repr=False)
class RecordedRun:
    """A stored run with what was recorded of its answers, by case, repeats in order.

    ``place`` is its history, for messages; ``missing`` says why there is no run at all, and this one is empty.
    """

    run_id: str
    run: Run
    recordings: Mapping[str, Sequence[Recording]]
    place: str = ""
    missing: str = ""

    @cached_property
    def keys(self) -> Mapping[str, Mapping[str, Any]]:
        """Version and parameters of the metrics then."""
        return {name: metric_key(info) for name, info in self.run.metrics.items()}

    def _answers(self, case: GoldenCase) -> tuple[int, int, int]:
        """Return how many answers made the scores of *case*, how many it has, the last of them looks at the suite."""
        result, n_answers = self.run.cases.get(case.id), 0
        with suppress(HistoryError):  # what was recorded is damaged, which `answer` tells
            n_answers = len(self.recordings.get(case.id, ()))
        times, looks = (result.repeats, result.looks) if result is not None else (1, 0)
        return min(n_answers, times), n_answers, looks

    def times(self, case: GoldenCase) -> int:
        """Return how many answers made the scores of *case*, before it was asked again."""
        return self._answers(case)[0]

    def further(self, case: GoldenCase) -> range:
        """Return the numbers of the answers that *case* was asked for again, looks at the suite left out."""
        times, n_answers, looks = self._answers(case)
        return range(times, n_answers - looks)

    def look(self, case: GoldenCase, before: int = 0) -> int | None:
        """Return the number of the answer that was a further look at the suite, after so many *before*.

        None where there was none.
        """
        _, n_answers, looks = self._answers(case)
        return n_answers - looks + before if before < looks <= n_answers else None

    def answer(self, case: GoldenCase, repeat: int) -> RecordedAnswer:
        """Return the answer to one repeat, counted from 0; raises `NotRecordedError`, with the reason, if none."""
        try:
            recordings = self.recordings.get(case.id, ())
            if repeat >= SECOND_LOOK and (look := self.look(case, repeat - SECOND_LOOK)) is not None:
                repeat = look
            if repeat >= len(recordings):
                raise NotRecordedError(self._why_missing(case, repeat))
            recorded = RecordedAnswer(recordings[repeat], self.keys, self.run_id)
            if reason := recorded.differs(case):
                raise NotRecordedError(f"run {self.run_id} does not answer this case: {reason}")
        except HistoryError as exc:
            raise NotRecordedError(f"run {self.run_id}: {exc} (in {self.place or 'its history'})") from None
        return recorded

    def _why_missing(self, case: GoldenCase, repeat: int) -> str:
        if self.missing:
            return self.missing
        if times := self.times(case):
            asked = "once" if times == 1 else f"{times} times"
            return f"run {self.run_id} asked {asked}, there is no answer number {repeat + 1}"
        if (result := self.run.cases.get(case.id)) is not None:
            return f"run {self.run_id} recorded no answer to this case ({result.error_line or result.state})"
        reason, expected = "it is new", self.run.expected_ids
        if case.id in expected:
            reason = f"it ran {len(self.run.cases)} of {len(expected)} cases and not this one"
        return f"run {self.run_id} has no answer to this case: {reason}"


@dataclass(eq=False, repr=False)
class Answering(System):
    """Answers in place of a system, from the earlier run *source*.

    *base* is the system that is asked where the run has no answer; None where nothing may be asked.
    """

    _: KW_ONLY
    source: RecordedRun
    base: System | None = None

    def answer(self, case: GoldenCase, repeat: int) -> Callable[[], Any] | None:
        """Return the call that gives the recorded answer; None where the system is to be asked.

        Where nothing may be asked, a missing answer is a recorded error.
        """
        if self.base is None:
            return lambda: self._answer_or_error(case, repeat)
        with suppress(NotRecordedError):
            if (recorded := self.source.answer(case, repeat)).outputs is not None:
                return lambda: recorded
        return None

    def _answer_or_error(self, case: GoldenCase, repeat: int) -> RecordedAnswer:
        result = self.source.run.cases.get(case.id)
        if result is not None and result.state == "skipped":
            raise CaseEndedError(Ended("xfail" if result.expected_to_fail else "skip", result.error))
        try:
            return self.source.answer(case, repeat)
        except NotRecordedError as exc:
            return RecordedAnswer.failed(f"NotRecordedError: {exc}")


def replay_of(system: System) -> Answering | None:
    """Return *system* where it is an earlier run and nothing else may be asked."""
    return system if isinstance(system, Answering) and system.base is None else None


def is_recorded(system: System, case: GoldenCase) -> bool:
    """Whether *system* answers *case*, the first time, without being asked."""
    return isinstance(system, Answering) and system.answer(case, 0) is not None


def replayed(source: RecordedRun | None, *, missing: str = "") -> Answering:
    """Return a system that answers as *source* did and makes no calls; *missing* says why there is no source."""

    def refuse(*_: Any) -> Any:
        raise NotRecordedError("a replay calls nothing")

    if source is None:
        source = RecordedRun("", Run(""), {}, missing=missing)
    return Answering("a recorded run", False, refuse, dict(source.run.provenance), source=source)


def resumed(source: RecordedRun, base: System) -> Answering:
    """Return what answers as *source* did where the system answered, then, and asks *base* for the rest."""
    return Answering(base.name, base.is_async, base.invoke, base.provenance, base.takes, source=source, base=base)
