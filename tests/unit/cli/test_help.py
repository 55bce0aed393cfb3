"""``auepora help``: the pages in the terminal."""

from __future__ import annotations

import pytest

from pytest_auepora.base.pages import page_paths
from pytest_auepora.cli.page_text import headings, page_text, plain_text, section_of

from .conftest import Shell

PAGE = """\
# A page

<!-- project: other.md -->

First *words*, with a [link](other.md#x) and `code *as* it is`,
over **two** lines.

<!-- run: pytest | exit 0
     and more -->

- one
- two, which is
  long

1. first

| Key | Means |
|---|---|
| `a\\|b` | [either](x.md) |

| Key | Means | Default |
|---|---|---|
| `k` | cut-off | 5 |
| `m` |  | |

```python title="conftest.py"
def rag():
    return "# no heading"

    # -
```

## A section: of `it`

text

### Deeper

more

## Another

end
"""

TEXT = """\
A page
======

First words, with a link and `code
*as* it is`, over two lines.

- one
- two, which is long
1. first

`a|b`
    either

`k`
    Means: cut-off
    Default: 5
`m`

conftest.py:

    def rag():
        return "# no heading"

        # -

A section: of `it`
------------------

text

Deeper
------

more

Another
-------

end
"""


def test_a_page_as_text() -> None:
    assert page_text(PAGE, 36) == TEXT


def test_a_section_ends_where_the_next_begins() -> None:
    assert section_of(PAGE, "a-section-of-it").splitlines()[-1:] == ["more"]
    assert section_of(PAGE, "deeper").startswith("### Deeper\n\nmore")
    assert section_of(PAGE, "no-heading") == ""
    assert headings(PAGE) == ["A page", "A section: of `it`", "Deeper", "Another"]


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
    assert "\nrecall-is-zero      Recall is 0: why\n" in said.out


@pytest.mark.parametrize("topic", ["ci#gitlab", "ci#GitLab", "the anchor", "GITLAB", "recall is 0"])
def test_a_section_or_words_of_a_heading(shell: Shell, topic: str) -> None:
    said = shell("help", *topic.split(" "))
    assert said.code == 0
    title = said.out.partition("\n")[0]
    assert title in ("GitLab", "The anchor", "Recall is 0: why")


def test_the_name_of_a_command_prints_its_usage(shell: Shell) -> None:
    assert shell("help", "draft") == shell("draft", "--help")


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


def test_marks_within_words_stay() -> None:
    assert plain_text("a * b, *c*, **d e**, 2*3*4") == "a * b, c, d e, 2*3*4"
