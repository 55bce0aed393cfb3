"""Tokenization into words and sentences; the words of recent texts are cached.

Words are cut as rouge-score does, as SQuAD does, or in one way for every script.  All are pure functions of the text.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import Any, Literal, TypeVar, cast

Cut = Literal["default", "unicode"]

# Compiled where they are first used: what is written in ASCII alone needs none of them.
_ASCII_WORD = r"[a-z0-9]+"
_ARTICLE = r"\b(a|an|the)\b"
_ARTICLE_ANY_CASE = rf"(?i){_ARTICLE}"
_NO_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CACHED_TEXTS = 1024  # those of some batches, whose metrics ask for the same ones
_MAX_CACHED_CHARACTERS = 50_000  # a longer text is cut again each time instead of being kept in memory
_CACHED_STEMS = 100_000

W = TypeVar("W", bound=Callable[..., tuple[str, ...]])
_CACHES: list[Any] = []

# Scripts written without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, bopomofo, Han.
# Characters beyond U+FFFF stand in classes of their own, because they would make the others slow.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
)
_UNSPACED_FAR = "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_UNSPACED_CHAR = f"[{_UNSPACED}]|[{_UNSPACED_FAR}]"
# Blocks whose punctuation SQuAD's ASCII list does not know; Latin text has none of it
_FOREIGN_PUNCTUATION = "\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb"
_FOREIGN = f"[{_FOREIGN_PUNCTUATION}\uff61-\uff65]"
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def _cached(cut: W) -> W:
    """Remember the words of the latest texts, but for long ones."""
    remembered = lru_cache(maxsize=_CACHED_TEXTS)(cut)
    _CACHES.append(remembered)

    @wraps(cut)
    def words_of(text: str, *args: Any, **kwargs: Any) -> tuple[str, ...]:
        return (cut if len(text) > _MAX_CACHED_CHARACTERS else remembered)(text, *args, **kwargs)

    return cast("W", words_of)


@lru_cache(maxsize=1)
def _stemming_tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer  # takes long, as it imports all of nltk

    return DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=_CACHED_STEMS)
def _stem(word: str) -> str:
    """Return the stem of a word of ASCII letters and digits; without the cache, ROUGE is as slow as rouge-score."""
    (stem,) = _stemming_tokenizer().tokenize(word)
    return str(stem)


@_cached
def words(text: str, cut: Cut = "default", *, stem: bool = False) -> tuple[str, ...]:
    """Return the words of *text* for n-gram comparison.

    Args:
        text: any text.
        cut: ``"default"`` is rouge-score's tokenizer: lower-cased runs of a-z and 0-9.  ``"unicode"`` takes
            words of every script after NFKC and case folding, one character a word where a script is written
            without spaces; on ASCII text both give the same.
        stem: apply rouge-score's stemmer (nltk's Porter stemmer) to ASCII words of more than three letters.
    """
    if cut == "default":
        from rouge_score.tokenize import tokenize

        tokens = tokenize(text, None)
    elif text.isascii():
        tokens = re.findall(_ASCII_WORD, text.lower())  # as below, without the expression for every script
    else:
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        tokens = _unicode_word(_is_far(text)).findall(text)
    return tuple([_stem(word) if word.isascii() else word for word in tokens]) if stem else tuple(tokens)


@lru_cache(maxsize=2)
def _unicode_word(far: bool) -> re.Pattern[str]:
    unspaced, mark = _unspaced(far), _mark(far)
    spaced = rf"(?!{unspaced})[^\W_]"
    return re.compile(rf"(?=[^\W_]){unspaced}{mark}*|{spaced}(?:{spaced}|{mark}+)*")


@lru_cache(maxsize=2)
def _unspaced_or_not(far: bool) -> re.Pattern[str]:
    return re.compile(f"{_unspaced(far)}{_mark(far)}*|[^{_UNSPACED}{_UNSPACED_FAR if far else ''}]+")


def _is_far(text: str) -> bool:
    """Whether *text* has characters beyond U+FFFF, for which the expressions are slower."""
    return max(text, default="") > "\uffff"


def _unspaced(far: bool) -> str:
    return f"(?:[{_UNSPACED}]|[{_UNSPACED_FAR}])" if far else f"[{_UNSPACED}]"


@lru_cache(maxsize=2)
def _mark(far: bool) -> str:
    """Return an expression for a combining mark: no word character to `re`, which would cut Indic and Thai words."""

    def marks(*blocks: tuple[int, int]) -> str:
        return "".join(chr(c) for a, b in blocks for c in range(a, b) if unicodedata.category(chr(c))[0] == "M")

    near = marks((0x300, 0x3100), (0xA600, 0xAC00), (0xFB1E, 0xFE30))
    return f"(?:[{near}]|[{marks((0x10A00, 0x12000), (0x1E000, 0x1E950))}])" if far else f"[{near}]"


def is_mostly_ascii(text: str) -> bool:
    """Whether at least half of the letters and digits of *text* are a-z, 0-9: what the default cut can see."""
    if text.isascii():
        return True
    lowered = text.lower()
    n_ascii = sum(map(len, re.findall(_ASCII_WORD, lowered)))
    return 2 * n_ascii >= sum(map(str.isalnum, lowered))


def _has_unspaced(text: str) -> bool:
    return not text.isascii() and re.search(_UNSPACED_CHAR, text) is not None


def is_mostly_unspaced(text: str) -> bool:
    """Whether at least half of the letters and digits of *text* belong to scripts written without spaces."""
    return _has_unspaced(text) and 2 * len(re.findall(_UNSPACED_CHAR, text)) >= sum(map(str.isalnum, text))


def is_joining(text: str, i: int) -> bool:
    """Whether position *i* of *text* lies inside a word, between two of its letters, marks or digits."""
    return 0 < i < len(text) and _is_word_character(text[i - 1]) and _is_word_character(text[i])


def _is_word_character(char: str) -> bool:
    return (char.isalnum() and not _has_unspaced(char)) or (not char.isascii() and unicodedata.category(char)[0] == "M")


def cut_scripts(text: str) -> str:
    """Put spaces around each character of an unspaced script, drop CJK, Arabic and Indic punctuation.

    Full-width letters and digits become plain ones.  Text that has none of these comes back as it is.
    """
    if text.isascii():
        return text
    text = re.sub(_FOREIGN, "", text.translate(_FULL_WIDTH))
    if not _has_unspaced(text):
        return text
    return " ".join(_unspaced_or_not(_is_far(text)).findall(text))


@_cached
def squad_words(
    text: str, *, case: bool = True, punctuation: bool = True, articles: bool = True, multilingual: bool = False
) -> tuple[str, ...]:
    """Return the words of *text* as SQuAD's evaluation compares them.

    In SQuAD's order: lower-case, delete ASCII punctuation, delete articles, split at white space; each of the
    first three can be switched off.  With *multilingual*, `cut_scripts` comes after lower-casing, which
    changes nothing in scripts that are written with spaces and Western punctuation.
    """
    if case:
        text = text.lower()
    if multilingual:
        text = cut_scripts(text)
    if punctuation:
        text = text.translate(_NO_ASCII_PUNCTUATION)
    if articles:
        text = re.sub(_ARTICLE if case else _ARTICLE_ANY_CASE, " ", text)
    return tuple(text.split())


def ngrams(tokens: Sequence[str], n: int) -> Iterable[Any]:
    """Return the n-grams of *tokens* in order; single words are not wrapped."""
    return tokens if n == 1 else zip(*(tokens[i:] for i in range(n)), strict=False)


def common_count(items: Iterable[Hashable], reference: Iterable[Hashable]) -> int:
    """Return how many of *items* the *reference* has too, each counted at most as often as it stands there."""
    reference_counts = Counter(reference)
    counts = Counter(filter(reference_counts.__contains__, items))
    return sum(min(count, reference_counts[item]) for item, count in counts.items())


def answer_words(text: str) -> tuple[str, ...]:
    """Words for comparing an answer with evidence: every script, no stems, ASCII exactly like ROUGE's."""
    return words(text, "unicode")


