"""Labels from a judge: one yes-or-no question a label."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ...core.metrics_base import NotApplicable
from ...core.types import EvaluationSample, SystemOutputs
from ..judge.critic import Question, yes_or_no
from ..judge.prompts import fingerprint, label_prompt, number_texts
from ..judge.settings import AsksCritic
from ..text.comparands import answer_text
from .labels import ANSWER_LABELS, CHUNK_LABELS, CONTEXT_LABELS, ChunkLabels, LabelSource, LabelValues


class JudgeLabels(AsksCritic, LabelSource):  # type: ignore[override]  # concurrency is that of the critic
    """Asks *critic*, or the judge of the settings; only the replies 0 and 1 are labels, any other number is an error.

    A reply is remembered with the outputs it is about, so that several metrics ask once.
    """

    deterministic = False
    judged = True

    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels | NotApplicable:
        """Ask about each of the first *depth* chunks."""
        texts = [r.doc.text if r.doc.text.strip() else None for r in outputs.retrieved[:depth]]
        if texts and not any(texts):
            return NotApplicable("the retrieved documents carry no text")
        prompts: dict[Hashable, str] = {
            (name, text): label_prompt(CHUNK_LABELS[name], question=sample.query, chunk=text)
            for text in texts
            for name in wanted
            if text is not None
        }
        replies = self._ask(sample, outputs, prompts)
        retrieved = [None if text is None else {name: replies[name, text] for name in wanted} for text in texts]
        return ChunkLabels(retrieved, [labels for labels in retrieved if labels is not None])

    def answer_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]
    ) -> LabelValues | NotApplicable:
        """Ask about the answer."""
        answer = answer_text(outputs)
        if not answer.strip():
            return NotApplicable("the answer is empty")
        texts = {"question": sample.query, "answer": answer}
        context = {"context": number_texts([f"{r.doc.doc_id}\n{r.doc.text}" for r in outputs.retrieved])}
        prompts: dict[Hashable, str] = {
            name: label_prompt(ANSWER_LABELS[name], **texts, **(context if name in CONTEXT_LABELS else {}))
            for name in wanted
        }
        replies = self._ask(sample, outputs, prompts)
        return {name: replies[name] for name in wanted}

    def _ask(
        self, sample: EvaluationSample, outputs: SystemOutputs, prompts: dict[Hashable, str]
    ) -> dict[Hashable, bool]:
        critic = self.critic_in_use()
        memo: dict[str, bool] = outputs.memo.setdefault(("judge labels", id(critic)), {})
        new_prompts = list(dict.fromkeys(prompt for prompt in prompts.values() if prompt not in memo))
        metadata = {"sample_id": sample.sample_id, "scale": (0.0, 1.0), "yes_or_no": True}
        replies = critic.ask_many([Question(prompt, metadata) for prompt in new_prompts])
        for prompt, reply in zip(new_prompts, replies, strict=True):
            memo[prompt] = yes_or_no(reply)
        return {key: memo[prompt] for key, prompt in prompts.items()}

    def params(self) -> Any:
        """Return what changes the labels: the judge, its model and its prompts."""
        questions = (CHUNK_LABELS | ANSWER_LABELS).values()
        return {"judge": self.critic_params(), "prompt": fingerprint(*map(label_prompt, questions))}
