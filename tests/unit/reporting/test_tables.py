from __future__ import annotations

from pytest_auepora.core.types import MetricResult, TargetCategory
from pytest_auepora.reporting.tables import results_to_dict, results_to_markdown

RECALL = MetricResult("recall@5", TargetCategory.RETRIEVAL_RELEVANCE, 0.8333333, {"num_samples": 3})
ROUGE = MetricResult("rougeL_answer", TargetCategory.GENERATION_CORRECTNESS, 0.61, {"num_samples": 3})
NONE = MetricResult("mrr", TargetCategory.RETRIEVAL_ACCURACY, 0.0, {"num_samples": 0})


def test_dict_groups_by_target_and_keeps_floats() -> None:
    assert results_to_dict([RECALL, ROUGE, NONE]) == {
        "RETRIEVAL_RELEVANCE": {"recall@5": 0.8333333},
        "GENERATION_CORRECTNESS": {"rougeL_answer": 0.61},
        "RETRIEVAL_ACCURACY": {"mrr": 0.0},
    }
    assert results_to_dict([]) == {}


def test_markdown_is_the_specified_table() -> None:
    assert results_to_markdown([RECALL, ROUGE]) == (
        "| Target | Metric | Value |\n"
        "|--------|--------|-------|\n"
        "| RETRIEVAL_RELEVANCE | recall@5 | 0.8333 |\n"
        "| GENERATION_CORRECTNESS | rougeL_answer | 0.6100 |"
    )


def test_nothing_measured_is_not_zero() -> None:
    assert results_to_markdown([NONE]).splitlines()[-1] == "| RETRIEVAL_ACCURACY | mrr | n/a |"


def test_a_value_without_a_count_is_shown_and_zero_has_no_sign() -> None:
    bare = MetricResult("own", TargetCategory.LATENCY, -0.00001)
    assert results_to_markdown([bare]).splitlines()[-1] == "| LATENCY | own | 0.0000 |"


def test_a_pipe_in_a_name_does_not_end_the_cell() -> None:
    odd = MetricResult("refusal_correctness[refusal_patterns=a|b]", TargetCategory.NEGATIVE_REJECTION, 1.0)
    assert "a\\|b]" in results_to_markdown([odd])


def test_a_backslash_before_a_pipe_does_not_end_it_either() -> None:
    odd = MetricResult("refusal_correctness[refusal_patterns=a\\|b]", TargetCategory.NEGATIVE_REJECTION, 1.0)
    assert "a\\\\\\|b]" in results_to_markdown([odd])
