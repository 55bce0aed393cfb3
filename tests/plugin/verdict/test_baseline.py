"""Accepting results: what is written, what is left alone, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ..conftest import Example
from ..listening import gates, judged, notes, outcomes


def test_the_file_has_sorted_keys_four_decimals_and_a_hash(project: Example) -> None:
    project.accept()
    text = project.baseline.read_text(encoding="utf-8")
    raw = json.loads(text)
    assert text == json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    case = raw["cases"]["refund-window"]
    assert set(case) == {"answers", "assertions", "hash", "ranks", "scores"}
    assert case["ranks"] == {"refunds": 1}
    assert all(v is None or round(v, 4) == v for c in raw["cases"].values() for v in c["scores"].values())
    assert not any("latency" in m for m in raw["metrics"])
    assert raw["metrics"]["recall@1"]["version"] >= 1


def test_a_selection_touches_its_own_block_only(project: Example) -> None:
    project.accept()
    before = json.loads(project.baseline.read_text())
    project.edit("[k for k in sorted(docs", "[k for k in reversed(sorted(docs", "shop.py")
    project.edit("if hits[k]]", ") if hits[k]]", "shop.py")
    project.edit("  recall@3: 0.9", "  recall@3: 0.01")
    project.run("-k", "refund-window", "--auepora-update")
    after = json.loads(project.baseline.read_text())
    changed = [i for i in before["cases"] if before["cases"][i] != after["cases"][i]]
    assert changed in ([], ["refund-window"])
    project.run("-k", "warehouse", "--auepora-update")
    assert set(json.loads(project.baseline.read_text())["cases"]) == set(before["cases"])


def test_new_accepts_only_what_the_baseline_lacks(project: Example) -> None:
    project.run("-k", "warehouse", "--auepora-update")
    project.break_retriever()
    result = project.run("--auepora-update=new")
    cases = json.loads(project.baseline.read_text())["cases"]
    assert set(cases) == {"refund-window", "warehouse", "free-returns", "warranty", "ceo-salary"}
    assert cases["refund-window"]["scores"]["mrr"] == 0.0
    assert result.ret == 1


def test_improved_accepts_only_what_got_better(project: Example) -> None:
    project.break_retriever()
    project.run("--auepora-update")
    worse = json.loads(project.baseline.read_text())["cases"]
    project.edit(
        "    docs = {k: v for k, v in docs.items() if k != 'refunds'}",
        "    docs = {k: v for k, v in docs.items() if k != 'warranty'}",
        "shop.py",
    )
    result = project.run("--auepora-update=improved")
    cases = json.loads(project.baseline.read_text())["cases"]
    assert cases["refund-window"] != worse["refund-window"]
    assert cases["warranty"] == worse["warranty"]
    assert result.ret == 1


def test_a_missing_baseline_fails_only_where_it_is_required(project: Example) -> None:
    assert project.run().ret == 0
    result = project.run("--auepora-require-baseline", auepora=False)
    assert result.ret == 1
    assert gates(result) == ["baseline"]


def test_another_place(project: Example) -> None:
    note = judged(project.run("--auepora-baseline=elsewhere")).verdict.baseline_note
    assert (note.state, note.place) == ("none", "elsewhere/shop.json")
    project.run("--auepora-update", "--auepora-baseline", "elsewhere")
    assert (project.path / "elsewhere" / "shop.json").exists()
    assert not project.baseline.exists()
    project.run("--auepora-update", "--auepora-baseline", "file.json")
    assert (project.path / "file.json").exists()
    project.golden.with_name("b.golden.yaml").write_text(
        project.golden.read_text().replace("suite: shop", "suite: other")
    )
    result = project.run("--auepora-baseline", "file.json")
    assert result.ret == 1
    assert "wanted is 'other'" in str(result.stdout)


def test_a_removed_case_fails_coverage_until_it_is_pruned(project: Example) -> None:
    project.accept()
    text = project.golden.read_text()
    project.golden.write_text(text[: text.index("  - id: ceo-salary")])
    result = project.run()
    assert result.ret == 1
    assert gates(result) == ["coverage: cases"]
    assert outcomes(result)["coverage: cases vanished"].names == ("ceo-salary",)
    project.accept("--auepora-update=prune")
    assert "ceo-salary" not in json.loads(project.baseline.read_text())["cases"]
    assert project.run().ret == 0


def test_pruning_is_for_full_runs(project: Example) -> None:
    project.accept()
    text = project.golden.read_text()
    project.golden.write_text(text[: text.index("  - id: ceo-salary")])
    before = project.baseline.read_bytes()
    result = project.run("--auepora-update=prune", "-k", "warehouse")
    assert "not pruned" in notes(result)
    assert project.baseline.read_bytes() == before


def test_a_renamed_case_is_recognised_by_its_content(project: Example) -> None:
    project.accept()
    project.edit("- id: warehouse", "- id: depot")
    assert outcomes(project.run())["coverage: cases vanished"].renamed == {"warehouse": "depot"}


def test_an_edited_case_is_changed_and_not_compared(project: Example) -> None:
    project.accept()
    project.edit("relevant_docs: [warranty]", "relevant_docs: [contact]")
    result = project.run()
    flips = {case_id: case.flip for case_id, case in judged(result).verdict.case_comparisons.items()}
    assert [case_id for case_id, flip in flips.items() if flip == "changed"] == ["warranty"]
    assert not [g for g in gates(result) if g.startswith("regression")]


def test_errors_are_never_accepted(project: Example) -> None:
    project.accept()
    before = json.loads(project.baseline.read_text())["cases"]["warehouse"]
    project.when_asked("warehouse", "1 / 0")
    result = project.run("--auepora-update")
    assert result.ret == 1
    assert json.loads(project.baseline.read_text())["cases"]["warehouse"] == before
    assert "ZeroDivisionError" in str(result.stdout)


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: t[: len(t) // 2],
        lambda t: "<<<<<<< HEAD\n" + t + "=======\n" + t + ">>>>>>> branch\n",
    ],
    ids=["cut", "conflict"],
)
def test_a_broken_baseline_is_repaired_by_a_full_update_only(project: Example, damage: Callable[[str], str]) -> None:
    project.accept()
    good = project.baseline.read_text()
    project.baseline.write_text(damage(good))
    result = project.run()
    assert result.ret == 1
    assert outcomes(result)["baseline: unreadable"].state == "failed"
    told = judged(result).verdict.baseline_note.detail
    assert "shop.json" in told
    broken = project.baseline.read_text()
    partial = project.run("--auepora-update", "-k", "warehouse")
    assert partial.ret == 1
    assert project.baseline.read_text() == broken
    assert outcomes(partial)["baseline: not written"].detail == told
    repaired = judged(project.run("--auepora-update"))
    assert repaired.verdict.baseline_note.state == "replaced"
    assert not [gate for gate in repaired.verdict.gates if gate.kind == "baseline"]
    assert project.baseline.read_text() == good


def test_a_directory_that_cannot_be_written_is_said_and_fails(project: Example) -> None:
    project.write("__baselines__", "a file where the directory should be")
    result = project.run("--auepora-update")
    assert result.ret == 1
    assert "cannot be" in str(result.stdout)


def test_a_stopped_run_writes_nothing(project: Example) -> None:
    project.accept()
    before = project.baseline.read_bytes()
    project.break_retriever()
    result = project.run("--auepora-update", "-x")
    assert result.ret == 1
    assert project.baseline.read_bytes() == before
    assert "not touched" in str(result.stdout)


def test_interrupted_by_the_keyboard_nothing_is_written(project: Example) -> None:
    project.accept()
    before = project.baseline.read_bytes()
    project.when_asked("warranty", "raise KeyboardInterrupt")
    result = project.run("--auepora-update", interrupts=True)
    assert result.ret == 2
    assert project.baseline.read_bytes() == before


def test_a_metric_no_longer_computed_is_a_coverage_failure(project: Example) -> None:
    project.accept()
    project.edit("metrics: [recall@1, recall@3, mrr,", "metrics: [recall@1, recall@3,")
    result = project.run()
    assert gates(result) == ["coverage: metrics"]


def test_a_score_that_became_na_fails_its_case(project: Example) -> None:
    project.accept()
    raw = json.loads(project.baseline.read_text())
    raw["cases"]["ceo-salary"]["scores"]["mrr"] = 0.5
    project.baseline.write_text(json.dumps(raw))
    assert gates(project.run()) == ["regression: pass rate"]


def test_another_version_of_a_metric_is_not_compared(project: Example) -> None:
    project.accept()
    raw = json.loads(project.baseline.read_text())
    raw["metrics"]["mrr"]["version"] = 99
    for case in raw["cases"].values():
        case["scores"]["mrr"] = 1.0 if case["scores"]["mrr"] is not None else None
    project.baseline.write_text(json.dumps(raw))
    result = project.run()
    assert result.ret == 0
    assert "metric version 99" in str(result.stdout)


def broken_under(project: Example, policy: str) -> pytest.RunResult:
    """Run the broken system where nothing but its baseline is there to hold it to, under *policy*."""
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.edit('    must_contain: ["30 days"]\n', "")
    project.edit("thresholds:\n  recall@3: 0.9\n", f"regression: {{{policy}}}\n")
    project.accept()
    project.break_retriever()
    return project.run("-rf")


def test_the_case_guard_fails_the_case_itself(project: Example) -> None:
    result = broken_under(project, "min_effect: 0.9")
    assert result.ret == 1
    fell = [line.split("✗ ")[1] for line in result.outlines if line.startswith("  ✗ ")]
    assert fell == [
        *(f"{name} fell from 1.00 to 0.00 (limit 0.5)" for name in ("mrr", "recall@1", "recall@3")),
        "token_f1 fell from 1.00 to 0.24 (limit 0.5)",
    ]
    assert gates(result) == []


def test_the_tolerance_policy_fails_the_suite(project: Example) -> None:
    result = broken_under(project, "case_max_drop: 1.0")
    assert result.ret == 1
    assert "regression: recall@1" in gates(result)
    assert result.parseoutcomes()["failed"] == 1, "the suite alone"


def test_policy_report_shows_and_does_not_fail(project: Example) -> None:
    result = broken_under(project, "policy: report")
    assert result.ret == 0
    assert "-0.2" in str(result.stdout)


VARIANTS = """\
suite: shop
metrics: [counterfactual_consistency, "noise_robustness[recall@1]"]
cases:
"""
PAIR = """\
  - {{id: q{0}, query: "When do parcels leave the warehouse, number {0}?", relevant_docs: [contact]}}
  - {{id: q{0}-cf, variant_of: q{0}, scenario: counterfactual, query: "Parcels leave the warehouse, {0}?"}}
  - {{id: q{0}-typo, variant_of: q{0}, scenario: typo, query: "Parcel leave warehouse {0}?", relevant_docs: [contact]}}
"""


def test_pairs_of_answers_compare_with_those_accepted(project: Example) -> None:
    project.golden.write_text(VARIANTS + "".join(map(PAIR.format, range(3))))
    project.accept()
    assert "Parcels leave" not in project.baseline.read_text()
    assert project.run().ret == 0
    project.when_asked("Parcels leave", 'return "It never does.", []')
    result = project.run()
    assert result.ret == 1
    assert "regression: counterfactual_consistency" in gates(result)
    ratio = judged(result).verdict.aggregates["noise_robustness[recall@1]"]
    assert (ratio.value, ratio.n) == (None, 6), "recall@1 of the base cases is 0"
