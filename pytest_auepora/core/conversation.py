"""The conversation that a query is a turn of, and who asks it: in the forms that systems and judges read.

A message is a mapping with ``role`` (user, assistant, system) and ``content``, as in OpenAI's API.
"""

from __future__ import annotations

from .types import EvaluationSample

CHAT_HISTORY = "chat_history"
"""What a system that takes earlier turns says that it takes; `System.takes` has it."""

PRINCIPAL = "principal"
"""The same of who asks."""

AS = "as"
"""Label of a case: who asks."""


def principal_of(sample: EvaluationSample) -> str | None:
    """Return who asks *sample*; None where the case does not say."""
    return sample.labels.get(AS)


def turns_of(sample: EvaluationSample) -> list[dict[str, str]]:
    """Return the turns before the query as messages of the caller's own: systems add theirs to the list."""
    return [dict(turn) for turn in sample.chat_history]


def messages_of(sample: EvaluationSample) -> list[dict[str, str]]:
    """Return the whole conversation as messages of the caller's own; the last one is the query."""
    return [*turns_of(sample), {"role": "user", "content": sample.query}]


def asked_text(sample: EvaluationSample) -> str:
    """Return the query as a judge reads it: after the earlier turns, where there are any."""
    if not sample.chat_history:
        return sample.query
    return "\n".join(f"{message['role']}: {message['content']}" for message in messages_of(sample))
