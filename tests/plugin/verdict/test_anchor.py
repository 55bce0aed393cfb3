"""The anchor of a project: written on request only, shown and judged beside the baseline."""

from __future__ import annotations

from ..conftest import Example, gates


def test_the_anchor_is_written_on_request_and_survives_updates(project: Example) -> None:
    anchor = project.path / "__baselines__" / "shop.anchor.json"
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {case_max_drop: 1}\n")
    project.accept()
    assert not anchor.exists()
    result = project.run("--auepora-update=anchor")
    assert "baseline __baselines__/shop.anchor.json written: commit it: 5 added" in " ".join(str(result.stdout).split())
    assert result.ret == 0
    kept = anchor.read_bytes()
    project.break_retriever()
    updated = project.run("--auepora-update", "-rf")
    assert anchor.read_bytes() == kept
    # accepted against the last baseline, and yet further from the anchor than it tolerates
    assert all(title.startswith("anchor: ") for title in gates(updated))
    result = project.run("-rf")
    assert "anchor: mrr" in gates(result)
    assert "regression: mrr" not in gates(result)
    table = str(result.stdout).split("= auepora =")[1]
    row = next(line for line in table.splitlines() if line.startswith("anchor: recall@1"))
    assert row.split()[2:6] == ["0.750", "4/4", "1.000", "-0.250"]
    assert project.run("--auepora-update=anchor", "-k", "warehouse").ret == 0
    assert anchor.read_bytes() == kept, "a part of the suite is no anchor"
    assert project.run("--auepora-update=anchor").ret == 0
    assert project.run().ret == 0


def test_a_run_that_becomes_the_anchor_is_not_held_to_the_last(project: Example) -> None:
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {case_max_drop: 1}\n")
    project.accept("--auepora-update=all,anchor")
    project.break_retriever()
    project.run("--auepora-update")
    line = "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n"
    project.write("test_it.py", line)
    assert "anchor: mrr" in str(project.run("test_it.py").stdout)
    assert project.run("--auepora-update=anchor").ret == 0


def test_a_broken_anchor_fails_the_run_and_can_be_replaced(project: Example) -> None:
    project.accept()
    anchor = project.write("__baselines__/shop.anchor.json", "{")
    result = project.run()
    assert gates(result) == ["anchor"]
    assert "shop.anchor.json:1:2: not JSON" in " ".join(str(result.stdout).split())
    assert "run the whole suite with --auepora-update=anchor" in " ".join(str(result.stdout).split())
    assert project.run("--auepora-update=anchor").ret == 0
    assert anchor.read_bytes() == project.baseline.read_bytes()


def test_a_suite_cannot_be_called_like_an_anchor(project: Example) -> None:
    project.edit("suite: shop", "suite: shop.anchor")
    assert "ends in .anchor" in str(project.run().stdout)


def test_three_accepted_falls_in_a_row_are_added_up(project: Example) -> None:
    """Each is too small to fail anything; together they are a loss that nobody decided to accept."""
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.accept()
    told = []
    for _ in range(4):
        project.edit("text = docs[found[0]]", "text = docs[found[0]] + ' (so they say)'", "shop.py")
        told.append(" ".join(str(project.run("--auepora-update").stdout).split()))
    assert ["accepted falls in a row add up" in said for said in told] == [False, False, True, True]
    assert "token_f1: 3 accepted falls in a row add up from" in told[2]
    assert "token_f1: 4 accepted falls in a row add up from" in told[3]
    assert "`pytest --auepora-update=anchor`" in told[3]
    assert "accepted falls" not in str(project.run("--auepora-update").stdout), "nothing fell"
