"""Structured answers held against a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError, MissingExtraError
from ..options import Configured
from ..text.comparands import answer_text

__all__ = ["JsonSchemaValid"]


@dataclass(eq=False, repr=False)
class JsonSchemaValid(Configured):
    """1 where the structured answer satisfies the JSON Schema in the label ``answer_schema``, else 0.

    The answer is ``response.structured``, or its text read as JSON.  References to other documents are not
    fetched.  Needs the extra ``jsonschema``.
    """

    stem: ClassVar[str] = "json_schema_valid"
    target = TargetCategory.GENERATION_CORRECTNESS
    formula: ClassVar[str] = "[the answer is JSON and satisfies answer_schema]"
    source: ClassVar[str] = "JSON Schema, draft 2020-12 unless $schema says otherwise"
    oracle: ClassVar[str] = "jsonschema's own verdict"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Return 1 or 0; n/a where the case has no schema."""
        schema = sample.labels.get("answer_schema")
        if schema is None:
            return NotApplicable("no answer_schema")
        problems_of = _checker(schema)
        answer: Any = outputs.response.structured
        if answer is None:
            try:
                answer = json.loads(answer_text(outputs), parse_constant=_refuse)
            except (ValueError, RecursionError) as exc:
                return Measurement(0.0, details={"problems": [f"the answer is not JSON: {exc}"]})
        problems = problems_of(answer)
        return Measurement(float(not problems), details={"problems": problems[:5]} if problems else {})


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _checker(schema: Any) -> Callable[[Any], list[str]]:
    """Return a function that lists what is wrong with an answer.

    Raises:
        MissingExtraError: jsonschema is not installed.
        MetricError: *schema* is no JSON Schema; from the function: it refers to another document.
    """
    try:
        import jsonschema
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise MissingExtraError("json_schema_valid", "jsonschema") from None
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as exc:
        raise MetricError(f"answer_schema is no JSON Schema: {exc.json_path}: {exc.message}") from None
    validator = kind(schema, registry=Registry())  # an empty registry fetches nothing

    def problems(answer: Any) -> list[str]:
        try:
            found = sorted(validator.iter_errors(answer), key=lambda error: error.json_path)
        except Unresolvable as exc:
            raise MetricError(f"answer_schema refers to another document, which is not fetched: {exc}") from None
        return [f"{error.json_path}: {error.message}"[:200] for error in found]

    return problems
