"""Golden cases from documents: a model writes them; string matches and further questions to the model check them.

A draft that fails any check is rejected, with the reason.  What is left is a proposal: its ``status`` is ``draft``
until a person accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, TypeVar

from ..errors import AueporaError
from ..metrics.judge.critic import Form, JudgeReplyError, LLMCritic
from ..metrics.ranking.gold import fold_quote
from .asking import ANSWERED, ASKED, FOUND, VERDICT, WRITTEN, ask, provenance_of
from .documents import NEAR, DocumentPassage, Job, Passages, Price, content_words, group_passages, plan_jobs, price_of
from .known import Known, words_of

MAX_OVERLAP = 0.7
"""Share of a question's words that its quote may have: with more, the passage is too easy to find."""
_SHORTEST_QUOTE, _LONGEST_SHARE = 4, 0.9

_POINTS_AT_TEXT = re.compile(
    r"\b(?:the|this|that|these|given|above|following|provided|mentioned)\s+(?:\w+\s+)?"
    r"(?:passages?|texts?|documents?|excerpts?|paragraphs?|contexts?|articles?|snippets?|sections?)\b"
    r"|\b(?:according to|as (?:described|mentioned|stated|shown)) (?:above|below|here)\b|\bthe author\b",
    re.IGNORECASE,
)


Rejection = Literal[
    "", "unreadable reply", "no question", "not self-contained", "near-duplicate", "no answer", "no quote",
    "no quote of each passage", "quote not found", "quote too short", "quote is the whole passage", "copies the quote",
    "one quote is enough", "not answerable from its quote", "answerable without the documents", "the corpus answers it",
]  # fmt: skip
"""Why a draft is rejected; empty where it is not."""


@dataclass(slots=True)
class Draft:
    """One try at a case: a question with its answer.

    ``quotes`` are (passage, words of it), in the end those of further passages that answer as well.  It then has a
    ``case``, as a golden file has it, or the ``reason`` why there is none, and what it is ``about``: words, a question,
    a document.
    """

    job: Job
    question: str = ""
    answer: str = ""
    quotes: list[tuple[DocumentPassage, str]] = field(default_factory=list)
    reason: Rejection = ""
    about: str = ""
    case: dict[str, Any] | None = None


def find_passage(quote: str, passages: Sequence[DocumentPassage]) -> DocumentPassage | None:
    """Return the passage that holds *quote* word for word; line breaks and runs of blanks do not count."""
    folded_quote = fold_quote(quote)
    return next((p for p in passages if folded_quote and folded_quote in fold_quote(p.text)), None)


def quote_overlap(question: str, quote: str) -> float:
    """Return the share of the question's content words that the quote has; 0 where it has none."""
    question_words = content_words(question)
    return len(question_words & content_words(quote)) / len(question_words) if question_words else 0.0


def rejection_of(draft: Draft, known: Known, max_overlap: float = MAX_OVERLAP) -> tuple[Rejection, str]:
    """Return why *draft* is rejected, and what that is about; empty where nothing is wrong."""
    if len(words_of(draft.question)) < 3:
        return "no question", ""
    if (match := _POINTS_AT_TEXT.search(draft.question)) is not None:
        return "not self-contained", match[0]
    if duplicate := known.duplicate_of(draft.question):
        return "near-duplicate", duplicate
    if not draft.job.answerable:
        return "", ""
    if not draft.answer.strip():
        return "no answer", ""
    for passage, quote in draft.quotes:
        if len(words_of(quote)) < _SHORTEST_QUOTE:
            return "quote too short", quote[:80]
        if len(quote) > _LONGEST_SHARE * len(passage.text):
            return "quote is the whole passage", ""
    share = quote_overlap(draft.question, " ".join(quote for _, quote in draft.quotes))
    if share > max_overlap:
        return "copies the quote", f"{share:.0%} of the question's words"
    return "", ""


T = TypeVar("T")
R = TypeVar("R")

_Question = tuple[Draft, T, Mapping[str, str]]
"""A question about a draft, what it is about besides, and its material."""

_AT_ONCE = 8
"""Jobs whose drafts are checked together; these are written before the next ones begin."""


