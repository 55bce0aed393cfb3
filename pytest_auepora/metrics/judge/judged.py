"""What all judged metrics have in common: who is asked, at once and strictly, and what makes up the fingerprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs
from ...errors import MetricError
from ..options import Configured
from .critic import LLMCritic, Question, good
from .prompts import fingerprint, load_prompt
from .reply import Judgement, Scale

Seen = Measurement | NotApplicable

RATIONALE_CAP = 500


class AsksCritic:
    """Asks a critic, that of the judge's settings if none was given."""

    critic: LLMCritic | None

    def critic_in_use(self) -> LLMCritic:
        """Return the critic, that of the settings if none was given.

        Raises:
            MetricError: the settings name none either.
        """
        if self.critic is None:
            from .settings import critic_from_environment

            return critic_from_environment()
        return self.critic

    @property
    def concurrency(self) -> int:
        """How many questions the critic takes at once."""
        try:
            return self.critic_in_use().concurrency
        except MetricError:
            return 1

    def critic_params(self) -> dict[str, Any]:
        """Return what the critic says of itself; nothing where there is none."""
        try:
            return dict(self.critic_in_use().params())
        except MetricError:
            return {}


class Judged(AsksCritic, Configured):  # type: ignore[override]  # concurrency is that of the critic
    """Base of the metrics that ask a critic.  A case may take several questions; each reply has to be a score.

    Without a critic, that of the judge's settings is asked.

    Class attributes:
        prompt: the name of the prompt's file.
    """

    scale: str
    prompt: ClassVar[str]
    deterministic: ClassVar[bool] = False
    judged: ClassVar[bool] = True
    shares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Scale.read(self.scale)
        super().__post_init__()

    def params(self) -> dict[str, Any]:
        """Return the options that change the score, with what the critic says of itself and the prompt."""
        prompt = f"{load_prompt(self.prompt).version}:{fingerprint(self._filled())}"
        return {**super().params(), "judge": self.critic_params(), "prompt": prompt}

    def _questions(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[Question] | Seen:
        """Return what to ask about one case, or what is known without asking."""
        raise NotImplementedError

    def _combine(self, judgements: Sequence[Judgement], questions: Sequence[Question]) -> Measurement:
        """Make the replies to one case's questions its score."""
        (judgement,) = judgements
        details: dict[str, Any] = {"score": judgement.score, "scale": self.scale}
        if judgement.rationale:
            details["rationale"] = judgement.rationale[:RATIONALE_CAP]
        return Measurement(self._unit(judgement), details=details)

    def _unit(self, judgement: Judgement) -> float:
        return Scale.read(self.scale).to_unit(judgement.score)

    def _question(self, sample: EvaluationSample, prompt: str, **more: Any) -> Question:
        scale = Scale.read(self.scale)
        pair = (scale.low, scale.high, scale.words) if scale.words else (scale.low, scale.high)
        return Question(prompt, {"metric": self.name, "sample_id": sample.sample_id, "scale": pair, **more})

    def _filled(self, words: Mapping[str, str] | None = None, /, **material: str) -> str:
        scale = Scale.read(self.scale)
        return load_prompt(self.prompt).fill({"scale": scale.asked, "reply": scale.reply, **(words or {})}, **material)

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Seen:
        """Ask about one case; see `measure_many`."""
        return self.measure_many([sample], [outputs])[0]

    def measure_many(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[Seen]:
        """Ask about all cases at once.

        Raises:
            Exception: what the first failing question gave, after all were asked.
        """
        asked = [self._questions(s, o) for s, o in zip(samples, outputs, strict=True)]
        questions = [q for one in asked if isinstance(one, list) for q in one]
        replies = iter(self.critic_in_use().judge_many(questions) if questions else ())
        return [
            self._combine([good(next(replies)) for _ in one], one) if isinstance(one, list) else one for one in asked
        ]
