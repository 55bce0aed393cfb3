"""Words: the three ways text is cut."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from pytest_auepora.metrics.text.tokens import (
    _CACHES,
    answer_words,
    common_count,
    cut_scripts,
    is_joining,
    is_mostly_ascii,
    is_mostly_unspaced,
    squad_words,
    words,
)


@given(st.text(alphabet=st.characters(max_codepoint=127)), st.booleans())
def test_both_cuts_agree_on_ascii(text: str, stem: bool) -> None:
    assert words(text, "unicode", stem=stem) == words(text, "default", stem=stem)


@pytest.mark.parametrize("stem", [False, True])
@given(text=st.text(alphabet=st.characters() | st.sampled_from(" \t\n\u00a0\x1c-aeginstyİΣẞ"), max_size=200))
def test_the_default_words_are_those_of_rouge_score(stem: bool, text: str) -> None:
    assert list(words(text, stem=stem)) == DefaultTokenizer(use_stemmer=stem).tokenize(text)


def test_words_without_stems_do_not_import_nltk() -> None:
    code = (
        "import sys\nfrom pytest_auepora.metrics.text.tokens import words\n"
        "assert not {'nltk', 'rouge_score'} & set(sys.modules)\n"
        "assert words('running stems') == ('running', 'stems') and 'nltk' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert words("running stems", stem=True) == ("run", "stem")
    assert "nltk" in sys.modules


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京大学", ("北", "京", "大", "学")),
        ("GPT4在北京", ("gpt4", "在", "北", "京")),
        ("ما هي العاصمة؟", ("ما", "هي", "العاصمة")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("ภาษาไทย", ("ภ", "า", "ษ", "า", "ไ", "ท", "ย")),
        ("Straße \uff2e\uff45\uff54", ("strasse", "net")),
        ("snake_case", ("snake", "case")),
        ("😀 … ؟", ()),
        ("서울특별시 강남", ("서울특별시", "강남")),
    ],
)
def test_words_of_other_scripts(text: str, expected: tuple[str, ...]) -> None:
    assert answer_words(text) == expected


def test_composed_and_decomposed_letters_are_one_word() -> None:
    assert answer_words("café") == answer_words("cafe\u0301") == ("café",)


def test_stems_leave_short_and_foreign_words_alone() -> None:
    assert words("does refunding", stem=True) == ("doe", "refund")
    assert words("was Häuser рефанды", "unicode", stem=True) == ("was", "häuser", "рефанды")


def test_squad_order() -> None:
    assert squad_words("The  U.S. (a) 'an' theme!") == ("us", "theme")
    assert squad_words("The A", articles=False) == ("the", "a")
    assert squad_words("THE Cat", case=False) == ("Cat",)
    assert squad_words("a-b c", punctuation=False, articles=False) == ("a-b", "c")


near_articles = st.lists(
    st.sampled_from(["a", "an", "the", "The", "x", " ", "\n", "\x00", "\x1f", "\x7f", "-", "_", "\xa0", "é"])
).map("".join)


@given(st.text(st.characters(max_codepoint=127)) | near_articles)
def test_squad_words_are_those_of_its_expressions(text: str) -> None:
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    without_articles = re.sub(r"\b(a|an|the)\b", " ", plain)
    assert squad_words(text) == tuple(without_articles.split())


@given(st.text(st.characters(max_codepoint=300)))
def test_default_words_are_those_of_the_expression(text: str) -> None:
    runs = re.findall("[a-z0-9]+", text.lower())
    assert words(text) == tuple(runs)


def test_unspaced_scripts_are_cut_only_when_asked() -> None:
    assert squad_words("北京。") == ("北京。",)
    assert squad_words("北京。", multilingual=True) == ("北", "京")
    assert cut_scripts("plain, text.") == "plain, text."
    assert cut_scripts("déjà vu") == "déjà vu"
    assert cut_scripts("\uff21\uff22\uff11\uff12\uff1f") == "AB12?"


@pytest.mark.parametrize(
    ("text", "ascii_", "unspaced"),
    [
        ("hello", True, False),
        ("Москва", False, False),
        ("北京 2008", True, False),
        ("北京大学", False, True),
        ("", True, False),
    ],
)
def test_which_script_prevails(text: str, ascii_: bool, unspaced: bool) -> None:
    assert is_mostly_ascii(text) is ascii_
    assert is_mostly_unspaced(text) is unspaced


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_common_items_are_those_of_both_multisets(items: list[str], reference: list[str]) -> None:
    assert common_count(iter(items), iter(reference)) == (Counter(items) & Counter(reference)).total()


def test_joining() -> None:
    assert is_joining("refund", 3)
    assert not is_joining("a b", 1)
    assert not is_joining("北京", 1)
    assert is_joining("कि", 1)
    assert not is_joining("x", 0)
    assert not is_joining("x", 1)


def test_a_long_text_is_cut_and_not_remembered() -> None:
    def remembered() -> int:
        return sum(cache.cache_info().currsize for cache in _CACHES)

    before = remembered()
    assert len(words("word " * 200_000)) == 200_000
    assert remembered() == before


def test_characters_beyond_the_first_plane_are_cut_alike() -> None:
    text = "北京𠀀大 हिन्दी ok"
    assert answer_words(text) == ("北", "京", "𠀀", "大", "हिन्दी", "ok")
    assert answer_words(text.replace("𠀀", "")) == ("北", "京", "大", "हिन्दी", "ok")
    assert squad_words(text, multilingual=True) == ("北", "京", "𠀀", "大", "हिन्दी", "ok")
    assert is_mostly_unspaced("𠀀𠀁")
