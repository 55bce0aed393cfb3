"""Words that several messages share: near names, lists of names, what an error says, texts cut to a length."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from ..errors import UnknownNameError

T = TypeVar("T")

_LONGEST_NAME = 200
"""Longer words are no slips of names; comparing them takes long."""


def did_you_mean(word: str, known: Iterable[str], *, most: int = 3) -> str:
    """Return ``" (did you mean 'x' or 'y'?)"`` for the nearest *known* words, or an empty string."""
    return meant_words(near_names(word, known, most=most))


def near_names(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the *known* words nearest to *word*, the nearest first."""
    if len(word) > _LONGEST_NAME:
        return []
    lowered = {k.lower(): k for k in known}
    return [lowered[near] for near in difflib.get_close_matches(word.lower(), list(lowered), n=most, cutoff=0.6)]


def meant_words(names: Iterable[str]) -> str:
    """Return the question whether one of *names* was meant, or an empty string without any."""
    shown = " or ".join(map(repr, names))
    return f" (did you mean {shown}?)" if shown else ""


def names_words(names: Sequence[T], most: int = 5, shown: Callable[[T], str] = str) -> str:
    """Return ``a, b and 2 more``, each name as *shown*."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more


def decimal_text(value: float, digits: int = 12) -> str:
    """Return *value*, at most so many digits of it that count, never with an exponent: ``0.00003``."""
    return f"{Decimal(f'{value:.{digits}g}'):f}"


def canonical(name: str) -> str:
    """Return *name* in NFC: how names are compared that may come from disks, which write letters in other forms."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def twin_of(name: str, others: Iterable[str]) -> str:
    """Return the first of *others* that is *name* in another Unicode form, or an empty text."""
    folded = canonical(name)
    return "" if folded.isascii() else next((o for o in others if o != name and canonical(o) == folded), "")


def forms_words(name: str, twin: str) -> str:
    """Say how two names differ that look the same: each with its Unicode form, and written in ASCII."""
    return " and ".join(f"{text!a} ({_form_of(text)})" for text in (name, twin))


def _form_of(text: str) -> str:
    forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    return next((form for form in forms if unicodedata.is_normalized(form, text)), "neither NFC nor NFD")


def message_of(error: BaseException) -> str:
    """Return what *error* says; where its own ``__str__`` fails, that it does, as a traceback says it."""
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def error_line(error: BaseException) -> str:
    """Return the class of *error* and the first line of what it says."""
    lines = message_of(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def shorten(text: str, longest: int) -> str:
    """Return *text*, cut if it is longer; secrets have to be masked before."""
    return text if len(text) <= longest else text[: max(longest - 1, 0)] + "…"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for a *name* that nobody registered; its message names near ones."""
    shown = repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}…"
    return UnknownNameError(f"unknown {kind} {shown}{did_you_mean(name, known)}")
