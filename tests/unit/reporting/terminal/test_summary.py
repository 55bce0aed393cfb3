from __future__ import annotations

import re

import pytest

from pytest_auepora.adapters.outputs import ACCEPTED
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.outcomes import BaselineNote
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.annotations import annotations_of
from pytest_auepora.reporting.formats.markdown_report import markdown_report
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.terminal.failure import failure_text
from pytest_auepora.reporting.terminal.layout import Line, plain
from pytest_auepora.reporting.terminal.session import case_word
from pytest_auepora.reporting.terminal.summary import summary_lines
from pytest_auepora.reporting.text import in_ascii, text_width
from pytest_auepora.reporting.wording.cases import case_diagnosis
from pytest_auepora.reporting.wording.checks import failed_lines
from pytest_auepora.reporting.wording.gates import brief_text, gate_sentence, part_text, reason_text
from pytest_auepora.reporting.wording.metric_rows import metric_rows
from pytest_auepora.reporting.wording.metrics import table_notes
from pytest_auepora.reporting.wording.verdict import first_line

from ..builders import METRICS, Case, baseline_of, infos_of, judged, run_of, verdict_of

MANY = [f"doc-{i}.md" for i in range(12)]
CASES = [Case(f"case-{i:02}", got=["refunds.md", "x"], thresholds={"token_f1": 0.5}) for i in range(20)]
THRESHOLDS = {"recall@5": 0.8, "mrr@10": 0.7}


def shown(run: Run, verdict: Verdict, width: int = 80) -> list[str]:
    return [plain(line) for line in summary_lines(run, verdict, width=width)]


def red() -> tuple[Run, Verdict]:
    """13 lose their document, 2 cannot connect, one is fixed, one vanishes, one is new."""
    old = run_of([CASES[0].with_(id="fixed", answer="Bananas"), *CASES, CASES[0].with_(id="vanished")])
    baseline = baseline_of(old)
    now = [CASES[0].with_(id="fixed"), *(c.with_(got=MANY, thresholds={"recall@5": 0.5}) for c in CASES[:13])]
    now += [c.with_(error="ConnectionError: refused\n  File x") for c in CASES[13:15]]
    now += [CASES[15].with_(got=["x", "refunds.md"]), *CASES[16:], CASES[0].with_(id="new")]
    run = run_of(now, baseline=baseline, variant="bm25", provenance={"embedding": "e5"})
    verdict = verdict_of(run, THRESHOLDS, baseline=baseline)
    return run, verdict


def test_the_summary_of_a_good_run() -> None:
    run = run_of(CASES)
    assert shown(run, verdict_of(run, THRESHOLDS, baseline=baseline_of(run))) == (
        """\
billing  golden/billing.golden.yaml, owner search-team
same: 20 unchanged
metric    value      n  baseline  change  gate
──────────────────────────────────────────────────
recall@5  1.000  20/20     1.000   0.000  ✓ >= 0.8
mrr@10    1.000  20/20     1.000   0.000  ✓ >= 0.7
token_f1  1.000  20/20     1.000   0.000
latency: mean 20 ms, p95 20 ms (needs at least 59 cases) over 20 cases
one lost document costs 0.05 in recall@5, mrr@10""".splitlines()
    )


def test_a_red_run_says_what_broke_first() -> None:
    run, verdict = red()
    lines = shown(run, verdict)
    assert lines[0] == "billing[bm25]  golden/billing.golden.yaml, owner search-team"
    told = " ".join(" ".join(lines[1:5]).split())
    assert told.startswith(first_line(run, verdict))
    assert lines.index("newly failing") < next(i for i, line in enumerate(lines) if line.startswith("metric"))
    newly = lines.index("newly failing")
    told = " ".join(" ".join(lines[newly + 1 : newly + 9]).split())
    first, pair = run.cases["case-00"], verdict.case_comparisons["case-00"]
    assert told.startswith(" ".join([*failed_lines(first), case_diagnosis(first, pair, run.metrics)]))
    assert "asked How long do I have to ask for a refund? answer Within 30 days of purchase." in told
    assert newly < lines.index("errored") < lines.index("fixed: fixed")