class Drafting:
    """Drafts cases until every document has as many of each kind as are wanted, or nothing is left to try.

    Args:
        passages: of all documents.
        critic: writes and checks; it needs `LLMCritic.complete`.  Without one, only `price` can be asked for.
        quotas: cases of each kind for every document.
        known: questions that there are already.
        seed: which passages are tried first.
        max_overlap: share of a question's words that its quote may have.
        finished: the jobs that were done already, by `Job.key`: whether they gave a draft.
    """

    def __init__(
        self,
        passages: Sequence[DocumentPassage],
        critic: LLMCritic | None,
        quotas: Mapping[str, int],
        *,
        known: Iterable[str] = (),
        seed: int = 0,
        max_overlap: float = MAX_OVERLAP,
        finished: Mapping[str, bool] | None = None,
    ) -> None:
        self.passages = Passages(passages)
        self.provenance = provenance_of(critic) if critic is not None else {}
        self._critic = critic
        self._max_overlap = max_overlap
        self._known = Known(known)
        finished = finished or {}
        self.queues = plan_jobs(self.passages, quotas, seed)
        """What may still be tried, by document and kind."""
        self.missing = {key: quotas[key[1]] for key in self.queues}
        """How many cases are still wanted."""
        for key, queue in self.queues.items():
            self.missing[key] -= sum(finished.get(job.key, False) for job in queue)
            self.queues[key] = [job for job in queue if job.key not in finished] if self.missing[key] > 0 else []

    def price(self) -> tuple[Price, Price]:
        """Estimate what it takes if no draft is rejected, and if nearly all are."""
        least = [job for key, queue in self.queues.items() for job in queue[: self.missing[key]]]
        most = [job for queue in self.queues.values() for job in queue]
        return price_of(least, self.passages.all), price_of(most, self.passages.all)

    def run(self) -> Iterator[Draft]:
        """Yield the draft of each job, accepted or rejected; raises `AueporaError` where the model cannot be asked."""
        queues, missing = self.queues, self.missing
        while jobs := [job for key, queue in queues.items() for job in queue[: missing[key]]]:
            for start in range(0, len(jobs), _AT_ONCE):
                for draft in self._run_jobs(jobs[start : start + _AT_ONCE]):
                    key = draft.job.doc, draft.job.kind
                    queues[key].remove(draft.job)
                    missing[key] -= draft.case is not None
                    yield draft

    def _run_jobs(self, jobs: Sequence[Job]) -> list[Draft]:
        drafts = [Draft(job) for job in jobs]
        answerable = [draft for draft in drafts if draft.job.answerable]
        self._write(drafts)
        for draft in _not_rejected(drafts):
            draft.reason, draft.about = rejection_of(draft, self._known, self._max_overlap)
        for draft, _, clear in self._ask("alone", VERDICT, _questions(_not_rejected(drafts))):
            if not clear:
                draft.reason = "not self-contained"
        self._check_answerable(_not_rejected(answerable))
        for draft, agrees in self._compare_answers("know", _questions(_not_rejected(answerable))):
            if agrees:
                draft.reason = "answerable without the documents"
        self._check_unanswerable([draft for draft in _not_rejected(drafts) if not draft.job.answerable])
        self._find_other_passages(_not_rejected(answerable))
        for draft in _not_rejected(drafts):
            if duplicate := self._known.duplicate_of(draft.question):
                draft.reason, draft.about = "near-duplicate", duplicate
            else:
                self._known.add(draft.question)
                draft.case = self._golden_case(draft)
        return drafts

    def _ask(self, prompt: str, form: Form[R], questions: Sequence[_Question[T]]) -> Iterator[tuple[Draft, T, R]]:
        """Ask *questions* and yield the reply to each; one that cannot be read rejects its draft."""
        if self._critic is None:
            raise AueporaError("there is no judge to write drafts")
        replies = ask(self._critic, prompt, form, [material for *_, material in questions])
        for (draft, about, _), reply in zip(questions, replies, strict=True):
            if isinstance(reply, JudgeReplyError):
                draft.reason, draft.about = "unreadable reply", str(reply)
            elif isinstance(reply, Exception):
                raise reply if isinstance(reply, AueporaError) else AueporaError(f"the model cannot be asked: {reply}")
            else:
                yield draft, about, reply

    def _write(self, drafts: Sequence[Draft]) -> None:
        for kind in dict.fromkeys(draft.job.kind for draft in drafts):
            of_kind = [draft for draft in drafts if draft.job.kind == kind]
            form = WRITTEN if of_kind[0].job.answerable else ASKED
            questions = [(draft, None, _passage_texts(draft.job.passages)) for draft in of_kind]
            for draft, _, (question, answer, quotes) in self._ask(f"write {kind}", form, questions):
                draft.question, draft.answer = question, answer
                if draft.job.answerable:
                    draft.reason, draft.about = _find_quotes(draft, [quote for quote in quotes if quote])

    def _check_answerable(self, drafts: Sequence[Draft]) -> None:
        """Reject a draft whose quotes do not give its answer, or of which one quote alone gives it."""
        together = [(d, "\n\n".join(quote for _, quote in d.quotes)) for d in drafts]
        for draft, agrees in self._compare_answers("answer", _with_evidence(together)):
            if not agrees:
                draft.reason = "not answerable from its quote"
        hops = [(d, quote) for d in _not_rejected(drafts) if d.job.kind == "multi-hop" for _, quote in d.quotes]
        for draft, agrees in self._compare_answers("answer", _with_evidence(hops)):
            if agrees:
                draft.reason = "one quote is enough"

    def _compare_answers(self, prompt: str, questions: Sequence[_Question[None]]) -> Iterator[tuple[Draft, bool]]:
        """Yield whether the answer to each question agrees with its draft; the model decides where words differ."""
        unsure = []
        for draft, _, answer in self._ask(prompt, ANSWERED, questions):
            if not answer or _contains(answer, draft.answer):
                yield draft, bool(answer)
            else:
                material = {"question": draft.question, "first": draft.answer, "second": answer}
                unsure.append((draft, None, material))
        for draft, _, same in self._ask("same", VERDICT, unsure):
            yield draft, same

    def _check_unanswerable(self, drafts: Sequence[Draft]) -> None:
        """Reject a draft that the model claims to find answered in the corpus, asked in groups of passages."""
        groups = list(group_passages(self.passages.all))
        searches = [_search(draft, passages) for draft in drafts for passages in groups]
        for draft, passages, answers in self._ask("which", FOUND, searches):
            if answers:
                documents = [passages[n - 1].doc for n, _ in answers if 1 <= n <= len(passages)]
                draft.reason, draft.about = "the corpus answers it", documents[0] if documents else "?"

    def _find_other_passages(self, drafts: Sequence[Draft]) -> None:
        """Add other passages that answer as labels, where the quotes that the model gives are really theirs."""
        single = [draft for draft in drafts if draft.job.kind == "single-hop"]
        nearest = [self.passages.nearest(f"{d.question} {d.answer}", NEAR, d.job.passages) for d in single]
        searches = [_search(draft, passages) for draft, passages in zip(single, nearest, strict=True) if passages]
        for draft, passages, answers in self._ask("which", FOUND, searches):
            found_quotes = [(passages[n - 1], quote) for n, quote in answers if 1 <= n <= len(passages)]
            draft.quotes += [(p, quote) for p, quote in found_quotes if find_passage(quote, [p]) is not None]

    def _golden_case(self, draft: Draft) -> dict[str, Any]:
        labels = dict.fromkeys((p.doc, fold_quote(quote)) for p, quote in draft.quotes)
        model, prompts = self.provenance["model"].get("model", "?"), self.provenance["prompts"]
        return {
            "id": f"draft-{sha256(draft.question.encode()).hexdigest()[:8]}",
            "query": draft.question,
            "relevant_docs": [{"doc": doc, "quote": quote} for doc, quote in labels],
            **({"reference_answer": draft.answer} if draft.answer else {}),
            "scenario": draft.job.kind,
            "status": "draft",
            "metadata": {"drafted_by": f"{model}, prompts {prompts}"},
        }


