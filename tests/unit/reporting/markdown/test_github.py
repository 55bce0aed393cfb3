from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_auepora.core.run import Run
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.markdown.github import annotation_lines, escape_data, escape_property, step_summary
from pytest_auepora.reporting.markdown.report import MARKER

from ..builders import Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i:02}", got=["refunds.md", "x"], line=10 + i) for i in range(30)]
COMMAND = re.compile(r"::(error|warning) ([^:]*)::(.*)")


def parsed(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read workflow commands as the runner does."""
    out = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        out.append((match[1], {k: _unescaped(v) for k, v in properties.items()}, _unescaped(match[3])))
    return out


def _unescaped(text: str) -> str:
    return re.sub("%(0D|0A|3A|2C|25)", lambda code: chr(int(code[1], 16)), text)


def run_with(n_bad: int) -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(CASES))
    bad = [c.with_(got=["x"], thresholds={"recall@5": 0.5}) for c in CASES[:n_bad]]
    run = run_of([*bad, *CASES[n_bad:]], baseline=baseline)
    return run, verdict_of(run, {"recall@5": 0.9, "mrr@10": 0.9}, baseline=baseline)


def told(judged: tuple[Run, Verdict]) -> str:
    return annotation_lines([judged[0]], [judged[1]])


def test_nothing_wrong_says_nothing() -> None:
    run = run_of(CASES)
    assert annotation_lines([run], [verdict_of(run, baseline=baseline_of(run))]) == ""


def test_cases_are_marked_where_they_stand() -> None:
    run = run_of([CASES[0].with_(got=["x"], thresholds={"recall@5": 0.5}), *CASES[1:]])
    assert parsed(annotation_lines([run], [verdict_of(run)])) == [
        (
            "error",
            {"file": "golden/billing.golden.yaml", "title": "billing: case-00 failed", "line": "10"},
            "retrieval: refunds.md was not found (not the one returned)\nrecall@5 0.00, wanted >= 0.5",
        )
    ]


def test_paths_start_at_the_root_of_the_repository() -> None:
    run = run_of([CASES[0].with_(got=["x"], thresholds={"recall@5": 0.5})])
    ((_, properties, _),) = parsed(annotation_lines([run], [verdict_of(run)], prefix="services/rag/"))
    assert properties["file"] == "services/rag/golden/billing.golden.yaml"


def test_no_more_than_github_shows_and_the_last_one_says_so() -> None:
    found = parsed(told(run_with(20)))
    errors = [f for f in found if f[0] == "error"]
    assert len(errors) == 10
    assert errors[-1][2] == "and 12 more; the whole report is in the step summary"


def test_gates_make_room_for_cases() -> None:
    found = parsed(told(run_with(20)))
    assert found[0][1]["title"].endswith(" gates")
    assert "billing: recall@5 0.3333 is not >= 0.9" in found[0][2]
    assert [f[1]["title"] for f in found[1:3]] == ["billing: case-00 newly failing", "billing: case-01 newly failing"]
    few = parsed(told(run_with(4)))
    assert few[0][1] == {"file": "golden/billing.golden.yaml", "title": "billing: recall@5", "line": "3"}


def test_inconclusive_gates_are_warnings() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, {"recall@5": 0.8})
    verdict.gates[0].state = "inconclusive"
    ((severity, _, _),) = parsed(annotation_lines([run], [verdict]))
    assert severity == "warning"


def test_user_text_cannot_end_a_command_or_start_another() -> None:
    evil = "a,line=1::b\n::add-mask::x %0A\r::stop-commands::y\x1b[0m"
    case = CASES[0].with_(id=evil, got=["x"], answer=evil, thresholds={"recall@5": 0.5})
    run = run_of([case], suite="s,t:u")
    text = annotation_lines([run], [verdict_of(run)])
    ((_, properties, message),) = parsed(text)
    assert properties["file"] == "golden/s,t:u.golden.yaml"
    assert properties["line"] == "10"
    assert "\x1b" not in text
    assert message.startswith("retrieval: refunds.md was not found")


@example("50 %0A%25 done")
@given(st.text())
def test_escaping_loses_nothing(text: str) -> None:
    assert _unescaped(escape_property(text)) == text
    assert not set(escape_data(text)) & set("\r\n")
    assert not set(escape_property(text)) & set("\r\n:,")


def test_the_step_summary_stands_apart_from_what_is_there() -> None:
    run = run_of(CASES)
    text = step_summary([run], [verdict_of(run)])
    assert text.startswith(f"\n{MARKER}\n")
    assert text.endswith("\n")


def test_the_step_summary_fits_into_the_room_that_is_left() -> None:
    run = run_of([case.with_(error="😀" * 500) for case in CASES])
    for room in (100_000, 20_000, 8_000, 3_000, 0, -5):
        text = step_summary([run], [verdict_of(run)], room=room)
        assert len(text.encode()) <= max(room, 0)
        assert bool(text) == (room >= 8_000)