def test_an_outage_is_told_once() -> None:
    lines = shown(*red())
    at = lines.index("errored")
    assert lines[at + 1] == "  2 cases (case-13, case-14)  error: ConnectionError: refused"
    run = run_of([c.with_(error="ConnectionError: refused") for c in CASES])
    text = "\n".join(shown(run, verdict_of(run, THRESHOLDS)))
    assert "20 cases (case-00, case-01 and 18 more)" in text
    assert "✗ recall@5:" not in text, "its row says so"
    assert [line.split() for line in text.splitlines() if line.startswith("recall@5 ")] == [
        ["recall@5", "n/a", "0/20", "✗", ">=", "0.8"]
    ]
    mixed = run_of([c.with_(error="ConnectionError: refused") if i else c for i, c in enumerate(CASES)])
    verdict = verdict_of(mixed, {"p95_latency": 2})
    text = " ".join(" ".join(shown(mixed, verdict)).split())
    (unbounded,) = (gate for gate in verdict.gates if gate.reason == "no worst value")
    assert f"✗ {gate_sentence(unbounded, mixed)}" in text


def test_an_outage_whose_words_name_each_call_is_told_once() -> None:
    run = run_of(
        [c.with_(error=f"ConnectionError: 503, trace {i:04}-af, for {c.query!r}") for i, c in enumerate(CASES)]
    )
    verdict = verdict_of(run, THRESHOLDS)
    text = " ".join(" ".join(shown(run, verdict)).split())
    assert text.count("trace") == 1
    assert "20 cases (case-00, case-01 and 18 more) error: ConnectionError: 503, trace 0000-af, for 'How long" in text
    assert "`pytest --auepora-resume`" in text
    assert "--auepora-update" not in text, "no update accepts errors"
    assert [f.title for f in annotations_of(Report([run], [verdict])) if f.kind == "errored"] == [
        "billing: 20 cases (case-00, case-01 and 18 more) errored"
    ]
    assert markdown_report(Report([run], [verdict])).count("trace 0001-af") <= 1


def test_cases_that_returned_the_same_nonsense_are_one_outage() -> None:
    run = run_of(
        [c.with_(error=f"shop.ask: no answer; it gave {'a set' if i else 'an int'}") for i, c in enumerate(CASES)]
    )
    for case in run.cases.values():
        case.wrong_shape, case.accepted = True, ACCEPTED
    text = "\n".join(shown(run, verdict_of(run, THRESHOLDS)))
    assert "20 cases (case-00, case-01 and 18 more)\n    output: shop.ask: no answer; it gave" in text
    assert text.count(f"accepted: {ACCEPTED[:30]}") == 1
    assert "accepted:" not in failure_text(run.cases["case-00"], None, run.metrics, shapes=False)
    assert ACCEPTED in " ".join(failure_text(run.cases["case-00"], None, run.metrics).split()), (
        "a report shows equal errors once"
    )


def test_a_metric_that_fails_has_its_row_when_its_cases_errored() -> None:
    cases = [*CASES[:3], Case("refuse", relevant=[])]
    run = run_of([c.with_(error="ConnectionError: refused") for c in cases])
    lines = shown(run, verdict_of(run, baseline=baseline_of(run_of(cases))))
    assert ["mrr@10", "n/a", "0/4", "1.000", "-1.000", "✗"] in [line.split() for line in lines]


def test_a_gate_is_told_once_by_its_row_or_by_its_reason() -> None:
    run, verdict = red()
    lines = shown(run, verdict)
    text = "\n".join(lines)
    assert [line.split()[0] for line in lines if re.search(r"✗ 0\.\d+ >= ", line)] == ["recall@5", "mrr@10"]
    assert "is not >=" not in text
    for note in table_notes(run, verdict, metric_rows(run, verdict)):
        assert note in " ".join(text.split())
    assert "costs most" not in text, "the cases that failed are named above"
    assert "minimum detectable" not in text
    told = "✗ regression: recall@5: 15 worse, 0 better; mrr@10: 16 worse, 0 better; pass rate: 15 worse"
    assert told in " ".join(text.split())
    (coverage,) = (gate for gate in verdict.gates if gate.kind == "coverage")
    assert f"✗ coverage: {reason_text(coverage, run)}" in " ".join(text.split())


