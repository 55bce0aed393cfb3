"""Pages of Markdown as text for a terminal."""

from __future__ import annotations

from pytest_auepora.reporting.terminal.page_text import headings, page_text, plain_text, section_of

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


def test_marks_within_words_stay() -> None:
    assert plain_text("a * b, *c*, **d e**, 2*3*4") == "a * b, c, d e, 2*3*4"
