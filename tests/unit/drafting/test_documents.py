"""Documents of a folder, their passages, and which are near."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.drafting.documents import (
    LONGEST,
    PACK,
    TRIES,
    DocumentPassage,
    Passages,
    group_passages,
    passages_of,
    plan_jobs,
    price_of,
    read_documents,
    read_quotas,
)
from pytest_auepora.errors import AueporaError, CorpusError

PROSE = "Bicycles can be hired for two weeks, and the deposit is returned with the bicycle when nothing is broken. "


def test_a_folder(tmp_path: Path) -> None:
    for name, text in {"a.md": "# A", "sub/b.txt": "B", "c.py": "C", ".git/d.md": "D", "e.rst": " \n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_documents(tmp_path) == {"a.md": "# A", "sub/b.txt": "B"}


def test_a_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "a", "text": "A"}\n"bare-id"\n', encoding="utf-8")
    assert read_documents(corpus) == {"a": "A"}


def test_no_documents_or_none_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no documents; expected files of \.md"):
        read_documents(tmp_path)
    (tmp_path / "a.md").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(CorpusError, match=r"a\.md: cannot be read"):
        read_documents(tmp_path)


def test_passages_stand_where_they_say() -> None:
    text = "\n\n".join([PROSE * 6] * 9) + "\n\n  \n\n" + "x" * 2 * LONGEST
    made = passages_of({"d": text})
    assert all(text[p.start :].startswith(p.text) for p in made)
    assert "".join("".join(p.text.split()) for p in made) == "".join(text.split())
    assert all(len(p.text) <= LONGEST for p in made[:-1])
    assert len(made[-1].text) == 2 * LONGEST, "a paragraph is never cut"
    assert len({p.key for p in made}) == len(made)


def test_code_and_tables_are_not_asked_about() -> None:
    code = "```python\n" + "value = compute_the_value_of_something()\n" * 9 + "```"
    table = "| a row of a table | with two columns |\n" * 9
    passages = [
        DocumentPassage("d", i, text) for i, text in enumerate([PROSE * 2, code, table, "Short.", f"<!-- {PROSE} -->"])
    ]
    assert Passages(passages).worth_asking == {"d": passages[:1]}


def test_rare_words_are_nearer() -> None:
    texts = ["common word and common thing", "common word", "rareness of common word", "nothing"]
    passages = [DocumentPassage("d", i, text) for i, text in enumerate(texts)]
    found = Passages(passages).nearest("rareness common", 5)
    assert [p.start for p in found] == [2, 0, 1]
    assert [p.start for p in Passages(passages).nearest("rareness common", 1, [passages[2]])] == [0]


STORY = (
    "Words about bicycles, deposits and late returns stand here until the passage is long enough, {}." + " More." * 9
)
CORPUS = [DocumentPassage(doc, i, STORY.format(f"{doc} {i} rare{i}")) for doc in ("a", "b") for i in range(8)]


@pytest.mark.parametrize(
    ("text", "quotas"),
    [("single-hop=2", {"single-hop": 2}), (" multi-hop = 1 , unanswerable=0", {"multi-hop": 1, "unanswerable": 0})],
)
def test_quotas(text: str, quotas: dict[str, int]) -> None:
    assert read_quotas(text) == quotas


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("singlehop=2", "unknown kind 'singlehop' (did you mean 'single-hop'?)"),
        ("single-hop", "single-hop: expected how many"),
        ("single-hop=-1", "single-hop: expected how many"),
        ("single-hop=0", "no case is wanted"),
        ("", "no case is wanted"),
    ],
)
def test_quotas_that_are_none(text: str, told: str) -> None:
    with pytest.raises(AueporaError) as error:
        read_quotas(text)
    assert told in str(error.value)


def test_each_document_and_kind_has_tries_of_its_own() -> None:
    jobs = plan_jobs(Passages(CORPUS), {"single-hop": 2, "multi-hop": 1}, seed=0)
    assert {key: len(found) for key, found in jobs.items()} == {
        ("a", "single-hop"): 2 * TRIES, ("a", "multi-hop"): TRIES,
        ("b", "single-hop"): 2 * TRIES, ("b", "multi-hop"): TRIES,
    }  # fmt: skip
    assert all(job.passages[0].doc == job.doc == doc for (doc, _), found in jobs.items() for job in found)
    hops = [job.passages for (_, kind), found in jobs.items() for job in found if kind == "multi-hop"]
    assert all(one.doc != other.doc for one, other in hops)
    assert plan_jobs(Passages(CORPUS), {"single-hop": 2}, seed=0) == plan_jobs(
        Passages(CORPUS), {"single-hop": 2}, seed=0
    )


def test_another_document_does_not_change_the_order() -> None:
    alone = plan_jobs(Passages(CORPUS[:8]), {"single-hop": 1}, seed=3)
    assert plan_jobs(Passages(CORPUS), {"single-hop": 1}, seed=3)["a", "single-hop"] == alone["a", "single-hop"]


def test_groups_hold_every_passage_once_and_are_small() -> None:
    passages = [DocumentPassage("d", i, "x" * size) for i, size in enumerate([PACK // 2, PACK // 2, 9, 2 * PACK, 9, 9])]
    groups = [*group_passages(passages)]
    assert [passage for group in groups for passage in group] == passages
    assert [len(group) for group in groups] == [2, 1, 1, 2]
    assert [*group_passages([])] == []


@pytest.mark.parametrize(("kind", "calls"), [("single-hop", 7), ("multi-hop", 10)])
def test_the_price_of_a_try_is_all_that_may_be_asked(kind: str, calls: int) -> None:
    (job, *_) = plan_jobs(Passages(CORPUS), {kind: 1}, seed=0)["a", kind]
    assert price_of([job], CORPUS).calls == calls


def test_the_price_of_searching_it_all_grows_with_the_corpus() -> None:
    (job, *_) = plan_jobs(Passages(CORPUS), {"unanswerable": 1}, seed=0)["a", "unanswerable"]
    one, many = price_of([job], CORPUS), price_of([job], CORPUS * 50)
    assert one.calls == 3
    assert many.calls > one.calls
    assert many.prompt_tokens > 20 * one.prompt_tokens
    assert price_of([job, job], CORPUS) == tuple(2 * n for n in one)
