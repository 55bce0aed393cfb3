"""Suite gates, case thresholds, errors: fail closed, and say why."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import gates, judged, outcomes

PASSING = (
    "{recall@3: {min: 0.9, stat: min}, p10(mrr): 0.9, p95_latency: {max: 60}, pass_rate: 1.0, "
    "mrr: {min: 0.5, slice: {tag: smoke}}, pass_rate(token_f1): 0.9}"
)


@pytest.mark.parametrize(
    ("thresholds", "count", "failing"),
    [(PASSING, 6, []), ("{mrr: {min: 0.1, max: 0.5}, p95_latency: {max: 0.000000001}}", 3, ["mrr", "p95_latency"])],
)
def test_suite_thresholds(project: Example, thresholds: str, count: int, failing: list[str]) -> None:
    project.edit("thresholds:\n  recall@3: 0.9\n", f"thresholds: {thresholds}\n")
    result = project.run()
    judged_gates = [gate for gate in judged(result).verdict.gates if gate.kind == "threshold"]
    assert (len(judged_gates), gates(result)) == (count + 1, failing), "with that of the error rate"
    assert {gate.state for gate in judged_gates} == {"passed", *(["failed"] if failing else [])}
    assert result.ret == (1 if failing else 0)


def test_a_threshold_over_nothing_measured_is_never_green(project: Example) -> None:
    project.edit("token_f1, refusal_correctness", "token_f1, evidence_overlap, bleu, refusal_correctness")
    text = project.golden.read_text()
    project.golden.write_text(
        "\n".join(
            line
            for line in text.replace("  recall@3: 0.9", "  bleu: 0.01").splitlines()
            if "reference_answer" not in line
        )
    )
    result = project.run("-W", "default")  # that token_f1 has nothing to measure is a warning before
    assert gates(result) == ["bleu"]
    assert outcomes(result)["threshold: bleu"].n == 0


UNLABELLED = """\
suite: bare
metrics: [{metrics}]
cases:
  - {{id: a, query: What is a refund?}}
  - {{id: b, query: What is a warranty?}}
"""


@pytest.mark.parametrize("metrics", ["recall@3, mrr@3, token_f1", "refusal_correctness", "assertion_pass"])
def test_a_suite_of_which_no_case_has_a_number_fails(project: Example, metrics: str) -> None:
    project.golden.unlink()
    project.write("bare.golden.yaml", UNLABELLED.format(metrics=metrics))
    for args in (), *([("--auepora-update",), ("--auepora-require-baseline",), ()] if "mrr" in metrics else []):
        result = project.run("-W", "default", *args)
        assert (result.ret, gates(result)[0]) == (1, "coverage")
        assert outcomes(result)["coverage: nothing measured"].names == tuple(metrics.split(", "))


def test_a_suite_of_times_alone_has_numbers(project: Example) -> None:
    project.golden.unlink()
    project.write("bare.golden.yaml", UNLABELLED.format(metrics="p95_latency"))
    assert project.run("-W", "default").ret == 0


def test_errors_count_as_worst_and_fail_the_error_gate(project: Example) -> None:
    project.when_asked("warehouse", "1 / 0")
    result = project.run()
    assert gates(result) == ["recall@3", "error_rate"]
    recall, gate = judged(result).verdict.aggregates["recall@3"], outcomes(result)["threshold: recall@3"]
    assert (recall.n, recall.n_error, recall.n_na, recall.total) == (3, 1, 1, 5)
    assert (recall.value, recall.gated, gate.value, gate.n_error) == (1.0, 0.75, 0.75, 1)


def test_the_error_gate_can_be_loosened(project: Example) -> None:
    project.when_asked("warehouse", "1 / 0")
    project.edit("  recall@3: 0.9", "  error_rate: 0.2\n  recall@3: 0.7")
    result = project.run()
    assert gates(result) == []
    assert result.ret == 1  # the case itself failed


def test_an_expected_failure_does_not_fail_the_run(project: Example) -> None:
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.case("refund-window", "xfail: index is being rebuilt")
    project.break_retriever()
    result = project.run()
    assert result.ret == 0
    assert result.parseoutcomes()["xfailed"] == 1
    assert "accepted shop:" not in str(project.run("--auepora-update").stdout)  # no warning
    marked_away = project.run("--runxfail")
    assert (marked_away.ret, marked_away.parseoutcomes()["failed"]) == (1, 1)
    assert judged(marked_away).run.cases["refund-window"].expected_to_fail is False


def test_a_case_that_somebody_ended_is_an_errored_case(project: Example) -> None:
    project.conftest(
        "@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
        "    if pyfuncitem.name == 'warehouse':\n        pytest.fail('it took too long')\n    return (yield)\n",
    )
    result = project.run()
    assert gates(result) == ["recall@3", "error_rate"]
    result.stdout.fnmatch_lines(["1 errored (*), 4 passed*", "*warehouse*error: Failed: it took too long"])


def test_a_case_ended_when_run_again_is_not_what_it_was(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    project.conftest(
        "seen = []\n\n@pytest.hookimpl(wrapper=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n"
        "    if pyfuncitem.name != 'warehouse':\n        return (yield)\n"
        "    seen.append(1)\n    if len(seen) == 1:\n        yield\n    pytest.fail('it took too long')\n",
    )
    result = project.run("--reruns", "1", plugins=("pytest_rerunfailures",))
    result.stdout.fnmatch_lines(["1 errored (*), 4 passed*"])


def test_an_accepted_expected_failure_is_still_expected(project: Example) -> None:
    project.edit('must_contain: ["30 days"]', 'must_contain: ["31 days"]\n    xfail: wrong in the source')
    for args in ("--auepora-update",), (), ("-o", "xfail_strict=true"):
        result = project.run(*args)
        assert (result.ret, result.parseoutcomes()["xfailed"]) == (0, 1)


def test_strict_xfail_is_the_projects_own_setting(project: Example) -> None:
    project.case("refund-window", "xfail: index is being rebuilt")
    assert project.run("-o", "xfail_strict=true").parseoutcomes()["failed"] == 1
    assert project.run().parseoutcomes()["xpassed"] == 1
