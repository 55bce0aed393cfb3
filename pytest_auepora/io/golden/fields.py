"""Every key of a golden file: what it holds and what it is for.

The one definition: the reader, its error messages and the JSON Schema all come from these tables.
"""

from __future__ import annotations

from typing import Any, get_args

from ...errors import ThresholdError
from ...regression.policy import Assertions, CaseGuard, JudgePolicy, OnInconclusive, PolicyName
from ...regression.thresholds import STATS, read_slice
from ..source import KeyPath, Source
from .kinds import (
    BAD,
    Choice,
    Day,
    Field,
    FieldType,
    Flag,
    Free,
    ListOf,
    MapOf,
    Number,
    Reason,
    Record,
    Text,
    Whole,
    table,
)
from .names import CaseId, FixtureName, SuiteName, Tag
from .passages import FORBIDDEN_DOCUMENTS, Documents
from .turns import ChatHistory

_SLICE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": ["string", "integer"]},
}


class Thresholds(FieldType):
    """Bounds by metric; `gates.ThresholdReader` reads them."""

    expected = "a mapping from metrics to bounds"

    def __init__(self, *, of_case: bool) -> None:
        self.of_case = of_case

    def parse(self, value: Any) -> Any:
        return value if isinstance(value, dict) else BAD

    def schema(self) -> dict[str, Any]:
        number = {"type": "number"}
        text = {"type": "string", "pattern": r"^\s*(>=|<=|≥|≤)?\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"}
        keys: dict[str, Any] = {"min": number, "max": number}
        if not self.of_case:
            keys["stat"] = {"type": "string", "pattern": f"^({'|'.join(STATS)}|p[1-9][0-9]?)$"}
            keys["slice"] = _SLICE_SCHEMA
            keys["owner"] = {"type": "string", "pattern": r"\S"}
        bound = {"type": "object", "properties": keys, "additionalProperties": False,
                 "anyOf": [{"required": ["min"]}, {"required": ["max"]}]}  # fmt: skip
        single = {"anyOf": [number, text, bound]}
        several = {"type": "array", "items": single, "minItems": 1}
        return {"type": "object", "additionalProperties": {"anyOf": [number, text, bound, several]}}


class _SliceType(FieldType):
    """Labels with their values, as in thresholds; or a label alone, for a slice of each of its values."""

    expected = "a label, or labels with their values: {scenario: typo}"

    def parse(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            return value
        try:
            return read_slice(value)
        except ThresholdError:
            return BAD

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Text().schema(), _SLICE_SCHEMA]}


_POLICY = Choice(*get_args(PolicyName))
_BY_METRIC = (
    Field("case_guard", Choice(*get_args(CaseGuard)), "What a case that fell may do: auto (default: fail, if it is "
          "no chance), suite (count in the means and the pass rate), off (list)."),
    Field("policy", _POLICY, "auto (default), statistical, tolerance, or report: show changes, fail nothing."),
    Field("case_max_drop", Number(0), "How far one case's score may fall before the case fails (0.5)."),
    Field("min_effect", Number(0), "A smaller drop of the mean is no regression (0.01)."),
    Field("margin", Number(0), "How large a drop must be ruled out to call a metric unharmed (0.05)."),
    Field("judge", Choice(*get_args(JudgePolicy)),
          "When a judge's scores may fail the run: calibrated (default), gate (always), advisory (never)."),
)  # fmt: skip
_ANCHOR = Record(
    "the policy for the anchor",
    Field("policy", _POLICY, "As in regression; by default the same as there."),
    Field("min_effect", Number(0), "A smaller drop since the anchor is no drift (0.03)."),
    Field("margin", Number(0), "How large a drop since the anchor must be ruled out (0.1)."),
)
REGRESSION = Record(
    "regression",
    *_BY_METRIC,
    Field("reuse", Choice("generator"), "Leave out the call of the generator where it is the accepted one, by its "
          "declared provenance, and is given the accepted documents."),
    Field("again", Whole(0, 20), "How many more answers an update asks for; by default 1, or 4 where answers vary."),
    Field("alpha", Number(0, 0.5, above=True), "Chance of a false alarm over all metrics together (0.05)."),
    Field("on_inconclusive", Choice(*get_args(OnInconclusive)),
          "The outcome of a run that the data cannot decide (pass)."),
    Field("anchor", _ANCHOR, "How strictly the run is held to its anchor, where there is one."),
    Field("slices", ListOf(_SliceType(), least=1, unique=True),
          "Parts judged beside the whole: {scenario: typo}, or a label for a slice of each of its values."),
    Field("not_comparable", MapOf(ListOf(Text(), one_ok=True, least=1), "keys of the provenance"),
          "Metrics (or all) that do not compare with the baseline where this provenance differs: {corpus: all}."),
    Field("metrics", MapOf(Record("a metric's policy", *_BY_METRIC), "metrics"), "Other values for single metrics."),
)  # fmt: skip


