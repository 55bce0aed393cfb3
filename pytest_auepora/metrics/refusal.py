"""Refusals: whether an answer is one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ..core.types import SystemOutputs

REFUSAL_PATTERNS = ("i don't know", "i do not know", "cannot answer", "can't answer", "not enough information")
"""Phrases that make an answer a refusal wherever they occur, where neither a person nor the system labelled it."""

_GIVEN = r"(?:provided|given|supplied|retrieved|uploaded|attached|following|above|available)"
_CONTEXT = r"(?:contexts?|passages?|excerpts?|snippets?|paragraphs?)"
"""What only the material of an answer is called."""
_TEXTS = (
    r"(?:documents?|texts?|sources?|articles?|materials?|content|information|pages?|search results?|knowledge base"
    r"|records|conversation)"
)
"""What the material of an answer is called, and a subject as well: the text of a contract, the page of a shop."""
_MATERIAL = rf"(?:{_CONTEXT}|{_TEXTS})"
_GIVEN_MATERIAL = (
    rf"(?:{_CONTEXT}|{_GIVEN} (?:\w+ ){{0,2}}{_MATERIAL}|{_MATERIAL} (?:{_GIVEN}|(?:that )?i (?:have|was|can)))"
)
_FACTS = r"(?:information|details?|data|mention|references?|specifics|context)"
_KNOWLEDGE = rf"(?:{_FACTS}|answers?|knowledge|explanation|indication)"
"""What is missing where an answer is."""
_ENDS = (
    r"(?= *(?:$|[.,;:!?)]|but\b|so\b|and\b"
    r"|to (?:\w+ly )?(?:answer|determine|say|tell|know)\b(?! (?:before|after|until|from|on|at)\b)))"
)
_OF = (
    r"(?= (?:about|on|regarding|concerning|of|as to|whether|that|which|for|related|relating|how|what|why|who"
    r"|to (?:your|this|that|the))\b)"
)
_HERE = rf"(?= (?:here|(?:in|within|from|by) (?:(?!in\b|and\b|or\b)\w+ ){{0,4}}{_MATERIAL}\b))"
_FOLLOWS = rf"(?: (?:provided|given|available|found|included))?(?:{_ENDS}|{_OF}|{_HERE})"
"""What knowledge is about, or where it would be: there is no information desk either."""
_MISSING = rf"(?:\w+ ){{0,3}}{_KNOWLEDGE}{_FOLLOWS}"
_NOT = r"(?:do not|does not|don't|doesn't|did not|didn't)"
_IS_NOT = r"\b(?:is|are|was|were)(?: not|n't) (?:\w+ ){0,2}"
_CANNOT = r"(?:cannot|can't|can not|could not|couldn't)"
_UNABLE = rf"(?:'m|'re| am| are| was| were)? (?:{_CANNOT}|unable to|not able to)"
_LEARN = r"(?:find|determine|locate|(?:say|tell)(?! the\b))\b"
_ANSWER = r"(?:answer|confirm|identify|verify)\b"
_GIVE = r"(?:provide|give|offer)\b"
_TELL = (
    r"(?:mention|specify|state|say|indicate|discuss|address|reveal|disclose|explain|describe|answer|clarify|tell"
    r"|give)\b"
)
_HOLD = r"(?:provide|contain|include|have(?! to\b)|offer|cover|list|show|supply)\b"
_TOLD = (
    r"(?:mentioned|specified|stated|addressed|discussed|disclosed|indicated|described|answered|explained|given"
    r"|provided)\b"
)
_HELD = r"(?:provided|found|available|included|contained|covered|listed)\b"
_FROM = r"(?= *(?:$|[.,;:!?)]|from\b|based\b|with\b|using\b|given\b))"
_ASKED = r"(?:this|that|it|your (?:question|query|request)|(?:the|this) (?:question|topic|request))\b"
_OPENING = "|".join((
    # the speaker does not know; "we" may be the shop that is asked about
    rf"\b(?:i|we) (?:currently )?{_NOT} (?:currently )?(?:have|see|find) {_MISSING}",
    rf"\bi (?:currently )?{_NOT} (?:currently )?have (?:\w+ ){{0,2}}(?:access to|knowledge|idea)\b",
    rf"\b(?:i|we) have no (?:idea\b|{_MISSING})",
    rf"\b(?:i|we) (?:have no|{_NOT} have (?:any|a)) records? of\b",
    rf"\b(?:i|we){_UNABLE} (?:{_LEARN}|{_ANSWER} (?:{_ASKED}|whether|if|how|what)|{_GIVE} {_MISSING})",
    rf"\bi{_UNABLE} (?:{_ANSWER}|{_GIVE}|(?:help|assist|see)\b)",
    # the material does not tell
    rf"\b{_MATERIAL} (?:\w+ ){{0,5}}{_NOT} (?:\w+ ){{0,2}}{_TELL}",
    rf"\b(?:none|neither) of (?:the|these|my) (?:\w+ ){{0,2}}{_MATERIAL} (?:\w+ ){{0,3}}{_TELL}",
    rf"\b{_GIVEN_MATERIAL} (?:\w+ ){{0,5}}{_NOT} (?:\w+ ){{0,2}}{_HOLD}",
    rf"\b{_MATERIAL} (?:\w+ ){{0,5}}{_NOT} (?:\w+ ){{0,2}}{_HOLD} (?:{_MISSING}|{_ASKED})",
    rf"\b{_MATERIAL} (?:\w+ ){{0,5}}(?:lacks?|(?:has|have|contains?|provides?|gives?|includes?) (?:no|insufficient)) "
    rf"{_MISSING}",
    rf"{_IS_NOT}{_TOLD}(?: \w+)?(?! by\b| from\b){_HERE}",
    rf"{_IS_NOT}(?:found|available) in the (?:documents?|texts?|sources?)\b",
    rf"{_IS_NOT}{_HELD} (?:in|within|from|by) (?:\w+ ){{0,2}}{_GIVEN_MATERIAL}\b",
    rf"\b{_KNOWLEDGE} (?:\w+ ){{0,5}}{_IS_NOT}{_HELD}{_HERE}",
    # nothing is known, or found
    rf"\bthere(?:'s| is| are| was| were) (?:no|insufficient|not sufficient|not any) (?:\w+ ){{0,3}}{_FACTS}{_FOLLOWS}",
    rf"^(?:[\w' ]+, )?(?:insufficient|no) (?:\w+ ){{0,2}}(?:{_KNOWLEDGE}|results?|documents?) "
    rf"(?:(?:is|are|was|were|could be|ha(?:s|ve) been) )?(?:provided|available|given|found)(?:{_ENDS}|{_OF}|{_HERE})",
    rf"\b{_CANNOT} be (?:(?:determined|answered|inferred|established){_FROM}|found{_HERE})",
    r"\b(?:impossible|not possible) to (?:answer|determine|(?:know|say|tell)(?! the\b))\b",
    r"\b(?:out of|outside|beyond) (?:of )?(?:my (?:\w+ )?(?:scope|knowledge)|the scope of my)\b",
    rf"\b(?:outside|beyond) the scope of (?:\w+ ){{0,3}}{_MATERIAL}\b",
    rf"\b{_ASKED} (?:is|falls|lies) (?:\w+ )?(?:out of|outside|beyond) (?:of )?(?:the )?scope{_ENDS}",
))  # fmt: skip
"""How refusals open; later in an answer, the same words only name what it leaves open.

What is missing is said of the material of the answer or of the speaker's knowledge: where it is said of the subject
("The price does not include tax"), the answer is one.
"""

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
    `fold`.  Beside the default patterns, an answer is a refusal whose first sentence says of the documents, or of what
    the speaker knows, that the answer is missing ("The documents do not provide an answer"); an apology before it does
    not count, nor does what stands behind the first 500 characters.
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


@lru_cache(maxsize=2048)  # reports of a red run ask again and again about the same answers
def _opens_with_refusal(folded: str) -> bool:
    """Whether the first sentence, or the one after an apology, says that nothing is known."""
    first, _, rest = folded.partition(". ")
    if re.search(_OPENING, first[:_OPENING_LENGTH]):
        return True
    second = rest.partition(". ")[0]
    return re.match(_APOLOGY, first) is not None and re.search(_OPENING, second[:_OPENING_LENGTH]) is not None
