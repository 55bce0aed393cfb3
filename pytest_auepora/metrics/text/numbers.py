"""Numbers and dates of a text in one normal form, and the metric over those without evidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from ...core.conversation import asked_text
from ...core.metrics_base import CaseScore, Measurement
from ...core.types import EvaluationSample, SystemOutputs
from ..options import needed
from ..values import nonempty
from .comparands import AgainstEvidence, given_answer, retrieved_texts

_BELOW_20 = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
             "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SMALL = {word: i for i, word in enumerate(_BELOW_20)}
_SMALL |= {word: 10 * i for i, word in enumerate(_TENS, 2)}
_SMALL |= {word: i for i, word in enumerate(_ORDINALS, 1)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""Words that multiply the number before them."""

_TOKEN = re.compile(r"[a-z]+|[^\sa-z-]")


def read_number_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield every number written in words in the lower-case *text*, with the word that follows it."""
    total, current, last = 0, -1, ""  # current is -1 where no number is open
    for word in [*_TOKEN.findall(text), ""]:
        if word in _SMALL and (current < 0 or _fits(current, _SMALL[word])):
            current = max(current, 0) + _SMALL[word]
        elif word == "hundred" and current >= 0:
            current = (current or 1) * 100
        elif word in SCALES and current >= 0:
            total, current = total + (current or 1) * SCALES[word], 0
        elif not (word == "and" and current >= 0 and (last == "hundred" or last in SCALES)):
            if current >= 0:
                yield total + current, word
            total, current = 0, _SMALL.get(word, -1)
        last = word


def _fits(current: int, small: int) -> bool:
    """Whether *small* continues the number: after a round hundred or thousand, or ``twenty`` + ``five``."""
    return current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and 0 < small < 10)


Value = Decimal | str | tuple[int, int, int]


class Quantity(NamedTuple):
    """One number or date of a text.

    ``readings`` are what it may mean: a number; year, month and day (day 0 where none is given), twice for
    ``01/05/2024``; or the text itself for versions and times of day.  ``unit`` is empty where none is
    known.
    """

    text: str
    readings: tuple[Value, ...]
    unit: str = ""


_MONTH_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                "november", "december")  # fmt: skip
_MONTHS = {name[:3]: i for i, name in enumerate(_MONTH_NAMES, 1)}
_MONTH = "sept|" + "|".join(f"{name}|{name[:3]}" for name in _MONTH_NAMES)
_ORDINAL = "(?:st|nd|rd|th)?"
_GAP = r"(?:\s*,\s*|\s+)"
_DATE = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<iso>(\d{4})([-/.])(\d{1,2})\3(\d{1,2}))"
    r"|(?P<plain>(\d{1,2})([-/.])(\d{1,2})\8(\d{4}))"
    rf"|(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<m1>{_MONTH})\.?{_GAP}(?P<y1>\d{{4}})"
    rf"|(?P<m2>{_MONTH})\.?\s+(?P<day2>\d{{1,2}}){_ORDINAL}{_GAP}(?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\.?{_GAP}(?P<y3>\d{{4}})"
    r")(?!\w|[.,/-]\d)"
)

_UNIT_NAMES = {
    "%": "percent pct", "$": "usd dollar", "€": "eur euro", "£": "gbp pound", "¥": "jpy yen",
    "ms": "millisecond", "s": "sec second", "min": "minute", "h": "hr hour", "day": "", "week": "", "month": "",
    "year": "yr", "mm": "millimetre millimeter", "cm": "centimetre centimeter", "m": "metre meter",
    "km": "kilometre kilometer", "mile": "mi", "ft": "foot feet", "inch": "inches", "mg": "milligram", "g": "gram",
    "kg": "kilogram kilo", "lb": "", "t": "tonne ton", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte",
    "tb": "terabyte", "°c": "", "°f": "", "°": "degree", "‰": "",
}  # fmt: skip
_UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in (unit, *names.split())}
_UNITS |= {f"{name}s": unit for name, unit in _UNITS.items() if len(name) > 1 and name.isalpha()}
_LETTER_SCALES = {"k": 10**3, "bn": 10**9}

_RUN = re.compile(r"(?<![\w.])\d(?:[\d.,:']*\d)?")
_NEXT = re.compile(r"(?P<gap>[\s-]?)(?P<word>per\s?cent\b|°[cf]\b|[%‰°$€£¥]|[a-z]+)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")
_MARKERS = re.compile(r"^[ \t]*\d{1,3}[.)]\s+|\[\d+(?:\s*[,-]\s*\d+)*\]", re.MULTILINE)
_SPACED = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3})")
_PLAIN = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2019": "'", "\u066b": ".", "\u066c": ",", "\uff05": "%"})


def quantities(text: str) -> list[Quantity]:
    """Return every number and date written in digits, in order of kind and place.

    List markers (``1.`` at the start of a line) and citation markers (``[2]``) are none.  Digits glued to the
    letters before them (``B12``) belong to a name.  Signs are left out.
    """
    text = _MARKERS.sub(" ", _normalize(text))
    return [*_dates(text), *_numbers(_DATE.sub(lambda m: " " * len(m[0]), text))]


def _normalize(text: str) -> str:
    text = _SPACED.sub(",", text).translate(_PLAIN).lower()
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c, c)) if c > "\x7f" else c for c in text)


def _dates(text: str) -> Iterator[Quantity]:
    for m in _DATE.finditer(text):
        if m["iso"]:
            readings = [(int(m[2]), int(m[4]), int(m[5]))]
        elif m["plain"]:
            first, second, year = int(m[7]), int(m[9]), int(m[10])
            readings = [(year, first, second), (year, second, first)]
        else:
            year, month = int(m["y1"] or m["y2"] or m["y3"]), m["m1"] or m["m2"] or m["m3"]
            readings = [(year, _MONTHS[month[:3]], int(m["day"] or m["day2"] or 0))]
        yield Quantity(m[0], tuple(dict.fromkeys(readings)))


def _numbers(text: str) -> Iterator[Quantity]:
    for m in _RUN.finditer(text):
        value = _parse_number(m[0])
        if isinstance(value, str) and "," in value:  # a list without spaces
            parts = filter(None, (part.strip(".:") for part in value.split(",")))
            yield from (Quantity(part, (_parse_number(part),)) for part in parts)
            continue
        scale, unit, end = _read_unit(text, m.end(), year=len(m[0]) == 4)
        before = text[max(0, m.start() - 2) : m.start()].rstrip()[-1:]
        money = before if before and before in "$€£¥" else ""
        yield Quantity(text[m.start() : end], (value * scale if isinstance(value, Decimal) else value,), money or unit)


def _read_unit(text: str, end: int, *, year: bool) -> tuple[int, str, int]:
    """Return the scale and the unit that stand after a number, and where they end: ``2 million euros``."""
    scale = 1
    while (match := _NEXT.match(text, end)) is not None:
        word, adjacent = match["word"], not match["gap"]
        factor = SCALES.get(word) or (_LETTER_SCALES.get(word) if adjacent else None)
        if factor is not None and scale == 1:
            scale, end = factor, match.end()
            continue
        unit = "%" if word.startswith("per") and word != "per" else _UNITS.get(word, "")
        if unit and not (year and adjacent and word == "s"):  # the 1960s
            return scale, unit, match.end()
        break
    return scale, "", end


def _parse_number(run: str) -> Decimal | str:
    run = run.replace("'", "")
    dots, commas = run.count("."), run.count(",")
    if ":" in run or len(run) > 40:
        return run
    if dots and commas:
        decimal = max(run.rfind("."), run.rfind(","))
        whole, part = re.sub("[.,]", "", run[:decimal]), run[decimal + 1 :]
        return Decimal(f"{whole}.{part}") if run.count(run[decimal]) == 1 else run
    if commas:
        if _GROUPED.fullmatch(run):
            return Decimal(run.replace(",", ""))
        return Decimal(run.replace(",", ".")) if commas == 1 else run
    if dots > 1:
        return Decimal(run.replace(".", "")) if re.fullmatch(r"\d{1,3}(\.\d{3})+", run) else run
    return Decimal(run)


class QuantityIndex:
    """Index of the quantities that some texts state.  English number words count as well."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._units: dict[Value, set[str]] = {}
        self._months: set[tuple[int, int]] = set()
        for text in texts:
            for quantity in quantities(text):
                for reading in quantity.readings:
                    self._add(reading, quantity.unit)
            for number, word in read_number_words(_normalize(text)):
                self._add(Decimal(number), _UNITS.get(word, ""))

    def _add(self, value: Value, unit: str) -> None:
        self._units.setdefault(value, set()).add(unit)
        if isinstance(value, tuple):
            self._months.add(value[:2])
            self._units.setdefault(Decimal(value[0]), set()).add("")

    def __contains__(self, quantity: Quantity) -> bool:
        """Whether one reading is stated: with the same unit, or without any on either side."""
        return any(self._has(reading, quantity.unit) for reading in quantity.readings)

    def _has(self, value: Value, unit: str) -> bool:
        if isinstance(value, tuple) and not value[2]:
            return value[:2] in self._months
        units = self._units.get(value)
        return units is not None and (not unit or unit in units or "" in units)


class UnsupportedNumbers(AgainstEvidence):
    """Share of the answer's numbers, quantities and dates that neither the evidence nor the query states.

    Lower is better; n/a for an answer without numbers.  They are compared by value, not as they are written
    (``1,000`` and ``one thousand``, ``May 1, 2024`` and ``2024-05-01``); where both sides have a unit, it has
    to be the same.
    """

    stem = "unsupported_numbers"
    direction = "lower"
    formula = "numbers of the answer in neither evidence nor query / numbers of the answer"
    source = "this project"
    oracle = "by hand"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, relevant: list[str]) -> CaseScore:
        """Details: ``unsupported``, the numbers.  N/a where the answer is empty or has none."""
        numbers = needed(quantities(given_answer(outputs)), "no number in the answer")
        index = QuantityIndex([*(relevant or retrieved_texts(outputs)), asked_text(sample)])
        unsupported = [quantity.text for quantity in numbers if quantity not in index]
        return Measurement(len(unsupported) / len(numbers), details=nonempty(unsupported=unsupported[:10]))
