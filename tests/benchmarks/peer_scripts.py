"""What a project writes for peers that are no part of pytest: the same cases, the same system, the same six numbers."""

from __future__ import annotations

__all__ = ["INSPECT", "PROMPTFOO", "PYDANTIC_EVALS", "RAGAS"]

_READ = """\
import json
import pathlib

from by_hand import scores

HERE = pathlib.Path(__file__).parent
ANSWERS = json.loads((HERE / "answers.json").read_text())
CASES = json.loads((HERE / "cases.json").read_text())
"""

PYDANTIC_EVALS = f"""\
import asyncio
import sys
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator

{_READ}
SECONDS, WIDTH = float(sys.argv[1]), int(sys.argv[2]) or None


@dataclass
class Scores(Evaluator):
    def evaluate(self, ctx):
        answer, documents = ctx.output
        return scores(ctx.metadata, answer, documents)


async def rag(query):
    if SECONDS:
        await asyncio.sleep(SECONDS)
    return ANSWERS[query]


dataset = Dataset(
    name="bench",
    cases=[Case(name=case["id"], inputs=case["query"], metadata=case) for case in CASES],
    evaluators=[Scores()],
)
report = dataset.evaluate_sync(rag, max_concurrency=WIDTH, progress=False)
assert not report.failures and len(report.averages().scores) == 6
"""

RAGAS = f"""\
from dataclasses import dataclass, field

from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics.base import MetricType, SingleTurnMetric

{_READ}
BY_QUERY = {{case["query"]: case for case in CASES}}
FOUND = {{}}


def found(query):
    if query not in FOUND:  # six metrics, and one pass over an answer
        FOUND[query] = scores(BY_QUERY[query], *ANSWERS[query])
    return FOUND[query]


@dataclass
class One(SingleTurnMetric):
    _required_columns: dict = field(default_factory=lambda: {{MetricType.SINGLE_TURN: {{"user_input", "response"}}}})

    def init(self, run_config):
        pass

    async def _single_turn_ascore(self, sample, callbacks):
        return found(sample.user_input)[self.name]


NAMES = ("recall@5", "ndcg@10", "mrr", "exact_match", "token_f1", "rougeL")
samples = [
    SingleTurnSample(
        user_input=case["query"],
        response=ANSWERS[case["query"]][0],
        reference=case["reference"],
        retrieved_contexts=[document["text"] for document in ANSWERS[case["query"]][1]],
        reference_context_ids=case["relevant"],
    )
    for case in CASES
]
result = evaluate(
    EvaluationDataset(samples), metrics=[One(name=name) for name in NAMES], show_progress=False, raise_exceptions=True
)
assert len(result.scores) == len(CASES) and set(NAMES) <= set(result.scores[0])
"""

INSPECT = f"""\
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

{_READ}


@solver
def rag():
    async def solve(state, generate):
        answer, documents = ANSWERS[state.input_text]
        state.output = ModelOutput.from_content("none/none", answer)
        state.metadata["documents"] = documents
        return state

    return solve


@scorer(metrics={{"*": [mean()]}})
def by_hand():
    async def score(state, target):
        case = dict(state.metadata)
        return Score(value=scores(case, state.output.completion, case["documents"]))

    return score


samples = [
    Sample(input=case["query"], target=case["reference"], id=case["id"], metadata=case) for case in CASES
]
(log,) = eval(
    Task(dataset=MemoryDataset(samples), solver=rag(), scorer=by_hand(), name="bench"),
    model="none/none", display="none", log_dir=str(HERE / "logs"),
)
assert log.status == "success", log.error
assert len(log.results.scores) == 6 and log.results.completed_samples == len(CASES)
"""

PROMPTFOO = {
    "provider.js": """\
const answers = require("./answers.json");

module.exports = class {
  id() {
    return "rag";
  }
  async callApi(prompt, context) {
    const [output, documents] = answers[prompt];
    return { output, metadata: { ids: documents.map((one) => one.id) } };
  }
};
""",
    "scores.js": """\
const plain = (text) =>
  text.toLowerCase().replace(/[!-\\/:-@[-`{-~]/g, "").replace(/\\b(a|an|the)\\b/g, " ").split(/\\s+/).filter(Boolean);

const f1 = (same, given, wanted) => (same ? (2 * same) / (given + wanted) : 0);

function common(given, wanted) {
  const left = new Map();
  for (const word of wanted) left.set(word, (left.get(word) || 0) + 1);
  return given.filter((word) => left.get(word) > 0 && left.set(word, left.get(word) - 1)).length;
}

function longest(a, b) {
  let row = new Array(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    b.forEach((other, i) => next.push(word === other ? row[i] + 1 : Math.max(row[i + 1], next[i])));
    row = next;
  }
  return row[b.length];
}

module.exports = (output, { vars, providerResponse }) => {
  const ids = providerResponse.metadata.ids;
  const relevant = new Set(vars.relevant.split(" "));
  const gains = ids.slice(0, 10).map((id, i) => (relevant.has(id) ? 1 / Math.log2(i + 2) : 0));
  const ideal = [...relevant].slice(0, 10).map((_, i) => 1 / Math.log2(i + 2));
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  const first = ids.findIndex((id) => relevant.has(id));
  const [given, wanted] = [plain(output), plain(vars.reference)];
  const words = [output, vars.reference].map((text) => text.toLowerCase().match(/[a-z0-9]+/g) || []);
  const namedScores = {
    "recall@5": ids.slice(0, 5).filter((id) => relevant.has(id)).length / relevant.size,
    "ndcg@10": sum(gains) / sum(ideal),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    exact_match: Number(given.join(" ") === wanted.join(" ")),
    token_f1: f1(common(given, wanted), given.length, wanted.length),
    rougeL: f1(longest(...words), words[0].length, words[1].length),
  };
  return { pass: true, score: 1, reason: "scored", namedScores };
};
""",
    "promptfooconfig.js": """\
const cases = require("./cases.json");

module.exports = {
  prompts: ["{{query}}"],
  providers: ["file://provider.js"],
  tests: cases.map((one) => ({
    description: one.id,
    vars: { query: one.query, relevant: one.relevant.join(" "), reference: one.reference },
    assert: [{ type: "javascript", value: "file://scores.js" }],
  })),
};
""",
}
"""By name of the file.  Words are not stemmed: there is less to do than for the others."""