MAX_TOP_K = 10_000
MAX_REPEAT = 1_000


class _TextOrRecord(FieldType):
    """A text, or a mapping with more keys, completed with *defaults*; with *alias* a text is read as a mapping too."""

    def __init__(self, title: str, *fields: Field, alias: str = "", defaults: dict[str, Any] | None = None) -> None:
        self.record, self.alias, self.defaults = Record(title, *fields), alias, defaults or {}
        self.expected = f"text, or a mapping with {' and '.join(self.record.fields)}"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if isinstance(value, str) and value.strip():
            return {**self.defaults, self.alias: [value]} if self.alias else value
        values = self.read_record(self.record, value, path, source)
        return BAD if values is BAD else {**self.defaults, **values}

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Text().schema(), self.record.schema()]}


_NUGGET = _TextOrRecord(
    "a nugget",
    Field("any_of", ListOf(Text(), one_ok=True, least=1), "Wordings; one is enough.", required=True),
    Field("importance", Choice("vital", "okay"), "Whether an answer needs it: vital (default) or okay."),
    alias="any_of",
    defaults={"importance": "vital"},
)
_ENTITY = _TextOrRecord(
    "an entity",
    Field("name", Text(), "What it is called.", required=True),
    Field("aliases", ListOf(Text(), one_ok=True), "What else it is called."),
)
_NOISE = _TextOrRecord(
    "a noise document",
    Field("id", Text(), "Its id; by default one made of its text."),
    Field("text", Text(), "What it says.", required=True),
)
_SENSITIVE = _TextOrRecord(
    "a sensitive item",
    Field("text", Text(), "What must not leak.", required=True),
    Field("secure", Flag(), "An input with it is to bypass the pipeline."),
)


class _Benchmark(FieldType):
    """True, or how often the call is timed."""

    expected = "true, or a mapping with rounds, iterations, warmup_rounds, group"
    record = Record(
        "benchmark",
        Field("rounds", Whole(1), "How many timings are taken."),
        Field("iterations", Whole(1), "Calls per timing."),
        Field("warmup_rounds", Whole(0), "Rounds before the first that counts."),
        Field("group", Text(), "Cases of one group are shown in one table."),
    )

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if isinstance(value, bool):
            return {} if value else None
        return self.record.read(value, path, source) if value else self.refuse(value, path, source)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "boolean"}, {**self.record.schema(), "minProperties": 1}]}


_TEXTS = ListOf(Text(), one_ok=True)

