"""Who answers a golden case: the system, or an earlier run in its place, for every case or for those it has.

Nothing that scores answers is imported here: calls are under way before that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..adapters.systems import System
from ..core.rag_interface import NOISE_DOCS
from ..core.telemetry import with_resources
from ..errors import AueporaError, HistoryError, NotRecordedError, SystemShapeError
from ..io.golden.model import GoldenCase

if TYPE_CHECKING:
    from ..core.run import Run
    from .case_result import Ended
    from .recording import RecordedAnswer, Recording

CONFIRMED = "confirmed"
"""Key in ``extra``: how many of the answers that were recorded decide about a failed case alone."""


class CaseEndedError(AueporaError):
    """A call says that its case is not measured: the earlier run skipped it, or expected it to fail."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended
        super().__init__(ended.reason)


def ask_case(system: System, case: GoldenCase, repeat: int = 0, *, seed: int | None = None) -> Callable[[], Any]:
    """Return the call that puts *case* to *system* for the time *repeat*, counted from 0, its random numbers seeded.

    What an earlier run answers in place of the system is not asked.
    """
    if isinstance(system, Answering) and (recorded := system.answer(case, repeat)) is not None:
        return recorded
    if case.sample.labels.get(NOISE_DOCS) and not system.takes_noise:
        return partial(_refuse_noise, system)
    fn: Callable[[], Any] = partial(system.invoke, case.sample, case.top_k)
    if seed is not None:
        from ..calls.seeding import derive_seed, seeded

        fn = seeded(fn, derive_seed(seed, case.id, repeat), is_async=system.is_async)
    if not case.resources:
        return fn
    return with_resources(fn, is_async=system.is_async)


def _refuse_noise(system: System) -> Any:
    """Say why a case cannot be asked; without its noise it would be the case it is a variant of, and always pass."""
    raise SystemShapeError(
        f"noise_docs: {system.name} has no context to put them into; return (retriever, generator) from the fixture, "
        "or say takes_noise_docs = True on a system that reads sample.labels['noise_docs']"
    )


class RecordedRun:
    """A stored run with what was recorded of its answers, by case, repeats in order."""

    def __init__(self, run_id: str, run: Run, recordings: Mapping[str, Sequence[Recording]], place: str = "") -> None:
        self.run_id, self.run, self.recordings, self.place = run_id, run, recordings, place

    @cached_property
    def keys(self) -> Mapping[str, Mapping[str, Any]]:
        """Version and parameters of the metrics then."""
        from ..regression.baseline import metric_key

        return {name: metric_key(info) for name, info in self.run.metrics.items()}

    def times(self, case: GoldenCase) -> int:
        """Return how often the system was asked about *case*, before that was asked again because it failed."""
        return len(self._recordings_of(case)) - self.confirmed(case)

    def _recordings_of(self, case: GoldenCase) -> Sequence[Recording]:
        """Return what was recorded; nothing where that is damaged, which `answer` tells."""
        with suppress(HistoryError):
            return self.recordings.get(case.id, ())
        return ()

    def confirmed(self, case: GoldenCase) -> int:
        """Return how many of the last answers to *case* are those that it was asked again for, as it failed."""
        result = self.run.cases.get(case.id)
        return 0 if result is None else int(result.extra.get(CONFIRMED, 0))

    def answer(self, case: GoldenCase, repeat: int) -> RecordedAnswer:
        """Return what the system said at one repeat, counted from 0.

        Raises:
            NotRecordedError: there is no answer to the case as it is now; the message says why.
        """
        from .recording import RecordedAnswer

        try:
            texts = self.recordings.get(case.id, ())
            if repeat >= len(texts):
                raise NotRecordedError(self._why_missing(case, repeat))
            recorded = RecordedAnswer(texts[repeat], self.keys, self.run_id)
            if reason := recorded.differs(case):
                raise NotRecordedError(f"run {self.run_id} does not answer this case: {reason}")
        except HistoryError as exc:
            raise NotRecordedError(f"run {self.run_id}: {exc} (in {self.place or 'its history'})") from None
        return recorded

    def _why_missing(self, case: GoldenCase, repeat: int) -> str:
        if times := self.times(case):
            asked = "once" if times == 1 else f"{times} times"
            return f"run {self.run_id} asked {asked}, there is no answer number {repeat + 1}"
        result = self.run.cases.get(case.id)
        if result is None and case.id in self.run.expected_ids:
            extent = f"{len(self.run.cases)} of {len(self.run.expected_ids)} cases"
            return f"run {self.run_id} has no answer to this case: it ran {extent} and not this one"
        if result is None:
            return f"run {self.run_id} has no answer to this case: it is new"
        return f"run {self.run_id} recorded no answer to this case ({result.error_line or result.state})"


