"""Porter's stemmer with the extensions of NLTK's default mode, which are those of rouge-score; stem for stem the same.

M. F. Porter 1980, An algorithm for suffix stripping, Program 14 (3), 130-137.  Importing NLTK takes longer than
scoring ten thousand answers, hence a stemmer of our own; the tests hold it to NLTK's.

The *shape* of a word has a letter per letter, ``c`` for a consonant and ``v`` for a vowel; its *measure* is how
often ``vc`` occurs in it.  Every rule is about how a word ends and the measure of what stands before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

__all__ = ["porter_stem"]

_IRREGULAR = {
    **{word: word for word in ("canning", "exceed", "howe", "inning", "news", "outing", "proceed", "sky", "succeed")},
    **{"cannings": "canning", "innings": "inning", "outings": "outing", "skies": "sky"},
    **{"dying": "die", "lying": "lie", "tying": "tie"},
}

_KINDS = defaultdict(lambda: "c", {ord(letter): "v" for letter in "aeiou"} | {ord("y"): "y"})

_Rules = Mapping[str, tuple[tuple[str, str], ...]]
"""By the last two letters of a word: suffixes, longest first, and what replaces them."""


def _rules(text: str) -> _Rules:
    pairs = [(suffix, new) for suffix, _, new in (rule.partition(":") for rule in text.split())]
    rules: dict[str, tuple[tuple[str, str], ...]] = {}
    for pair in sorted(pairs, key=lambda pair: -len(pair[0])):
        rules[pair[0][-2:]] = (*rules.get(pair[0][-2:], ()), pair)
    return rules


_STEP_2 = _rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful logi:log"
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _rules("al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:")


def porter_stem(word: str) -> str:
    """Return the stem of *word*, which is in lower case.  Words of one or two letters are their own stems."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    if word[-1] == "s":
        word = _without_plural(word)
    if word[-1] in "dg":
        word = _without_participle(word)
    if word[-1] == "y" and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _without_double_suffix(word)
    word = _replaced(word, _STEP_3)
    word = _without_suffix(word)
    return _tidied(word)


def _shape(word: str) -> str:
    """Return the shape of *word*; y is a vowel after a consonant, and else a consonant."""
    shape = word.translate(_KINDS)
    if "y" not in shape:
        return shape
    kinds, before = [], "v"
    for kind in shape:
        before = kind if kind != "y" else "v" if before == "c" else "c"
        kinds.append(before)
    return "".join(kinds)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Whether *word* ends in consonant, vowel, consonant other than w, x, y; or is a vowel and a consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape[-3:] == "cvc" and word[-1] not in "wxy")


def _without_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _without_participle(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    cut = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    stem = word[:-cut] if cut else ""
    if "v" not in (shape := _shape(stem)):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1] and shape[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _is_short(stem) else stem


def _replaced(word: str, rules: _Rules) -> str:
    """Apply the rule of the longest suffix that fits, if the measure of what stands before is above 0."""
    for suffix, new in rules.get(word[-2:], ()):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            kept = word[:-3] if suffix == "logi" else stem
            return stem + new if _measure(kept) else word
    return word


def _without_double_suffix(word: str) -> str:
    """Step 2; what ``alli`` leaves is looked at once more."""
    done = _replaced(word, _STEP_2)
    return _replaced(done, _STEP_2) if word.endswith("alli") else done


def _without_suffix(word: str) -> str:
    """Step 4."""
    for suffix, _ in _STEP_4.get(word[-2:], ()):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            is_cut = _measure(stem) > 1 and (suffix != "ion" or stem[-1] in "st")
            return stem if is_cut else word
    return word


def _tidied(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
