"""Variants written into a golden file: reviewable, repeatable, and nothing else of the file changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.io.golden.load import load_golden

from ...metrics.judge.judge_server import chat, judge_server

GOLDEN = """\
# the shop's questions
suite: shop   # a comment
metrics: [recall@5]
cases:
  - id: refunds
    query: How long do I have to ask for a refund?   # asked daily
    relevant_docs: [policy-4, {id: policy-7, grade: 2}]
    thresholds: {recall@5: 0.5}
  - id: odd
    query: "7 + 5?"
    relevant_docs: []
"""


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "shop.golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    return path


def test_variants_are_appended_and_the_rest_is_left_alone(golden: Path) -> None:
    assert main(["perturb", str(golden), "--write"]) == 0
    text = golden.read_text(encoding="utf-8")
    assert text.startswith(GOLDEN)
    suite = load_golden(golden)
    made = [c for c in suite.cases if c.sample.labels.get("variant_of") == "refunds"]
    assert [c.id for c in made] == ["refunds-typo-1", "refunds-typo-2", "refunds-typo-3"]
    base = suite.case("refunds").sample
    assert all(c.sample.relevant_docs == base.relevant_docs and c.sample.query != base.query for c in made)
    assert all(c.sample.labels["scenario"] == "typo" and c.thresholds == {} and c.cluster == "refunds" for c in made)


def test_doing_it_again_changes_nothing(golden: Path) -> None:
    main(["perturb", str(golden), "--write"])
    once = golden.read_bytes()
    main(["perturb", str(golden), "--write"])
    assert golden.read_bytes() == once


def test_without_write_they_are_printed_only(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perturb", str(golden), "--kind", "casing", "--kind", "typo"]) == 0
    said = capsys.readouterr().out
    assert "refunds-casing-1" in said
    assert "*id" not in said
    assert golden.read_text(encoding="utf-8") == GOLDEN


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.golden.jsonl"
    path.write_text('{"suite": "a"}\n{"id": "x", "query": "Which forest animals hibernate?", "relevant_docs": ["d"]}')
    assert main(["perturb", str(path), "--write", "--count", "2"]) == 0
    assert [c.id for c in load_golden(path).cases] == ["x", "x-typo-1", "x-typo-2"]


@pytest.mark.parametrize(
    "text",
    [
        'cases: [{id: a, query: "Which forest animals hibernate?"}]\n',
        'cases:\n  - {id: a, query: "Which forest animals hibernate?"}\nowner: somebody\n',
    ],
)
def test_where_they_cannot_be_appended_nothing_is_written(
    golden: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    golden.write_text(text, encoding="utf-8")
    assert main(["perturb", str(golden), "--write"]) == 3
    assert "paste" in capsys.readouterr().err
    assert golden.read_text(encoding="utf-8") == text


def test_paraphrases_from_a_file(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = golden.parent / "other.yaml"
    file.write_text(
        'refunds: ["When can I get a refund?", "When can I get a refund?", "Until when?"]', encoding="utf-8"
    )
    assert main(["perturb", str(golden), "--paraphrases", str(file), "--write"]) == 0
    made = load_golden(golden).cases[2:]
    assert [(c.id, c.sample.query) for c in made] == [
        ("refunds-paraphrase-1", "When can I get a refund?"),
        ("refunds-paraphrase-2", "Until when?"),
    ]
    assert made[0].sample.labels["scenario"] == "paraphrase"
    file.write_text("refund: Until when?", encoding="utf-8")
    assert main(["perturb", str(golden), "--paraphrases", str(file)]) == 3
    assert "'refunds'?" in capsys.readouterr().err


def test_noise_from_a_corpus(golden: Path) -> None:
    corpus = golden.parent / "corpus.jsonl"
    rows = [f'{{"id": "d{i}", "text": "document {i}"}}\n' for i in range(9)]
    corpus.write_text("".join([*rows, '{"id": "policy-4", "text": "30 days"}\n']), encoding="utf-8")
    done = ["perturb", str(golden), "--noise", str(corpus), "--count", "2", "--noise-docs", "4", "--write"]
    assert main(done) == 0
    made = load_golden(golden).cases[2:]
    assert [c.id for c in made] == ["refunds-noise-1", "refunds-noise-2"]
    assert [len(c.sample.labels["noise_docs"]) for c in made] == [4, 4]
    assert made[0].sample.query == load_golden(golden).cases[0].sample.query
    assert made[0].content_hash != load_golden(golden).cases[0].content_hash
    once = golden.read_bytes()
    assert main(done) == 0
    assert golden.read_bytes() == once


def test_noise_from_a_folder_of_documents(golden: Path) -> None:
    for name in ("policy-4.md", "blog.md", "shop.md"):
        (golden.parent / "docs").mkdir(exist_ok=True)
        (golden.parent / "docs" / name).write_text(f"How refunds work, says {name}.", encoding="utf-8")
    golden.write_text(GOLDEN.replace("policy-4", "{doc: policy-4.md}"), encoding="utf-8")
    assert main(["perturb", str(golden), "--noise", str(golden.parent / "docs"), "--noise-docs", "2", "--write"]) == 0
    (made,) = load_golden(golden).cases[2:]
    assert sorted(d["id"] for d in made.sample.labels["noise_docs"]) == ["blog.md#1", "shop.md#3"]


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_numbers_are_whole_and_above_nought(golden: Path, number: str) -> None:
    assert main(["perturb", str(golden), "--count", number]) == 2


def test_paraphrases_by_the_judges_model(
    golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = '{"wordings": ["Until when may I ask for my money?", "How long do I have to ask for a refund?"]}'
    odd = '{"wordings": ["What is seven plus five?"]}'
    with judge_server(answer=lambda body: chat(odd if "7 + 5" in str(body) else said)) as server:
        monkeypatch.setenv("AUEPORA_JUDGE_URL", server.url)
        monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "m")
        assert main(["perturb", str(golden), "--kind", "paraphrase", "--count", "2", "--write"]) == 0
    made = load_golden(golden).cases[2:]
    assert [(c.id, c.sample.query) for c in made] == [("refunds-paraphrase-1", "Until when may I ask for my money?")]
    assert "2 wordings" in capsys.readouterr().err


def test_an_instruction_stands_in_the_context_and_its_canary(golden: Path) -> None:
    assert main(["perturb", str(golden), "--kind", "injection", "--write"]) == 0
    made = [c.sample for c in load_golden(golden).cases if c.sample.labels.get("scenario") == "injection"]
    assert [sample.sample_id for sample in made] == [f"refunds-injection-{n}" for n in (1, 2, 3)], "not of a refusal"
    for sample in made:
        assert sample.labels["forbidden"][0] in sample.labels["noise_docs"][0]["text"]


def test_documents_with_instructions_may_be_written_to_be(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = golden.parent / "poisoned"
    arguments = ["perturb", str(golden), "--kind", "injection", "--count", "1", "--index", str(folder)]
    assert main(arguments) == 0
    assert not folder.exists(), "nothing is written without --write"
    assert main([*arguments, "--write"]) == 0
    sample = load_golden(golden).case("refunds-injection-1").sample
    text = (folder / "refunds-injection-1.md").read_text(encoding="utf-8")
    assert text.startswith(sample.query)
    assert sample.labels["forbidden"][0] in text
    assert "noise_docs" not in sample.labels
    assert main(["perturb", str(golden), "--index", str(folder)]) == 2
    assert "--kind injection" in capsys.readouterr().err
