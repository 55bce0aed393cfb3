"""What is kept of the answers: redacted, within a cap, of the latest runs."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..counting import lock_out, store
from ..listening import notes


def test_what_redaction_takes_out_is_nowhere_in_the_recording(counted: Example) -> None:
    hook = """

def pytest_auepora_redact(result):
    for hit in result.outputs.get("retrieved", ()):
        hit["text"] = hit["text"].replace("30 days", "[…]")
    result.outputs["answer"] = result.outputs.get("answer", "").replace("30 days", "[…]")
    result.query = result.query.replace("30 days", "[…]")
    result.expected.clear()
    result.scores["token_f1"].details.clear()
"""
    counted.conftest(hook)
    counted.edit("return client(query)", "text, docs = client(query)\n        return {'answer': text, "
                 "'documents': docs, 'trace': text, 'metadata': {'raw': text}}", "conftest.py")  # fmt: skip
    counted.edit("metrics: [", "metrics: [assertion_pass, ")
    counted.run()
    for texts in store(counted).recordings("last").values():
        assert "30 days" not in repr(texts[0])
    lock_out(counted)
    counted.run("--auepora-replay")
    replayed, then = (store(counted).load(f"last{back}") for back in ("", "~1"))
    assert then.cases["refund-window"].scores["assertion_pass"].value == 1.0  # from the real text
    assert {i: c.scores for i, c in replayed.cases.items()} == {i: c.scores for i, c in then.cases.items()}
    counted.edit("metrics: [", "metrics: [rougeL, ")
    result = counted.run("--auepora-replay")
    assert result.ret == 1  # a number over a text with holes would be a wrong one
    scores = store(counted).load("last").cases["refund-window"].scores
    assert (scores["rougeL"].state, "pytest_auepora_redact" in scores["rougeL"].reason) == ("error", True)
    assert scores["token_f1"].value == 1.0
    assert store(counted).load("last").cases["warehouse"].scores["rougeL"].value == 1.0  # nothing was taken out there


def test_too_large_an_answer_says_so_then_and_when_it_is_missed(counted: Example) -> None:
    counted.pytester.makeini("[pytest]\nauepora_keep = characters=300")
    counted.edit("return client(query)", "text, docs = client(query)\n        return text, [{**d, 'text': d['text'] + "
                 "' and so on' * 20} for d in docs]", "conftest.py")  # fmt: skip
    assert len(notes(counted.run())["answers cut"].names) == 4
    lock_out(counted)
    assert counted.run("--auepora-replay").ret == 0  # what was measured then stands
    counted.edit("metrics: [", "metrics: [k_precision, ")
    counted.run("--auepora-replay")
    scores = [case.scores["k_precision"] for case in store(counted).load("last").cases.values()]
    assert [score.state for score in scores].count("error") == 4


def test_a_cap_of_nothing_records_nothing(counted: Example) -> None:
    counted.pytester.makeini("[pytest]\nauepora_keep = answers=none")
    counted.run()
    assert store(counted).recordings("last") == {}
    assert counted.run("--auepora-replay").ret == pytest.ExitCode.USAGE_ERROR


def test_answers_of_fewer_runs_are_kept_than_results(counted: Example) -> None:
    counted.pytester.makeini("[pytest]\nauepora_keep = answers=2")
    for _ in range(3):
        counted.run()
    counted.run("--auepora-replay=last~1")  # which has none of its own, and pushes none out
    assert [bool(store(counted).recordings(run.run_id)) for run in store(counted).runs()] == [False, True, True, False]


def test_a_system_made_anew_for_each_case_is_let_go(project: Example) -> None:
    project.system(
        "def rag():\n    system = System()\n    ALIVE.add(system)\n    return system\n\n\n"
        "import weakref\nALIVE = weakref.WeakSet()\n\n\n"
        "class System:\n    def __call__(self, query):\n        return answer(query)\n\n\n"
        "def pytest_sessionfinish():\n    (pathlib.Path(__file__).parent / 'alive.txt').write_text(str(len(ALIVE)))\n",
        scope="function",
    )
    assert project.run().ret == 0
    assert int(project.read("alive.txt")) <= 1
