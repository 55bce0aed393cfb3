"""Metrics over what a case demands of its answer: required and forbidden phrases, facts, a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...base.files import refuse_constant
from ...base.text import did_you_mean
from ...core.metrics_base import CaseScore, Measurement
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError, MissingExtraError
from ..options import Configured, DoesNotApply, choice, needed
from ..refusal import fold
from ..values import expected_behaviour, nonempty, read_entries, read_list
from .comparands import answer_text
from .tokens import common_count, is_joining, is_mostly_ascii, squad_words


class AssertionPass(Configured):
    """1 where every ``must_contain`` phrase is in the answer and no ``forbidden`` one is, else 0.

    The phrases are labels of the case.  Its label ``match`` says how they are looked for: ``word`` (default:
    folded, and where a phrase begins or ends with a letter or digit the word must begin or end there too),
    ``substring`` (folded), or ``regex`` (searched in the answer as it is, as the package of that name reads it).
    N/a where neither label is set and where a refusal is expected.
    """

    stem = "assertion_pass"
    target = TargetCategory.GENERATION_CORRECTNESS
    reads = frozenset({"answer"})
    formula = "[all of must_contain in the answer] · [none of forbidden in the answer]"
    source = "phrase assertions of golden-query suites"
    oracle = "by hand"

    def read_case(self, sample: EvaluationSample) -> tuple[list[str], list[str]]:
        required, forbidden = _phrases(sample, "must_contain"), _phrases(sample, "forbidden")
        needed(required or forbidden, "neither must_contain nor forbidden is set")
        needed(expected_behaviour(sample) != "refuse", "a refusal is expected")
        return required, forbidden

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, phrases: Any) -> CaseScore:
        required, forbidden = phrases
        answer = answer_text(outputs)
        if not answer.strip():
            return Measurement(0.0, details={"note": "the answer is empty", "missing": required})
        contains = phrase_finder(answer, str(sample.labels.get("match") or "word"))
        missing = [phrase for phrase in required if not contains(phrase)]
        present = [phrase for phrase in forbidden if contains(phrase)]
        details = nonempty(missing=missing, forbidden_present=present)
        return Measurement(float(not missing and not present), details=details)


def _phrases(sample: EvaluationSample, label: str) -> list[str]:
    raw: Any = sample.labels.get(label)
    phrases = raw if isinstance(raw, (list, tuple)) else [] if raw is None else [raw]
    return list(map(str, phrases))


_SEARCH_SECONDS = 5.0
"""Time limit of one search with a regular expression."""


def phrase_finder(text: str, match: str = "word") -> Callable[[str], bool]:
    """Return a function that says whether a phrase is in *text*.

    Raises:
        MetricError: *match* is unknown, or (from the function) a regular expression cannot be read.
    """
    if match == "regex":
        return lambda phrase: _search(phrase, text)
    folded = fold(text)
    if match == "substring":
        return lambda phrase: fold(phrase) in folded
    if match == "word":
        return lambda phrase: _contains_words(folded, fold(phrase))
    modes = ("word", "substring", "regex")
    raise MetricError(f"match must be one of {', '.join(modes)}, got {match!r}{did_you_mean(match, modes)}")


def _search(pattern: str, text: str) -> bool:
    import regex  # as `re`, with a time limit

    try:
        return regex.search(pattern, text, timeout=_SEARCH_SECONDS) is not None
    except (regex.error, ValueError, OverflowError, RecursionError) as exc:
        message = f"cannot be read: {exc}"
    except TimeoutError:
        message = f"was ended after {_SEARCH_SECONDS:g} s; can it match in many ways?"
    except MemoryError:
        message = "was ended for lack of memory; can it match in many ways?"
    raise MetricError(f"the regular expression {pattern!r} {message}")


def _contains_words(text: str, phrase: str) -> bool:
    start = text.find(phrase)
    while start >= 0 and phrase and (is_joining(text, start) or is_joining(text, start + len(phrase))):
        start = text.find(phrase, start + 1)
    return start >= 0


def wordings(sample: EvaluationSample, label: str) -> list[list[str]]:
    """Read a *label* that lists things by name: for each thing its names, the first one being its own.

    Each is a text (``|`` between several names), a list of names, or a mapping with ``name`` or ``text`` and
    perhaps ``aliases``.  None and an empty list give an empty list.

    Raises:
        MetricError: an entry is none of these.
    """
    return [_read_names(entry, label) for entry in read_entries(sample.labels.get(label), f"labels[{label!r}]")]


def _read_names(entry: Any, label: str) -> list[str]:
    names: list[Any] = []
    if isinstance(entry, str):
        names = entry.split("|")
    elif isinstance(entry, Mapping):
        aliases = read_list(entry.get("aliases") or (), f"aliases in labels[{label!r}]")
        names = [entry.get("name", entry.get("text")), *aliases]
    elif isinstance(entry, Sequence):
        names = list(entry)
    texts = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if not texts or not all(isinstance(name, str) for name in names):
        raise MetricError(f"labels[{label!r}] holds texts, lists of texts or mappings with a name, got {entry!r}")
    return texts


class JsonSchemaValid(Configured):
    """1 where the structured answer satisfies the JSON Schema in the label ``answer_schema``, else 0.

    The answer is ``response.structured``, or its text read as JSON.  References to other documents are not
    fetched.  Needs the extra ``jsonschema``.
    """

    stem = "json_schema_valid"
    target = TargetCategory.GENERATION_CORRECTNESS
    formula = "[the answer is JSON and satisfies answer_schema]"
    source = "JSON Schema, draft 2020-12 unless $schema says otherwise"
    oracle = "jsonschema's own verdict"

    def read_case(self, sample: EvaluationSample) -> Any:
        if (schema := sample.labels.get("answer_schema")) is None:
            raise DoesNotApply("no answer_schema")
        return schema

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, schema: Any) -> CaseScore:
        if not isinstance(schema, (dict, bool)):
            raise MetricError(f"answer_schema is not a JSON Schema: it must be a mapping, got {schema!r:.80}")
        find_problems = _schema_checker(schema)
        answer: Any = outputs.response.structured
        if answer is None:
            try:
                answer = json.loads(answer_text(outputs), parse_constant=refuse_constant)
            except (ValueError, RecursionError) as exc:
                return Measurement(0.0, details={"problems": [f"the answer is not JSON: {exc}"]})
        problems = find_problems(answer)
        return Measurement(float(not problems), details=nonempty(problems=problems[:5]))


def _schema_checker(schema: Any) -> Callable[[Any], list[str]]:
    """Return a function that lists what is wrong with an answer; raises `MetricError` for what is no JSON Schema."""
    try:
        import jsonschema
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise MissingExtraError("json_schema_valid", "jsonschema") from None
    validator_class = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        validator_class.check_schema(schema)
    except jsonschema.SchemaError as exc:
        raise MetricError(f"answer_schema is not a JSON Schema: {exc.json_path}: {exc.message}") from None
    validator = validator_class(schema, registry=Registry())  # an empty registry fetches nothing

    def problems(answer: Any) -> list[str]:
        try:
            errors = sorted(validator.iter_errors(answer), key=lambda error: error.json_path)
        except Unresolvable as exc:
            raise MetricError(f"answer_schema refers to another document, which is not fetched: {exc}") from None
        return [f"{error.json_path}: {error.message}"[:200] for error in errors]

    return problems


class _Nugget(NamedTuple):
    """A fact with its wordings, and whether an answer without it is incomplete."""

    wordings: list[str]
    vital: bool

    @property
    def name(self) -> str:
        return self.wordings[0]


def _nuggets(sample: EvaluationSample) -> list[_Nugget]:
    return [_read_nugget(raw) for raw in read_entries(sample.labels.get("nuggets") or (), "labels['nuggets']")]


def _read_nugget(raw: Any) -> _Nugget:
    listed = (raw.get("any_of") or ()) if isinstance(raw, Mapping) else raw
    wordings = [str(w) for w in read_list(listed, "a nugget in labels['nuggets']") if str(w).strip()]
    if not wordings:
        raise MetricError(f"a nugget needs at least one wording, got {raw!r}")
    return _Nugget(wordings, not isinstance(raw, Mapping) or raw.get("importance", "vital") == "vital")


def _word_overlap(wording: str, answer: str) -> float:
    foreign = not is_mostly_ascii(wording)
    words = squad_words(wording, multilingual=foreign)
    return common_count(squad_words(answer, multilingual=foreign), words) / len(words) if words else 0.0


class NuggetRecall(Configured):
    """Share of the listed facts that the answer states.

    The facts are the label ``nuggets``: texts, or mappings with ``any_of`` (wordings of which one will do) and
    ``importance`` (``vital``, the default, or ``okay``).  A fact is supported where one of its wordings stands
    in the answer (folded, at word boundaries), half supported where at least half of the words of one do.

    Args:
        only: count the ``vital`` facts, or ``all``.
        strict: half support counts nothing.
    """

    only: str = choice("vital", "all")
    strict: bool = False

    stem = "nugget_recall"
    target = TargetCategory.GENERATION_CORRECTNESS
    reads = frozenset({"answer"})
    formula = "(supported + ½ half supported) / vital nuggets; strict: supported / vital nuggets"
    source = "TREC 2024 RAG, nugget evaluation (arXiv:2411.09607), matched by wording"
    oracle = "by hand"

    def read_case(self, sample: EvaluationSample) -> list[_Nugget]:
        nuggets = needed(_nuggets(sample), "no nuggets")
        return needed([n for n in nuggets if n.vital or self.only == "all"], "no vital nugget")

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, selected: list[_Nugget]) -> CaseScore:
        """Details: ``missing``, ``partly``: nuggets by name."""
        answer = answer_text(outputs)
        contains = phrase_finder(answer)
        support = [self._support(n, answer, contains) for n in selected]
        missing = [n.name for n, share in zip(selected, support, strict=True) if share == 0]
        partly = [n.name for n, share in zip(selected, support, strict=True) if share == 0.5]
        return Measurement(sum(support) / len(selected), details=nonempty(missing=missing, partly=partly))

    def _support(self, nugget: _Nugget, answer: str, contains: Callable[[str], bool]) -> float:
        if any(map(contains, nugget.wordings)):
            return 1.0
        half = not self.strict and any(_word_overlap(w, answer) >= 0.5 for w in nugget.wordings)
        return 0.5 if half else 0.0


class InformationIntegration(Configured):
    """1 where the answer states every one of several facts, which no single document holds, else 0.

    The facts are the label ``nuggets``, of whatever importance; n/a with fewer than two of them.
    """

    stem = "information_integration"
    target = TargetCategory.GENERATION_CORRECTNESS
    reads = frozenset({"answer"})
    formula = "[every nugget has a wording in the answer]"
    source = "RGB, information integration (arXiv:2309.01431)"
    oracle = "by hand"

    def read_case(self, sample: EvaluationSample) -> list[_Nugget]:
        nuggets = needed(_nuggets(sample), "no nuggets")
        needed(nuggets[1:], "only one nugget: take nugget_recall")
        return nuggets

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, nuggets: list[_Nugget]) -> CaseScore:
        """Details: ``missing``, nuggets by name."""
        contains = phrase_finder(answer_text(outputs))
        missing = [n.name for n in nuggets if not any(map(contains, n.wordings))]
        return Measurement(float(not missing), details=nonempty(missing=missing))
