"""What a run says when something changed that scores are read off."""

from __future__ import annotations

import json
import subprocess

import pytest

from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.compare import Change

from ..conftest import Example
from ..listening import gates, judged, mistakes, notes, outcomes

HOOK = "\n\ndef pytest_auepora_provenance():\n    return {%r: %r}\n"


def say(project: Example, key: str, value: object) -> None:
    project.conftest(HOOK % (key, value))


def changes(result: pytest.RunResult) -> dict[str, list[Change]]:
    """What differs from the baseline, for each metric that does not compare."""
    comparison = judged(result).verdict.comparison
    assert comparison is not None
    return {name: list(why.changes) for name, why in comparison.incomparable.items()}


def only_retrieval(project: Example) -> None:
    project.edit("metrics: [recall@1, recall@3, mrr, token_f1, refusal_correctness]", "metrics: [recall@3, mrr]")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")


def test_a_run_without_comparison_says_it_was_not_judged(project: Example) -> None:
    only_retrieval(project)
    say(project, "chunker", "pages")
    project.accept()
    say(project, "chunker", "sentences")
    result = project.run()
    gate = outcomes(result)["baseline: nothing compares"]
    assert (result.ret, gate.state) == (0, "not judged")
    assert changes(result) == {name: [("chunker", "pages", "sentences")] for name in ("recall@3", "mrr")}
    required = project.run("--auepora-require-baseline")
    assert (required.ret, outcomes(required)["baseline: nothing compares"].state) == (1, "failed")


def test_recall_by_quote_is_judged_across_chunkers(project: Example) -> None:
    only_retrieval(project)
    for name, quote in {"refunds": "within 30 days", "shipping": "two working days", "returns": "Returns are free",
                        "warranty": "24 months"}.items():  # fmt: skip
        project.edit(f"relevant_docs: [{name}]", f"relevant_docs: [{{doc: {name}, quote: {quote}}}]")
    say(project, "chunker", "800 characters")
    project.accept()
    project.edit("'800 characters'", "'120'", "conftest.py")
    assert project.run().ret == 0
    project.break_retriever()
    result = project.run()
    assert result.ret == 1
    assert changes(result) == {"mrr": [("chunker", "800 characters", "120")]}
    gate = outcomes(result)["regression: recall@3"]
    assert (gate.state, gate.value, gate.before, gate.n) == ("failed", 0.75, 1.0, 4)


CUT_ANEW = """\
def rag():
    cut = "p" if pathlib.Path("anew").exists() else "#"

    def ask(query):
        text, found = answer(query)
        return text, [{**hit, "id": hit["id"] + cut, "source": hit["id"]} for hit in found]

    return ask
"""


def test_chunk_labels_do_not_compare_by_document(project: Example) -> None:
    project.system(CUT_ANEW)
    for name in ("refunds", "shipping", "returns", "warranty"):
        project.edit(f"relevant_docs: [{name}]", f"relevant_docs: [{name}#]")
    project.edit(
        "metrics: [recall@1, recall@3, mrr, token_f1, refusal_correctness]", "metrics: [recall@3, recall@3_doc]"
    )
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.conftest("""
        def pytest_auepora_provenance():
            return {"chunker": pathlib.Path("anew").exists()}
    """)
    project.accept()
    project.write("anew", "")
    result = project.run()
    assert gates(result) == ["recall@3"]
    assert changes(result) == {name: [("chunker", False, True)] for name in ("recall@3", "recall@3_doc")}
    note = notes(result)["no label met"]
    assert (note.data["cases"], note.names) == (4, ("refunds#", "shipping#", "returns#", "warranty#"))
    assert note.data["returned"][0] == ["refundsp", "refunds"]
    assert outcomes(result)["threshold: recall@3"].costliest
    stored = HistoryStore(project.path / ".auepora" / "history.sqlite").verdict("last").notes
    assert any(note.kind == "no label met" for note in stored)


TWO_SYSTEMS = """
def states(auepora, version):
    def rag(query):
        return "yes", [f"d{version}"]

    rag.auepora_provenance = {"chunker_version": version}
    return [case.state for case in auepora.evaluate("cut.golden.yaml", rag).run.cases.values()]


def test_1(auepora):
    assert states(auepora, 1) == ["passed"]


def test_2(auepora):
    assert states(auepora, 2) == ["passed"]
"""


def test_each_system_is_held_to_what_it_compares_with(project: Example) -> None:
    (project.path / "shop.golden.yaml").unlink()
    project.write("cut.golden.yaml", "metrics: [recall@3]\ncases:\n  - {id: a, query: q, relevant_docs: [d1]}\n")
    project.write("test_cut.py", TWO_SYSTEMS)
    project.run("--auepora-update", "-k", "test_1")
    for tests in (["-k", "test_2"], ["test_cut.py::test_1", "test_cut.py::test_2"]):
        result = project.run("-o", "auepora_history=off", *tests)
        assert result.parseoutcomes().get("failed", 0) == 0


def test_a_golden_file_names_its_own_provenance(project: Example) -> None:
    only_retrieval(project)
    project.edit("thresholds:\n", "regression: {not_comparable: {corpus: recall@3}}\nthresholds:\n")
    say(project, "corpus", "may")
    project.accept()
    say(project, "corpus", "june")
    result = project.run()
    assert changes(result) == {"recall@3": [("corpus", "may", "june")]}
    assert outcomes(result)["regression: mrr"].state == "passed"
    project.edit("{corpus: recall@3}", "{corpus: [recall@4]}")
    (mistake,) = mistakes(project.run())
    assert (mistake.line, "recall@4" in mistake.message) == (3, True)


def test_the_commit_is_recorded_and_a_no_op_update_keeps_it(project: Example) -> None:
    def git(*args: str) -> str:
        name = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *name, *args], cwd=project.path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", "shop.py")
    git("commit", "-qm", "one")
    first = git("rev-parse", "HEAD")
    project.accept("-o", "auepora_history=off")
    accepted = project.baseline.read_bytes()
    assert json.loads(accepted)["provenance"]["git_commit"] == first
    git("commit", "-qm", "two", "--allow-empty")
    project.accept("-o", "auepora_history=off")
    assert project.baseline.read_bytes() == accepted
    result = project.run("-o", "auepora_history=off")
    assert "git_commit" not in str(result.stdout)
    assert result.ret == 0
