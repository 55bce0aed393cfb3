"""EM, F1, ROUGE, BLEU and evidence overlap: definitions, states, options."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.generation_overlap import (
    AnswerRecall,
    ContainsAnswer,
    EvidenceOverlapFaithfulness,
    ExactMatch,
    KPrecision,
    Rouge1,
    Rouge2,
    RougeL,
    TokenF1,
)
from pytest_auepora.metrics.generation_text import BleuScore, RougeLAnswer, RougeScores, SentenceBleu
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.text.assertions import NuggetRecall
from pytest_auepora.metrics.text.bleu import Chrf
from pytest_auepora.metrics.text.numbers import UnsupportedNumbers

from .samples import case, gave, is_na, note_of, reason, value
from .text.test_properties import AGAINST_REFERENCE as NAMES
from .text.test_properties import METRICS

AGAINST_REFERENCE = [METRICS[name] for name in NAMES if name != "bleu"]

MADE: list[Metric] = [
    ExactMatch(ignore_case=False, ignore_articles=False),
    TokenF1(multilingual=False),
    Rouge1(use_stemmer=False),
    Rouge2(tokenizer="unicode"),
    RougeL(compare_to="query"),
    RougeScores(variants=("rouge1", "rougeL")),
    RougeScores(variants="rouge2"),
    Rouge2(compare_to="query", use_stemmer=False),
    RougeLAnswer(),
    BleuScore(max_order=2, smooth_method="none", tokenizer="none"),
    SentenceBleu(smooth_method="floor", smooth_value=0.25, lowercase=True),
    EvidenceOverlapFaithfulness(evidence_source="relevant", n=2),
    Chrf(char_order=4, beta=1.5, lowercase=True),
    AnswerRecall(ignore_articles=False),
    ContainsAnswer(multilingual=False),
    NuggetRecall(only="all", strict=True),
    KPrecision(evidence_source="relevant"),
    UnsupportedNumbers(evidence_source="relevant"),
]


@pytest.mark.parametrize("metric", MADE, ids=lambda m: m.name)
def test_names_of_metrics_made_in_code_are_accepted(metric: Metric) -> None:
    again = Registry().get(metric.name)
    assert type(again) is type(metric)
    assert (again.name, again.params(), again.target) == (metric.name, metric.params(), metric.target)


def test_names() -> None:
    assert [m().name for m in (Rouge1, Rouge2, RougeLAnswer)] == ["rouge1_answer", "rouge2_answer", "rougeL_answer"]
    assert RougeL(compare_to="query").name == "rougeL_answer[compare_to=query]"
    assert RougeL(tokenizer=str.split).name == "rougeL_answer[tokenizer=str.split]"
    assert RougeScores(variants=("rouge1", "rougeL")).name == "rouge[variants=rouge1|rougeL]"
    assert EvidenceOverlapFaithfulness(n=2).name == "evidence_overlap[n=2]"
    assert EvidenceOverlapFaithfulness(top_k=3, joined=True).name == "evidence_overlap[top_k=3,joined=true]"


@pytest.mark.parametrize("metric", [*AGAINST_REFERENCE, BleuScore()], ids=lambda m: m.name)
def test_no_reference_is_not_applicable_and_says_why(metric: Metric) -> None:
    assert reason(metric, case(), gave("x")) == "no reference_answer"
    assert is_na(metric, case("  \n"), gave("x"))
    result = metric.compute([case()], [gave("x")])
    assert (result.value, result.details["num_samples"], result.details["num_skipped"]) == (0.0, 0, 1)
    assert metric.required_fields() == ["reference_answer"]


@pytest.mark.parametrize("metric", [m for m in AGAINST_REFERENCE if m.direction == "higher"], ids=lambda m: m.name)
def test_an_empty_answer_scores_nothing_and_says_so(metric: Metric) -> None:
    seen = metric.measure(case("thirty days from purchase"), gave(" "))
    assert isinstance(seen, Measurement)
    assert seen.value == 0
    assert seen.details["note"]


def test_em_and_f1_by_hand() -> None:
    assert value(ExactMatch(), case("The Eiffel Tower!"), gave("eiffel tower")) == 1
    assert value(ExactMatch(ignore_articles=False), case("The Eiffel Tower!"), gave("eiffel tower")) == 0
    assert value(ExactMatch(ignore_case=False), case("Eiffel"), gave("eiffel")) == 0
    assert value(ExactMatch(ignore_punctuation=False), case("Eiffel."), gave("eiffel")) == 0
    assert value(TokenF1(), case("cat sat mat"), gave("the cat sat on mat")) == pytest.approx(2 * (3 / 4) / (3 / 4 + 1))
    assert value(TokenF1(), case("a b b"), gave("b c")) == pytest.approx(0.5)
    assert value(TokenF1(), case("x"), gave("y")) == 0


def test_a_reference_of_articles_only_is_not_applicable() -> None:
    assert is_na(TokenF1(), case("A"), gave("a"))
    assert value(ExactMatch(ignore_articles=False), case("A"), gave("a")) == 1


def test_the_best_of_several_references_counts() -> None:
    several = case(["unlike anything", "within 30 days", ""])
    assert value(ExactMatch(), several, gave("Within 30 days.")) == 1
    assert value(RougeL(), several, gave("Within 30 days.")) == 1


@pytest.mark.parametrize(
    "text", ["北京是中国的首都。", "القاهرة هي عاصمة مصر", "Москва столица России", "กรุงเทพมหานคร"]
)
def test_no_silent_zero_for_other_scripts(text: str) -> None:
    sample = case(text)
    assert "tokenizer=unicode" in reason(RougeL(), sample, gave(text))
    for metric in (RougeL(tokenizer="unicode"), TokenF1(), ExactMatch(), SentenceBleu(tokenizer="char")):
        assert value(metric, sample, gave(text)) == 1
    assert 0 < value(RougeL(tokenizer="unicode"), sample, gave(text[: len(text) // 2 + 2])) < 1


def test_part_of_a_chinese_answer_scores_in_part() -> None:
    sample, outputs = case("北京大学在北京。"), gave("北京大学")
    assert value(TokenF1(), sample, outputs) == pytest.approx(2 * 4 / (4 + 7))
    assert value(ExactMatch(), case("北京"), gave("北京。")) == 1
    assert "tokenizer=zh" in reason(SentenceBleu(), sample, outputs)
    assert "tokenizer=zh" in reason(BleuScore(tokenizer="intl"), sample, outputs)
    assert value(SentenceBleu(tokenizer="zh"), sample, outputs) > 0


def test_an_answer_in_another_script_than_its_reference_says_so() -> None:
    sample, outputs = case("the capital of China"), gave("北京")
    assert value(RougeL(), sample, outputs) == 0
    assert note_of(RougeL(), sample, outputs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RougeL(tokenizer="japanese"), "tokenizer must be"),
        (lambda: RougeL(compare_to="answer"), "compare_to must be"),
        (lambda: RougeScores(variants=("rouge9",)), "variants must be"),
        (lambda: RougeScores(variants=()), "variants must be"),
        (lambda: BleuScore(max_order=0), "max_order must be"),
        (lambda: BleuScore(smooth_method="soft"), "smooth_method must be"),
        (lambda: EvidenceOverlapFaithfulness(n=0), "n must be at least 1"),
        (lambda: EvidenceOverlapFaithfulness(evidence_source="web"), "evidence_source must be"),
    ],
)
def test_options_that_make_no_sense(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(MetricError, match=message):
        make()


def test_evidence_overlap() -> None:
    metric = EvidenceOverlapFaithfulness()
    seen = metric.measure(case(), gave("Refunds take 30 days, refunds!", "A refund takes 30 days", "refunds"))
    assert isinstance(seen, Measurement)
    assert seen.value == pytest.approx(4 / 5)
    assert seen.details == {"unsupported": ["take"]}
    assert value(EvidenceOverlapFaithfulness(n=2), case(), gave("b c d", "a b c", "d e")) == pytest.approx(1 / 2)
    assert value(metric, case(), gave("", "text")) == 0
    assert value(metric, case(), gave("北京大学", "他在北京")) == pytest.approx(1 / 2)


def test_evidence_of_the_top_documents_and_as_one_text() -> None:
    outputs = gave("leaves on Monday", "The parcel leaves", "on Monday")
    assert value(EvidenceOverlapFaithfulness(top_k=1), case(), outputs) == pytest.approx(1 / 3)
    assert value(EvidenceOverlapFaithfulness(n=2), case(), outputs) == 0.5
    assert value(EvidenceOverlapFaithfulness(n=2, joined=True), case(), outputs) == 1.0
    assert value(EvidenceOverlapFaithfulness(joined=True), case(), gave("leaves")) == 0.0


def test_evidence_overlap_says_what_it_lacks() -> None:
    metric = EvidenceOverlapFaithfulness(evidence_source="relevant")
    assert metric.required_fields() == ["relevant_docs"]
    assert reason(metric, case(), gave("x")) == "no relevant_docs"
    assert is_na(metric, case(relevant=["d1"]), gave("x"))
    assert value(metric, case(relevant=[Document("d1", "x y")]), gave("x z")) == 0.5
    assert "shorter than 3" in reason(EvidenceOverlapFaithfulness(n=3), case(), gave("a b", "a b c"))
    nothing = EvidenceOverlapFaithfulness().measure(case(), gave("out of thin air"))
    assert isinstance(nothing, Measurement)
    assert (nothing.value, nothing.details["unsupported"]) == (0.0, ["out", "of", "thin", "air"])


def test_every_public_name_of_the_seeds_modules_is_there() -> None:
    from pytest_auepora.metrics import generation_overlap, generation_semantic, generation_text

    for module in (generation_overlap, generation_semantic, generation_text):
        for name in module.__all__:
            assert issubclass(getattr(module, name), Metric)
    assert generation_text.RougeLAnswer is generation_overlap.RougeL


def test_k_precision_clips() -> None:
    answer = gave("refunds, refunds and more refunds", "the refunds", "refunds and returns")
    seen = KPrecision().measure(case(), answer)
    assert seen == Measurement(3 / 5, details={"unsupported": ["refunds", "more"]})
    assert value(KPrecision(), case(), gave("", "text")) == 0
    assert value(KPrecision(), case(), gave("北京大学", "在北京")) == 0.5
    nothing = KPrecision().measure(case(), gave("x"))
    assert isinstance(nothing, Measurement)
    assert (nothing.value, nothing.details["unsupported"]) == (0.0, ["x"])
