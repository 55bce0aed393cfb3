"""The peers of the table do the same work as we do: else their times would say nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry

from . import peer_rows
from .by_hand import scores
from .measuring import PEER, Cost, ProcessError, Row, process
from .peer_projects import BY_HAND, peer_project
from .peer_scripts import DEEPEVAL, INSPECT, PYDANTIC_EVALS, RAGAS, RAGAS_EXPERIMENT, promptfoo_files
from .projects import METRICS
from .table import main

pytestmark = pytest.mark.slow

WAITING = (("0", "0"), ("0.001", "4"))
"""Seconds of a call, and how many at once."""
RUN_BY_NODE = """\
const fs = require("fs");
const Provider = require("./provider.js");
const scores = require("./scores.js");
const { tests } = require("./promptfooconfig.js");

(async () => {
  const system = new Provider();
  const found = {};
  for (const { description, vars } of tests) {
    const providerResponse = await system.callApi(vars.query);
    found[description] = scores(providerResponse.output, { vars, providerResponse }).namedScores;
  }
  fs.writeFileSync("found.json", JSON.stringify(found));
})();
"""


def test_the_numbers_by_hand_are_ours(tmp_path: Path) -> None:
    project = peer_project(tmp_path / "bench", 12, {"test_bench.py": BY_HAND})
    answers = json.loads((project / "answers.json").read_text("utf-8"))
    cases = json.loads((project / "cases.json").read_text("utf-8"))
    metrics = [Registry().get(name) for name in METRICS]
    seen: dict[str, set[float]] = {name: set() for name in METRICS}
    for golden_case, case in zip(load_golden(project / "bench.golden.yaml").cases, cases, strict=True):
        sample = golden_case.sample
        answer, documents = answers[sample.query]
        if case["id"] == "case-3":
            answer = f"The {case['reference']}!"  # the same words once an article and the punctuation are gone
        outputs = SystemOutputs(
            [RetrievedDocument(Document(d["id"]), d["score"], rank) for rank, d in enumerate(documents, 1)],
            Response(answer),
        )
        ours = {m.name: m.compute([sample], [outputs]).value for m in metrics}
        assert scores(case, answer, documents) == pytest.approx(ours, abs=1e-12)
        for name, value in ours.items():
            seen[name].add(value)
    assert all(len(values) > 1 for values in seen.values()), "every metric has to have told cases apart"


def test_a_tool_with_other_means_than_ours_does_not_pass(tmp_path: Path) -> None:
    project = peer_project(tmp_path / "bench", 12, {})
    answers = json.loads((project / "answers.json").read_text("utf-8"))
    samples = [case.sample for case in load_golden(project / "bench.golden.yaml").cases]
    outputs = []
    for sample in samples:
        answer, documents = answers[sample.query]
        listed = [RetrievedDocument(Document(d["id"]), d["score"], rank) for rank, d in enumerate(documents, 1)]
        outputs.append(SystemOutputs(listed, Response(answer)))
    ours = {name: Registry().get(name).compute(samples, outputs).value for name in METRICS}
    copied = spec_from_file_location("copied", project / "by_hand.py")
    assert copied is not None
    assert copied.loader is not None
    copied.loader.exec_module(beside := module_from_spec(copied))
    beside.check(ours)
    for wrong in (ours | {"mrr": ours["mrr"] + 0.001}, {"mrr": ours["mrr"]}, ours | {"map": 0.5}):
        with pytest.raises(AssertionError, match="expected"):
            beside.check(wrong)


PEERS = [
    (name, source, waiting)
    for name, source, waiting in (
        *product(("pydantic-evals",), (PYDANTIC_EVALS,), WAITING),
        *product(("deepeval",), (DEEPEVAL,), WAITING),
        *product(("ragas",), (RAGAS_EXPERIMENT,), WAITING),
        ("ragas", RAGAS, ()),
        ("inspect-ai", INSPECT, ()),
    )
    if find_spec(name.replace("-", "_")) is not None
]
"""Those that are here: they do not get along in one environment, and the table itself refuses other means than ours."""

if PEERS:

    @pytest.mark.parametrize(("name", "source", "waiting"), PEERS)
    def test_a_peer_comes_to_our_means(name: str, source: str, waiting: tuple[str, ...], tmp_path: Path) -> None:
        """The script itself holds its numbers against those of `by_hand`."""
        process(peer_project(tmp_path / name, 12, {"bench.py": source}), "bench.py", *waiting)


def test_promptfoo_scores_what_we_score(tmp_path: Path) -> None:
    """Its own file of scores, run by node alone; words are not stemmed there."""
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node")
    from rouge_score.rouge_scorer import RougeScorer

    project = peer_project(tmp_path / "bench", 12, promptfoo_files(0.001) | {"run.js": RUN_BY_NODE})
    process(project, "run.js", program=node)
    found = json.loads((project / "found.json").read_text("utf-8"))
    answers = json.loads((project / "answers.json").read_text("utf-8"))
    rouge = RougeScorer(["rougeL"], use_stemmer=False)
    for case in json.loads((project / "cases.json").read_text("utf-8")):
        answer, documents = answers[case["query"]]
        plain = rouge.score(case["reference"], answer)["rougeL"].fmeasure
        assert found.pop(case["id"]) == pytest.approx(scores(case, answer, documents) | {"rougeL": plain}, abs=1e-12)
    assert not found


def test_six_metrics_are_measured_with_every_peer_that_scores(tmp_path: Path) -> None:
    peers = ("in pytest-evals", "in pydantic-evals", "in deepeval", "in ragas", "in inspect_ai", "in promptfoo")
    titles = [make.__doc__ or "" for make in peer_rows.rows(tmp_path)]
    assert [title for title in titles if "six metrics" in title] == [
        f"1,000 cases, six metrics {name}" for name in ("written by hand", *peers)
    ]


def test_a_waiting_peer_is_told_how_long_and_how_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """200 calls of 100 ms at 8, for every peer that the goal names."""
    ran: dict[str, tuple[str, ...]] = {}

    def recorded(path: Path, *args: str, **_: Any) -> Cost:
        ran[path.name.removesuffix("-waiting")] = args
        return Cost(1, 2, 3)

    monkeypatch.setattr(peer_rows, "process", recorded)
    monkeypatch.setattr(peer_rows, "pytest_process", recorded)
    monkeypatch.setattr(peer_rows, "_at_home", lambda name, _: ("python", name))
    monkeypatch.setattr(peer_rows, "_installed", lambda name: name)
    monkeypatch.setattr(peer_rows, "_promptfoo", lambda: "promptfoo")
    titles = []
    for make in peer_rows.rows(tmp_path):
        if "calls" in (title := make.__doc__ or ""):
            row = make()
            titles.append(title)
            assert (row.ours(), row.other(), row.goal) == (2, 2.5, PEER), "the clock, against the ideal"
    names = ("pytest -n 8", "pydantic-evals", "deepeval", "ragas", "promptfoo")
    assert titles == [f"200 calls of 100 ms at 8, {name}" for name in names]
    assert ran.pop("pytest-xdist")[-2:] == ("-n", "8")
    assert ran.pop("promptfoo")[-2:] == ("--max-concurrency", "8")
    assert (tmp_path / "promptfoo-waiting" / "milliseconds.json").read_text("utf-8") == "100"
    assert ran == dict.fromkeys(names[1:4], ("bench.py", "0.1", "8"))


def test_a_peer_that_is_not_installed_is_left_out_with_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = "no-such-plugin"
    monkeypatch.setattr(peer_rows, "PLUGINS", (absent,))
    monkeypatch.setattr("sys.argv", ["table", "--only", absent])
    assert main() == 0
    assert f"left out: {absent} is not installed" in capsys.readouterr().out


def test_a_peer_that_does_not_run_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Cost:
        raise ProcessError("pytest", 3, "INTERNALERROR> it is too old\n")

    monkeypatch.setattr(peer_rows, "pytest_process", broken)
    monkeypatch.setattr(peer_rows, "PLUGINS", ("pytest-timeout", "pytest", "no-such-plugin"))
    monkeypatch.setattr("sys.argv", ["table", "--only", "timeout", "pytest installed", "no-such"])
    assert main() == 0
    broke, none, absent = capsys.readouterr().out.splitlines()[1:]
    assert broke.endswith("left out: it ended with 3: INTERNALERROR> it is too old")
    assert none.endswith(f"left out: pytest {pytest.__version__} registers no plugin")
    assert absent.endswith("left out: no-such-plugin is not installed")


def test_a_peer_has_a_ratio_and_no_goal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def costly() -> Row:
        """a costly peer"""
        return Row("a costly peer", PEER, lambda: 6.0, lambda: 2.0, "nothing")

    def only(*_: Any, **__: Any) -> list[Callable[[], Row]]:
        return [costly]

    monkeypatch.setattr("tests.benchmarks.table.rows", only)
    monkeypatch.setattr("sys.argv", ["table"])
    assert main() == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert " ".join(line.split()) == "a costly peer 6 2 3.00 peer s of processor time, against nothing"
