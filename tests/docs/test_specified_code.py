"""The code of the specifications runs on this package, the package's name changed and nothing else; what it defines
stands here under the same names and gives the same numbers."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.types import (
    Document,
    EvaluationSample,
    Response,
    RetrievedDocument,
    SystemOutputs,
)
from pytest_auepora.history.aggregates import AggregateMetrics
from pytest_auepora.history.compare import CompareReport, ComparisonKind, QueryComparison
from pytest_auepora.metrics.registry import Registry

from ..unit.reporting.builders import Case, run_of, verdict_of
from .pages import ROOT

pytestmark = pytest.mark.shared_data

SEEDS = ROOT.parent / "shared" / "seeds"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
HOME = re.compile(r"^#.*\(`(?:(\w+)/)?(\w+)\.py`\)", re.MULTILINE)


TYPES = "pytest_auepora.core.types"
Defined = dict[tuple[int, str], dict[str, Any]]
"""(number of the document, module) → names."""


class Block(NamedTuple):
    """A fenced block, and the module that the heading above it names."""

    line: int
    language: str
    text: str
    module: str


def specification(number: int) -> str:
    found = sorted(SEEDS.glob(f"{number:03}_*.txt"))
    if not found:
        pytest.skip("the specifications are not beside the project")
    return found[0].read_text(encoding="utf-8")


def blocks(number: int) -> Iterator[Block]:
    text = specification(number)
    for found in BLOCK.finditer(text):
        homes = HOME.findall(text[: found.start()]) or [("core", "types")]
        room, module = ("core", "metrics_base") if found[2].startswith("class Metric(") else homes[-1]
        code = found[2].replace("auepora_eval", "pytest_auepora")
        place = f"pytest_auepora.{room or 'metrics'}.{module}"
        yield Block(text[: found.start()].count("\n") + 1, found[1], code, place)


class Two:
    """Finds the same two documents."""

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        docs = [Document("d1", "by Ashish Vaswani et al."), Document("d2", "something else")]
        return [RetrievedDocument(doc, 1 / rank, rank) for rank, doc in enumerate(docs, 1)][:top_k]


@pytest.fixture(scope="module")
def defined() -> Defined:
    """What the Python blocks of the two engineering specifications define; each is run in the module it belongs to."""
    found: Defined = {}
    for number in (2, 0):
        for block in blocks(number):
            if block.language != "python" or "MyRAGSystem" in block.text:
                continue
            names = found.setdefault((number, block.module), {})
            if number == 0 and not names:  # sketches that take the types of the other document for granted
                names |= {**vars(import_module("typing")), **vars(import_module("abc")), **vars(import_module(TYPES))}
            names |= {"__name__": block.module, "__package__": import_module(block.module).__package__}
            exec(compile(block.text, f"{number}:{block.line}", "exec"), names)
    return found


def of(defined: Defined, name: str) -> tuple[Any, Any]:
    """Return what a block defines as *name*, and what this package does in the same module."""
    for (_, module), names in defined.items():
        theirs, ours = names.get(name), getattr(import_module(module), name, None)
        if theirs is not None and theirs is not ours:
            return theirs, ours
    raise AssertionError(f"no block defines {name}")


DATACLASSES = (
    "Document",
    "RetrievedDocument",
    "Response",
    "EvaluationSample",
    "SystemOutputs",
    "MetricResult",
    "EvaluationPlan",
)


BEYOND: dict[str, dict[str, Any]] = {"EvaluationSample": {"chat_history": []}}
"""Fields behind those of the specification, with their defaults."""


@pytest.mark.parametrize("name", DATACLASSES)
def test_dataclasses_have_the_same_fields(defined: Defined, name: str) -> None:
    theirs, ours = of(defined, name)
    beyond = BEYOND.get(name, {})
    assert [f.name for f in dataclasses.fields(ours)] == [*(f.name for f in dataclasses.fields(theirs)), *beyond]
    given = {
        f.name: f.name for f in dataclasses.fields(theirs) if f.default is f.default_factory is dataclasses.MISSING
    }
    assert dataclasses.asdict(ours(**given)) == dataclasses.asdict(theirs(**given)) | beyond


def test_targets(defined: Defined) -> None:
    theirs, ours = of(defined, "TargetCategory")
    assert issubclass(ours, Enum)
    assert [t.name for t in theirs] == [t.name for t in ours][: len(theirs)]


INTERFACES = (
    "RAGSystem", "RAGSystemProtocol", "Retriever", "Generator", "SimpleRAGSystem", "EvaluationDataset",
    "InMemoryDataset", "EvaluationPlan", "AueporaEvaluator", "LLMCritic", "Metric",
)  # fmt: skip


@pytest.mark.parametrize("name", INTERFACES)
def test_interfaces_take_the_same_arguments(defined: Defined, name: str) -> None:
    theirs, ours = of(defined, name)
    for method, function in vars(theirs).items():
        if inspect.isfunction(function) and (not method.startswith("_") or method == "__init__"):
            wanted = inspect.signature(function).parameters
            have = inspect.signature(getattr(ours, method)).parameters
            assert [(n, p.kind, p.default) for n, p in wanted.items()] == [
                (n, p.kind, p.default) for n, p in have.items() if n in wanted
            ], method
    if getattr(theirs, "__abstractmethods__", ()):
        with pytest.raises(TypeError, match="abstract"):
            ours()


def samples() -> list[EvaluationSample]:
    return [
        EvaluationSample("1", "q", [Document("a"), Document("b")], None, Response("Refunds within thirty days")),
        EvaluationSample("2", "q", [Document("c")], None, None),
        EvaluationSample("3", "q", [], None, Response("none of it")),
        EvaluationSample("4", "q"),
    ]


def outputs() -> list[SystemOutputs]:
    hits = [RetrievedDocument(Document(d), 0.0, i) for i, d in enumerate("xab", 1)]
    timings = [{"end_to_end": 1.0}, {"end_to_end": 0.25}, {}, {"retrieval": 1.0}]
    texts = ("A refund within 30 days", "", "none of it", "x")
    return [SystemOutputs(hits[:i], Response(text), t) for i, text, t in zip((3, 2, 1, 0), texts, timings, strict=True)]


@pytest.mark.parametrize(
    ("name", "given"),
    [("RecallAtK", {"k": 2}), ("RougeLAnswer", {}), ("MeanLatency", {}), ("MeanLatency", {"timing_key": "retrieval"})],
)
def test_metrics_give_the_same_numbers(defined: Defined, name: str, given: dict[str, Any]) -> None:
    theirs, ours = (cls(**given) for cls in of(defined, name))
    assert isinstance(theirs, Metric)
    for some in (slice(None), slice(1, 2), slice(0)):
        expected, found = (m.compute(samples()[some], outputs()[some]) for m in (theirs, ours))
        assert dataclasses.asdict(found) == {
            **dataclasses.asdict(expected), "details": {**found.details, **expected.details},
        }  # fmt: skip
    assert ours.required_fields() == theirs.required_fields()


def test_plan_evaluator_and_tables(defined: Defined, tmp_path: Path) -> None:
    (plans, evaluators, datasets) = (of(defined, n) for n in ("EvaluationPlan", "AueporaEvaluator", "InMemoryDataset"))
    metrics = [of(defined, "RecallAtK")[1](2), of(defined, "RougeLAnswer")[1]()]
    given = dict(zip((s.sample_id for s in samples()), outputs(), strict=True))

    class System:
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            return given[sample.sample_id]

    theirs, ours = (e(System(), p(metrics)).evaluate(d("s", samples()))
                    for e, p, d in zip(evaluators, plans, datasets, strict=True))  # fmt: skip
    assert ours == theirs
    for name in ("results_to_dict", "results_to_markdown"):
        report, own = of(defined, name)
        assert own(ours) == report(theirs)
    for plan in plans:
        assert list(plan(metrics).grouped_by_target()) == [m.target for m in metrics]
        with pytest.raises(
            ValueError, match="Dataset missing required field 'reference_answer' for metric 'rougeL_answer'"
        ):
            plan(metrics).validate_dataset(samples()[1:2])


def test_the_line_of_a_data_set(defined: Defined, tmp_path: Path) -> None:
    (line,) = (block.text for block in blocks(2) if block.language == "json")
    path = tmp_path / "toy.jsonl"
    path.write_text(json.dumps(json.loads(line)) + "\n\n", encoding="utf-8")
    theirs, ours = (load(path) for load in of(defined, "load_jsonl_dataset"))
    assert (ours.name, list(ours)) == (theirs.name, list(theirs))


def test_the_example_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = (block.text for block in blocks(2) if "MyRAGSystem" in block.text)
    exec(compile(code, "example", "exec"), {"retriever": Two(), "llm": lambda prompt: "Ashish Vaswani"})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("recall@5 1.0 {'num_samples': 1")
    assert second.startswith("rougeL_answer 0.666")


@pytest.mark.parametrize("number", [0, 2])
def test_every_module_of_the_layout_is_there(number: int) -> None:
    tree = next(block.text for block in blocks(number) if block.language == "text")
    folders = [] if number == 2 else ["pytest_auepora"]
    seen = 0
    optional = "plots.py"  # the page draws its plots itself
    for line in tree.splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2 + (0 if number == 2 else 1), line.split("#")[0].strip()
        folders = folders[:depth]
        if name.endswith("/"):
            folders.append(name.rstrip("/"))
        elif name.endswith(".py") and "examples" not in folders and name != optional:
            import_module(".".join([*folders, name.removesuffix(".py")]).removesuffix(".__init__"))
            seen += 1
    assert seen >= 8


def test_metrics_of_the_label_taxonomy_are_found_by_their_names() -> None:
    text = specification(3)
    names = [*re.findall(r"^- \*\*(.+?):\*\*", text, re.MULTILINE), *re.findall(r"\\text\{([A-Za-z]+(?:@K)?)\}", text)]
    names = [name for name in names if name != "otherwise" and not name.startswith("if")]
    assert len(names) > 25
    for name in names:
        assert isinstance(Registry().get(name.replace("@K", "@5")), Metric)


RUST = {"AggregateMetrics": AggregateMetrics, "CompareReport": CompareReport, "QueryComparison": QueryComparison}


@pytest.mark.parametrize("name", RUST)
def test_types_of_the_comparison_of_runs(name: str) -> None:
    found = re.search(rf"pub struct {name} \{{(.*?)\}}", specification(1), re.DOTALL)
    assert found is not None
    wanted = re.findall(r"pub (\w+):", found[1])
    assert len(wanted) >= 5
    assert [f.name for f in dataclasses.fields(RUST[name]) if f.name in wanted] == wanted
    kinds = re.search(r"pub enum ComparisonKind \{(.*?)\}", specification(1))
    assert kinds is not None
    assert [k.strip().upper() for k in kinds[1].split(",")] == [k.name for k in ComparisonKind]


def test_the_summary_has_the_specified_shape() -> None:
    (block,) = (block.text for block in blocks(4) if block.language == "json")
    wanted = json.loads(block.replace("`", ""))
    metrics = ["precision@5", "ndcg@10", "mrr@10", "p50_latency", "p95_latency", "redaction_efficacy"]
    run = run_of([Case("a", labels={"sensitive": ["secret4711"]})], metrics)
    summary = import_module("pytest_auepora.reporting.formats.metrics_export").summary_json
    report = import_module("pytest_auepora.reporting.report").Report([run], [verdict_of(run)])
    made = json.loads(summary(report))
    assert made["version"] == wanted["version"]
    for part in ("quality", "operational", "privacy"):
        assert list(made[part]) == list(wanted[part])
        assert all(math.isfinite(value) for value in made[part].values())


def test_the_columns_of_the_row_per_query() -> None:
    found = re.search(r"Per.query row \(CSV\):\s*[•-]\s*(.+)", specification(4))
    assert found is not None
    columns = import_module("pytest_auepora.reporting.formats.metrics_export").COLUMNS
    assert list(columns) == [column.strip() for column in found[1].split(",")]
