"""What a project writes for peers that are no part of pytest: the same cases, the same system, the same six numbers."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DEEPEVAL", "INSPECT", "PYDANTIC_EVALS", "RAGAS", "RAGAS_EXPERIMENT", "promptfoo_files"]

_READ = """\
import json
import pathlib

from by_hand import check, scores

HERE = pathlib.Path(__file__).parent
ANSWERS = json.loads((HERE / "answers.json").read_text())
CASES = json.loads((HERE / "cases.json").read_text())
"""

_SYSTEM = """\
SECONDS, WIDTH = float(sys.argv[1]), int(sys.argv[2]) or None


async def rag(query):
    if SECONDS:
        await asyncio.sleep(SECONDS)
    return ANSWERS[query]
"""
"""How long a call waits and how many run at once (0: as the peer has it) are told by the command."""

_SHARED = """\
FOUND = {}


def found(case, answer, documents):
    if case["id"] not in FOUND:  # six metrics, and one pass over an answer
        FOUND[case["id"]] = scores(case, answer, documents)
    return FOUND[case["id"]]


NAMES = ("recall@5", "ndcg@10", "mrr", "exact_match", "token_f1", "rougeL")
"""

PYDANTIC_EVALS = f"""\
import asyncio
import sys
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator

{_READ}
{_SYSTEM}

@dataclass
class Scores(Evaluator):
    def evaluate(self, ctx):
        answer, documents = ctx.output
        return scores(ctx.metadata, answer, documents)


dataset = Dataset(
    name="bench",
    cases=[Case(name=case["id"], inputs=case["query"], metadata=case) for case in CASES],
    evaluators=[Scores()],
)
report = dataset.evaluate_sync(rag, max_concurrency=WIDTH, progress=False)
assert not report.failures
check(report.averages().scores)
"""

DEEPEVAL = f"""\
import asyncio
import sys
from statistics import fmean

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

{_READ}
{_SYSTEM}

async def answered():
    gate = asyncio.Semaphore(WIDTH or len(CASES))

    async def one(query):
        async with gate:
            return await rag(query)

    return await asyncio.gather(*(one(case["query"]) for case in CASES))


{_SHARED}

class One(BaseMetric):
    def __init__(self, name, threshold=0.0):
        self.name, self.threshold = name, threshold

    def measure(self, test_case):
        kept = test_case.metadata
        self.score = found(kept["case"], test_case.actual_output, kept["documents"])[self.name]
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *_, **__):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return self.name


test_cases = [
    LLMTestCase(
        name=case["id"],
        input=case["query"],
        actual_output=answer,
        expected_output=case["reference"],
        retrieval_context=[document["text"] for document in documents],
        metadata={{"case": case, "documents": documents}},
    )
    for case, (answer, documents) in zip(CASES, asyncio.run(answered()))
]
result = evaluate(
    test_cases,
    [One(name) for name in NAMES],
    async_config=AsyncConfig(max_concurrent=WIDTH) if WIDTH else AsyncConfig(),
    display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
    cache_config=CacheConfig(write_cache=False),
)
measured = [{{one.name: one.score for one in case.metrics_data}} for case in result.test_results]
assert len(measured) == len(CASES)
check({{name: fmean(case[name] for case in measured) for name in measured[0]}})
"""

RAGAS = f"""\
from dataclasses import dataclass, field
from statistics import fmean

from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics.base import MetricType, SingleTurnMetric

{_READ}
BY_QUERY = {{case["query"]: case for case in CASES}}
{_SHARED}

@dataclass
class One(SingleTurnMetric):
    _required_columns: dict = field(default_factory=lambda: {{MetricType.SINGLE_TURN: {{"user_input", "response"}}}})

    def init(self, run_config):
        pass

    async def _single_turn_ascore(self, sample, callbacks):
        query = sample.user_input
        return found(BY_QUERY[query], sample.response, ANSWERS[query][1])[self.name]


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
assert len(result.scores) == len(CASES)
check({{name: fmean(case[name] for case in result.scores) for name in result.scores[0]}})
"""

RAGAS_EXPERIMENT = f"""\
import asyncio
import sys
from statistics import fmean

from ragas import Dataset, experiment
from ragas.backends import InMemoryBackend
from ragas.metrics import numeric_metric

{_READ}
{_SYSTEM}

{_SHARED}

def metric(name):
    @numeric_metric(name=name, allowed_values=(0.0, 1.0))
    def one(case: dict, answer: str, documents: list) -> float:
        return found(case, answer, documents)[name]

    return one


METRICS = [metric(name) for name in NAMES]
gate = asyncio.Semaphore(WIDTH or len(CASES))


@experiment()
async def run(row):
    async with gate:
        answer, documents = await rag(row["query"])
    said = {{one.name: await one.ascore(case=row, answer=answer, documents=documents) for one in METRICS}}
    texts = [document["text"] for document in documents]
    return {{**row, "response": answer, "retrieved": texts, **{{name: score.value for name, score in said.items()}}}}


result = asyncio.run(run.arun(Dataset(name="bench", backend=InMemoryBackend(), data=CASES), name="bench"))
assert len(result) == len(CASES)
check({{name: fmean(row[name] for row in result) for name in NAMES}})
"""
"""ragas makes the calls, and others wait while one is scored; how many at once is for the user to bound."""

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
assert log.results.completed_samples == len(CASES)
check({{score.name: score.metrics["mean"].value for score in log.results.scores}})
"""

_PROMPTFOO = Path(__file__).parent / "promptfoo"


def promptfoo_files(seconds: float = 0) -> dict[str, str]:
    """Return what promptfoo runs, by name of the file; a call waits so many *seconds*.

    Words are not stemmed: there is less to do than for the others.
    """
    files = {path.name: path.read_text(encoding="utf-8") for path in _PROMPTFOO.glob("*.js")}
    return files | {"milliseconds.json": str(round(seconds * 1e3))}
