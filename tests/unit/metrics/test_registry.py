"""From the name people type to the metric; metrics from a module, a file, an installed package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.options import Configured
from pytest_auepora.metrics.registry import GROUP, Registry, add_from, add_installed
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.metrics.retrieval_ranking import NDCGAtK
from pytest_auepora.metrics.robustness import NoiseRobustness

from .test_options import REGISTRY, typed

CALLED_OTHERWISE = ("mean_latency", "rouge1", "rouge2", "rougeL")
"""Specified as ``mean_latency[end_to_end]`` and ``rougeL_answer``; shorter in golden files."""


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_name_makes_a_metric_of_that_name(spelling: str) -> None:
    name = typed(spelling)
    metric = REGISTRY.get(name)
    assert metric.name == name
    assert own_name(metric) == name or spelling in CALLED_OTHERWISE, "its stem is not its spelling"
    again = REGISTRY.get(own_name(metric))
    assert (type(again), again.params()) == (type(metric), metric.params())


def own_name(metric: Metric) -> str:
    """What a metric calls itself, whatever it was typed as."""
    return metric.spelling() if isinstance(metric, Configured) else metric.name


def test_the_base_of_a_metric_comes_from_the_same_registry() -> None:
    class Own(Metric):
        name = "own"
        target = RecallAtK(1).target

        def measure(self, sample: Any, outputs: Any) -> Any:
            raise NotImplementedError

    registry = Registry()
    own = Own()
    registry.add("own", own)
    made = registry.get("noise_robustness[own]")
    assert isinstance(made, NoiseRobustness)
    assert made.metric is own


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        ("MRR@10", "mrr@10"),
        ("NDCG@5", "ndcg@5"),
        ("SufficiencyRate@3", "sufficiency_rate@3"),
        ("MisleadingContextRate@3", "misleading_rate@3"),
        ("UnsupportedClaimRate", "unsupported_claim"),
        ("On-Topic Rate", "on_topic"),
        ("Misleading Context Rate@5", "misleading_rate@5"),
        ("Mean Reciprocal Rank@10", "mrr@10"),
        ("HitRate@5", "hit@5"),
        ("on_topic_rate", "on_topic"),
        ("P@5", "precision@5"),
        ("p@10", "precision@10"),
        ("cov_entities", "coverage_entities"),
        ("cov_entities@5", "coverage_entities@5"),
        ("end_to_end_p95", "p95_latency"),
        ("end_to_end_p50", "p50_latency"),
    ],
)
def test_names_as_papers_write_them(written: str, spelling: str) -> None:
    made, known = Registry().get(written), Registry().get(spelling)
    assert (type(made), made.params()) == (type(known), known.params())


def test_options_as_the_sources_name_them() -> None:
    assert NDCGAtK(5, gain_scheme="binary").name == "ndcg@5[gain=binary]"
    assert Registry().get("ndcg@5[gain_scheme=linear]").params() == NDCGAtK(5, "linear").params()
    noisy = NoiseRobustness("hit@1", noise_scenarios=["typo"])
    assert noisy.params() == NoiseRobustness("hit@1", scenarios=("typo",)).params()
    with pytest.raises(MetricError, match="gain must be one of"):
        NDCGAtK(5, gain_scheme="cubic")


def test_a_metric_without_options_of_its_own_takes_none() -> None:
    class Constant(Metric):
        name, target, range = "constant", TargetCategory.GENERATION_RELEVANCE, (0.0, 1.0)

        def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
            return Measurement(1.0)

    registry = Registry()
    registry.add("constant", Constant)
    with pytest.raises(MetricError, match="takes no option, got '5'"):
        registry.get("constant[5]")
    with pytest.raises(MetricError, match="no option '_'; available: none"):
        registry.get("constant[_=5]")


MODULE = """
from pytest_auepora import Measurement, Metric, TargetCategory

class AnswerWords(Metric):
    name = "answer_words"
    target = TargetCategory.DIVERSITY
    def __init__(self, most=100):
        self.most = most
    def measure(self, sample, outputs):
        return Measurement(min(1.0, len(outputs.response.text.split()) / self.most))

made = AnswerWords()
number = 3

def pytest_auepora_metrics(registry, config):
    assert config is None
    registry.add("words_of_hook", AnswerWords)

def broken(registry):
    raise RuntimeError("boom")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_metrics.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "bad_metrics.py").write_text("import not_there_at_all", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in ("own_metrics", "bad_metrics"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("own_metrics:AnswerWords", "answer_words[most=5]"),
        ("own_metrics:made", "answer_words"),
        ("own_metrics:pytest_auepora_metrics", "words_of_hook[most=5]"),
        ("own_metrics.py:AnswerWords", "answer_words"),
        ("{folder}/own_metrics.py:pytest_auepora_metrics", "words_of_hook"),
    ],
)
def test_what_may_be_named(folder: Path, spelling: str, name: str) -> None:
    registry = Registry()
    add_from(registry, spelling.format(folder=folder))
    assert registry.get(name).name == name


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        ("own_metrics", "module:object or file.py:object"),
        ("own_metrics:AnswerWord", "own_metrics has no 'AnswerWord' (did you mean 'AnswerWords'?)"),
        ("own_metrics:number", "expected a metric or a function that takes the registry, got 3"),
        ("own_metrics:broken", "own_metrics:broken: RuntimeError: boom"),
        ("not_there:x", "cannot be imported: ModuleNotFoundError"),
        ("not/there.py:x", "there is no not/there.py"),
        ("bad_metrics:x", "No module named 'not_there_at_all'"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_none_is_said(spelling: str, said: str) -> None:
    with pytest.raises(MetricError) as caught:
        add_from(Registry(), spelling)
    assert said in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_installed_packages_offer_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP),
        metadata.EntryPoint("several", "own_metrics:pytest_auepora_metrics", GROUP),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points if group == GROUP else [])
    monkeypatch.syspath_prepend(".")
    registry = Registry()
    add_installed(registry)
    assert registry.get("their_words[most=7]").params() == {}
    assert registry.get("words_of_hook").name == "words_of_hook"
    points[:] = [metadata.EntryPoint("gone", "not_there:x", GROUP)]
    with pytest.raises(MetricError, match=r"entry point gone = not_there:x of auepora\.metrics"):
        add_installed(Registry())


@pytest.mark.usefixtures("folder")
def test_installed_metrics_are_searched_for_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    points = [metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP)]

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        asked.append(group)
        return points

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.syspath_prepend(".")
    registry = Registry(installed=True)
    assert registry.get("recall@5").name == "recall@5"
    assert not asked
    assert registry.get("their_words").name == "their_words"
    assert asked == [GROUP]
    with pytest.raises(MetricError, match="already is a metric called 'their_words'"):
        registry.add("their_words", registry.get("recall@5"))
    assert "their_words" in registry.spellings()
    assert asked == [GROUP]


@pytest.mark.usefixtures("folder")
def test_installed_metrics_add_all_or_nothing_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP),
        metadata.EntryPoint("gone", "not_there:x", GROUP),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points)
    monkeypatch.syspath_prepend(".")
    registry = Registry(installed=True)
    for _ in range(2):
        with pytest.raises(MetricError, match="entry point gone"):
            registry.get("their_words")
    points.pop()
    assert registry.get("their_words").name == "their_words"
