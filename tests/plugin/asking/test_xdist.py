"""Many processes, one verdict: workers send results, the controller judges and writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ..conftest import CONFTEST, Example
from ..counting import store
from ..listening import gates, judged, mistakes, notes, runs

pytest.importorskip("xdist", reason="needs pytest-xdist")
XDIST = ("xdist",)
AGAIN = "\nregression: {again: 4}\ncases:"
"""Workers ask five times from the start, as no case can come back to them; so does this."""


def table(result: pytest.RunResult) -> list[str]:
    """The closing section without what time changes, and without the end of the suite's line: no worker raised."""
    text = str(result.stdout)
    section = text[text.index("= auepora =") :]
    timeless = re.sub(r"\nlatency: .*?(?=\n\S)", "", section, flags=re.DOTALL)  # it may be wrapped, or not
    lines = [line for line in timeless.splitlines()[1:] if not line.startswith("=")]
    return [re.sub(r"\d+\.\d+ ?s|(?<=::suite - ).*", "", line) for line in lines]


@pytest.mark.slow
def test_the_same_verdict_files_and_exit_code(project: Example) -> None:
    project.edit("\ncases:", AGAIN)
    project.accept()
    serial = project.baseline.read_bytes()
    project.baseline.unlink()
    project.run("--auepora-update", "-n", "2", plugins=XDIST)
    assert project.baseline.read_bytes() == serial
    project.break_retriever()
    alone = project.run()
    assert alone.ret == 1
    for dist in ("load", "loadfile", "worksteal"):
        spread = project.run("-n", "2", "--dist", dist, plugins=XDIST)
        assert spread.ret == 1
        assert table(alone) == table(spread)
        for outcome in ("passed", "failed"):
            assert alone.parseoutcomes()[outcome] == spread.parseoutcomes()[outcome]


@pytest.mark.parametrize(
    "dist", ["load", *(pytest.param(dist, marks=pytest.mark.slow) for dist in ("loadfile", "worksteal"))]
)
def test_a_worker_that_dies_loses_one_case_and_says_which(project: Example, dist: str) -> None:
    project.when_asked("warehouse", "import os; os._exit(9)")
    result = project.run("-n", "2", "--dist", dist, plugins=XDIST)
    text = str(result.stdout)
    assert result.ret == 1
    told = re.findall(r"^worker 'gw\d+' crashed while running '(.*)'", text, re.MULTILINE)
    assert told == ["shop.golden.yaml::warehouse"]
    assert re.search(r"1 errored .*4 passed", text)
    assert "error_rate" in text
    states = {case.case_id: case.state for case in store(project).load("last").cases.values()}
    assert (states.pop("warehouse"), set(states.values())) == ("error", {"passed"})


@pytest.mark.slow
def test_a_broken_golden_file_is_told_once(project: Example) -> None:
    project.edit("metrics: [recall@1,", "metrics: [recal@1,")
    result = project.run("-n", "2", plugins=XDIST)
    assert result.ret != 0
    (mistake,) = mistakes(result)
    assert "'recall@1'" in mistake.message
    assert "INTERNALERROR" not in str(result.stdout) + str(result.stderr)


@pytest.mark.slow
def test_hosts_with_folders_of_their_own_give_the_same_baseline(project: Example, tmp_path: Path) -> None:
    """As over ssh: each host has a copy of the project, and the first process alone judges and writes."""
    project.edit("\ncases:", AGAIN)
    project.accept()
    serial = project.baseline.read_bytes()
    project.baseline.unlink()
    root = project.pytester.path
    hosts = [tmp_path / "one", tmp_path / "two"]
    for host in hosts:
        host.mkdir()
    given = [f"--tx=popen//chdir={host}//python={sys.executable}" for host in hosts]
    quiet = "ignore:The --rsyncdir:DeprecationWarning"
    result = project.run_apart("-W", quiet, "--auepora-update", "-d", *given, f"--rsyncdir={root}", str(root))
    assert result.ret == 0
    assert project.baseline.read_bytes() == serial
    assert all((host / root.name / "shop.golden.yaml").exists() for host in hosts)
    assert not any(list(host.rglob("shop.json")) for host in hosts)


