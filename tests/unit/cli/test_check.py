"""Golden files checked, the schema printed, and what every command has in common."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.cli.arguments import METRICS_HOOK
from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.reporting.formats.json_report import report_schema, side_by_side_schema

from .conftest import GOLDEN, Shell


def test_a_sound_file(shell: Shell) -> None:
    said = shell("check", "shop.golden.yaml")
    assert said == (0, "shop.golden.yaml: 3 cases, 7 metrics, 1 threshold\n", "")


def test_gates_without_an_owner(shell: Shell) -> None:
    shell.write("b.golden.yaml", GOLDEN.replace("owner: search-team\n", "").replace("suite: shop", "suite: b"))
    said = shell("check", "b.golden.yaml")
    line = said.out.splitlines()[1]
    assert (said.code, line.startswith("b.golden.yaml: "), "recall@3" in line) == (0, True, True)
    assert json.loads(shell("check", "b.golden.yaml", "--json").out)[0]["unowned"] == ["recall@3"]


def test_all_that_is_wrong_with_its_place(shell: Shell) -> None:
    shell.write("bad.golden.yaml", GOLDEN.replace("recall@1,", "recal@1,").replace("query: What", "qurey: What"))
    said = shell("check", "shop.golden.yaml", "bad.golden.yaml")
    assert said.code == 1
    assert "'recall@1'" in said.out
    assert "'query'" in said.out
    assert all(line.startswith(("shop.golden.yaml: ", "bad.golden.yaml:")) for line in said.out.splitlines())
    told = json.loads(shell("check", "bad.golden.yaml", "--json").out)
    assert {p["line"] for p in told[0]["problems"]} >= {3}


def test_a_directory_stands_for_its_golden_files(shell: Shell) -> None:
    shell.write("deep/other.golden.yaml", GOLDEN.replace("suite: shop", "suite: other"))
    assert [one["suite"] for one in json.loads(shell("check", ".", "--json").out)] == ["other", "shop"]
    (shell.path / "empty").mkdir()
    assert shell("check", "empty").code == 2
    assert shell("check", "lost.golden.yaml").code == 2


@pytest.mark.parametrize(
    ("of", "schema"),
    [((), golden_schema), (("golden",), golden_schema), (("report",), report_schema),
     (("side-by-side",), side_by_side_schema)],
)  # fmt: skip
def test_the_schemas_are_printed(shell: Shell, of: tuple[str, ...], schema: Callable[[], Any]) -> None:
    said = shell("schema", *of)
    assert (said.code, json.loads(said.out)) == (0, schema())


@pytest.mark.parametrize("args", [(), ("no-such",), ("check",), ("runs", "--limit", "many"), ("report",)])
def test_usage_errors(shell: Shell, args: tuple[str, ...]) -> None:
    said = shell(*args)
    assert said.code == 2
    assert "usage: auepora" in said.err


def test_help_says_what_the_exit_codes_mean(shell: Shell) -> None:
    said = shell("--help")
    assert said.code == 0
    assert re.findall(r"\d", said.out.rpartition("exit codes:")[2]) == ["0", "1", "2", "3"]
    for name in ("runs", "compare", "report", "score", "check", "schema"):
        assert shell(name, "--help").code == 0


def test_a_command_reads_no_more_than_it_needs() -> None:
    code = (
        "import sys; from pytest_auepora.cli.main import main; main(['schema']); "
        "print([m for m in ('numpy', 'scipy', 'sqlite3', 'pytest', 'sqlalchemy') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_labels_that_moved_are_told_and_repaired_without_pytest(shell: Shell) -> None:
    first = "A refund can be asked for within 30 days of purchase."
    shell.write("l.golden.yaml", "suite: l\ncases:\n  - {id: a, query: Q, relevant_docs: [one, two]}  # ids\n")
    shell.write("old.jsonl", json.dumps({"id": "one", "text": first}) + "\n")
    shell.write("new.jsonl", json.dumps({"id": "uno", "text": first}) + '\n"two"\n')
    blind = shell("check", "l.golden.yaml", "--corpus", "new.jsonl")
    assert (blind.code, "one: orphaned" in blind.out) == (1, True)
    said = shell("check", "l.golden.yaml", "--corpus", "new.jsonl", "--reanchor-from", "old.jsonl")
    assert said.code == 1
    assert "l.golden.yaml:3:39: one: re-anchorable, now uno" in said.out
    told = json.loads(shell("check", "l.golden.yaml", "--corpus", "new.jsonl", "--json").out)[0]["labels"]
    assert [(one["name"], one["finding"]["kind"], one["line"]) for one in told] == [
        ("one", "orphaned", 3), ("two", "valid", 3),
    ]  # fmt: skip
    done = shell("check", "l.golden.yaml", "--corpus", "new.jsonl", "--reanchor-from", "old.jsonl", "--reanchor")
    assert (done.code, "rewritten: 1 label" in done.out) == (0, True)
    assert (shell.path / "l.golden.yaml").read_text().endswith("relevant_docs: [uno, two]}  # ids\n")
    assert shell("check", "l.golden.yaml", "--corpus", "new.jsonl").code == 0


def test_a_bad_corpus_and_options_without_one_are_usage_errors(shell: Shell) -> None:
    shell.write("bad.jsonl", "{")
    assert shell("check", "shop.golden.yaml", "--corpus", "bad.jsonl").code == 2
    assert "need --corpus" in shell("check", "shop.golden.yaml", "--reanchor").err


OWN = """
from pytest_auepora import Measurement, Metric, TargetCategory

