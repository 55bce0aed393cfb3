"""Earlier turns of a conversation in golden files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.io.files import load, only, problems

from .test_cases_hash import hash_of

TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    "written",
    [
        "[{user: hi}, {assistant: hello}]",
        "[{role: user, content: hi}, {content: hello, role: assistant}]",
        "[{user: hi}, {role: assistant, content: hello}]",
    ],
)
def test_turns_are_read_as_messages(tmp_path: Path, written: str) -> None:
    assert only(tmp_path, f"chat_history: {written}").sample.chat_history == TURNS


def test_a_case_without_turns_has_none(tmp_path: Path) -> None:
    assert only(tmp_path, "tags: [x]").sample.chat_history == []


def test_a_case_may_take_the_turns_of_the_defaults_or_none(tmp_path: Path) -> None:
    text = "defaults: {chat_history: [{user: hi}]}\ncases: [{id: a, query: Q}, {id: b, query: Q, chat_history: []}]\n"
    assert [case.sample.chat_history for case in load(tmp_path, text).cases] == [TURNS[:1], []]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("[hi]", "expected a turn: {user: …} or {assistant: …}, got 'hi'"),
        ("{user: hi}", "expected a list of turns, oldest first"),
        ("[{human: hi}]", "unknown key 'human' (did you mean 'user'?)"),
        ("[{asistant: hi}]", "unknown key 'asistant' (did you mean 'assistant'?)"),
        ("[{user: ''}]", "user: expected text, got an empty text"),
        ("[{user: hi, assistant: hello}]", "got user, assistant"),
        ("[{}]", "got nothing"),
        ("[{role: user}]", "got role"),
        ("[{role: ai, content: hi}]", "role: expected one of user, assistant, system, got 'ai' (did you mean 'assist"),
        ("[{role: user, content: 3}]", "content: expected text"),
    ],
)
def test_what_is_no_turn_is_named_at_its_place(tmp_path: Path, written: str, complaint: str) -> None:
    (problem,) = problems(tmp_path, f"cases:\n- id: a\n  query: Q\n  chat_history: {written}\n")
    assert problem.startswith("4:")
    assert complaint in problem


def test_turns_are_part_of_the_question(tmp_path: Path) -> None:
    plain = hash_of(tmp_path, "id: a, query: Q")
    asked = hash_of(tmp_path, "id: a, query: Q, chat_history: [{user: hi}]")
    assert hash_of(tmp_path, "id: a, query: Q, chat_history: []") == plain
    assert plain != asked != hash_of(tmp_path, "id: a, query: Q, chat_history: [{assistant: hi}]")
    assert hash_of(tmp_path, "id: a, query: Q, chat_history: [{role: user, content: hi}]") == asked
    assert hash_of(tmp_path, "id: a, query: Q, conversation: c") == plain
    assert hash_of(tmp_path, "id: a, query: Q, as: intern") != plain


def test_turns_of_one_conversation_are_one_cluster(tmp_path: Path) -> None:
    text = """\
        cases:
        - {id: a, query: Q, conversation: c}
        - {id: b, query: Q, conversation: c}
        - {id: b2, query: Q, variant_of: b}
        - {id: d, query: Q, conversation: c, cluster: own}
        - {id: e, query: Q}
        """
    cases = load(tmp_path, text).cases
    assert [case.cluster for case in cases] == ["c", "c", "c", "own", "e"]
    assert [case.sample.labels.get("conversation") for case in cases] == ["c", "c", None, "c", None]


def test_who_asks_is_a_label(tmp_path: Path) -> None:
    assert only(tmp_path, "as: intern").sample.labels == {"as": "intern"}


@pytest.mark.parametrize("wrong", ["history: []", "messages: []", "conversation_id: c", "principal: x"])
def test_other_names_of_the_keys_are_explained(tmp_path: Path, wrong: str) -> None:
    (problem,) = problems(tmp_path, f"cases:\n- {{id: a, query: Q, {wrong}}}\n")
    assert "(did you" in problem
