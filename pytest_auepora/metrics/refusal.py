"""Refusals: whether an answer is one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ..core.types import SystemOutputs

REFUSAL_PATTERNS = ("i don't know", "i do not know", "cannot answer", "can't answer", "not enough information")
"""Phrases that make an answer a refusal wherever they occur, where neither a person nor the system labelled it."""

_SOURCE = (
    r"(?:contexts?|documents?|passages?|texts?|sources?|articles?|paragraphs?|excerpts?|snippets?|materials?|content"
    r"|information|knowledge base|search results?|records|conversation|page)"
)
_ABLE = r"(?:find|answer|determine|provide|locate|say|tell|confirm|identify|give|help|assist|verify|see|offer)\b"
_KNOWLEDGE = r"(?:information|details?|data|answers?|context|access|knowledge|documents?|sources?|record)\b"
_VERBS = (
    r"(?:provide|contain|mention|specif|include|say|state|address|answer|give|have|indicate|discuss|cover|offer"
    r"|explain|describe|list|reveal|disclose)"
)
_PARTICIPLES = (
    r"(?:provided|mentioned|specified|stated|given|found|available|included|addressed|discussed|disclosed|indicated"
    r"|contained|described|answered|covered)\b"
)
_OPENING = "|".join((
    rf"\b(?:i|we) (?:currently )?(?:do not|don't|did not|didn't) (?:currently )?(?:have|see|find)\b.*{_KNOWLEDGE}",
    r"\b(?:i|we) have no (?:\w+ )?(?:information|idea|answer|details|knowledge|record)\b",
    rf"\b(?:i|we) (?:cannot|can't|can not|could not|couldn't|was not able to|were not able to) {_ABLE}",
    rf"\b(?:i am|i'm|i was|we are|we're|we were) (?:unable|not able) to {_ABLE}",
    rf"\b{_SOURCE} (?:\w+ ){{0,5}}(?:do not|does not|don't|doesn't|did not|didn't) (?:\w+ ){{0,2}}{_VERBS}",
    rf"\b{_SOURCE} (?:\w+ ){{0,5}}(?:lacks?|(?:has|have|contains?|provides?|gives?|includes?) (?:no|insufficient))\b",
    r"\bthere(?:'s| is| are| was| were) (?:no|insufficient|not sufficient|not any) (?:\w+ ){0,3}"
    r"(?:information|mention|details?)\b",
    rf"\b(?:is|are|was|were)(?: not|n't) (?:\w+ ){{0,2}}{_PARTICIPLES} "
    rf"(?:\w+ ){{0,4}}(?:in|by|from|within|here)\b.*{_SOURCE}",
    r"\b(?:cannot|can't|can not|could not|couldn't) be (?:determined|answered|inferred|found|established)\b",
    r"\b(?:insufficient|no|no specific|no relevant) (?:information|details|context|answer|results?|documents?) "
    r"(?:\w+ ){0,2}(?:provided|available|given|found|to answer|to determine)\b",
    r"\b(?:impossible|not possible) to (?:answer|determine|say|tell|know)\b",
    r"\b(?:out of|outside|beyond) (?:of )?(?:the |my )?(?:scope|knowledge)\b",
))  # fmt: skip
"""How refusals open; later in an answer, the same words only name what it leaves open."""

_OPENING_LENGTH = 500
"""Characters of a sentence that are searched; the time grows with their square."""

_APOLOGY = r"(?:(?:i am|i'm|we are|we're) )?(?:very |so )?(?:sorry|afraid)|(?:i|we) apologi[sz]e|unfortunately"


def fold(text: str) -> str:
    """Return *text* in NFKC, case-folded, with plain apostrophes and single blanks, for phrase search."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u02bc", "'")
    return " ".join(plain.casefold().split())


def is_refusal(outputs: SystemOutputs, patterns: Iterable[str] = REFUSAL_PATTERNS) -> bool | None:
    """Whether the answer is a refusal; None where there is no answer to judge.

    ``response.metadata["refused"]`` decides; without it, whether one of *patterns* occurs in the text, both after
    `fold`.  Beside the default patterns, an answer is a refusal whose first sentence says that nothing is known or
    found ("The documents do not provide an answer"); an apology before it does not count, nor does what stands behind
    the first 500 characters.
    """
    declared = (outputs.response.metadata or {}).get("refused")
    if declared is not None:
        return bool(declared)
    text = fold(outputs.response.text or "")
    if not text:
        return None
    return any(fold(pattern) in text for pattern in patterns) or (
        patterns == REFUSAL_PATTERNS and _opens_with_refusal(text)
    )


def _opens_with_refusal(folded: str) -> bool:
    """Whether the first sentence, or the one after an apology, says that nothing is known."""
    first, _, rest = folded.partition(". ")
    if re.search(_OPENING, first[:_OPENING_LENGTH]):
        return True
    second = rest.partition(". ")[0]
    return re.match(_APOLOGY, first) is not None and re.search(_OPENING, second[:_OPENING_LENGTH]) is not None
