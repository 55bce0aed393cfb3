"""JSON in ASCII of what a run keeps, letter for letter what `json.dumps` makes, in fewer steps.

The standard library looks at every letter of a text twice, and puts the same few names, ids and numbers into words
again and again.  Here a long text is asked at once whether anything in it takes more than quotes around it, and what
is short is put into words once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring_ascii
from typing import Any

__all__ = ["encoder_of", "number", "quoted"]

_SHORT = 32  # characters: names of fields, ids; all others hardly come twice
_MOST = 16_384  # that are remembered of each kind, some megabytes
_ODD = bytes(range(32)) + b'"\\\x7f'
_EVEN = bytes.maketrans(_ODD, b"\xff" * len(_ODD))  # changes what takes more than quotes, in ASCII
_CROPPED = "…"


def _long(text: str) -> str:
    end = ""
    if text[-1] == _CROPPED:  # at the end of what is shown of a document, and mostly the only letter beyond ASCII
        text, end = text[:-1], "\\u2026"
    if text.isascii() and "\n" not in text and '"' not in text:  # what is odd in documents is found at once
        data = text.encode()
        if data.translate(_EVEN) == data:
            return f'"{text}{end}"'
    return f'{encode_basestring_ascii(text)[:-1]}{end}"'


class _Texts(dict[str, str]):
    def __missing__(self, text: str) -> str:
        if len(text) > _SHORT:
            return _long(text)
        if len(self) >= _MOST:
            self.clear()
        self[text] = made = encode_basestring_ascii(text)
        return made


class _Numbers(dict[float, str]):
    def __missing__(self, value: float) -> str:
        made = repr(value)
        if value:  # zero and the negative one are the same key
            if len(self) >= _MOST:
                self.clear()
            self[value] = made
        return made


quoted: Callable[[str], str] = _Texts().__getitem__
"""Return a text as JSON writes it in ASCII."""

number: Callable[[float], str] = _Numbers().__getitem__
"""Return a finite float as JSON writes it; a float and nothing else, as 1 and True are the same key."""


def encoder_of(default: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Return what writes values as JSON: compact, infinity as Python writes it, *default* for what JSON does not know.

    What a circle ends in is a RecursionError: looking out for one costs a fifth.  The standard library makes its
    encoder anew for every text, which takes longer than a short text does; where it has the one that is written in C,
    that is made once.
    """
    anew = json.JSONEncoder(default=default, separators=(",", ":"), check_circular=False)
    try:
        make: Any = json.encoder.c_make_encoder  # type: ignore[attr-defined]
        once = make(None, default, quoted, None, ":", ",", False, False, True)
        if "".join(once([1.5, "a"], 0)) == '[1.5,"a"]':
            return lambda value: "".join(once(value, 0))
    except (AttributeError, TypeError):  # another Python
        pass
    return anew.encode
