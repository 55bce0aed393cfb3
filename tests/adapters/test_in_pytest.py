"""A ``rag`` fixture that returns a framework's object, under ``pytest --auepora``."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest

from tests.plugin.conftest import Example

LANGCHAIN = """
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    class Shop(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(id=k, page_content=DOCS[k]) for k in search(query)]

    def best(asked):
        return asked["context"][0].page_content if asked["context"] else "I don't know."

    chain = {"context": Shop(), "question": RunnablePassthrough()} | RunnableLambda(best)
"""
LLAMAINDEX = """
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.response.schema import Response
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.schema import NodeWithScore, TextNode

    class Shop(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(id_=k, text=DOCS[k])) for k in search(query_bundle.query_str)]

    class Engine(BaseQueryEngine):
        def _query(self, query_bundle):
            nodes = Shop().retrieve(query_bundle)
            return Response(nodes[0].node.text if nodes else "I don't know.", nodes)

        async def _aquery(self, query_bundle):
            return self._query(query_bundle)

        def _get_prompt_modules(self):
            return {}

    engine = Engine(CallbackManager([]))
"""
HAYSTACK = """
    from haystack import Document, Pipeline, component

    @component
    class Shop:
        @component.output_types(documents=list[Document])
        def run(self, query: str):
            return {"documents": [Document(id=k, content=DOCS[k]) for k in search(query)]}

    @component
    class Best:
        @component.output_types(replies=list[str])
        def run(self, documents: list[Document]):
            return {"replies": [documents[0].content if documents else "I don't know."]}

    pipeline = Pipeline()
    pipeline.add_component("shop", Shop())
    pipeline.add_component("best", Best())
    pipeline.connect("shop.documents", "best.documents")
"""
HTTP = """
    import json, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from pytest_auepora.adapters.http import HttpRag

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, documents = answer(asked["question"])
            body = json.dumps({"answer": text, "hits": documents}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    request.addfinalizer(server.server_close)
    request.addfinalizer(server.shutdown)
"""
ASYNC_LANGCHAIN = """
    from pytest_auepora.adapters.langchain import from_langchain
    """
ASYNC_LLAMAINDEX = """
    from pytest_auepora.adapters.llamaindex import from_llamaindex
    """
ASYNC_HAYSTACK = """
    from pytest_auepora.adapters.haystack import from_haystack
    """


@pytest.mark.parametrize(
    ("needs", "source"),
    [
        ("langchain_core", f"{LANGCHAIN}\n    return chain"),
        ("langchain_core", f"{LANGCHAIN}{ASYNC_LANGCHAIN}\n    return from_langchain(chain, use_async=True)"),
        ("llama_index", f"{LLAMAINDEX}\n    return engine"),
        ("llama_index", f"{LLAMAINDEX}{ASYNC_LLAMAINDEX}\n    return from_llamaindex(engine, use_async=True)"),
        ("haystack", f"{HAYSTACK}\n    return pipeline"),
        ("haystack", f"{HAYSTACK}{ASYNC_HAYSTACK}\n    return from_haystack(pipeline, use_async=True)"),
        ("http", f'{HTTP}\n    return HttpRag(f"http://127.0.0.1:{{server.server_port}}/", documents="hits")'),
    ],
    ids=["langchain", "langchain-async", "llamaindex", "llamaindex-async", "haystack", "haystack-async", "http"],
)
def test_fixture_that_returns_it_is_measured(project: Example, needs: str, source: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    project.system(f"def rag(request):{source}")
    result = project.run_apart("-v")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*recall@1*1.000*"])


@pytest.mark.parametrize(
    ("needs", "source", "told"),
    [
        (
            "langchain_core",
            """
    from langchain_core.prompts import PromptTemplate
    return PromptTemplate.from_template("{language} {question}")""",
            "wants 'language'.*make_input",
        ),
        (
            "haystack",
            """
    from haystack import Pipeline
    return Pipeline()""",
            "the Pipeline has no input for the query",
        ),
    ],
    ids=["langchain", "haystack"],
)
def test_object_that_cannot_be_asked_says_why(project: Example, needs: str, source: str, told: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    project.system(f"def rag():{source}")
    result = project.run_apart("-rf")
    assert result.ret != 0
    assert re.search(told, " ".join(str(result.stdout).split()))


def test_no_framework_is_imported_to_look_at_a_function() -> None:
    code = (
        "import sys\nfrom pytest_auepora.adapters.systems import as_system\nas_system(lambda query: query)\n"
        "print([n for n in ('langchain_core', 'llama_index', 'haystack', 'networkx', 'urllib.request') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
