"""Golden files inside test files: the ``auepora`` fixture, and ``@pytest.mark.auepora`` with ``auepora_case``."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..api.evaluation import Evaluation
from ..base.text import did_you_mean, unknown_name
from ..core.comparable_score import ComparableScore
from ..core.run import CaseResult, MetricInfo
from ..errors import AueporaError, AueporaWarning, BaselineError, GoldenFileError
from ..evaluation.case_flow import FinishedCase
from ..evaluation.case_result import Ended
from ..evaluation.further import drive
from ..evaluation.replay import Answering, CaseEndedError
from ..evaluation.suite import run_suite
from ..io.golden.model import GoldenCase
from .asking import AnswerSource, AskedCase, keep_result, source_for
from .case_reports import FurtherKind
from .compat import parameters_of
from .items import case_marks, end_unmeasured, raise_skipped
from .keys import CORPUS
from .output import fail_case
from .registration import session_of
from .session import AueporaSession, SessionSuite, SuiteVariant


class Auepora:
    """The ``auepora`` fixture."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def evaluate(self, golden: str | os.PathLike[str], rag: Any = None) -> Evaluation:
        """Run the system on every case of *golden* (a path relative to the test file or the rootdir).

        Args:
            golden: the golden file.
            rag: the system; by default the fixture that the golden file names (``rag``).

        Returns:
            An `Evaluation`: ``run["recall@5"] >= 0.8``, ``run.assert_no_regression()``.  Under ``--auepora`` its
            results also count in the closing summary and are accepted by ``--auepora-update``.

        Raises:
            FileNotFoundError: there is no such file.
            GoldenFileError: it is wrong.
            BaselineError: the baseline cannot be read, or is required where the parameters of the test have no ids.
        """
        __tracebackhide__ = True
        request = self._request
        session = session_of(request.config)
        suite = _load(session, Path(golden), request.path.parent)
        variant = suite.variant_of(request.node) if rag is None else suite.variant(parameters_of(request.node))
        if why := suite.unnamed_variant(request.node, None if rag is None else ""):
            if session.options.wants_baselines:
                raise BaselineError(why)
            warnings.warn(why, AueporaWarning, stacklevel=2)
        source = _source(request, variant, rag)
        baseline, note = variant.baseline
        if note.state == "unreadable":
            raise BaselineError(note.detail)
        evaluation = Evaluation(
            variant.blank_run(), suite.golden, suite.metrics, baseline, note,
            accepting=session.options.accepting, calibrations=suite.calibrations, anchor=variant.anchor,
            repeat=max((source.times(case) for case in suite.golden.cases), default=1),
            accepted=variant.accepted_texts,
        )  # fmt: skip
        evaluation.run.provenance = dict(source.provenance)
        again = source.again(request.node, _corpus(request, session))
        if not isinstance(source.system, Answering):
            evaluation.again = again
        plan = None if isinstance(source.system, Answering) else variant.update_plan(can_return=True)
        asked = [case.id for case in suite.golden.cases if case.skip is None]
        planned = len(asked) * evaluation.repeat if plan is None else plan.calls(asked)[0]
        if not again.budget.take(planned, (suite.path, variant.name, "")):
            most = session.options.max_calls
            limit = f"--auepora-max-calls {most}" if most is not None else "auepora_budget"
            raise AueporaError(f"{limit}: {planned} more calls are not allowed")
        for finished in run_suite(
            again, suite.golden.cases, repeat=evaluation.repeat, plan=plan, numbers=source.further
        ):
            kind: FurtherKind = "accepted" if finished.result.case_id in evaluation.run.cases else ""
            evaluation.run.add([finished.result])
            keep_result(request.node, source.flow, finished, kind)  # at once, whatever ends the test
        if plan is None:
            for looked in evaluation.look_again(again):
                keep_result(request.node, source.flow, looked, "look")
        return evaluation


@dataclass(eq=False, repr=False, slots=True)
class ScoredCase:
    """One golden case, run and scored: ``auepora_case["token_f1"] >= 0.3``.

    Attributes:
        result: everything that was measured.
        case: the golden case.
    """

    result: CaseResult
    case: GoldenCase
    _metrics: dict[str, MetricInfo]

    @property
    def id(self) -> str:
        """The case's id."""
        return self.case.id

    @property
    def answer(self) -> str:
        """What the system answered."""
        return str(self.result.outputs.get("answer", ""))

    def __getitem__(self, name: str) -> ComparableScore:
        """Return the score of metric *name*; comparing one that is n/a or an error raises and says why.

        Raises:
            UnknownNameError: the metric was not measured.
        """
        if name not in self.result.scores:
            raise unknown_name("metric of this case", name, self.result.scores)
        score = self.result.scores[name]
        return ComparableScore(name, score.value, score.reason, None, self.result, self._metrics.get(name))

    def __repr__(self) -> str:
        return f"<case {self.id}: {self.result.state}>"


