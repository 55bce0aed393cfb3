"""Documents of a folder, their passages, and which are near."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.drafting.documents import LONGEST, Passage, Passages, passages_of, read_documents
from pytest_auepora.errors import CorpusError

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
    passages = [Passage("d", i, text) for i, text in enumerate([PROSE * 2, code, table, "Short.", f"<!-- {PROSE} -->"])]
    assert Passages(passages).worth_asking == {"d": passages[:1]}


def test_rare_words_are_nearer() -> None:
    texts = ["common word and common thing", "common word", "rareness of common word", "nothing"]
    passages = [Passage("d", i, text) for i, text in enumerate(texts)]
    found = Passages(passages).nearest("rareness common", 5)
    assert [p.start for p in found] == [2, 0, 1]
    assert [p.start for p in Passages(passages).nearest("rareness common", 1, [passages[2]])] == [0]
