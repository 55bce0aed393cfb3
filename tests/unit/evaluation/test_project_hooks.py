"""What the project says by hooks, outside pytest as well: `evaluate` and recorded answers obey."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pluggy import HookimplMarker, PluginManager

from pytest_auepora import Document, Response, RetrievedDocument, SystemOutputs, evaluate, hookspecs
from pytest_auepora.api.recorded import score_recorded
from pytest_auepora.base.plugins import in_use
from pytest_auepora.evaluation.project_hooks import ProjectHooks
from pytest_auepora.io.golden.load import load_golden

impl = HookimplMarker("pytest")
GOLDEN = (
    "suite: s\nmetrics: [recall@1, words]\ncases:\n  - {id: a, query: q, relevant_docs: [x], reference_answer: x}\n"
)


class Hooks:
    @impl
    def pytest_auepora_metrics(self, registry: Any) -> None:
        registry.add("words", registry.get("exact_match"))

    @impl
    def pytest_auepora_convert(self, output: Any) -> SystemOutputs | None:
        if not isinstance(output, set):
            return None
        return SystemOutputs([RetrievedDocument(Document("x"), 1.0, 1)], Response("secret"))

    @impl
    def pytest_auepora_provenance(self, suite: str, path: Path) -> dict[str, str]:
        return {"suite": suite, "file": path.name}

    @impl
    def pytest_auepora_redact(self, result: Any) -> None:
        result.outputs = {**result.outputs, "answer": "…"}


@pytest.fixture
def golden(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "s.golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    manager = PluginManager("pytest")
    manager.add_hookspecs(hookspecs)
    manager.register(Hooks())
    with in_use(manager):
        yield path


def test_evaluate_obeys_hooks(golden: Path) -> None:
    done = evaluate(golden, lambda query: {query}, provenance={"file": "given"})
    assert done["recall@1"].value == 1.0
    assert done.run.cases["a"].outputs["answer"] == "…"
    assert done.run.provenance == {"suite": "s", "file": "given"}


def test_what_is_given_goes_before_the_hook(golden: Path) -> None:
    given = SystemOutputs([], Response("x"))
    assert evaluate(golden, lambda query: {query}, convert=lambda *_: given)["recall@1"].value == 0.0


def test_recorded_answers_obey_hooks(golden: Path) -> None:
    outputs = golden.with_name("said.jsonl")
    outputs.write_text('{"id": "a", "answer": "secret", "documents": ["x"]}\n', encoding="utf-8")
    done = score_recorded(load_golden(golden, ProjectHooks().registry), outputs)
    assert done.run.cases["a"].outputs["answer"] == "…"
    assert done.run.provenance == {"suite": "s", "file": "s.golden.yaml"}


def test_without_hooks_there_is_nothing_to_ask() -> None:
    manager = PluginManager("pytest")
    manager.add_hookspecs(hookspecs)
    with in_use(manager):
        hooks = ProjectHooks()
        assert (hooks.convert, hooks.redact, hooks.has_corpus) == (None, None, False)
        assert hooks.corpus("s", Path("s.yaml")) is None
        assert hooks.provenance("s", Path("s.yaml")) == {}
