"""``auepora help``: the pages in the terminal."""

from __future__ import annotations

import pytest

from pytest_auepora.base.pages import page_paths
from pytest_auepora.cli.help import title_of

from .conftest import Shell


@pytest.mark.parametrize("topic", [topic for topic in page_paths() if topic != "index"])
def test_every_page_can_be_printed(shell: Shell, topic: str) -> None:
    said = shell("help", topic)
    assert (said.code, said.err) == (0, "")
    assert "<!--" not in said.out
    assert "](" not in said.out.replace("`", "")
    prose = [line for line in said.out.splitlines() if not line.startswith("    ")]
    assert max(map(len, prose)) <= 140  # a code span in a table is never cut


def test_without_a_topic_the_pages_are_listed(shell: Shell) -> None:
    said = shell("help")
    assert said.code == 0
    lines = {line.partition(" ")[0]: line for line in said.out.splitlines()}
    for topic in (topic for topic in page_paths() if topic != "index"):
        assert lines[topic].endswith(title_of(topic))


@pytest.mark.parametrize(
    ("topic", "heading"),
    [
        ("ci#gitlab", "GitLab"), ("ci#GitLab", "GitLab"), ("GITLAB", "GitLab"), ("the anchor", "The anchor"),
        ("recall is 0", "Recall is 0: why"),
    ],
)  # fmt: skip
def test_a_section_or_words_of_a_heading(shell: Shell, topic: str, heading: str) -> None:
    said = shell("help", *topic.split(" "))
    assert (said.code, said.out.partition("\n")[0]) == (0, heading)


def test_the_name_of_a_command_prints_its_usage(shell: Shell) -> None:
    assert shell("help", "draft") == shell("draft", "--help")
    assert shell("help", "why").out.partition("\n")[0] == title_of("why"), "but for a page of the same name"


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("tutorals", "there is no page 'tutorals' (did you mean 'tutorial'?)"),
        ("xyzzy", "there is no page 'xyzzy'; auepora help lists the pages"),
        ("ci#gitlub", "the page ci has no section 'gitlub' (did you mean 'gitlab'"),
        ("metric", "'metric' is in several headings: "),
    ],
)
def test_a_topic_that_is_not_there(shell: Shell, topic: str, said: str) -> None:
    found = shell("help", topic)
    assert found.code == 2
    assert said in found.err
