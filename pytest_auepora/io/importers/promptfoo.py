"""promptfoo: the ``tests`` of a configuration or of a file of their own, as YAML, JSON, JSON Lines or CSV.

What ``promptfoo eval -o results.json`` writes is read too: its tests, and as recorded answers the outputs of the first
provider and prompt.

The question is the variable named as in `_QUERY_VARS`, or the only one.  Values are templates over the variables; what
only promptfoo can render, and assertions without a counterpart (`promptfoo_assertions`), are counted.

Tests of one ``conversationId`` in their metadata are turns of one conversation; so are all others of a configuration
whose prompts read ``_conversation``.  Of an earlier turn's answer only the expected one is known.  A variable of
messages, as a list (also of ``user: …``) or as JSON, has the turns before the question, and the question where no other
variable does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from ...base.files import refuse_pipe
from .chats import HISTORY_KEYS, is_messages, last_exchange, messages_of
from .imported import Cases, Dropped, ImportedSuite, ImportProblem, filled, pop_notes, recorded, reference_text
from .promptfoo_assertions import case_assertions, parse_expected_cell, read_assertions
from .promptfoo_templates import NotRenderedError, Variables, literal, text_of
from .rows import dump_json, list_or_empty, mapping_or_empty, read_data, write_data

_QUERY_VARS = ("query", "question", "user_input", "user_query", "input", "prompt", "message", "q")
_NOTES = "promptfoo"
_SAID = "recorded answer"
"""Where a test of results has what was answered."""
_MAX_COMBINATIONS = 10_000
"""How many tests the lists of one test may stand for."""
_THREADS = ("conversationId", "threadId", "sessionId")
_CONVERSATION = "_conversation"
"""What a prompt calls the turns before it."""
_KEYS = (
    "id", "query", "chat_history", "conversation", "reference_answer", "must_contain", "forbidden", "match", "expect",
    "answer_schema", "rubric", "metadata",
)  # fmt: skip


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read tests of promptfoo; see the module."""
    tests, default = _read_tests(path, dropped)
    cases, kept = Cases(dropped), list[dict[str, Any]]()
    for number, test in enumerate(tests, 1):
        options = mapping_or_empty(test.get("options"))
        shared = [] if options.get("disableDefaultAsserts") is True else list_or_empty(default.get("assert"))
        assertions = [*shared, *list_or_empty(test.get("assert"))]
        for key, kind in (("vars", Mapping), ("assert", list)):
            dropped.add(f"{key} of a test from another file", not isinstance(test.get(key), (kind, type(None))))
        said, before = test.pop(_SAID, None), len(cases)
        dropped.add_unsupported(test, ("vars", "assert", "description", "metadata"), "{} of a test")
        variables = {**mapping_or_empty(default.get("vars")), **mapping_or_empty(test.get("vars"))}
        variables = {str(name): value for name, value in variables.items()}
        if default.get(_CONVERSATION) and options.get("disableConversationVar") is not True:
            test["metadata"] = {_THREADS[0]: path.stem, **mapping_or_empty(test.get("metadata"))}
        dropped.add("a test with an empty list for a variable", [] in variables.values())
        for values in _combinations(variables, options, f"{path}: test {number}"):
            _add_case(cases, test, values, assertions, dropped)
        for case in cases[before:]:
            kept += recorded(case, said)
    _join_conversations(cases, dropped)
    return ImportedSuite(cases, answers=kept)


def _join_conversations(cases: list[dict[str, Any]], dropped: Dropped) -> None:
    """Give the cases of one conversation the turns before them."""
    turns: dict[str, list[dict[str, str]]] = {}
    for case in cases:
        metadata = case.get("metadata", {})
        key = next((key for key in _THREADS if metadata.get(key) not in (None, "")), None)
        if key is None:
            continue
        name = str(metadata[key])
        case["conversation"], earlier = name, turns.setdefault(name, [])
        case["metadata"] = {k: v for k, v in metadata.items() if k != key}
        if earlier and "chat_history" not in case:
            case["chat_history"] = list(earlier)
            dropped.add("the answer of an earlier turn: promptfoo takes what the system said", "user" in earlier[-1])
        earlier.append({"user": case["query"]})
        if isinstance(answer := case.get("reference_answer"), str):
            earlier.append({"assistant": answer})
    for case in cases:
        if case.get("metadata") == {}:
            del case["metadata"]


