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
SYNC_AND_ASYNC = "(lambda **options: pytest.fixture(params=[False, True], ids=['sync', 'async'], **options))"
FRAMEWORKS = {
    "langchain": ("langchain_core", LANGCHAIN, "chain"),
    "llamaindex": ("llama_index", LLAMAINDEX, "engine"),
    "haystack": ("haystack", HAYSTACK, "pipeline"),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_fixture_that_returns_it_is_measured(project: Example, framework: str) -> None:
    needs, source, made = FRAMEWORKS[framework]
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    adapted = f"""
    from pytest_auepora import from_{framework}
    return from_{framework}({made}, use_async=True) if request.param else {made}"""
    project.system(f"def rag(request):{source}{adapted}", decorator=SYNC_AND_ASYNC)
    result = project.run_apart("-v")
    result.assert_outcomes(passed=12)
    result.stdout.fnmatch_lines(["*recall@1*1.000*"] * 2)


def test_an_endpoint_that_it_returns_is_measured(project: Example) -> None:
    returned = 'return HttpRag(f"http://127.0.0.1:{server.server_port}/", documents="hits")'
    project.system(f"def rag(request):{HTTP}\n    {returned}")
    result = project.run_apart("-v")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*recall@1*1.000*"])


def test_object_that_cannot_be_asked_says_why(project: Example) -> None:
    pytest.importorskip("langchain_core", reason="the extra langchain is not installed")
    project.system("""def rag():
    from langchain_core.prompts import PromptTemplate
    return PromptTemplate.from_template("{language} {question}")""")
    result = project.run_apart("-rf")
    assert result.ret != 0
    assert re.search("wants 'language'.*make_input", " ".join(str(result.stdout).split()))


def test_no_framework_is_imported_to_look_at_a_function() -> None:
    code = (
        "import sys\nfrom pytest_auepora.adapters.systems import as_system\nas_system(lambda query: query)\n"
        "print([n for n in ('langchain_core', 'llama_index', 'haystack', 'networkx', 'urllib.request') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