LABELS = table(
    Field("must_contain", _TEXTS, "What the answer has to say, word for word."),
    Field("forbidden", _TEXTS, "What the answer must not say."),
    Field("forbidden_docs", FORBIDDEN_DOCUMENTS,
          "Documents that must not be returned: ids (of chunks or documents), or mappings with a doc or quote."),
    Field("match", Choice("word", "substring", "regex"), "How must_contain and forbidden are looked for (word)."),
    Field("expect", Choice("answer", "refuse", "clarify"), "What the system should do, if relevant_docs does not say."),
    Field("expect_change", Flag(), "The answer should differ from that of the case this is a variant of."),
    Field("scenario", Text(), "What kind of case this is (typo, noise, …); thresholds can be sliced by it."),
    Field("variant_of", Text(), "Id of the case this is another form of."),
    Field("conversation", Text(), "Cases that are turns of one conversation share it; they count as one cluster."),
    Field("as", Text(), "Who asks: given to the system as principal; thresholds can be sliced by it."),
    Field("entities", ListOf(_ENTITY, one_ok=True), "What the passages found should mention; a|b is one thing."),
    Field("nuggets", ListOf(_NUGGET, one_ok=True), "Facts the answer should hold."),
    Field("noise_docs", ListOf(_NOISE, one_ok=True),
          "Irrelevant documents that the generator gets among the others; for a retriever and a generator."),
    Field("sensitive", ListOf(_SENSITIVE, one_ok=True), "Texts that must not leak into the answer."),
    Field("claims", _TEXTS, "Statements a complete answer makes: what claim_recall and context_recall count."),
    Field("rubric", _TEXTS, "What a judge looks for in the answer, in words: `mentions the deadline`."),
    Field("answer_schema", Free(), "JSON Schema that a structured answer must satisfy."),
)  # fmt: skip
"""Keys of a case that metrics find in ``sample.labels``."""

CASE_FIELDS = {
    **table(
        Field("id", CaseId(), "Unique name of the case; pytest selects it as file::id.", required=True),
        Field("query", Text(), "The question put to the system.", required=True),
        Field("chat_history", ChatHistory(), "Earlier turns, oldest first: [{user: …}, {assistant: …}]."),
        Field("relevant_docs", Documents(relevant=True),
              "What should be found: ids, or mappings with a grade, quote or span; [] if it should refuse."),
        Field("candidate_docs", Documents(relevant=False), "Documents known not to be relevant."),
        Field("reference_answer", ListOf(Text(), one_ok=True, least=1), "The right answer; a list if any will do."),
    ),
    **LABELS,
    **table(
        Field("cluster", Text(), "Cases that are not independent share it; the verdict's statistics need to know."),
        Field("tags", ListOf(Tag(), one_ok=True, unique=True), "pytest markers: select with -m."),
        Field("labels", Free(), "Further labels of your own; thresholds can be sliced by them."),
        Field("metadata", Free(), "Anything else; the system under test receives it with the case."),
        Field("thresholds", Thresholds(of_case=True), "Bounds on this case's own scores."),
        Field("top_k", Whole(1, MAX_TOP_K), "How many documents the system is asked for."),
        Field("status", Choice("draft", "accepted"),
              "draft: proposed by a program, not run and in no gate until a person accepts it (auepora review)."),
        Field("skip", Reason("skipped in the golden file"), "Not run; say why."),
        Field("xfail", Reason("expected to fail in the golden file"), "Expected to fail; say why."),
        Field("timeout", Number(0, above=True), "Seconds one call may take."),
        Field("must_pass", Flag(), "Fails the run whenever it fails."),
        Field("quarantine", Day(),
              "Until this date neither the comparison with its baseline nor an assertion fails the case."),
        Field("benchmark", _Benchmark(), "Timed by pytest-benchmark."),
    ),
}  # fmt: skip
"""All keys of a case, in the order in which people read them."""

EXPECTED_FIELDS = table(
    Field("expected_chunk_ids", ListOf(Text(), unique=True), "Read as relevant_docs: the ids."),
    Field("expected_doc_ids", ListOf(Text(), unique=True),
          "Read as relevant_docs: {doc: …} for each; [] if it should refuse. One beside expected_chunk_ids is theirs."),
)  # fmt: skip
"""What other tools call the documents that should be found."""

