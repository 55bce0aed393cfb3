"""Golden cases from traces of real questions: drafts, for a person to accept.

What people wrote is redacted before anything else is done with it; questions that ask the same are left out, of golden
files that there are as well; of what is left, each slice gives a sample.  What is left out is counted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from ..base.grouping import grouped
from ..core.case_texts import CaseTexts
from ..core.run import CaseResult
from ..errors import AueporaError
from ..io.importers.imported import Cases, Dropped, ImportedSuite, filled
from .known import Known, asked
from .traces import TraceCall

TRACE = "trace"
"""Key of a draft's metadata with what its trace says; what the system said and found goes when it is accepted."""
SAID, DOCUMENTS = "said", "documents"

Redact = Callable[..., Any]
"""A function of a text that returns it redacted, or the hook ``pytest_auepora_redact``, which changes a result."""


def draft_cases(
    calls: Iterable[TraceCall], *, redact: Redact | None = None, known: Known | None = None, by: str = "",
    per_slice: int | None = None, seed: int = 0,
) -> ImportedSuite:  # fmt: skip
    """Return the cases of *calls*, as drafts.

    Args:
        calls: in the order in which they were made.
        redact: applied to every text first.
        known: questions that there are; those of the drafts are added.
        by: the attribute that slices them: ``model``, ``feedback``, ``tag``, or an attribute of the trace's root span.
        per_slice: how many of each slice are taken; None takes all.
        seed: which are drawn.

    Raises:
        AueporaError: *redact* is no such function, or fails.
    """
    dropped, known = Dropped(), known or Known()
    redact_call = _call_redactor(redact) if redact is not None else lambda call: call
    fresh: list[TraceCall] = []
    for call in map(redact_call, calls):
        if not call.query.strip():
            dropped.add("a trace without a question")
        elif known.duplicate_of(question := asked(call.query, call.history)):
            dropped.add("a question that asks the same as another")
        else:
            known.add(question)
            fresh.append(call)
    cases = Cases(Dropped())
    for call in _sampled(fresh, by, per_slice, seed, dropped):
        _add_draft(cases, call, by)
    return ImportedSuite(cases, dropped.sentences())


def _sampled(calls: Sequence[TraceCall], by: str, most: int | None, seed: int, dropped: Dropped) -> list[TraceCall]:
    if most is None:
        return list(calls)
    chosen: set[str] = set()
    for value, of_slice in grouped((slice_of(call, by), call) for call in calls).items():
        drawn = sorted(of_slice, key=lambda call: sha256(f"{seed}|{call.trace}".encode()).hexdigest())
        chosen.update(call.trace for call in drawn[:most])
        where = f" of {by} {value}" if by else ""
        dropped.add(f"a question{where} beyond the first {most} drawn", len(drawn[most:]))
    return [call for call in calls if call.trace in chosen]


def slice_of(call: TraceCall, by: str) -> str:
    """Return the value of *call* that it is sliced by."""
    if by == "feedback":
        return ", ".join(f"{name}={value}" for name, value in sorted(call.feedback.items())) or "none"
    if by == "tag":
        return ", ".join(sorted(call.tags)) or "none"
    own = getattr(call, by) if by in ("model", "conversation") else call.attributes.get(by) if by else ""
    return "none" if own in (None, "") and by else str(own)


def _add_draft(cases: Cases, call: TraceCall, by: str) -> None:
    trace = filled({
        "id": call.trace, SAID: call.said, DOCUMENTS: [filled(asdict(document)) for document in call.documents],
        "model": call.model, "tokens": _tokens_of(call),
        "feedback": call.feedback, "tags": call.tags,
    })  # fmt: skip
    case = cases.add(None, call.query, chat_history=call.history, conversation=call.conversation)
    case |= {"status": "draft", **({"labels": {by: slice_of(call, by)}} if by else {}), "metadata": {TRACE: trace}}


def _tokens_of(call: TraceCall) -> dict[str, int]:
    tokens = {"input": call.input_tokens, "output": call.output_tokens}
    return tokens if any(tokens.values()) else {}


def _call_redactor(redact: Redact) -> Callable[[TraceCall], TraceCall]:
    """Return what redacts all texts of a call, whichever of its two forms *redact* has."""
    try:
        names = [*inspect.signature(redact).parameters]
    except (TypeError, ValueError):
        names = ["text"]
    if "result" in names:
        return lambda call: _redact_as_result(call, redact, {"config": None} if "config" in names else {})
    return lambda call: _map_texts(call, lambda text: _redacted_text(redact, text))


def _redacted_text(redact: Redact, text: str) -> str:
    if not text:
        return text
    try:
        changed = redact(text)
    except Exception as exc:
        raise AueporaError(f"the function that redacts raised {type(exc).__name__}: {exc}") from exc
    if not isinstance(changed, str):
        raise AueporaError(f"the function that redacts returns the text, it gave {type(changed).__name__}")
    return changed


def _map_texts(call: TraceCall, change: Callable[[str], str]) -> TraceCall:
    new = deepcopy(call)
    new.query, new.said, new.conversation = change(call.query), change(call.said), change(call.conversation)
    new.history = [{role: change(text) for role, text in turn.items()} for turn in call.history]
    new.feedback = {name: change(value) for name, value in call.feedback.items()}
    for document in new.documents:
        document.text = change(document.text)
    return new


def _redact_as_result(call: TraceCall, redact: Redact, more: Mapping[str, Any]) -> TraceCall:
    """Let a hook for results change the texts of *call*; what a result has no place for is left out, or a hash."""
    hits = [{"id": document.id, "score": None, "grade": 0, "text": document.text} for document in call.documents]
    turns = [{"role": role, "content": text} for turn in call.history for role, text in turn.items()]
    texts = CaseTexts(call.query, {"chat_history": turns}, {"answer": call.said, "retrieved": hits, "timings": {}})
    result = CaseResult(call.trace, texts=texts)
    try:
        redact(result=result, **more)
    except Exception as exc:
        raise AueporaError(f"the function that redacts raised {type(exc).__name__}: {exc}") from exc
    new = deepcopy(call)
    new.query, new.said = str(result.query), str(result.outputs.get("answer") or "")
    new.history = [{turn["role"]: turn["content"]} for turn in result.expected.get("chat_history", ())]
    new.feedback = {}
    new.conversation = call.conversation and sha256(call.conversation.encode()).hexdigest()[:12]
    redacted = [str(hit.get("text") or "") for hit in result.outputs.get("retrieved", ())]
    new.documents = new.documents[: len(redacted)]
    for document, text in zip(new.documents, redacted, strict=True):
        document.text = text
    return new
