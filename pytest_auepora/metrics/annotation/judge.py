"""Labels from a judge: one yes-or-no question a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.conversation import asked_text
from ...core.types import EvaluationSample, SystemOutputs
from ..judge.critic import Question, yes_or_no
from ..judge.prompts import fingerprint, label_prompt, number_texts
from ..judge.settings import AsksCritic
from ..options import needed
from ..text.comparands import given_answer
from .labels import ANSWER_LABELS, CHUNK_LABELS, CONTEXT_LABELS, ChunkLabels, LabelSource, LabelValues


class JudgeLabels(AsksCritic, LabelSource):  # type: ignore[override]  # concurrency is that of the critic
    """Asks *critic*, or the judge of the settings; only the replies 0 and 1 are labels, any other number is an error.

    A reply is remembered with the outputs it is about, so that several metrics ask once.
    """

    deterministic = False
    judged = True

    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels:
        texts = [r.doc.text for r in outputs.retrieved[:depth]]
        prompts = {
            text: {name: label_prompt(CHUNK_LABELS[name], question=asked_text(sample), chunk=text) for name in wanted}
            for text in texts
            if text.strip()
        }
        needed(prompts or not texts, "the retrieved documents carry no text")
        labels = self._ask(sample, outputs, prompts)
        return ChunkLabels([labels.get(text) for text in texts], [labels[text] for text in texts if text in labels])

    def answer_labels(self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]) -> LabelValues:
        answer = given_answer(outputs)
        texts = {"question": asked_text(sample), "answer": answer}
        context = {"context": number_texts([f"{r.doc.doc_id}\n{r.doc.text}" for r in outputs.retrieved])}
        prompts = {
            name: label_prompt(ANSWER_LABELS[name], **texts, **(context if name in CONTEXT_LABELS else {}))
            for name in wanted
        }
        return self._ask(sample, outputs, {answer: prompts})[answer]

    def _ask(
        self, sample: EvaluationSample, outputs: SystemOutputs, prompts: Mapping[str, Mapping[str, str]]
    ) -> dict[str, LabelValues]:
        """Return the labels of each text, given the prompt of each of its labels."""
        critic = self.critic_in_use()
        memo: dict[str, bool] = outputs.memo.setdefault(("judge labels", id(critic)), {})
        of_all_texts = (prompt for by_label in prompts.values() for prompt in by_label.values())
        new_prompts = list(dict.fromkeys(prompt for prompt in of_all_texts if prompt not in memo))
        metadata = {"sample_id": sample.sample_id, "scale": (0.0, 1.0), "yes_or_no": True}
        replies = critic.ask_many([Question(prompt, metadata) for prompt in new_prompts])
        for prompt, reply in zip(new_prompts, replies, strict=True):
            memo[prompt] = yes_or_no(reply)
        return {text: {name: memo[p] for name, p in by_label.items()} for text, by_label in prompts.items()}

    def params(self) -> Any:
        """Return what changes the labels: the judge, its model and its prompts."""
        questions = (CHUNK_LABELS | ANSWER_LABELS).values()
        return {"judge": self.critic_params(), "prompt": fingerprint(*map(label_prompt, questions))}