_CASE_HINTS = {
    "metrics": ": a case has no metrics of its own; list them in metrics of the file",
    **dict.fromkeys(("repeat", "regression", "owner", "owners", "fixture", "suite"), ": it is a key of the whole file"),
    "question": "query", "sample_id": "id", "case_thresholds": "thresholds", "marks": "tags",
    "must_not_contain": "forbidden", "principal": "as",
    **dict.fromkeys(("answer", "expected", "reference"), "reference_answer"),
    **dict.fromkeys(("docs", "contexts"), "relevant_docs"),
    **dict.fromkeys(("history", "messages", "turns"), "chat_history"),
    **dict.fromkeys(("conversation_id", "session", "thread"), "conversation"),
}  # fmt: skip
_OWN = ("id", "query", "variant_of")

CASE = Record("a case", *CASE_FIELDS.values(), *EXPECTED_FIELDS.values(), hints=_CASE_HINTS)
DEFAULTS = Record(
    "defaults",
    *(field for field in CASE_FIELDS.values() if field.name not in _OWN),
    hints={**_CASE_HINTS, **dict.fromkeys(_OWN, ": every case has its own")},
)


class _CaseList(FieldType):
    """The cases; `cases.CaseReader` reads each."""

    expected = "a list of cases"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if isinstance(value, list) and value:
            return value
        if isinstance(value, dict):
            mistake = "cases: expected a list of cases, got a mapping; start each case with '- id:'"
        elif value is None or isinstance(value, list):
            mistake = "there are no cases; a golden file without any would pass whatever happens"
        else:
            return self.refuse(value, path, source)
        source.report(path, mistake)
        return BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"$ref": "#/$defs/case"}, "minItems": 1}


_HEADER = (
    Field("suite", SuiteName(), "Name of the suite, by default that of the file; its baseline is called so too."),
    Field("description", Text(), "What the suite is about."),
    Field("owner", Text(), "The owner shown when its gates fail."),
    Field("owners", MapOf(Text(), "metrics"), "The owner shown when a gate on one of these metrics fails."),
    Field("fixture", FixtureName(), "The fixture that gives the system (rag)."),
    Field("top_k", Whole(1, MAX_TOP_K),
          "Documents asked for; by default the largest cut-off of the metrics, at least 5."),
    Field("metrics", ListOf(Text(), least=1, unique=True), "What is measured: recall@5, ndcg@10, token_f1, …"),
    Field("thresholds", Thresholds(of_case=False),
          "Gates over the suite: 0.8, {min: …}, {max: …}, with stat, slice, owner."),
    Field("case_thresholds", Thresholds(of_case=True), "Bounds on the scores of every case."),
    Field("regression", REGRESSION, "How strictly the run is held to its baseline."),
    Field("tags", ListOf(Tag(), one_ok=True, unique=True), "pytest markers of every case."),
    Field("repeat", Whole(1, MAX_REPEAT), "How often each case is asked (1)."),
    Field("assertions", Choice(*get_args(Assertions)), "What a broken must_contain, forbidden or schema does (fail)."),
    Field("defaults", DEFAULTS, "Keys that every case inherits unless it has its own."),
)  # fmt: skip
_SUITE_HINTS = {
    "name": "suite", "samples": "cases", "tests": "cases", "k": "top_k", "gates": "thresholds",
    "timeout": ": a timeout belongs to each case; write defaults: {timeout: …} for all",
}  # fmt: skip

SUITE = Record(
    "a golden file", *_HEADER, Field("cases", _CaseList(), "The golden cases.", required=True), hints=_SUITE_HINTS
)
HEADER = Record("the first line", *_HEADER, hints=_SUITE_HINTS)
"""What the first line of a golden JSONL file may hold: all of a suite but its cases."""


def golden_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a golden file in YAML, made from the tables the reader uses.

    The reader alone checks what involves several values: unique ids, known metrics, valid thresholds.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:pytest-auepora:schema:golden",
        "title": "Golden file of pytest-auepora",
        "description": "Questions, what is known about the right answers, and the gates a RAG system has to pass.",
        **SUITE.schema(),
        "$defs": {"case": CASE.schema()},
    }
