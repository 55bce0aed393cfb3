"""Our stemmer against NLTK's default mode, which rouge-score uses: stem for stem, over words real and made up."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from pytest_auepora.metrics.text.porter import porter_stem

from .texts import Compared

Stem = Callable[[str], str]

SUFFIXES = (
    "ational",
    "tional",
    "enci",
    "ency",
    "anci",
    "ancy",
    "izer",
    "bli",
    "bly",
    "abli",
    "ably",
    "alli",
    "ally",
    "entli",
    "ently",
    "eli",
    "ely",
    "ousli",
    "ously",
    "ization",
    "ation",
    "ator",
    "alism",
    "iveness",
    "fulness",
    "ousness",
    "aliti",
    "ality",
    "iviti",
    "ivity",
    "biliti",
    "bility",
    "fulli",
    "fully",
    "logi",
    "logy",
    "icate",
    "ative",
    "alize",
    "iciti",
    "icity",
    "ical",
    "ful",
    "ness",
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "ion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ity",
    "ous",
    "ive",
    "ize",
    "e",
    "ll",
    "l",
    "s",
    "es",
    "ies",
    "sses",
    "ss",
    "ed",
    "ing",
    "eed",
    "ied",
    "y",
    "ying",
    "at",
    "bl",
    "iz",
)


@pytest.fixture(scope="module")
def nltk_stem() -> Stem:
    porter = pytest.importorskip("nltk.stem.porter", reason="the oracle of the stemmer is nltk")
    stem: Stem = porter.PorterStemmer().stem
    return stem


def library_words() -> set[str]:
    """Every word in the sources of the standard library: tens of thousands, and there on every machine."""
    found: set[str] = set()
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py"))[:600]:
        if "site-packages" not in path.parts:
            found.update(re.findall(r"[a-z0-9]{1,40}", path.read_text(encoding="utf-8", errors="ignore").lower()))
    return found


def made_up(n: int, seed: int) -> Iterator[str]:
    """Stems of any shape with up to three suffixes behind each other, so that every rule is tried."""
    rng = random.Random(seed)
    for _ in range(n):
        stem = "".join(rng.choices("aeiouybcdlstzwx1", k=rng.randint(0, 6)))
        yield stem + "".join(rng.choices(SUFFIXES, k=rng.randint(not stem, 3)))


def check(stem: Stem, words: set[str]) -> int:
    wrong = [(word, ours, theirs) for word in words if (ours := porter_stem(word)) != (theirs := stem(word))]
    assert not wrong, wrong[:10]
    return len(words)


def test_every_word_of_the_standard_library(nltk_stem: Stem, compared: Compared) -> None:
    words = library_words()
    assert len(words) > 5_000
    compared("nltk stems of real words", check(nltk_stem, words))


def test_made_up_words(nltk_stem: Stem, compared: Compared) -> None:
    compared("nltk stems of made-up words", check(nltk_stem, set(made_up(40_000, seed=3))))


def test_every_short_word_of_letters_that_rules_look_at(nltk_stem: Stem, compared: Compared) -> None:
    words = {"".join(letters) for n in (1, 2, 3, 4) for letters in product("aeysldgixt", repeat=n)}
    compared("nltk stems of short words", check(nltk_stem, words))
