"""Accepted answers serve where the generator is the same and is given the same, and nowhere else."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api.evaluation import Evaluation, evaluate
from pytest_auepora.core.types import Document, RetrievedDocument
from pytest_auepora.errors import AueporaWarning, NoRetrieverError
from pytest_auepora.evaluation.reuse import digest_of, generator_changes, undeclared

from ..cause.accepting import accept_system

PROVENANCE = {"model": "m-1", "prompt_version": "3", "retriever": "bm25"}


class Pair:
    """A retriever and a generator that samples its answers."""

    def __init__(self, changes: dict[str, list[str]] | None = None, *, wrong: bool = False) -> None:
        self.changes, self.wrong, self.asked = changes or {}, wrong, Counter[str]()

    def retrieve(self, query: str) -> list[dict[str, str]]:
        found = self.changes.get(query, [query.rsplit(maxsplit=1)[-1], "index"])
        return [{"id": name, "text": f"About {name}."} for name in found]

    def generate(self, query: str, documents: list[dict[str, str]]) -> str:
        self.asked[query] += 1
        ending = ("days", "days, no more", "days at most")[self.asked[query] % 3]
        return "Never." if self.wrong else f"It takes {documents[0]['id']} {ending}"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return write(tmp_path)


def write(folder: Path, **keys: Any) -> Path:
    cases = [
        {"id": f"c{i}", "query": f"How long is {i}", "relevant_docs": [f"{i}"], "must_contain": [f"{i} days"],
         "reference_answer": f"It takes {i} days"} for i in range(12)
    ]  # fmt: skip
    path = folder / "days.golden.yaml"
    raw = {"suite": "days", "metrics": ["recall@2", "token_f1"], "regression": {"reuse": "generator"}, "cases": cases}
    path.write_text(json.dumps(raw | keys), encoding="utf-8")
    accept_system(path, Pair(), times=5, provenance=PROVENANCE)
    return path


def run(golden: Path, pair: Pair, provenance: dict[str, Any] | None = None) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return evaluate(golden, pair, provenance=PROVENANCE if provenance is None else provenance)


def reused(evaluation: Evaluation) -> set[str]:
    return {case_id for case_id, case in evaluation.run.cases.items() if case.reused}


def test_nothing_is_generated_where_nothing_changed(golden: Path) -> None:
    pair = Pair()
    evaluation = run(golden, pair)
    assert len(reused(evaluation)) == 12
    assert not pair.asked
    assert evaluation.verdict.word == "same"
    comparison = evaluation.verdict.comparison
    assert comparison is not None
    assert all(gain == 0 for case in comparison.cases.values() for gain in case.gains)
    assert all(change.gain == 0 for change in comparison.pass_rate.values())
    (note,) = (note for note in evaluation.verdict.notes if note.kind == "reused")
    assert note.data == {"cases": 12, "reused": 12}


def test_checks_that_varied_when_accepted_are_no_change(golden: Path) -> None:
    """An answer that fell below the centre of the others is above that of all, which it is one of."""

    class Varying(Pair):
        def generate(self, query: str, documents: list[dict[str, str]]) -> str:
            super().generate(query, documents)
            told = f"It takes {documents[0]['id']} days, or so I was told."
            return told + " What else?" * 50 if self.asked[query] == 4 else told

    accept_system(golden, Varying(), times=5, provenance=PROVENANCE)
    evaluation = run(golden, Varying())
    comparison = evaluation.verdict.comparison
    assert comparison is not None
    assert comparison.pass_rate["c3"].before == 0.8
    assert {change.gain for change in comparison.pass_rate.values()} == {0.0}
    assert {gate.word for gate in evaluation.verdict.gates if gate.kind == "regression"} == {"same"}


@pytest.mark.parametrize(
    "found", [["3", "terms"], ["index", "3"], ["3"], ["3", "index", "terms"]], ids=["other", "order", "fewer", "more"]
)
def test_a_case_that_retrieves_otherwise_is_asked(golden: Path, found: list[str]) -> None:
    pair = Pair({"How long is 3": found})
    evaluation = run(golden, pair)
    assert reused(evaluation) == {f"c{i}" for i in range(12)} - {"c3"}
    assert set(pair.asked) == {"How long is 3"}


def test_a_case_that_fails_is_asked_again_and_fails_the_run(golden: Path) -> None:
    pair = Pair({"How long is 3": ["terms"]})
    evaluation = run(golden, pair)
    assert evaluation.run.cases["c3"].state == "failed"
    assert evaluation.verdict.outcome == "failed"
    assert pair.asked["How long is 3"] > 1


@pytest.mark.parametrize(
    "provenance",
    [{**PROVENANCE, "model": "m-2"}, {**PROVENANCE, "prompt_version": "4"}, {**PROVENANCE, "temperature": 0.7},
     {**PROVENANCE, "anything": 1}, {k: v for k, v in PROVENANCE.items() if k != "model"}, {}],
    ids=["model", "prompt", "parameter", "unknown key", "model not declared", "nothing declared"],
)  # fmt: skip
def test_another_generator_is_always_asked(golden: Path, provenance: dict[str, Any]) -> None:
    pair = Pair(wrong=True)
    with pytest.warns(AueporaWarning, match="days: reuse: generator leaves out no call"):
        evaluation = evaluate(golden, pair, provenance=provenance)
    assert reused(evaluation) == set()
    assert evaluation.verdict.outcome == "failed"


def test_another_retriever_is_looked_at_by_what_it_finds(golden: Path) -> None:
    assert len(reused(run(golden, Pair(), {**PROVENANCE, "retriever": "dense", "git_commit": "abc"}))) == 12


def test_an_edited_case_is_asked(golden: Path) -> None:
    golden.write_text(golden.read_text().replace("It takes 3 days", "It takes 3 days."), encoding="utf-8")
    assert reused(run(golden, Pair())) == {f"c{i}" for i in range(12)} - {"c3"}


def test_a_case_that_one_answer_decides_is_asked(golden: Path) -> None:
    raw = json.loads(golden.read_text())
    raw["cases"][3]["must_pass"], raw["cases"][4]["xfail"] = True, "not yet"
    golden.write_text(json.dumps(raw), encoding="utf-8")
    assert reused(run(golden, Pair())) == {f"c{i}" for i in range(12)} - {"c3", "c4"}


def test_what_retrieval_varied_for_has_no_digest(tmp_path: Path) -> None:
    class Unsteady(Pair):
        def retrieve(self, query: str) -> list[dict[str, str]]:
            found = super().retrieve(query)
            return found[::-1] if query == "How long is 3" and self.asked[query] == 4 else found

    path = write(tmp_path)
    accepted = accept_system(path, Unsteady(), times=5, provenance=PROVENANCE)
    assert {i for i, case in accepted.baseline.cases.items() if not case.documents} == {"c3"}


@pytest.mark.parametrize(
    ("keys", "told"),
    [({"thresholds": {"p95_latency": 2.0}}, "p95_latency needs answers of today"),
     ({"repeat": 3}, "each case is asked several times"),
     ({"metrics": ["recall@2", "token_f1", "mrr@10"]}, "mrr@10 is defined otherwise than in the baseline")],
)  # fmt: skip
def test_what_accepted_answers_cannot_say_is_told(golden: Path, keys: dict[str, Any], told: str) -> None:
    golden.write_text(json.dumps(json.loads(golden.read_text()) | keys), encoding="utf-8")
    with pytest.warns(AueporaWarning, match=told):
        assert reused(evaluate(golden, Pair(), provenance=PROVENANCE)) == set()


def in_one_call(query: str) -> str:
    return query


def with_documents(query: str, documents: list[Any] | None = None) -> str:
    return query


@pytest.mark.parametrize("whole", [in_one_call, with_documents])
def test_a_system_in_one_call_says_what_to_give(golden: Path, whole: Any) -> None:
    with pytest.raises(NoRetrieverError) as refusal:
        evaluate(golden, whole, provenance=PROVENANCE)
    why, give = str(refusal.value).splitlines()
    assert why.startswith(f"reuse: generator: {whole.__name__}: ")
    assert "(retriever, generator)" in give


def test_an_asynchronous_pair_reuses_as_well(golden: Path) -> None:
    pair = Pair({"How long is 3": ["terms"]})

    async def retrieve(query: str) -> list[dict[str, str]]:
        return pair.retrieve(query)

    async def generate(query: str, documents: list[dict[str, str]]) -> str:
        return pair.generate(query, documents)

    evaluation = evaluate(golden, (retrieve, generate), provenance=PROVENANCE)
    assert reused(evaluation) == {f"c{i}" for i in range(12)} - {"c3"}
    assert set(pair.asked) == {"How long is 3"}


def test_a_suite_without_the_setting_keeps_no_digest_and_asks(tmp_path: Path) -> None:
    path = write(tmp_path, regression={})
    assert '"documents"' not in (tmp_path / "__baselines__/days.json").read_text()
    assert reused(run(path, Pair())) == set()


def test_a_digest_tells_ids_texts_metadata_and_order() -> None:
    one, two = (RetrievedDocument(Document(i, f"Text {i}", {"page": 1}), 0.5, 1) for i in "ab")
    same = RetrievedDocument(Document("a", "Text a", {"page": 1}), 0.9, 7)
    others = [Document("a", "Text a ", {"page": 1}), Document("A", "Text a", {"page": 1}), Document("a", "Text a")]
    assert digest_of([one, two]) == digest_of([same, two])
    digests = {
        digest_of(hits) for hits in ([one, two], [two, one], [one], [], *([RetrievedDocument(d, 1, 1)] for d in others))
    }
    assert len(digests) == 7


def test_unknown_keys_may_be_the_generators() -> None:
    before = {"model": "a", "prompt": "b", "corpus": "c", "git_commit": "d", "top_p": 1}
    assert generator_changes(before, {**before, "corpus": "e", "git_commit": "f"}) == ()
    assert generator_changes(before, {**before, "top_p": 0.9, "new": 1}) == ("new", "top_p")
    assert undeclared(before) == ()
    assert undeclared({"corpus": "c"}) == ("model", "prompt")