def test_what_a_small_suite_tolerates_is_told_once() -> None:
    baseline = baseline_of(run_of(CASES[:5]))
    run = run_of([*CASES[:4], CASES[4].with_(got=["x"])], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    failed = [gate for gate in verdict.gates if gate.kind == "regression" and gate.state == "failed"]
    (brief,) = {brief_text(gate, run) for gate in failed}
    told = [line for line in shown(run, verdict, 100) if line.startswith("✗ regression")]
    assert told[0] == f"✗ regression: {', '.join(map(part_text, failed))}: {brief}"


def test_a_gate_that_failed_by_a_hair_does_not_read_as_passed() -> None:
    run = run_of([CASES[0].with_(relevant=["refunds.md", "x", "gone"])])
    lines = shown(run, verdict_of(run, {"recall@5": 0.66666669}), 200)
    assert ["recall@5", "0.66666667", "1/1", "✗", ">=", "0.66666669"] in [line.split() for line in lines]


def test_a_gates_owner_is_named_unless_it_is_the_suites() -> None:
    run = run_of(CASES)
    lines = shown(run, verdict_of(run, {"p95_latency": {"max": 0.001, "owner": "platform"}}), 200)
    assert "✗ p95_latency: owner platform, costs most: case-00, case-01, case-02" in lines


def test_the_cases_that_cost_most_are_named_once() -> None:
    run = run_of([case.with_(got=["x"]) if i > 17 else case for i, case in enumerate(CASES)])
    text = "\n".join(shown(run, verdict_of(run, {"recall@5": 0.95, "mrr@10": 0.95})))
    assert "✗ recall@5, mrr@10: costs most: case-18, case-19" in text


def test_moves_below_the_surface_are_told_where_nothing_failed() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([*CASES[:-1], CASES[-1].with_(got=["x", "refunds.md"])], baseline=baseline)
    assert [line for line in shown(run, verdict_of(run, baseline=baseline)) if "1 scored lower (case-19 -0.50)" in line]
    assert not [line for line in shown(*red()) if "scored lower" in line], "it would read as the all-clear"


def test_a_small_move_is_not_told_as_none() -> None:
    cases = [CASES[0].with_(answer="A refund is due within 30 days of purchase, and of that be sure.")]
    before = baseline_of(run_of(cases))
    (block,) = before.cases.values()
    (value, *_) = block.values("token_f1")
    assert isinstance(value, float)
    block.scores["token_f1"] = value + 0.003
    run = run_of(cases, baseline=before)
    told = next(line for line in shown(run, verdict_of(run, baseline=before)) if "scored lower" in line)
    assert f"({CASES[0].id} -0.003)" in told


def test_what_changed_is_below_the_gates_and_above_what_to_do() -> None:
    lines = shown(*red())
    at = lines.index("changed since the baseline: embedding (nothing) → e5")
    assert lines[at + 1].startswith("→ ")


def test_why_there_is_no_baseline() -> None:
    run = run_of(CASES)
    note = BaselineNote("unreadable", detail="golden/__baselines__/billing.json:12: half of a file")
    text = " ".join(" ".join(shown(run, verdict_of(run, note=note))).split())
    assert text.count("half of a file") == 1
    assert f"✗ baseline: {note.detail}" in text


def test_a_partial_run() -> None:
    run = run_of(CASES[:3], expected=[c.id for c in CASES])
    verdict = verdict_of(run, THRESHOLDS)
    lines = shown(run, verdict)
    assert " ".join(line.strip() for line in lines[1:3]) == first_line(run, verdict)
    assert any(line.startswith("recall@5  1.000  3/3") and line.endswith("\u2013 >= 0.8") for line in lines)
    assert not any(line.startswith("✗") for line in lines)


def wide() -> tuple[Run, Verdict]:
    cases = [
        Case("返金-期限" * 12, relevant=["規約集/返金規定の文書.md"], got=["あ" * 60], thresholds={"recall@5": 1}),
        Case("ok", error="接続エラー: " + "拒否されました" * 20),
    ]
    run = run_of(cases, suite="請求書" * 9, owner="検索チーム" * 9, variant="bm25/返金")
    return run, verdict_of(run, {"recall@5": 0.79})


@pytest.mark.parametrize("width", [40, 60, 80, 160])
@pytest.mark.parametrize("make", [red, wide])
def test_no_line_is_wider_than_the_terminal(make: object, width: int) -> None:
    run, verdict = make()  # type: ignore[operator]
    lines = shown(run, verdict, width)
    assert [line for line in lines if text_width(line) > width] == []


def test_ascii_is_ascii_but_for_what_users_wrote() -> None:
    assert in_ascii("\n".join(shown(*red()))).isascii()
    text = in_ascii("\n".join(shown(*wide())))
    assert "返金" in text
    assert not set(text) & set("✓✗…─·→")


def test_it_reads_without_colour() -> None:
    lines: list[Line] = summary_lines(*red())
    for line in lines:
        for cell in line:
            if cell.style == ("red", "bold") and ">=" in cell.text:
                assert cell.text.startswith("✗")


def test_styles_are_names_pytest_knows(pytestconfig: pytest.Config) -> None:
    writer = pytestconfig.get_terminal_writer()
    for line in summary_lines(*red()):
        for cell in line:
            writer.markup(cell.text, **dict.fromkeys(cell.style, True))


def test_case_words() -> None:
    infos = infos_of()
    result, _, _ = judged(CASES[0].with_(got=["x", "y", "refunds.md"]))
    assert case_word(result, infos) == "recall@5=1.00 token_f1=1.00"
    failed, _, _ = judged(CASES[0].with_(got=["x"], thresholds={"mrr@10": 0.5}))
    assert case_word(failed, infos) == "mrr@10=0.00 token_f1=1.00"
    refusal, _, _ = judged(Case("ceo", relevant=[], reference=None, answer="I don't know."))
    assert case_word(refusal, infos) == "refusal_correctness=1.00"
    assert case_word(CaseResult("a", "error"), infos) == ""
    assert set(infos) == set(METRICS)


def test_no_gain_is_weighed_above_a_red_verdict() -> None:
    cases = [c.with_(got=["x", "refunds.md"]) for c in CASES]
    baseline = baseline_of(run_of(cases))
    now = [c.with_(got=["refunds.md"]) if i < 6 else c.with_(got=["x"]) if i < 13 else c for i, c in enumerate(cases)]
    run = run_of(now, baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    lines = shown(run, verdict)
    assert verdict.outcome == "failed"
    assert first_line(run, verdict).startswith(lines[1])
    assert not any("higher" in line for line in lines)


def test_a_green_run_names_its_worst_cases() -> None:
    run = run_of([*CASES[:3], CASES[3].with_(got=["x", "refunds.md"]), CASES[4].with_(got=["x", "y", "refunds.md"])])
    assert "worst mrr@10: case-04 0.333, case-03 0.500" in shown(run, verdict_of(run))
    alike = run_of([case.with_(got=["x", "refunds.md"]) for case in CASES])
    assert not [line for line in shown(alike, verdict_of(alike)) if line.startswith("worst ")], "none is worse"


def test_what_still_fails_says_which_assertion() -> None:
    baseline = baseline_of(run_of([Case("a", answer="Never.", labels={"must_contain": ["30 days"]}), *CASES]))
    run = run_of([Case("a", answer="Never.", labels={"must_contain": ["30 days"]}), *CASES], baseline=baseline)
    text = " ".join("\n".join(shown(run, verdict_of(run, baseline=baseline))).split())
    assert "still failing a must_contain: the answer misses '30 days'" in text
    text = "\n".join(shown(run, verdict_of(run, {"assertion_pass": 0.9}, baseline=baseline)))
    assert re.search("assertion_pass +0.000 .* ✗ >= 0.9", text)
    assert "costs most" not in text, "it is named above"
