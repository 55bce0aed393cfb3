"""The anchor of a project: written on request only, shown and judged beside the baseline."""

from __future__ import annotations

from ..conftest import Example
from ..listening import gates, judged, mistakes, notes, outcomes


def test_the_anchor_is_written_on_request_and_survives_updates(project: Example) -> None:
    anchor = project.path / "__baselines__" / "shop.anchor.json"
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {case_max_drop: 1}\n")
    project.accept()
    assert not anchor.exists()
    result = project.run("--auepora-update=anchor")
    assert result.ret == 0
    anchored = judged(result).anchored
    assert anchored is not None
    assert (anchored.path, anchored.written, len(anchored.added)) == (anchor, True, 5)
    kept = anchor.read_bytes()
    project.break_retriever()
    updated = project.run("--auepora-update", "-rf")
    assert anchor.read_bytes() == kept
    # accepted against the last baseline, and yet further from the anchor than it tolerates
    assert all(title.startswith("anchor: ") for title in gates(updated))
    result = project.run("-rf")
    assert "anchor: mrr" in gates(result)
    assert "regression: mrr" not in gates(result)
    gate = outcomes(result)["anchor: recall@1"]
    assert (gate.value, gate.before, gate.n) == (0.75, 1.0, 4)
    result = project.run("--auepora-update=anchor", "-k", "warehouse")
    assert (result.ret, list(notes(result))) == (0, ["anchor not written"])
    assert anchor.read_bytes() == kept, "a part of the suite is no anchor"
    project.accept("--auepora-update=anchor")
    assert project.run().ret == 0


def test_a_run_that_becomes_the_anchor_is_not_held_to_the_last(project: Example) -> None:
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {case_max_drop: 1}\n")
    project.accept("--auepora-update=all,anchor")
    project.break_retriever()
    project.run("--auepora-update")
    line = "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n"
    project.write("test_it.py", line)
    assert "anchor: mrr" in gates(project.run("test_it.py"))
    project.accept("--auepora-update=anchor")


def test_a_broken_anchor_fails_the_run_and_can_be_replaced(project: Example) -> None:
    project.accept()
    anchor = project.write("__baselines__/shop.anchor.json", "{")
    result = project.run()
    assert gates(result) == ["anchor"]
    gate = outcomes(result)["anchor: unreadable"]
    assert "shop.anchor.json:1:2: " in gate.detail
    assert "--auepora-update=anchor" in gate.detail
    project.accept("--auepora-update=anchor")
    assert anchor.read_bytes() == project.baseline.read_bytes()


def test_a_suite_cannot_be_called_like_an_anchor(project: Example) -> None:
    project.edit("suite: shop", "suite: shop.anchor")
    (mistake,) = mistakes(project.run())
    assert (mistake.line, mistake.col, ".anchor" in mistake.message) == (1, 8, True)


def test_three_accepted_falls_in_a_row_are_added_up(project: Example) -> None:
    """Each is too small to fail anything; together they are a loss that nobody decided to accept."""
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.accept()
    added_up = []
    for _ in range(4):
        project.edit("text = docs[found[0]]", "text = docs[found[0]] + ' (so they say)'", "shop.py")
        added_up.append(notes(project.run("--auepora-update")).get("falls add up"))
    assert added_up[:2] == [None, None]
    third, fourth = (note for note in added_up if note is not None)
    assert (third.names, third.data["falls"], fourth.data["falls"]) == (("token_f1",), 3, 4)
    assert third.data["before"] == fourth.data["before"] > third.data["after"] > fourth.data["after"]
    assert "falls add up" not in notes(project.run("--auepora-update")), "nothing fell"