@dataclass(eq=False, repr=False)
class Answering(System):
    """Answers in place of a system, from an earlier run.

    Attributes:
        source: the run.
        base: the system that is asked where the run has no answer; None where nothing may be asked.
        missing: why there is no run, where there is none.
    """

    source: RecordedRun | None = None
    base: System | None = None
    missing: str = ""

    def answer(self, case: GoldenCase, repeat: int) -> Callable[[], Any] | None:
        """Return the call that gives the recorded answer; None where the system is to be asked.

        Where nothing may be asked, a missing answer is a recorded error.
        """
        if self.base is not None:
            recorded = self._recorded_answer(case, repeat)
            return None if recorded is None else lambda: recorded
        return lambda: self._answer_or_error(case, repeat)

    def has(self, case: GoldenCase) -> bool:
        """Whether the system need not be asked about *case* the first time."""
        return self.base is None or self._recorded_answer(case, 0) is not None

    def times(self, case: GoldenCase) -> int:
        """Return how often the run asked about *case*; at least 1."""
        return max(1, self.source.times(case)) if self.source is not None else 1

    def confirms(self, case: GoldenCase) -> range:
        """Return the numbers of the answers that the run asked *case* again for, as it failed."""
        if self.source is None:
            return range(0)
        times = self.source.times(case)
        return range(times, times + self.source.confirmed(case))

    def _recorded_answer(self, case: GoldenCase, repeat: int) -> RecordedAnswer | None:
        try:
            recorded = self.source.answer(case, repeat) if self.source is not None else None
        except NotRecordedError:
            return None
        return recorded if recorded is not None and recorded.is_answer else None

    def _answer_or_error(self, case: GoldenCase, repeat: int) -> RecordedAnswer:
        if self.source is None:
            return _recorded_error(self.missing)
        result = self.source.run.cases.get(case.id)
        if result is not None and result.state == "skipped":
            from .case_result import Ended

            raise CaseEndedError(Ended("xfail" if result.expected_to_fail else "skip", result.error))
        try:
            return self.source.answer(case, repeat)
        except NotRecordedError as exc:
            return _recorded_error(str(exc))


def _recorded_error(why: str) -> RecordedAnswer:
    from .recording import RecordedAnswer

    return RecordedAnswer.failed(f"NotRecordedError: {why}")


def is_recorded(system: System, case: GoldenCase) -> bool:
    """Whether *system* answers *case*, the first time, without being asked."""
    return isinstance(system, Answering) and system.has(case)


def replayed(source: RecordedRun | None, *, missing: str = "") -> Answering:
    """Return a system that answers as *source* did and makes no calls; *missing* says why there is no source."""

    def refuse(*_: Any) -> Any:
        raise NotRecordedError("a replay calls nothing")

    provenance = dict(source.run.provenance) if source is not None else {}
    return Answering("a recorded run", False, refuse, provenance, source=source, missing=missing)


def resumed(source: RecordedRun, base: System) -> Answering:
    """Return what answers as *source* did where the system answered, then, and asks *base* for the rest."""
    return Answering(base.name, base.is_async, base.invoke, base.provenance, base.takes_noise, source=source, base=base)