def _not_rejected(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if not draft.reason]


def _questions(drafts: Sequence[Draft]) -> list[_Question[None]]:
    return [(draft, None, {"question": draft.question}) for draft in drafts]


def _with_evidence(pairs: Sequence[tuple[Draft, str]]) -> list[_Question[None]]:
    return [(draft, None, {"question": draft.question, "evidence": evidence}) for draft, evidence in pairs]


def _search(draft: Draft, passages: Sequence[DocumentPassage]) -> _Question[Sequence[DocumentPassage]]:
    """Return the question which of the passages answer *draft*."""
    numbered = "\n\n".join(f"[{i}] {passage.text}" for i, passage in enumerate(passages, 1))
    answer = {"answer": draft.answer} if draft.answer else {}
    return draft, passages, {"question": draft.question, **answer, "passages": numbered}


def _passage_texts(passages: Sequence[DocumentPassage]) -> dict[str, str]:
    if len(passages) == 1:
        return {"passage": passages[0].text}
    return {f"passage_{i}": passage.text for i, passage in enumerate(passages, 1)}


def _find_quotes(draft: Draft, quotes: Sequence[str]) -> tuple[Rejection, str]:
    """Find the quotes in their passages, word for word; return as `rejection_of` why the draft is rejected."""
    for quote in quotes:
        if (passage := find_passage(quote, draft.job.passages)) is None:
            return "quote not found", quote[:80]
        draft.quotes.append((passage, quote))
    if {passage for passage, _ in draft.quotes} != set(draft.job.passages):
        return "no quote of each passage" if quotes else "no quote", ""
    return "", ""


def _contains(answer: str, expected: str) -> bool:
    """Whether the words of one answer stand in the other, in their order."""
    first, second = (f" {' '.join(words_of(text))} " for text in (answer, expected))
    return bool(first.strip() and second.strip()) and (second in first or first in second)
