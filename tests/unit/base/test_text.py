"""Words that messages share: near names, lists, what an error says."""

from __future__ import annotations

import pytest

from pytest_auepora.base.text import (
    decimal_text,
    did_you_mean,
    error_line,
    forms_words,
    message_of,
    names_words,
    shorten,
    twin_of,
    unknown_name,
)


def test_of_many_names_the_first_are_told() -> None:
    assert names_words([]) == ""
    assert names_words(["a", "b"], 2) == "a, b"
    assert names_words(["a", "b", "c"], 2) == "a, b and 1 more"
    assert names_words([1, 22, 333, 4444], 2, hex) == "0x1, 0x16 and 2 more"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8, "0.8"), (3e-05, "0.00003"), (-1.5e20, "-150000000000000000000"), (0.1 + 0.2, "0.3"), (5, "5")],
)
def test_a_number_is_written_without_an_exponent(value: float, text: str) -> None:
    assert decimal_text(value) == text


def test_an_error_in_one_line() -> None:
    assert error_line(ValueError("\nno\nnumber")) == "ValueError: no"
    assert error_line(ValueError()) == "ValueError"
    assert (shorten("abcd", 4), shorten("abcde", 4)) == ("abcd", "abc…")


def test_near_words_are_named_in_their_own_case() -> None:
    assert did_you_mean("recal", ["Recall", "mrr"]) == " (did you mean 'Recall'?)"
    assert did_you_mean("map", ["map@5", "mrr", "Map"], most=2) == " (did you mean 'Map' or 'map@5'?)"
    assert did_you_mean("zebra", ["recall"]) == ""
    assert did_you_mean("recall" * 50, ["recall" * 50]) == "", "no slip of a name is so long"


def test_an_unknown_name_tells_its_near_ones() -> None:
    error = unknown_name("metric", "recal", ["recall", "mrr"])
    assert str(error) == "unknown metric 'recal' (did you mean 'recall'?)"
    assert isinstance(error, LookupError)
    assert len(str(unknown_name("metric", "x" * 1000, ["y"]))) < 300


def test_an_error_without_a_message_still_has_one() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert message_of(ValueError("no")) == "no"
    assert message_of(Silent()) == "<exception str() failed>"


NFC, NFD = "Gr\u00f6\u00dfe.md", "Gro\u0308\u00dfe.md"


def test_a_twin_is_the_same_name_in_another_unicode_form() -> None:
    assert (twin_of(NFC, ["a", NFC, NFD]), twin_of(NFD, [NFC]), twin_of("\u212b", ["A\u030a"])) == (NFD, NFC, "A\u030a")
    assert twin_of(NFC, [NFC, "Grosse.md"]) == twin_of("a.md", ["a.md"]) == ""


def test_both_forms_of_a_name_are_told_apart() -> None:
    assert forms_words(NFC, NFD) == r"'Gr\xf6\xdfe.md' (NFC) and 'Gro\u0308\xdfe.md' (NFD)"
    assert forms_words("\u212b\u00f6", NFC).startswith(r"'\u212b\xf6' (neither NFC nor NFD)")
