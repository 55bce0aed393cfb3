"""Messages about invalid YAML that say what to do."""

from __future__ import annotations

from typing import Any

import yaml

from ...base.git import CONFLICT, conflict_line
from ..source import MAX_DEPTH, Source

_ADVICE = {  # words of libyaml or of the pure-Python parser, and what to do
    "mapping values are not allowed": "put quotes round a text that holds a colon",
    "could not find expected ':'": "a key needs a colon and a blank after it, a long text quotes or a |",
    "did not find expected key": "check the indentation of this line and of those before it",
    "expected <block end>": "check the indentation of this line and of those before it",
    "did not find expected '-' indicator": "check the indentation of this line and of those before it",
    "expected ',' or ']'": "a list in brackets is not closed, misses a comma, or holds an unquoted bracket",
    "expected ',' or '}'": "a mapping in braces is not closed, or misses a comma",
    "found unexpected end of stream": "a quote is not closed",
    "cannot start any token": "put quotes round a text that begins with this character",
    "unknown escape character": "double a backslash, or use single quotes",
}

_MAX_KEY_LENGTH = 1024

TOO_DEEP = f"lists and mappings nest more than {MAX_DEPTH} deep here"


class YamlProblem(Exception):
    """One problem at one place; *mark* is None if the place is unknown."""

    def __init__(self, message: str, mark: Any) -> None:
        super().__init__(message)
        self.mark = mark


def report_error(exc: Exception, source: Source) -> None:
    """Add *exc*, a `YamlProblem` or an exception of the parser, to the problems of *source*."""
    if isinstance(exc, yaml.reader.ReaderError):
        _report_unprintable(exc, source)
        return
    if conflict := conflict_line(source.text):
        source.report_at(conflict, 1, CONFLICT)
        return
    mark = getattr(exc, "problem_mark", None) or getattr(exc, "context_mark", None) or getattr(exc, "mark", None)
    line, col = source.line_and_column(mark.index) if mark is not None else (0, 0)
    if isinstance(exc, yaml.MarkedYAMLError):
        source.report_at(line, col, _syntax_message(exc, source, line, col))
    else:
        source.report_at(line, col, str(exc))


def _syntax_message(exc: yaml.MarkedYAMLError, source: Source, line: int, col: int) -> str:
    text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
    indent = text[: len(text) - len(text.lstrip())]
    if "\t" in indent or text[col - 1 : col] == "\t":
        return "a tab indents this line; YAML takes spaces only"
    if col > _MAX_KEY_LENGTH and (":" in text or "?" in text):
        return "not YAML: a key has at most 1,024 characters, and a colon or a long text on one line needs quotes"
    problem = exc.problem or exc.context or "no YAML"
    if "maximum nesting depth" in problem:  # libyaml 0.2.6 and later look ahead, and find it before we do
        return TOO_DEEP
    context = f" {exc.context}" if exc.context and exc.problem else ""
    advice = next((f"; {hint}" for words, hint in _ADVICE.items() if words in problem), "")
    return f"not YAML: {problem}{context}{advice}"


def _report_unprintable(exc: Any, source: Source) -> None:
    # libyaml counts bytes, the pure-Python reader characters
    code = exc.character if isinstance(exc.character, int) else ord(exc.character[:1] or "\0")
    index = source.text.find(chr(code))
    line, col = source.line_and_column(index) if index >= 0 else (0, 0)
    source.report_at(line, col, f"the control character U+{code:04X} is not allowed in YAML; remove or escape it")