def _load(session: AueporaSession, golden: Path, folder: Path) -> SessionSuite:
    """Load *golden*, which is beside the test file, in *folder*, else in the rootdir.

    Raises:
        FileNotFoundError: it is in neither.
        GoldenFileError: it is wrong.
    """
    __tracebackhide__ = True
    tried = list(dict.fromkeys(where / golden for where in (folder, session.config.rootpath)))
    for path in tried:
        if path.exists():
            return session.load(os.path.normpath(path))  # as files are collected
    names = [file.name for path in tried if path.parent.is_dir() for file in path.parent.iterdir()]
    hint = did_you_mean(golden.name, names)
    raise FileNotFoundError(f"no golden file {golden}{hint}; looked at {', '.join(map(str, tried))}")


def parametrize_cases(metafunc: pytest.Metafunc) -> None:
    """Parametrize ``auepora_case`` with the cases of the marker's golden file.

    Fails the collection of the test file where the marker names no golden file, or a wrong one.
    """
    nodeid, mark = metafunc.definition.nodeid, metafunc.definition.get_closest_marker("auepora")
    if mark is None or len(mark.args) != 1:
        message = f"{nodeid}: auepora_case needs @pytest.mark.auepora('path/of/golden.yaml')"
        raise pytest.fail.Exception(message, pytrace=False)
    session = session_of(metafunc.config)
    try:
        suite = _load(session, Path(mark.args[0]), metafunc.definition.path.parent)
    except FileNotFoundError as exc:
        raise pytest.fail.Exception(f"{nodeid}: {exc}", pytrace=False) from None
    except GoldenFileError as exc:
        raise pytest.fail.Exception(str(exc), pytrace=False) from None
    params = [pytest.param((suite, case), id=case.id, marks=case_marks(case)) for case in suite.golden.cases]
    metafunc.parametrize("auepora_case", params, indirect=True)


def score_case_of(request: pytest.FixtureRequest) -> ScoredCase:
    """Run and score the case that is this test's parameter.

    Fails the test where the system raised; thresholds of the golden file are left to the test.
    """
    if not hasattr(request, "param"):
        raise pytest.UsageError(f"{request.node.nodeid}: auepora_case needs @pytest.mark.auepora('golden.yaml')")
    suite: SessionSuite
    suite, case = request.param
    finished = _run_case(request, suite.variant_of(request.node), case)
    if finished.result.state == "skipped":
        raise_skipped(finished)
    if finished.result.state == "error":
        fail_case(request.config, finished, suite.infos)
    return ScoredCase(finished.result, case, suite.infos)


def _run_case(request: pytest.FixtureRequest, variant: SuiteVariant, case: GoldenCase) -> FinishedCase:
    """Ask the system about *case* as often as configured, and end the case."""
    node = request.node
    if case.skip is not None:
        return end_unmeasured(node, variant, case, CaseEndedError(Ended("skip", case.skip)))
    try:
        asked = AskedCase(node, _source(request, variant), case, _corpus(request, variant.suite.session))
    except BaseException as exc:
        return end_unmeasured(node, variant, case, exc)
    return drive(asked.end(asked.first_answers()))


def _source(request: pytest.FixtureRequest, variant: SuiteVariant, rag: Any = None) -> AnswerSource:
    """Return the source of answers: *rag*, or the suite's fixture, which a replay does not set up."""
    if rag is None and not variant.suite.session.asks_nothing:
        rag = request.getfixturevalue(variant.suite.golden.fixture)
    return source_for(rag, variant)


def _corpus(request: pytest.FixtureRequest, session: AueporaSession) -> Any:
    """Return the value of the project's corpus fixture, None where it has none or an earlier run is replayed."""
    if session.asks_nothing:
        return None
    try:
        return request.getfixturevalue(CORPUS)
    except pytest.FixtureLookupError as exc:
        if exc.argname != CORPUS:
            raise
        return None
