"""Twenty breakages of a LangChain chain: the right culprit, in no more than one call a case that got worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from ...unit.cause.breakages import BREAKAGES, Config, Counted, accept, culprit, explained, ranked, written

PROMPT = ChatPromptTemplate.from_template("{context}\nQuestion: {question}")


class Desk(BaseRetriever):
    config: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=text, id=name) for name, text in ranked(self.config, query)]


class Clerk(SimpleChatModel):
    """A model that reads its prompt."""

    config: Any
    counted: Any

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        context, query = str(messages[-1].content).rsplit("\nQuestion: ", 1)
        self.counted.calls.append(query)
        return written(self.config, query, context.splitlines())


def joined(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def chain(config: Config, counted: Counted) -> Any:
    found = {"context": Desk(config=config) | joined, "question": RunnablePassthrough()}
    return found | PROMPT | Clerk(config=config, counted=counted) | StrOutputParser()


@pytest.mark.parametrize("broken", [BREAKAGES[0], BREAKAGES[8], BREAKAGES[14]], ids=culprit)
def test_the_part_that_is_broken_is_the_culprit(tmp_path: Path, broken: Config) -> None:
    cause, calls, worse = explained(accept(tmp_path, chain), chain, broken)
    assert (cause.culprit, cause.left_out) == (culprit(broken), {})
    assert calls == cause.calls <= worse


@pytest.mark.slow
def test_19_of_20_breakages_have_the_right_culprit(tmp_path: Path) -> None:
    golden, wrong = accept(tmp_path, chain), []
    for broken in BREAKAGES:
        cause, calls, worse = explained(golden, chain, broken)
        assert calls == cause.calls <= worse, broken
        assert not cause.left_out
        if cause.culprit != culprit(broken):
            wrong.append((cause.culprit, broken))
    assert len(BREAKAGES) == 20
    assert len(wrong) <= 1, wrong
