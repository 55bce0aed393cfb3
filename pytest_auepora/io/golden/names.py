"""Names that other programs have to live with: case ids in pytest, suite names on disk, tags as markers."""

from __future__ import annotations

import keyword
import os
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar

from ..source import KeyPath, Source, describe
from .kinds import BAD, FieldType

SUITE_ITEM = "suite"
"""The test that judges a suite, behind those of its cases."""

CONTROL = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff" + "\U000e0000-\U000e007f"
"""Control characters, line breaks, what reverses the reading order, and tags, which nobody sees."""


class _Name(FieldType):
    """A text with rules; the message names the first rule that it breaks."""

    expected = "text"
    title: str
    max_length = 100
    rules: tuple[tuple[str, str], ...]
    """What a name has nowhere, as a pattern of Python and of JavaScript, and the message where it has."""
    reserved_names: ClassVar[Mapping[str, str]] = {}
    """Well-formed names that are not allowed, and why."""

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if type(value) is not str or not value.strip():
            return self.refuse(value, path, source)
        if not (why := self.broken_rule(value)):
            return value
        source.report(path, f"{self.title} {describe(value)} {why}")
        return BAD

    def broken_rule(self, value: str) -> str:
        """Return the message of the rule that *value* breaks, or an empty string."""
        if len(value) > self.max_length:
            return f"is longer than {self.max_length} characters"
        broken = (why for pattern, why in self.rules if re.search(pattern, value))
        return next(broken, "") or self.reserved_reason(value)

    def reserved_reason(self, value: str) -> str:
        """Return why a well-formed *value* is not allowed, or an empty string."""
        return self.reserved_names.get(value, "")

    def schema(self) -> dict[str, Any]:
        excluded: list[Any] = [{"pattern": pattern} for pattern, _ in self.rules]
        excluded += [{"enum": sorted(self.reserved_names)}] if self.reserved_names else []
        return {"type": "string", "pattern": r"\S", "maxLength": self.max_length, "not": {"anyOf": excluded}}


class CaseId(_Name):
    """The id of a case: part of a pytest node id, and a name in a module."""

    title = "id"
    max_length = 200
    rules = (
        (r"::", "holds '::', which separates the parts of a pytest node id"),
        (r"[\[\]]", "holds a bracket, where pytest puts parameters"),
        (rf"[{CONTROL}]", "holds a control character, a line break or a character that nobody sees"),
        (r"^\s|\s$", "starts or ends with a blank"),
        (r"^(__|pytest_)", "starts like a name that pytest reads from modules"),
        (r"^gate:", "starts like a gate, whose node id it would have"),
    )

    reserved_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [f"{when}{what}" for when in ("setup", "teardown") for what in ("", "_module", "_function", "_method")]
        + ["setUpModule", "tearDownModule", "pytestmark", "collect_ignore", "collect_ignore_glob"],
        "is a name that pytest reads from modules",
    ) | {SUITE_ITEM: "is the name of the test that judges the suite"}


def disk_name(name: str) -> str:
    """Return *name* as disks compare it that ignore case and the forms of Unicode: equal names are one file there."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def shared_baseline(name: str, other: str, path: str | os.PathLike[str]) -> str:
    """Say that the suites *name* and *other*, that of the golden file at *path*, have one baseline file."""
    if name == other:
        return f"suite {name!r} is also that of {path}"
    return f"suite {name!r} is, on disks that ignore case, the file of suite {other!r} of {path}"


class SuiteName(_Name):
    """The name of a suite: the stem of its baseline file, on every system."""

    title = "suite"
    rules = (
        (r"^$", "is empty; it becomes a file name"),
        (r"[/\\]", "holds a slash; it becomes a file name"),
        (r"^\.", "starts with a dot; it becomes a file name"),
        (r"[.\s]$|^\s", "starts or ends with a blank, or ends with a dot; it becomes a file name"),
        (r"\.anchor$", "ends in .anchor, as the files of anchors do"),
        (r"[^\w .+@=,()~-]", "may hold letters, digits, blanks and .+@=,()~-_ only; it becomes a file name"),
    )

    _DEVICES = r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?"

    def reserved_reason(self, value: str) -> str:
        return "is a device on Windows; it becomes a file name" if re.fullmatch(self._DEVICES, value) else ""


class Tag(_Name):
    """A tag: becomes a pytest marker that ``-m`` can name."""

    title = "tag"
    rules = ((r"[^\w.+-]|^[_.+-]|[.+-]$", "cannot be a pytest marker: letters, digits and . + - _ between them"),)

    reserved_names: ClassVar[Mapping[str, str]] = {
        "skip": "is a mark of pytest's own; write the key skip instead",
        "xfail": "is a mark of pytest's own; write the key xfail instead",
        "timeout": "is a mark of pytest-timeout; write the key timeout instead",
        "benchmark": "is a mark of pytest-benchmark; write the key benchmark instead",
        **dict.fromkeys(("skipif", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"),
                        "is a mark of pytest's own that does something else"),
        **dict.fromkeys(("auepora", "asyncio", "anyio", "flaky", "xdist_group"),
                        "is a mark with a meaning of its own"),
        **dict.fromkeys(("and", "or", "not", "True", "False", "None"), "is a word of the -m language"),
    }  # fmt: skip


class FixtureName(_Name):
    """The name of the fixture that gives the system."""

    expected = "text (the name of a fixture)"
    title = "fixture"
    rules = ((r"^\d|\W", "is not a name that a Python function can have"),)

    reserved_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [*keyword.kwlist, "request"], "is not a name that a fixture of yours can have"
    )
