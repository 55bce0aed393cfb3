"""What a run says when something changed that scores are read off."""

from __future__ import annotations

import json
import subprocess

from pytest_auepora.history.store import HistoryStore

from ..conftest import Example, gates

HOOK = "\n\ndef pytest_auepora_provenance():\n    return {%r: %r}\n"


def say(project: Example, key: str, value: object) -> None:
    project.conftest(HOOK % (key, value))


def only_retrieval(project: Example) -> None:
    project.edit("metrics: [recall@1, recall@3, mrr, token_f1, refusal_correctness]", "metrics: [recall@3, mrr]")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")


def test_a_run_without_comparison_says_it_was_not_judged(project: Example) -> None:
    only_retrieval(project)
    say(project, "chunker", "pages")
    project.accept()
    say(project, "chunker", "sentences")
    result = project.run()
    said = " ".join(str(result.stdout).split())
    assert "nothing in this run compares with it: recall@3, mrr (chunker pages → sentences)" in said
    assert "whether the run is worse was not judged" in said
    assert result.ret == 0
    assert project.run("--auepora-require-baseline").ret == 1


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
    said = " ".join(str(result.stdout).split())
    assert result.ret == 1
    assert "not comparable, the baseline's value is in brackets: mrr (chunker 800 characters → 120)" in said
    assert "recall@3 0.750 4/5 1.000" in said
    assert "regression: recall@3" in gates(result)


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
    said = " ".join(str(result.stdout).split())
    assert gates(result) == ["recall@3"]
    assert "in brackets: recall@3, recall@3_doc (chunker false → true)" in said
    assert "no label was met in 4 cases: wanted refunds#, shipping#, returns# and 1 more; returned refundsp of" in said
    assert "costs most" in said
    notes = HistoryStore(project.path / ".auepora" / "history.sqlite").verdict("last").notes
    assert any(note.kind == "no label met" for note in notes)


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
    assert "in brackets: recall@3 (corpus may → june)" in " ".join(str(result.stdout).split())
    assert "mrr" in str(result.stdout)
    project.edit("{corpus: recall@3}", "{corpus: [recall@4]}")
    assert "recall@4 is not computed; add it to metrics" in str(project.run().stdout)


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
