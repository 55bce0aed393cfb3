"""The generator of today is asked with the accepted documents, as often as each case needs, and no more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import System, as_system
from pytest_auepora.calls.caller import Caller
from pytest_auepora.cause import why
from pytest_auepora.cause.why import Question, find_cause
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.evaluation.answer_codec import RecordedOutputs
from pytest_auepora.evaluation.case_flow import CaseCalls, CaseFlow
from pytest_auepora.evaluation.further import CallBudget, FurtherAnswers, drive
from pytest_auepora.evaluation.suite import blank_run, suite_metrics
from pytest_auepora.history.accepted import AcceptedTexts
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, merge
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.cause import Cause, LeftOut, Refusal
from pytest_auepora.regression.verdict import judge

N = 12
FACTS = {f"d{i:02}": f"fact {i:02} of the handbook" for i in range(N)}


def retrieve(query: str) -> list[dict[str, str]]:
    return [{"id": f"d{query[-2:]}", "text": FACTS[f"d{query[-2:]}"]}]


def lost(query: str) -> list[dict[str, str]]:
    return [{"id": "x", "text": "something else"}]


def write(query: str, documents: list[dict[str, str]]) -> str:
    return documents[0]["text"]


class Suite:
    """A suite of *n* cases, accepted with one system and asked with another; counts the calls of generators."""

    def __init__(self, folder: Path, n: int = 3, times: int = 1) -> None:
        cases = "".join(
            f"  - {{id: c{i:02}, query: q{i:02}, relevant_docs: [d{i:02}], must_contain: ['fact {i:02}'], "
            f"reference_answer: fact {i:02} of the handbook}}\n"
            for i in range(n)
        )
        golden = folder / "s.golden.yaml"
        golden.write_text(f"metrics: [recall@1, token_f1]\ncases:\n{cases}", encoding="utf-8")
        self.golden: GoldenSuite = load_golden(golden)
        self.metrics = suite_metrics(self.golden, Registry())
        self.texts = AcceptedTexts(folder / "s.accepted.json.gz")
        self.times, self.generated = times, list[str]()
        self.baseline: Baseline | None = None

    def system(self, retriever: Any, generator: Any) -> System:
        def counted(query: str, documents: Any) -> Any:
            self.generated.append(query)
            return generator(query, documents)

        return as_system((retriever, counted))

    def ask(self, system: System, times: int = 1) -> tuple[Run, CaseFlow, dict[str, RecordedOutputs]]:
        run = blank_run(self.golden, self.metrics)
        flow = CaseFlow(run, self.metrics, self.golden.policy, baseline=self.baseline, cases=self.golden.cases)
        outputs: dict[str, RecordedOutputs] = {}
        for case in self.golden.cases:
            calls = [Caller().call(i, partial(system.invoke, case.sample, 5)) for i in range(times)]
            again = times - 1
            run.add([flow.finish(CaseCalls(case, calls, again=again), system).result])
            outputs[case.id] = RecordedOutputs.of(system.as_outputs(calls[0].value, None))
        return run, flow, outputs

    def accept(self, retriever: Any = retrieve, generator: Any = write) -> None:
        run, _, outputs = self.ask(self.system(retriever, generator), self.times)
        self.baseline, _ = merge(None, run, Acceptance({"all"}))
        answers: dict[str, tuple[CaseResult, RecordedOutputs | None]] = {
            case_id: (case, outputs[case_id]) for case_id, case in run.cases.items()
        }
        self.texts.save(answers, self.baseline.cases)

    def why(self, retriever: Any, generator: Any = write, **more: Any) -> Cause:
        system = self.system(retriever, generator)
        run, flow, _ = self.ask(system)
        for case in run.cases.values():  # nobody asks again here
            for finding in case.findings:
                finding.status = "failed"
            case.state = "failed" if case.findings else case.state
        verdict = judge(run, self.golden.gates, self.golden.policy, self.metrics, baseline=self.baseline)
        self.generated.clear()
        again = FurtherAnswers(flow, system, Caller(), budget=CallBudget(more.pop("left", None)))
        question = Question(run, verdict, self.golden.cases, more.pop("accepted", self.texts), **more)
        return drive(find_cause(question, again))


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    made = Suite(tmp_path)
    made.accept()
    return made


def test_each_failing_case_takes_one_call(suite: Suite) -> None:
    cause = suite.why(lost)
    assert (cause.culprit, cause.calls, sorted(suite.generated)) == ("retrieval", 3, ["q00", "q01", "q02"])
    assert {case.culprit for case in cause.cases.values()} == {"retrieval"}
    assert cause.cases["c01"].answer == FACTS["d01"]
    assert cause.retrieval == {"recall@1": -1.0}


def test_equal_documents_take_none(suite: Suite) -> None:
    cause = suite.why(retrieve, lambda query, documents: "no idea")
    assert (cause.culprit, cause.calls, suite.generated) == ("generator", 0, [])


def test_documents_that_may_differ_are_asked(tmp_path: Path) -> None:
    def long(query: str) -> list[dict[str, str]]:
        return [*retrieve(query), {"id": "z", "text": "x" * 300}]

    suite = Suite(tmp_path)
    suite.accept(long)
    assert suite.why(long, lambda query, documents: "no idea").calls == 3
    digests = {case_id: suite.texts.digest(case_id) for case_id in suite.texts}
    assert suite.why(long, lambda query, documents: "no idea", digests=digests).calls == 0


def test_a_sampling_generator_is_asked_several_times(tmp_path: Path) -> None:
    def sampling() -> Callable[[str, Any], str]:
        said = iter(range(10_000))
        return lambda query, documents: f"{documents[0]['text']}{' indeed' * (next(said) % 3)}"

    suite = Suite(tmp_path, times=5)
    suite.accept(generator=sampling())
    cause = suite.why(lost, sampling())
    assert cause.culprit == "retrieval"
    assert cause.calls == len(suite.generated) == 3 * (5 + 5)  # its only answer of today is what a case was chosen by
    assert {case.culprit for case in cause.cases.values()} == {"retrieval"}


def test_the_most_cases_are_asked_and_the_others_named(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why, "MOST_CASES", 2)
    cause = suite.why(lost)
    assert (list(cause.cases), cause.left_out) == (["c00", "c01"], {"c02": "limit"})


def test_calls_that_are_left_are_used(suite: Suite) -> None:
    cause = suite.why(lost, left=1)
    assert (cause.calls, cause.left_out) == (1, {"c01": "calls", "c02": "calls"})


def test_where_no_retriever_was_seen_nothing_is_guessed(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.accept(lambda query: [], lambda query, documents: FACTS[f"d{query[-2:]}"])
    assert suite.why(lambda query: [], lambda query, documents: "no idea").refusal == "no retriever"


def test_without_the_accepted_documents_nothing_is_asked(suite: Suite, tmp_path: Path) -> None:
    refusal: Refusal = "no accepted documents"
    for accepted in (None, AcceptedTexts(tmp_path / "none.json.gz")):
        cause = suite.why(lost, accepted=accepted)
        assert (cause.refusal, set(cause.left_out.values()), suite.generated) == (refusal, {"not kept"}, [])


def test_documents_that_are_not_whole_are_not_given(suite: Suite) -> None:
    suite.texts["c00"].lost["documents"] = "changed"
    whole: LeftOut = "not kept whole"
    assert suite.why(lost).left_out == {"c00": whole}


def test_documents_that_are_ids_alone_are_not_given(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.accept(lambda query: [{"id": f"d{query[-2:]}"}], lambda query, documents: FACTS[documents[0]["id"]])
    cause = suite.why(lost, lambda query, documents: "no idea")
    assert (set(cause.left_out.values()), suite.generated) == ({"without texts"}, [])


def test_a_system_in_one_piece_needs_no_call_or_is_refused(suite: Suite) -> None:
    def whole(query: str) -> tuple[str, list[dict[str, str]]]:
        return "no idea", retrieve(query)

    def whole_lost(query: str) -> tuple[str, list[dict[str, str]]]:
        return "no idea", lost(query)

    for rag, refusal in ((whole, ""), (whole_lost, "no generator")):
        suite.system = lambda *_, rag=rag: as_system(rag)  # type: ignore[method-assign]
        assert suite.why(None).refusal == refusal
