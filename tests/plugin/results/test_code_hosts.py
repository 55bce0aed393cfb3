"""What GitHub and GitLab read of a run, and mistakes in golden files, which every report has."""

from __future__ import annotations

import json
import re

import pytest

from pytest_auepora.reporting.formats.markdown_report import SUMMARY_BYTES

from ..conftest import Example
from ..listening import mistakes


def test_github_gets_a_summary_and_annotations(job: Example) -> None:
    job.write("summary.md", "before\n")
    job.break_retriever()
    result = job.run("-q")
    written = job.read("summary.md")
    assert written.startswith("before\n\n<!-- auepora report -->\n## ❌ auepora: failed\n")
    lines = [line for line in result.outlines if line.startswith("::")]
    assert lines[0].startswith(f"::error file={job.path.name}/shop.golden.yaml,title=shop%3A recall@3,line=4::")
    assert lines[1].startswith(
        f"::error file={job.path.name}/shop.golden.yaml,title=shop%3A refund-window failed,line="
    )
    assert len(lines) == 2


def test_annotations_come_without_a_terminal_as_well(job: Example) -> None:
    job.break_retriever()
    lines = [line for line in job.run("-p", "no:terminal").outlines if line.startswith("::error")]
    assert len(lines) == 2


@pytest.mark.parametrize(("said", "summary", "annotations"), [("off", 0, 0), ("annotations", 0, 1), ("summary", 1, 0)])
def test_github_can_be_switched_off(job: Example, said: str, summary: bool, annotations: bool) -> None:
    job.pytester.makeini(f"[pytest]\nauepora_github = {said}")
    job.break_retriever()
    result = job.run()
    assert (job.path / "summary.md").exists() == summary
    assert any(line.startswith("::error") for line in result.outlines) == annotations


def test_nothing_for_github_elsewhere(project: Example) -> None:
    project.break_retriever()
    assert "::error" not in str(project.run().stdout)


def test_a_summary_that_is_nearly_full_gets_what_fits(job: Example) -> None:
    for room, fits in ((40_000, True), (4000, True), (900, False)):
        (job.path / "summary.md").write_bytes(b"x" * (SUMMARY_BYTES - room))
        job.run()
        size = (job.path / "summary.md").stat().st_size
        assert (size > SUMMARY_BYTES - room) == fits
        assert size <= SUMMARY_BYTES


def test_a_summary_that_cannot_be_written_fails_nothing(job: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(job.path / "gone" / "summary.md"))
    result = job.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["ERROR: the step summary was not written: No such file or directory"])


def test_a_mistake_in_a_golden_file_is_marked_at_its_line(job: Example) -> None:
    job.edit("metrics: [", "metrics: [recal@3, ")
    result = job.run()
    (line,) = [line for line in result.outlines if line.startswith("::error")]
    assert re.match(r"::error file=\S*shop\.golden\.yaml,title=golden file,line=2::.*'recall@3'", line)


def test_mistakes_in_golden_files_stand_in_every_report(job: Example) -> None:
    """Also beside what was measured: that alone would read as a pass."""
    job.edit("metrics: [", "metrics: [recal@3, ")
    job.edit("id: warranty", "id: warehouse")
    job.write("sub/other.golden.yaml", "cases:\n  - id: one\n   query: hello\n")
    job.write(
        "fine.golden.yaml",
        "metrics: [recall@1]\ncases:\n  - {id: a, query: Are returns free?, relevant_docs: [returns]}",
    )
    asked = [part for kind in ("json", "md", "html") for part in ("--auepora-report", f"{kind}:r.{kind}")]
    places = ["shop.golden.yaml:2:11", "shop.golden.yaml:20:9", "sub/other.golden.yaml:3:4"]
    for args, passed in ([], 0), (["--continue-on-collection-errors"], 1):
        result = job.run(*asked, *args)
        assert result.parseoutcomes() == {"errors": 2} | ({"passed": 2} if passed else {})
        raw = json.loads(job.read("r.json"))
        assert (raw["outcome"], len(raw["suites"])) == ("not judged", passed)
        assert [f"{m['path']}:{m['line']}:{m['col']}" for m in raw["mistakes"]] == places
        for report in ("r.md", "summary.md", "r.html"):
            told = job.read(report).replace("\\:", ":")
            assert all(place in told for place in places), report
            assert "not judged" in told.lower(), report
            assert all(word in told for word in ("recal@3", "recall@3")), report


def test_only_golden_files_broken_is_not_no_golden_files(project: Example) -> None:
    project.edit("metrics: [", "metrics: [recal@3, ")
    project.run("--continue-on-collection-errors").assert_outcomes(errors=1)


EVIL = "\n::set-output name=x::y \u202egnp.exe \U000e0041 ##[error]z"
OBEYED = re.compile("^\\s*::[\\w-]+[ :]|##\\[|[\u202a-\u202e\U000e0000-\U000e007f]", re.MULTILINE)


@pytest.mark.parametrize("how", [(), ("-v",), ("-vv",), ("-rA", "--show-capture=no"), ("-q", "--tb=short")])
def test_no_text_of_a_golden_file_is_obeyed(job: Example, how: tuple[str, ...]) -> None:
    case = {"query": "How many months does it last?", "reference_answer": EVIL, "labels": {"kind": "x\u202ey"}}
    kinds: dict[str, dict[str, object]] = {
        "a": {"xfail": EVIL}, "b": {"must_contain": [EVIL]}, "c": {"skip": EVIL}, "d": {"relevant_docs": [EVIL]},
        "e": {"relevant_docs": ["warranty"]},
    }  # fmt: skip
    gate = {"min": 0.9, "slice": {"kind": "x\u202ey"}}
    metrics = ["token_f1", "recall@1", "sliced[token_f1,kind:x\u202ey]"]
    head = {"owner": EVIL, "metrics": metrics, "thresholds": {"token_f1": 0.9, "recall@1": gate}}
    rows = [head, *({"id": name, **case, **more} for name, more in kinds.items())]
    job.write("evil.golden.jsonl", "\n".join(map(json.dumps, rows)))
    result = job.run("evil.golden.jsonl", "-o", "auepora_github=off", *how)
    assert result.ret == 1
    assert "set-output" in result.stdout.str()
    assert OBEYED.search(result.stdout.str()) is None


def test_an_id_holds_nothing_that_nobody_sees(job: Example) -> None:
    job.write("evil.golden.jsonl", json.dumps({"id": "a\u202eb", "query": "q"}))
    result = job.run("evil.golden.jsonl", "-o", "auepora_github=off")
    assert result.ret == 2
    assert [(mistake.line, mistake.col) for mistake in mistakes(result)] == [(1, 8)]
    assert OBEYED.search(result.stdout.str()) is None