_ABBREVIATIONS = frozenset(
    ("dr", "e.g", "etc", "fig", "i.e", "jr", "mr", "mrs", "ms", "no", "nos", "p", "pp", "prof", "sr", "st", "u.s", "vs")
)


_SENTENCE_END = r"[.!?…]+[\"'”’)»]*(?:\s?\[[^\[\]\n]{1,60}\])*(?=\s|$)|[。！？]+[」』）]*|\n"  # noqa: RUF001 - CJK marks
"""With closing marks and citations behind it."""
_BULLET = r"^\s*(?:[-*•]|\d{1,3}[.)]|#{1,6})\s+"


def sentences(text: str) -> list[str]:
    """Return the sentences of *text* in order, without blanks around them; a new line ends one as well.

    A citation such as ``[2]`` behind a full stop belongs to the sentence before it.  Bullets and numbers of list
    items are left out.
    """
    parts, start = [], 0
    for end in re.finditer(_SENTENCE_END, text):
        if not _is_abbreviation(text[start : end.end()], text[end.end() :]):
            parts.append(text[start : end.end()])
            start = end.end()
    parts.append(text[start:])
    return [sentence for part in parts if re.search(r"\w", sentence := re.sub(_BULLET, "", part).strip())]


def _is_abbreviation(before: str, after: str) -> bool:
    """Whether the full stop after *before* ends no sentence: an abbreviation, an initial, or small letters follow."""
    if not before.endswith("."):
        return False
    last = before[:-1].split()[-1:] or [""]
    word = last[0].lstrip("(\"'").lower()
    initial = len(word) == 1 and word.isalpha() and last[0].isupper()
    return word in _ABBREVIATIONS or initial or after.lstrip()[:1].islower()