class Own(Metric):
    target = TargetCategory.DIVERSITY
    def measure(self, sample, outputs):
        return Measurement(1.0)

def pytest_auepora_metrics(registry):
    registry.add("own", Own)
"""


def test_a_projects_own_metrics_are_known_where_they_are_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = shell.path / "shop.golden.yaml"
    golden.write_text(golden.read_text(encoding="utf-8").replace("metrics: [", "metrics: [own, "), encoding="utf-8")
    monkeypatch.syspath_prepend(str(shell.path))
    said = shell("check", "shop.golden.yaml")
    assert said.code == 1
    assert "'own'" in said.out
    assert "--metrics" not in said.out
    (shell.path / "conftest.py").write_text(OWN, encoding="utf-8")
    assert f"--metrics conftest.py:{METRICS_HOOK}" in shell("check", "shop.golden.yaml").out
    own = "--metrics=conftest.py:pytest_auepora_metrics"
    before = sys.modules.get("conftest")
    try:
        assert shell("check", "shop.golden.yaml", own).code == 0
        said = shell("score", "outputs.jsonl", "--golden=shop.golden.yaml", own, "--json")
        assert json.loads(said.out)["suites"][0]["verdict"]["aggregates"]["own"]["value"] == 1.0
        monkeypatch.setenv("AUEPORA_METRICS", "conftest.py:pytest_auepora_metrics")
        assert shell("check", "shop.golden.yaml").code == 0
    finally:
        sys.modules.pop("conftest", None)
        if before is not None:
            sys.modules["conftest"] = before


@pytest.mark.parametrize(
    ("threshold", "told"),
    [
        ('"<= 0.8"', "recall@1 <= 0.8 fails only what is better: higher is better"),
        ("{max: 1.0}", "recall@1 <= 1 cannot fail: the value is always from 0 to 1"),
        ("0", "recall@1 >= 0 cannot fail: the value is always from 0 to 1"),
        ("{stat: pass_rate, min: 0}", "pass_rate(recall@1) >= 0 cannot fail"),
    ],
)
def test_a_threshold_that_cannot_fail_is_an_error(shell: Shell, threshold: str, told: str) -> None:
    text = "metrics: [recall@1]\nthresholds:\n  recall@1: " + threshold
    shell.write(
        "x.golden.yaml", text + "\ncase_thresholds: {recall@1: 0.5}\ncases: [{id: a, query: b, relevant_docs: [c]}]\n"
    )
    said = shell("check", "x.golden.yaml")
    assert said.code == 1
    assert f"x.golden.yaml:3:13: {told}" in said.out


def test_a_case_threshold_on_what_no_case_has_is_an_error(shell: Shell) -> None:
    text = "metrics: [token_f1]\ncases:\n  - {id: a, query: b, thresholds: {token_f1: 0.5}}\n"
    shell.write("x.golden.yaml", text + "  - {id: b, query: b, reference_answer: d}\n")
    said = shell("check", "x.golden.yaml")
    assert said.code == 1
    assert "token_f1 cannot" in said.out


@pytest.mark.parametrize("threshold", ["{recall@1: {min: 0.5, max: 1.0}}", "{error_rate: 1}", "{mean_latency: 3}"])
def test_thresholds_that_can_fail(shell: Shell, threshold: str) -> None:
    text = f"metrics: [recall@1, mean_latency]\nthresholds: {threshold}\n"
    shell.write("x.golden.yaml", text + "cases: [{id: a, query: b, relevant_docs: [c]}]\n")
    assert shell("check", "x.golden.yaml").code == 0


def test_two_files_of_one_suite_are_an_error(shell: Shell) -> None:
    shell.write("other.golden.yaml", GOLDEN)
    said = shell("check", "shop.golden.yaml", "other.golden.yaml")
    assert said.code == 1
    assert "other.golden.yaml: suite 'shop'" in said.out


def test_suites_that_differ_by_case_alone_are_an_error(shell: Shell) -> None:
    shell.write("other.golden.yaml", GOLDEN.replace("suite: shop", "suite: Shop"))
    said = shell("check", "shop.golden.yaml", "other.golden.yaml")
    assert said.code == 1
    assert "other.golden.yaml: " in said.out
    assert "'Shop'" in said.out


def test_drafts_are_counted(shell: Shell) -> None:
    text = "suite: d\ncases:\n  - {id: a, query: A?}\n  - {id: b, query: B?, status: draft}\n"
    shell.write("d.golden.yaml", text)
    assert "1 draft" in shell("check", "d.golden.yaml").out


def test_a_file_that_is_named_twice_shares_nothing(shell: Shell) -> None:
    said = shell("check", "shop.golden.yaml", str(shell.path / "shop.golden.yaml"))
    assert (said.code, "baseline" in said.out) == (0, False)
