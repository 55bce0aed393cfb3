"""Exchanging label ids in a golden file: these scalars, and not a byte more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.edit import LabelFile
from pytest_auepora.io.golden.load import load_golden

GOLDEN = """\
# all about refunds
suite: shop   # of the shop
cases:
  - id: a    # first
    query: "Wer zahlt das Rückporto?"
    relevant_docs: [old-1, 'it''s#2', "old\\t3", {id: old-4,   grade: 2}]   # four
  - query: B
    id: b
    relevant_docs:
    - old-1      # again
    -   id:   >-
          folded
    - {doc: page, quote: "old-1"}
"""


def golden(tmp_path: Path, text: str, name: str = "shop.golden.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_labels_are_exchanged_in_place_and_keep_quotes(tmp_path: Path) -> None:
    file = LabelFile(golden(tmp_path, GOLDEN))
    new = {("a", 0): "new, 1", ("a", 1): "it's#9", ("a", 2): "tab", ("a", 3): "new-4", ("b", 0): "123"}
    wanted = (
        GOLDEN.replace("[old-1,", "['new, 1',").replace("'it''s#2'", "'it''s#9'").replace('"old\\t3"', '"tab"')
        .replace("id: old-4", "id: new-4").replace("- old-1 ", "- '123' ")
    )  # fmt: skip
    assert file.with_new_ids(new) == wanted.encode()
    assert file.places()["a", 3] == (6, 54)
    assert file.with_new_ids({}) == GOLDEN.encode()


def test_a_block_of_text_is_left_to_people(tmp_path: Path) -> None:
    with pytest.raises(GoldenFileError, match=r"shop.golden.yaml:11:15: .* cannot be exchanged in place"):
        LabelFile(golden(tmp_path, GOLDEN)).with_new_ids({("a", 0): "x", ("b", 1): "new"})


def test_line_ends_and_byte_order_mark_stay(tmp_path: Path) -> None:
    text = "\ufeff" + GOLDEN.replace("\n", "\r\n").rstrip()
    done = LabelFile(golden(tmp_path, text)).with_new_ids({("b", 0): "new"})
    assert done == text.replace("- old-1 ", "- new ").encode()


ANCHORED = """\
defaults: {relevant_docs: [base-1]}
cases:
  - {id: a, query: A}
  - {id: b, query: B, relevant_docs: &both [&one old-1, !!str 'old-2']}
  - {id: c, query: C, relevant_docs: *both}
  - {id: d, query: D, relevant_docs: [*one]}
"""


def test_what_is_written_once_is_exchanged_once(tmp_path: Path) -> None:
    file = LabelFile(golden(tmp_path, ANCHORED))
    new = {("a", 0): "base-2", ("b", 0): "n1", ("c", 0): "n1", ("d", 0): "n1", ("c", 1): "n2"}
    wanted = ANCHORED.replace("base-1", "base-2").replace("&one old-1", "&one n1").replace("'old-2'", "'n2'")
    assert file.with_new_ids(new) == wanted.encode()
    with pytest.raises(GoldenFileError, match="two new ids for it: 'n1' and 'n9'"):
        file.with_new_ids({("b", 0): "n1", ("d", 0): "n9"})


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"suite": "shop"}', '', '{"id": "a","query":"A", "relevant_docs" : [ "old-1" ,{"grade":2, "id" : "old-2"}]}',
        '{"query": "é", "id": "b", "relevant_docs": ["old-1"]}',
    ]  # fmt: skip
    text = "\r\n".join(lines)
    file = LabelFile(golden(tmp_path, text, "shop.golden.jsonl"))
    done = file.with_new_ids({("a", 0): 'n"1', ("a", 1): "ü", ("b", 0): "n"})
    wanted = text.replace('[ "old-1"', '[ "n\\"1"').replace('"old-2"', '"ü"').replace('["old-1"]', '["n"]')
    assert done == wanted.encode()
    assert file.places()["a", 1] == (3, 73)


ids = st.text(st.sampled_from("ab1é:#'\"\\,[]{}&*!%- ~"), min_size=1, max_size=8).map(
    lambda s: f"x{s}" if s.isspace() else s
)
styles = st.sampled_from(["plain", "single", "double", "mapping"])


def written(label: str, style: str) -> str:
    if style == "mapping":
        return f"{{grade: 1, id: {json.dumps(label)}}}  "
    if style == "single":
        return "'" + label.replace("'", "''") + "'"
    plain = label if label.isalnum() and label.isascii() and not label.isdigit() else json.dumps(label)
    return plain if style == "plain" and yaml.safe_load(plain) == label else json.dumps(label)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ids, styles, ids, st.booleans()), min_size=1, max_size=6, unique_by=lambda t: t[0]))
def test_an_edit_changes_the_ids_and_no_other_byte(tmp_path: Path, labels: list[tuple[str, str, str, bool]]) -> None:
    head, tail = "# ü\ncases:\n- id: a\n  query: Q\n  relevant_docs:\n", "  tags: [x]  # end"
    parts = [(f"  -  {'# ü' if n % 2 else ''}\n      ", f" # {n}\n") for n in range(len(labels))]
    text = (
        head + "".join(f"{a}{written(old, s)}{b}" for (a, b), (old, s, _, _) in zip(parts, labels, strict=True)) + tail
    )
    path = golden(tmp_path, text)
    new = {("a", n): f"{fresh}-{n}" for n, (_, _, fresh, chosen) in enumerate(labels) if chosen}
    done = LabelFile(path).with_new_ids(new).decode()
    rest = done
    for before, after in [*parts]:  # the fixed parts stand in the new text in their order
        for piece in (before, after):
            assert piece in rest
            rest = rest.partition(piece)[2]
    assert (done.startswith(head), done.endswith(tail)) == (True, True)
    path.write_bytes(done.encode())
    found = [d.doc_id for d in load_golden(path).cases[0].sample.relevant_docs or ()]
    assert found == [new.get(("a", n), old) for n, (old, *_) in enumerate(labels)]
    assert LabelFile(path).with_new_ids(new) == done.encode()  # once more changes nothing
