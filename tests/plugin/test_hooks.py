"""The hooks that a project may implement."""

from __future__ import annotations

import json

from pytest_auepora.history.store import HistoryStore

from .conftest import Example


def test_a_metric_of_ones_own(project: Example) -> None:
    project.conftest("""\
from pytest_auepora import Measurement, Metric, TargetCategory


class AnswerWords(Metric):
    name = "answer_words"
    target = TargetCategory.GENERATION_RELEVANCE
    range = (0.0, float("inf"))
    direction = "lower"

    def measure(self, sample, outputs):
        return Measurement(len(outputs.response.text.split()))


def pytest_auepora_metrics(registry):
    registry.add("answer_words", AnswerWords)
""")
    project.edit("metrics: [recall@1,", "metrics: [answer_words, recall@1,")
    project.edit("  recall@3: 0.9", "  answer_words: 20\n  recall@3: 0.9")
    result = project.run()
    assert result.ret == 0, str(result.stdout)
    assert "answer_words" in str(result.stdout)


def test_outputs_of_another_shape_are_converted(project: Example) -> None:
    project.edit("return answer", "return lambda q: {'blob': answer(q)}", "conftest.py")
    project.conftest("""\
def pytest_auepora_convert(output):
    from pytest_auepora.adapters.outputs import to_outputs
    return to_outputs(output["blob"])
""")
    assert project.run().ret == 0


def test_provenance_is_stored_and_a_new_chunker_is_not_compared(project: Example) -> None:
    hook = "\n\ndef pytest_auepora_provenance():\n    return {'chunker_version': %d, 'model': 'm'}\n"
    project.conftest(hook % 3)
    project.accept()
    assert json.loads(project.baseline.read_text())["provenance"] == {"chunker_version": 3, "model": "m"}
    project.conftest(hook % 4)
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.edit("metrics: [recall@1,", "regression: {policy: tolerance}\nmetrics: [recall@1,")
    result = project.run()
    assert "chunker_version 3 → 4" in str(result.stdout)
    assert result.ret == 0


def test_secrets_are_taken_out_before_anything_is_shown(project: Example) -> None:
    project.when_asked("warehouse", "raise ValueError('key sk-123 refused')")
    project.conftest("""\
def pytest_auepora_redact(result):
    result.error = result.error.replace("sk-123", "***")
    for score in result.scores.values():
        score.reason = score.reason.replace("sk-123", "***")
""")
    result = project.run()
    text = str(result.stdout)
    assert "sk-123" not in text
    assert "***" in text


def test_the_finished_run_is_handed_over(project: Example) -> None:
    project.conftest("""\
def pytest_auepora_run_finished(run, verdict):
    print("FINISHED", run.title, len(run.cases), verdict.outcome)
""")
    assert "FINISHED shop 5 passed" in str(project.run("-s").stdout)


def test_what_the_project_adds_to_a_finished_run_is_stored(project: Example) -> None:
    project.conftest("""\
def pytest_auepora_run_finished(run):
    run.cases["warehouse"].labels["reviewed"] = "by hand"
""")
    project.run()
    cases = HistoryStore(project.path / ".auepora" / "history.sqlite").load("last").cases
    assert [case.labels.get("reviewed") for case in cases.values()].count("by hand") == 1