def _combinations(variables: dict[str, Any], options: Mapping[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """Yield the variables of every test that one test stands for: a list of texts has a value for each of them."""
    if options.get("disableVarExpansion") is True:
        yield variables
        return
    expands = [isinstance(value, list) and isinstance((*value, "")[0], str) for value in variables.values()]
    values = [value if expand else [value] for value, expand in zip(variables.values(), expands, strict=True)]
    if (number := prod(map(len, values))) > _MAX_COMBINATIONS:
        raise ImportProblem(f"{place} stands for {number:,} tests, one for each combination of the values in its lists")
    for combination in product(*values):
        yield dict(zip(variables, combination, strict=True))


def _add_case(
    cases: Cases, test: Mapping[str, Any], raw: Mapping[str, Any], assertions: list[Any], dropped: Dropped
) -> None:
    raw, unrendered = dict(raw), "a template or a file that only promptfoo reads"
    messages = next((m for key in HISTORY_KEYS if (m := _messages_in(raw.get(key))) is not None), None)
    for key in HISTORY_KEYS if messages is not None else ():
        raw.pop(key, None)
    variables = Variables(raw)
    only_var = next(iter(raw)) if len(raw) == 1 and messages is None else ""
    query_var = next((k for k in _QUERY_VARS if k in raw), only_var)
    try:
        query = text_of(variables[query_var]) if query_var else ""
    except NotRenderedError:
        dropped.add(f"a test whose question is {unrendered}")
        return
    history: list[dict[str, str]] = []
    if messages is not None:  # the question stands behind them, or is the last of them
        query, history, *_ = last_exchange(messages, dropped, query)
    if not query.strip():
        dropped.add(f"a test without one of the variables {', '.join(_QUERY_VARS)}")
        return
    try:
        name = variables.render(test.get("description"))
    except NotRenderedError:
        name = None
    case = cases.add(name, query, chat_history=history)
    fields, assertion_notes = read_assertions(assertions, variables, dropped)
    other_vars = {}
    for key in [key for key in raw if key != query_var]:
        try:
            other_vars[key] = variables[key]
        except NotRenderedError:
            dropped.add(f"the variable {key}, {unrendered}")
    notes = {"query": query_var if query_var != "query" else None, **assertion_notes, "vars": other_vars}
    metadata = {**mapping_or_empty(test.get("metadata")), **filled({_NOTES: filled(notes)})}
    case.update(fields | filled({"metadata": metadata}))


def _messages_in(value: Any) -> Any:
    """Return the messages in a variable, a list or JSON of one; None where it has none."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, list):
        return None
    messages = [_message_of(turn) for turn in value]
    return messages if is_messages(messages) else None


def _message_of(turn: Any) -> Any:
    """Return a turn in the short form of promptfoo, ``{user: …}``, as a message; any other as it is."""
    if isinstance(turn, Mapping) and len(turn) == 1:
        ((role, text),) = turn.items()
        return {"role": role, "content": text}
    return turn


def _read_tests(
    path: Path, dropped: Dropped, parents: tuple[Path, ...] = ()
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tests of a file and the keys of all of them; *parents* are the files that refer to it.

    These keys have `_CONVERSATION` as well: whether a prompt reads the turns before it.
    """
    if path.resolve() in parents:
        raise ImportProblem(f"{path}: its tests are in itself")
    data = read_data(path, core_schema=True)
    if path.suffix.lower() in (".csv", ".tsv"):
        return [_test_from_row(row, dropped) for row in data], {}
    if isinstance(data, list):
        tests = [dict(test) for test in data if isinstance(test, Mapping)]
        dropped.add("a test that is not written out", len(data) - len(tests))
        return tests, {}
    if isinstance(results := mapping_or_empty(mapping_or_empty(data).get("results")).get("results"), list):
        return _tests_of_results(results, dropped), {}
    if not isinstance(data, Mapping) or "tests" not in data:
        raise ImportProblem(
            f"{path}: expected a list of tests, a configuration with tests, or results of promptfoo eval"
        )
    dropped.add_unsupported(data, ("tests", "defaultTest", "description"), "{} of the configuration")
    default = data.get("defaultTest")
    if isinstance(default, str):
        dropped.add("defaultTest of another file")
    dropped.add_unsupported(mapping_or_empty(default), ("vars", "assert"), "{} of defaultTest")
    tests = []
    declared = data["tests"]
    for test in declared if isinstance(declared, list) else [declared]:
        tests += [dict(test)] if isinstance(test, Mapping) else _read_named_file(path, test, dropped, parents)
    prompts = data.get("prompts")
    prompts = prompts if isinstance(prompts, list) else [prompts]
    return tests, {**mapping_or_empty(default), _CONVERSATION: any(_reads_turns(prompt, path) for prompt in prompts)}


def _reads_turns(prompt: Any, path: Path) -> bool:
    """Whether *prompt*, a text, a file or a mapping with one of them, reads the turns before it."""
    if isinstance(prompt, Mapping):
        return any(_reads_turns(prompt.get(key), path) for key in ("raw", "id", "path"))
    if not isinstance(prompt, str):
        return False
    text = prompt
    if "\n" not in prompt:
        with suppress(OSError, ValueError):  # a pattern, or a text that is no name of a file
            named = path.parent / prompt.removeprefix("file://")
            refuse_pipe(named)
            text += named.read_text(encoding="utf-8")
    return _CONVERSATION in text


def _tests_of_results(results: list[Any], dropped: Dropped) -> list[dict[str, Any]]:
    """Return the tests behind results, each once, with what the first provider answered to the first prompt."""
    tests: dict[Any, dict[str, Any]] = {}
    for number, result in enumerate(map(mapping_or_empty, results)):
        key = result.get("testIdx", number)
        if key in tests:
            dropped.add("the output of a further provider or prompt")
            continue
        test = dict(mapping_or_empty(result.get("testCase")))
        test["vars"] = result.get("vars", test.get("vars"))
        output = mapping_or_empty(result.get("response")).get("output")
        tests[key] = test | {_SAID: output if isinstance(output, str) or output is None else dump_json(output)}
    return list(tests.values())


def _read_named_file(path: Path, location: Any, dropped: Dropped, parents: tuple[Path, ...]) -> list[dict[str, Any]]:
    name = str(location).removeprefix("file://")
    other_path = path.parent / name
    if "://" in name or other_path.suffix.lower() not in (".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"):
        dropped.add(f"tests from {location}: only files are read")
        return []
    return _read_tests(other_path, dropped, (*parents, path.resolve()))[0]


def _test_from_row(row: Mapping[str, str], dropped: Dropped) -> dict[str, Any]:
    test: dict[str, Any] = {"vars": {}, "assert": []}
    for name, cell in row.items():
        if name.startswith("__expected"):
            test["assert"] += [parse_expected_cell(cell)] if cell.strip() else []
        elif name == "__description":
            test["description"] = cell
        elif name.startswith("__metadata:"):
            test.setdefault("metadata", {})[name.removeprefix("__metadata:")] = cell
        elif name.startswith("__"):
            dropped.add(f"the column {name}", bool(cell))
        else:
            test["vars"][name] = cell
    return test


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write the tests of a configuration, as YAML or JSON."""
    tests = []
    for case in suite.cases:
        metadata = dict(case.get("metadata", {}))
        notes = pop_notes(metadata, _NOTES)
        variables = {str(notes.get("query", "query")): literal(case["query"]), **mapping_or_empty(notes.get("vars"))}
        if "chat_history" in case:  # as JSON, in which braces are no template
            variables["chat_history"] = literal(dump_json(messages_of(case)[:-1]))
        if "conversation" in case:
            metadata[_THREADS[0]] = case["conversation"]
        assertions = case_assertions(case, notes, reference_text(case, dropped))
        optional = filled({"assert": assertions, "metadata": metadata})
        tests.append({"description": case["id"], "vars": variables, **optional})
        dropped.add("expect: clarify: no assertion says it", case.get("expect") == "clarify")
        by_word = any(case.get(key) for key in ("must_contain", "forbidden")) and case.get("match", "word") == "word"
        dropped.add("that a text is looked for word by word", by_word)
        dropped.add_unsupported(case, _KEYS)
    write_data(path, {"tests": tests})