@pytest.mark.slow
def test_a_worker_needs_no_sqlite(project: Example) -> None:
    """The controller alone keeps runs; a worker may be another host's."""
    gone = "if os.environ.get('PYTEST_XDIST_WORKER'):\n    sys.modules['sqlite3'] = sys.modules['_sqlite3'] = None\n"
    project.write("conftest.py", f"import os\nimport sys\n\n{gone}\n{CONFTEST}")
    project.edit("mrr, token_f1", "mrr, preference, token_f1")  # which compares with the answers that were accepted
    result = project.run("-n", "1", plugins=XDIST)
    assert "crashed" not in str(result.stdout)
    assert "recall@3" in str(result.stdout)
    assert len(store(project).load("last").cases) == 5


@pytest.mark.slow
def test_differing_workers_compare_with_no_baseline(project: Example) -> None:
    hook = "\n\ndef pytest_auepora_provenance():\n    import os\n"
    project.conftest(hook + "    return {'chunker_version': os.environ.get('PYTEST_XDIST_WORKER', 'gw0')}\n")
    project.accept()
    assert gates(project.run()) == []
    result = project.run("-n", "2", plugins=XDIST)
    differ, comparison = notes(result)["provenance differs"].why, judged(result).verdict.comparison
    assert differ is not None
    assert comparison is not None
    assert {differ.changes[0].before, differ.changes[0].after} == {"gw0", "gw1"}  # whoever was first
    assert {why.changes for why in comparison.incomparable.values()} == {(("chunker_version", "gw0", "gw0 and gw1"),)}


@pytest.mark.slow
def test_workers_report_to_a_controller_without_a_terminal(project: Example) -> None:
    project.edit("\ncases:", AGAIN)
    project.accept()
    before = project.baseline.read_bytes()
    project.baseline.unlink()
    assert project.run_apart("-n", "1", "-p", "no:terminal", "--auepora-update").ret == 0
    assert project.baseline.read_bytes() == before


@pytest.mark.slow
def test_times_beside_other_workers_do_not_compare(timed: Example) -> None:
    golden = timed.read("shop.golden.yaml")
    for name in ("whole", "each"):
        timed.write(f"{name}.yaml", golden.replace("suite: shop", f"suite: {name}"))
    timed.write(
        "test_quality.py",
        "import pytest\n\n\ndef test_all(auepora):\n    auepora.evaluate('whole.yaml')\n"
        "\n\n@pytest.mark.auepora('each.yaml')\ndef test_each(auepora_case):\n    assert auepora_case.answer\n",
    )
    timed.accept()
    timed.write("slow", "")
    assert gates(timed.run()) == ["regression: mean_latency"] * 3
    spread = timed.run("-n", "2", "--auepora-concurrency", "4", plugins=XDIST)
    assert {case.concurrency for one in runs(spread) for case in one.run.cases.values()} == {2}
    assert str(spread.stdout).count("not comparable: mean_latency (concurrency 1 \u2192 2)") == 3
    assert gates(spread) == []


OTHERS = """
import os
import pytest


class Steps(pytest.Item):
    def runtest(self):
        os._exit(1)


class StepFile(pytest.File):
    def collect(self):
        yield Steps.from_parent(self, name="steps")


def pytest_collect_file(file_path, parent):
    return StepFile.from_parent(parent, path=file_path) if file_path.name == "steps.yaml" else None
"""


@pytest.mark.slow
def test_yaml_of_another_plugin_is_not_read_by_workers(project: Example) -> None:
    project.conftest(OTHERS)
    project.write("steps.yaml", "- call: it\n")
    result = project.run("-n", "1", "--auepora-update", plugins=XDIST)
    text = str(result.stdout) + str(result.stderr)
    assert "crashed while running 'steps.yaml::steps'" in text
    assert "INTERNALERROR" not in text
    assert "5 passed" in text
