from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scores import Score
from pytest_auepora.history.codec import result_data
from pytest_auepora.pytest_plugin.one_message import AT_ONCE, Receiving, Sending, nobody_waits
from pytest_auepora.pytest_plugin.xdist_messages import ATTRIBUTE, Parcel, attach, unpack


def report_of(**other: Any) -> pytest.TestReport:
    given: dict[str, Any] = {
        "nodeid": "a.golden.yaml::case", "location": ("a.golden.yaml", 7, "case"),
        "keywords": {"case": 1, "a.golden.yaml": 1, "": 1}, "outcome": "passed", "longrepr": None, "when": "call",
        "duration": 0.1 + 0.2, "start": 1e9 + 0.1, "stop": 1e9 + 0.4,
    }  # fmt: skip
    return pytest.TestReport(**{**given, **other})


def parcel_of(result: CaseResult, **other: Any) -> Parcel:
    return Parcel("a.golden.yaml", "[v]", result, other.pop("provenance", {"model": "m"}), **other)


def sent(report: pytest.TestReport, sending: Sending | None = None) -> dict[str, Any]:
    """Return what leaves a worker of *report*, as pytest makes it and the wrapper changes it."""
    data = report._to_json() | {"$report_type": "TestReport"}
    wrapper = (sending or Sending()).pytest_report_to_serializable()
    next(wrapper)
    with pytest.raises(StopIteration) as done:
        wrapper.send(data)
    made: dict[str, Any] = done.value.value
    return made


def received(data: dict[str, Any]) -> pytest.TestReport:
    Receiving(SimpleNamespace()).pytest_report_from_serializable(data)  # type: ignore[arg-type]
    assert data.pop("$report_type") == "TestReport"
    return pytest.TestReport._from_json(data)


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"location": ("a.golden.yaml", None, "case")},
        {"keywords": {"case": 1, "mark": True, "more": "than that"}},
        {"outcome": "skipped", "longrepr": ("a.golden.yaml", 8, "Skipped: closed")},
        {"outcome": "failed", "longrepr": "recall@5 0.2 < 0.8\nand more"},
        {"sections": [("Captured stdout call", "said\nin two lines")], "user_properties": [("state", "passed")]},
        {"nodeid": "a.golden.yaml::größe\u2028[ü]", "wasxfail": "known", "extra": [1, {"deep": (2, 3)}]},
    ],
)
def test_a_report_is_the_same_on_the_other_side(other: dict[str, Any]) -> None:
    report = report_of(**other)
    before = dict(vars(report))
    attach(report, [parcel_of(CaseResult("case"))], leaves_process=True)
    after = received(sent(report))
    (parcel,) = unpack(after)
    assert parcel.result == CaseResult("case")
    assert vars(after) == before
    assert {key: type(value) for key, value in vars(after).items()} == {k: type(v) for k, v in before.items()}


def test_a_report_of_a_test_that_is_no_case_stays_what_it_is() -> None:
    data = report_of()._to_json() | {"$report_type": "TestReport"}
    assert sent(report_of()) == data
    assert vars(received(data)) == vars(report_of())


def test_most_of_a_report_is_one_text() -> None:
    report = report_of()
    attach(report, [parcel_of(CaseResult("case"))], leaves_process=True)
    assert set(sent(report)) == {ATTRIBUTE}


def test_only_the_call_of_a_case_of_which_nothing_was_said_tells_so() -> None:
    sending = Sending()
    with sending.all_at_once():
        assert AT_ONCE in sent(report_of(), sending)
        assert AT_ONCE not in sent(report_of(when="teardown"), sending)
    assert AT_ONCE not in sent(report_of(), sending)


def test_the_controller_says_what_a_worker_did_not() -> None:
    said: list[tuple[str, Any]] = []
    hook = SimpleNamespace(
        pytest_runtest_logstart=lambda **place: said.append(("start", place)),
        pytest_runtest_logfinish=lambda **place: said.append(("finish", place)),
    )
    receiving = Receiving(SimpleNamespace(hook=hook))  # type: ignore[arg-type]
    for marked in (True, False):
        report = report_of(**({AT_ONCE: True} if marked else {}))
        wrapper = receiving.pytest_runtest_logreport(report)
        next(wrapper)
        assert [name for name, _ in said] == (["start"] if marked else [])
        with pytest.raises(StopIteration):
            wrapper.send(None)
        place = {"nodeid": report.nodeid, "location": report.location}
        assert said == ([("start", place), ("finish", place)] if marked else [])
        assert not hasattr(report, AT_ONCE)
        said.clear()


@pytest.mark.parametrize(
    ("module", "verbosity", "waits"),
    [
        ("_pytest.terminal", 0, False),
        ("_pytest.terminal", 1, True),
        ("pytest_auepora.pytest_plugin.watchdog", -1, False),
        ("conftest", 0, True),
    ],
)
def test_whoever_is_unknown_is_told_in_time(module: str, verbosity: int, waits: bool) -> None:
    impl = SimpleNamespace(function=SimpleNamespace(__module__=module))
    hook = SimpleNamespace(get_hookimpls=lambda: [impl])
    hooks = SimpleNamespace(pytest_runtest_logstart=hook, pytest_runtest_logfinish=hook)
    config: Any = SimpleNamespace(get_verbosity=lambda _: verbosity)
    assert nobody_waits(config, hooks) is not waits


def test_parcels_are_the_same_on_the_other_side() -> None:
    odd = {"nan": float("inf"), "large": 10**30, "half": "\ud800", "lines": "a\nb\u2028c", "none": None}
    results = [
        CaseResult("a", scores={"m": Score("number", 0.1 + 0.2), "n": Score("n/a", reason="none")}, ranks={"d": None}),
        CaseResult("b", "error", error="a\nb", outputs=odd),
    ]
    recordings: list[Any] = [('={"x":1', ["a document\nof lines", "ü"]), "whole"]
    report = report_of()
    attach(
        report, [parcel_of(results[0], recordings=recordings), parcel_of(results[1], provenance={})],
        leaves_process=True,
    )  # fmt: skip
    after = unpack(received(sent(report)))
    assert [one.result for one in after] == results
    assert [one.data for one in after] == [*map(result_data, results)]
    assert [(one.path, one.variant, one.provenance) for one in after] == [
        ("a.golden.yaml", "[v]", {"model": "m"}), ("a.golden.yaml", "[v]", {}),
    ]  # fmt: skip
    assert after[0].recordings == json.loads(json.dumps(recordings))
    assert after[1].recordings == []


def test_what_cases_were_asked_under_is_one_object_for_all_of_which_it_is_equal() -> None:
    seen = []
    for _ in range(2):
        report = report_of()
        attach(report, [parcel_of(CaseResult("case"))], leaves_process=True)
        seen += unpack(received(sent(report)))
    assert seen[0].provenance is seen[1].provenance
