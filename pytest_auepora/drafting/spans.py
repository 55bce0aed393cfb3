"""Spans of OpenTelemetry as files hold them, JSON behind JSON: OTLP, as the Collector's file exporter writes it, and
single spans, as the SDK prints them (``span.to_json()``) or a table of spans is written, one row a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ..base.files import read_text
from ..base.grouping import grouped
from ..errors import AueporaError

_PREFIX = "attributes."
_NOT_BLANK = re.compile(r"\S")


@dataclass(slots=True)
class Span:
    """One span: ``start`` is a number that orders the spans of a trace; ``events`` have a ``name`` and attributes."""

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    start: float = 0.0
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class TraceProblem(AueporaError, ValueError):
    """A file that holds no spans, or some that cannot be read; the message says where."""


def read_spans(path: Path) -> dict[str, list[Span]]:
    """Return the spans of a file by trace, in the order they began; raises `TraceProblem`."""
    spans = list(_spans_of_file(path))
    if not spans:
        raise TraceProblem(f"{path}: no spans; expected OTLP as JSON, or one span a line")
    by_trace = grouped((span.trace, span) for span in spans)
    traces = {trace: sorted(of_trace, key=lambda span: span.start) for trace, of_trace in by_trace.items()}
    return dict(sorted(traces.items(), key=lambda item: item[1][0].start))


def _spans_of_file(path: Path) -> Iterator[Span]:
    text, decode, at = read_text(path, TraceProblem), json.JSONDecoder().raw_decode, 0
    while (start := _NOT_BLANK.search(text, at)) is not None:  # values behind one another, on a line each or not
        line = text.count("\n", 0, start.start()) + 1
        try:
            value, at = decode(text, start.start())
        except (ValueError, RecursionError) as exc:
            raise TraceProblem(f"{path}:{line}: not JSON: {exc}") from None
        yield from _spans_in(value, f"{path}:{line}")


def _spans_in(value: Any, place: str) -> Iterator[Span]:
    if isinstance(value, list):
        for part in value:
            yield from _spans_in(part, place)
        return
    if not isinstance(value, Mapping):
        raise TraceProblem(f"{place}: expected a span or OTLP, got {type(value).__name__}")
    resources = value.get("resourceSpans", value.get("resource_spans"))
    if resources is None:
        yield _span_of(value, place)
        return
    for resource in _list(resources, place):
        for scope in _list(resource.get("scopeSpans", resource.get("scope_spans", ())), place):
            for raw in _list(scope.get("spans", ()), place):
                yield _span_of(raw, place)


def _list(value: Any, place: str) -> Iterable[Any]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(part, Mapping) for part in value):
        raise TraceProblem(f"{place}: expected OTLP: resourceSpans, scopeSpans and spans are lists of mappings")
    return value


def _span_of(raw: Mapping[str, Any], place: str) -> Span:
    context = raw.get("context")
    context = context if isinstance(context, Mapping) else {k.removeprefix("context."): v for k, v in raw.items()}
    trace, span_id = (_first(context, *names) for names in (("traceId", "trace_id"), ("spanId", "span_id")))
    if trace is None or span_id is None:
        raise TraceProblem(f"{place}: a span has a trace id and a span id, got {', '.join(map(str, raw))[:200]}")
    parent = _first(raw, "parentSpanId", "parent_span_id", "parent_id") or ""
    start = _number(_first(raw, "startTimeUnixNano", "start_time_unix_nano", "start_time"))
    events = [
        (str(event.get("name", "")), _attributes(event.get("attributes")))
        for event in raw.get("events") or () if isinstance(event, Mapping)
    ]  # fmt: skip
    flat = {key.removeprefix(_PREFIX): v for key, v in raw.items() if key.startswith(_PREFIX) and v is not None}
    attributes = _flat(_attributes(raw.get("attributes"))) | _flat(flat)
    return Span(_id(trace), _id(span_id), _id(parent), str(raw.get("name", "")), start, attributes, events)


def _first(mapping: Mapping[str, Any], *names: str) -> Any:
    return next((mapping[name] for name in names if mapping.get(name) not in (None, "")), None)


def _id(value: Any) -> str:
    return str(value).removeprefix("0x").lower()


def _number(value: Any) -> float:
    """Return a time, in nanoseconds, milliseconds or as ISO text: all spans of a file have the same."""
    try:
        return float(value)
    except (TypeError, ValueError):
        pass
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0


def _attributes(raw: Any) -> dict[str, Any]:
    """Return attributes, a mapping or OTLP's list of keys and values, as a mapping."""
    if isinstance(raw, Mapping):
        return {str(key): value for key, value in raw.items()}
    pairs = (a for a in raw or () if isinstance(a, Mapping) and "key" in a)
    return {str(a["key"]): _plain(a.get("value")) for a in pairs}


def _plain(value: Any) -> Any:
    """Return a value of OTLP: ``{"stringValue": …}``, ``{"intValue": "3"}``, lists and mappings of such."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    kind = kind.replace("_value", "Value")
    if kind == "intValue":
        return int(inner)
    if kind == "arrayValue":
        return [_plain(part) for part in (inner or {}).get("values", ())]
    return _attributes((inner or {}).get("values")) if kind == "kvlistValue" else inner


def _flat(attributes: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return attributes of which lists of mappings, and mappings, are spelled out: ``documents.0.document.id``."""
    out: dict[str, Any] = {}
    for key, value in attributes.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            out |= _flat(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            for i, part in enumerate(value):
                out |= _flat(part, f"{name}.{i}.")
        else:
            out[name] = value
    return out
