"""Everything that can be wrong with a golden file: each complaint has its place and says what to do."""
# ruff: noqa: E501 - tables of what is written and what is told, one line each

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.io.files import CASE, load, problems

OF_THE_FILE = {
    "no cases": ("suite: x", "1:1: a golden file has no cases"),
    "cases empty": ("cases: []", "1:8: there are no cases; a golden file without any would pass whatever happens"),
    "cases nothing": ("cases:", "there are no cases"),
    "cases a mapping": ("cases: {id: a}", "1:8: cases: expected a list of cases, got a mapping; start each case with '- id:'"),
    "cases a text": ("cases: all", "1:8: cases: expected a list of cases, got 'all'"),
    "a case a text": ("cases: [all]", "1:9: expected a mapping, got 'all'"),
    "a case nothing": ("cases:\n-\n", "has no value"),
    "unknown key": ("metrcs: [mrr]" + CASE, "1:1: unknown key 'metrcs' (did you mean 'metrics'?)"),
    "unknown key, known wish": ("name: x" + CASE, "1:1: unknown key 'name' (did you mean 'suite'?)"),
    "far off key": ("qqqq: x" + CASE, "1:1: unknown key 'qqqq'; a golden file has suite, description"),
    "a number as key": ("12: x" + CASE, "1:1: unknown key 12"),
    "key twice": ("top_k: 5\ntop_k: 6" + CASE, "2:1: 'top_k' is given twice, first on line 1"),
    "key twice in a case": ("cases:\n- id: a\n  query: Q\n  id: b", "4:3: 'id' is given twice, first on line 2"),
    "key twice beside an alias": ("tags: &t [x]\ntags: *t" + CASE, "2:1: 'tags' is given twice, first on line 1"),
    "no value": ("owner:" + CASE, "1:7: owner: has no value; write text, or leave the key out"),
    "metric unknown": ("metrics: [recal@5]" + CASE, "1:11: unknown metric 'recal@5' (did you mean 'recall@5'"),
    "metric unknown, second": ("metrics: [mrr,\n  token_f2]" + CASE, "2:3: unknown metric 'token_f2' (did you mean 'token_f1'"),
    "metric k = 0": ("metrics: [recall@0]" + CASE, "1:11: recall@0: "),
    "metric k negative": ("metrics: [ndcg@-3]" + CASE, "1:11: ndcg@-3: "),
    "metric bad option": ("metrics: ['ndcg@5[gian=linear]']" + CASE, "did you mean 'gain'"),
    "metric a number": ("metrics: [5]" + CASE, "1:11: expected text, got `5`, which is read as a whole number"),
    "metric twice": ("metrics: [mrr, mrr]" + CASE, "1:16: 'mrr' is listed twice"),
    "metrics a text": ("metrics: mrr" + CASE, "1:10: metrics: expected a list (text in each place), got 'mrr'"),
    "metrics empty": ("metrics: []" + CASE, "1:10: metrics: expected a list (text in each place), got an empty list"),
    "metric always counted": ("metrics: [error_rate]" + CASE, "1:11: error_rate is always counted; name it in thresholds"),
    "threshold of no metric": ("thresholds: {ndgc@10: 1}" + CASE, "1:14: unknown metric 'ndgc@10' (did you mean 'ndcg@10'?)"),
    "threshold not computed": ("metrics: [mrr]\nthresholds: {recall@5: 1}" + CASE, "2:14: recall@5 is not computed; add it to metrics"),
    "threshold NaN": ("thresholds: {recall@5: .nan}" + CASE, "1:24: recall@5: a threshold must be a finite number, got nan"),
    "threshold true": ("thresholds: {recall@5: yes}" + CASE, "1:24: recall@5: a threshold must be a number, got True"),
    "threshold prose": ("thresholds: {recall@5: about .8}" + CASE, "1:24: recall@5: 'about .8' is not a threshold"),
    "threshold misspelt": ("thresholds: {recall@5: {mni: 1}}" + CASE, "1:24: recall@5: unknown key 'mni' (did you mean 'min'?)"),
    "threshold in parts of per cent": ("thresholds: {recall@5: 87.5}" + CASE, "so a bound of 87.5 decides nothing; did you mean 0.875?"),
    "threshold in per cent": ("thresholds: {recall@5: 80}" + CASE, "1:24: recall@5 is from 0 to 1, so a bound of 80 decides nothing; did you mean 0.80?"),
    "threshold on a key of no text": ("thresholds: {5: 1}" + CASE, "1:14: the key 5 is not a metric"),
    "threshold a list": ("thresholds: [recall@5]" + CASE, "1:13: thresholds: expected a mapping from metrics to bounds, got a list"),
    "threshold twice": ("thresholds: {recall@5: [0.1, 0.2]}" + CASE, "1:24: recall@5: min is given twice"),
    "statistic of no kind": ("thresholds: {avg(recall@5): 1}" + CASE, "1:29: avg(recall@5): unknown statistic 'avg'"),
    "statistic of a share": ("thresholds: {p10(error_rate): 1}" + CASE, "p10(error_rate): error_rate is one number for the whole suite"),
    "pass rate of nothing": ("thresholds: {pass_rate(recall@5): 1}" + CASE, "1:14: pass_rate(recall@5) counts cases that keep their threshold, but no case has one on recall@5"),
    "slice of nobody": ("thresholds: {recall@5: {min: 1, slice: {scenario: typo}}}" + CASE, "1:14: recall@5{scenario=typo}: no case has scenario: typo, and none has scenario at all"),
    "slice misspelt": ("thresholds: {mrr@10: {min: 1, slice: {tag: smok}}}\ncases: [{id: a, query: Q, tags: smoke}]", "no case has tag: smok (did you mean 'smoke'?); available: smoke"),
    "case threshold by slice": ("case_thresholds: {recall@5: {min: 1, slice: {a: b}}}" + CASE, "1:29: recall@5: a case has one score"),
    "case threshold on a share": ("case_thresholds: {pass_rate: 1}" + CASE, "1:19: pass_rate is a share of cases"),
    "regression misspelt": ("regression: {polcy: auto}" + CASE, "1:14: unknown key 'polcy' (did you mean 'policy'?)"),
    "regression policy unknown": ("regression: {policy: statistics}" + CASE, "1:22: policy: expected one of auto, statistical, tolerance, report, got 'statistics' (did you mean 'statistical'?)"),
    "regression off": ("regression: off" + CASE, "1:13: regression: expected a mapping, got `off`, which is read as false"),
    "regression alpha": ("regression: {alpha: 0.5}" + CASE, "1:21: alpha: expected a number above 0 and below 0.5, got `0.5`"),
    "regression drop": ("regression: {case_max_drop: -1}" + CASE, "1:29: case_max_drop: expected a number from 0"),
    "regression metric": ("metrics: [mrr]\nregression: {metrics: {recall@5: {policy: report}}}" + CASE, "2:24: recall@5 is not computed"),
    "regression metric key": ("regression: {metrics: {recall@5: {alpha: 0.1}}}" + CASE, "1:35: unknown key 'alpha'"),
    "suite a path": ("suite: a/b" + CASE, "1:8: suite 'a/b' holds a slash; it becomes a file name"),
    "suite a device": ("suite: con" + CASE, "1:8: suite 'con' is a device on Windows"),
    "suite hidden": ("suite: .x" + CASE, "starts with a dot"),
    "suite odd": ("suite: 'a:b'" + CASE, "may hold letters, digits"),
    "suite a number": ("suite: 12" + CASE, '1:8: suite: expected text, got `12`, which is read as a whole number; quote it: "12"'),
    "fixture no name": ("fixture: my-rag" + CASE, "1:10: fixture 'my-rag' is not a name that a Python function can have"),
    "fixture a keyword": ("fixture: lambda" + CASE, "1:10: fixture 'lambda' is not a name that a fixture of yours can have"),
    "top_k nought": ("top_k: 0" + CASE, "1:8: top_k: expected a whole number from 1 to 10000, got `0`"),
    "top_k a truth": ("top_k: true" + CASE, "1:8: top_k: expected a whole number from 1 to 10000, got `true`, which is read as true"),
    "repeat a half": ("repeat: 1.5" + CASE, "1:9: repeat: expected a whole number"),
    "tag no marker": ("tags: ['a b']" + CASE, "1:8: tag 'a b' cannot be a pytest marker"),
    "tag of pytest": ("tags: [skip]" + CASE, "1:8: tag 'skip' is a mark of pytest's own; write the key skip instead"),
    "tag hidden": ("tags: _x" + CASE, "1:7: tag '_x' cannot be a pytest marker"),
    "defaults with ids": ("defaults: {id: a}" + CASE, "1:12: unknown key 'id': every case has its own"),
    "defaults with a label that is a key": ("defaults: {labels: {tag: x}}" + CASE, "1:21: 'tag' is a key of the case itself; write it there"),
    "defaults misspelt": ("defaults: {tgas: a}" + CASE, "1:12: unknown key 'tgas' (did you mean 'tags' or 'as'?)"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_THE_FILE)
def test_what_the_file_says_wrongly(tmp_path: Path, name: str) -> None:
    text, told = OF_THE_FILE[name]
    (problem, *others) = problems(tmp_path, text)
    assert told in problem
    assert others == []


def test_a_file_name_that_cannot_name_a_suite(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, CASE, "a#b.golden.yaml")
    assert "'a#b'" in problem
    assert "write suite:" in problem


OF_A_CASE = {  # § stands before the place that is complained about
    "no id": ("query: Q", "2:3: a case has no id"),
    "no query": ("id: b", "2:3: a case has no query"),
    "id no": ("id: §no, query: Q", 'id: expected text, got `no`, which is read as false; quote it: "no"'),
    "id on": ("id: On, query: Q", "got `On`, which is read as true"),
    "id a number": ("id: 12, query: Q", 'got `12`, which is read as a whole number; quote it: "12"'),
    "id an octal number": ("id: 0123, query: Q", 'got `0123`, which is read as a whole number; quote it: "0123"'),
    "id a number in sixties": ("id: 12:30, query: Q", 'quote it: "12:30"'),
    "id a day": ("id: 2024-01-31, query: Q", 'got `2024-01-31`, which is read as a date; quote it: "2024-01-31"'),
    "id a float": ("id: 1.5, query: Q", 'got `1.5`, which is read as a number; quote it: "1.5"'),
    "id nothing": ("id: ~, query: Q", "id: has no value"),
    "id blank": ("id: ' ', query: Q", "id: expected text, got an empty text"),
    "id a list": ("id: [b], query: Q", "id: expected text, got a list"),
    "id with colons": ("id: §'b::c', query: Q", "id 'b::c' holds '::', which separates the parts of a pytest node id"),
    "id with brackets": ("id: 'b[c]', query: Q", "holds a bracket, where pytest puts parameters"),
    "id with a line break": ('id: "b\\nc", query: Q', "holds a control character"),
    "id with blanks round it": ("id: ' b', query: Q", "starts or ends with a blank"),
    "id of pytest": ("id: setup_module, query: Q", "is a name that pytest reads from modules"),
    "id of a hook": ("id: pytest_configure, query: Q", "starts like a name that pytest reads from modules"),
    "id too long": (f"id: {'b' * 201}, query: Q", "is longer than 200 characters"),
    "query a number": ("id: b, query: 2024", 'query: expected text, got `2024`, which is read as a whole number; quote it: "2024"'),
    "query blank": ("id: b, query: ''", "query: expected text, got an empty text"),
    "misspelt": ("id: b, query: Q, §relevent_docs: []", "unknown key 'relevent_docs' (did you mean 'relevant_docs'?)"),
    "other people's key": ("id: b, query: Q, question: Q", "unknown key 'question' (did you mean 'query'?)"),
    "metrics": ("id: b, query: Q, §metrics: [mrr]", "unknown key 'metrics': a case has no metrics of its own; list them in metrics of the file"),
    "key of the file": ("id: b, query: Q, §repeat: 3", "unknown key 'repeat': it is a key of the whole file"),
    "docs nothing": ("id: b, query: Q, relevant_docs: ", "relevant_docs: has no value; write a list of documents ([] if the system should refuse), or leave the key out"),
    "docs a text": ("id: b, query: Q, relevant_docs: p1", "relevant_docs: expected a list of documents"),
    "docs a number": ("id: b, query: Q, relevant_docs: [p, §12]", "expected text (an id), or a mapping with id or doc, got `12`"),
    "docs twice": ("id: b, query: Q, relevant_docs: [p, §{id: p, grade: 2}]", "'p' is listed twice"),
    "doc of no kind": ("id: b, query: Q, relevant_docs: [{grade: 1}]", "a document has an id, a doc, or both, got grade"),
    "doc empty": ("id: b, query: Q, relevant_docs: [{}]", "a document has an id, a doc, or both, got nothing"),
    "doc of another make": ("id: b, query: Q, relevant_docs: [{doc_id: p}]", "unknown key 'doc_id' (did you mean 'id'?)"),
    "doc grade": ("id: b, query: Q, relevant_docs: [{id: p, grade: §-2}]", "grade: expected a whole number from -1 to 100, got `-2`"),
    "doc grade a half": ("id: b, query: Q, relevant_docs: [{id: p, grade: 0.5}]", "grade: expected a whole number"),
    "quote of a chunk": ("id: b, query: Q, relevant_docs: [{id: p, §quote: q}]", "a quote is looked up in a source document: write doc, not id"),
    "span of a chunk": ("id: b, query: Q, relevant_docs: [{id: p, span: [1, 2]}]", "a span is looked up in a source document"),
    "quote and span": ("id: b, query: Q, relevant_docs: [{doc: d, quote: q, span: [1, 2]}]", "a quote stands alone"),
    "span backwards": ("id: b, query: Q, relevant_docs: [{doc: d, span: §[9, 2]}]", "span: expected [start, end] with start < end, got [9, 2]"),
    "span of one": ("id: b, query: Q, relevant_docs: [{doc: d, span: [9]}]", "span: expected [start, end]"),
    "span of texts": ("id: b, query: Q, relevant_docs: [{doc: d, span: [a, 2]}]", "expected a whole number from 0"),
    "candidate with a grade": ("id: b, query: Q, candidate_docs: [{id: p, grade: 1}]", "unknown key 'grade'"),
    "answer a truth": ("id: b, query: Q, reference_answer: yes", 'got `yes`, which is read as true; quote it: "yes"'),
    "answer a mapping": ("id: b, query: Q, reference_answer: {text: x}", "reference_answer: expected text"),
    "answers none": ("id: b, query: Q, reference_answer: []", "reference_answer: expected text or a list of these, got an empty list"),
    "answers with a number": ("id: b, query: Q, reference_answer: [x, §7]", 'expected text, got `7`, which is read as a whole number; quote it: "7"'),
    "phrase a number": ("id: b, query: Q, must_contain: [30]", 'expected text, got `30`, which is read as a whole number; quote it: "30"'),
    "match unknown": ("id: b, query: Q, match: words", "match: expected one of word, substring, regex, got 'words' (did you mean 'word'?)"),
    "bad regex": ("id: b, query: Q, match: regex, must_contain: ['(']", "must_contain: '(' is not a regular expression"),
    "regex of two kinds": (r"id: b, query: Q, match: regex, must_contain: §['(?a)(?u)x']", "must_contain: '(?a)(?u)x' is not a regular expression"),
    "regex of re alone": ("id: b, query: Q, match: regex, forbidden: §['[[:nope:]]']", "forbidden: '[[:nope:]]' is not a regular expression: unknown property"),
    "expect unknown": ("id: b, query: Q, expect: refusal", "expect: expected one of answer, refuse, clarify, got 'refusal' (did you mean 'refuse'?)"),
    "variant of nobody": ("id: b, query: Q, variant_of: §first-one", "variant_of: there is no case 'first-one' (did you mean 'first'?)"),
    "variant of itself": ("id: b, query: Q, variant_of: §b", "variant_of goes round in a circle: b → b"),
    "taken id": ("id: first, query: Q", "3:8: id 'first' is already taken by the case on line 2"),
    "a label that is a key": ("id: b, query: Q, labels: {§scenario: typo}", "'scenario' is a key of the case itself; write it there"),
    "a label without a name": ("id: b, query: Q, labels: {no: x}", "the key False (false) is not a text; quote it"),
    "metadata a list": ("id: b, query: Q, metadata: [x]", "metadata: expected a mapping, got a list"),
    "metadata a set": ("id: b, query: Q, metadata: {x: !!set {a}}", "the tag !!set is refused: golden files hold plain data"),
    "nugget without wording": ("id: b, query: Q, nuggets: [§{importance: vital}]", "a nugget has no any_of"),
    "nugget importance": ("id: b, query: Q, nuggets: [{any_of: x, importance: big}]", "importance: expected one of vital, okay"),
    "entity misspelt": ("id: b, query: Q, entities: [{nmae: x}]", "unknown key 'nmae' (did you mean 'name'?)"),
    "threshold of its own": ("id: b, query: Q, thresholds: {recall@5: §80}", "recall@5 is from 0 to 1"),
    "threshold with statistics": ("id: b, query: Q, thresholds: {p10(recall@5): 1}", "a case has one score"),
    "own threshold not computed": ("id: b, query: Q, thresholds: {§bleu: 1}", "bleu is not computed; add it to metrics"),
    "timeout nought": ("id: b, query: Q, timeout: 0", "timeout: expected a number above 0, got `0`"),
    "timeout a text": ("id: b, query: Q, timeout: 5s", "timeout: expected a number above 0, got '5s'"),
    "timeout for ever": ("id: b, query: Q, timeout: .inf", "timeout: expected a number above 0"),
    "skip a number": ("id: b, query: Q, skip: 1", "skip: expected a reason in words, or true"),
    "skip blank": ("id: b, query: Q, skip: ''", "skip: expected a reason in words, or true"),
    "quarantine no day": ("id: b, query: Q, quarantine: soon", "quarantine: expected a date such as 2026-01-31, got 'soon'"),
    "quarantine no such day": ("id: b, query: Q, quarantine: '2026-02-30'", "quarantine: expected a date such as 2026-01-31"),
    "must_pass a word": ("id: b, query: Q, must_pass: 'yes'", "must_pass: expected true or false, got 'yes'"),
    "must pass and fail": ("id: b, query: Q, must_pass: true, xfail: true", "2:3: must_pass and xfail contradict each other"),
    "benchmark misspelt": ("id: b, query: Q, benchmark: {round: 3}", "unknown key 'round' (did you mean 'rounds'"),
    "benchmark empty": ("id: b, query: Q, benchmark: {}", "benchmark: expected true, or a mapping"),
    "benchmark nought": ("id: b, query: Q, benchmark: {rounds: 0}", "rounds: expected a whole number from 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_A_CASE)
def test_what_a_case_says_wrongly(tmp_path: Path, name: str) -> None:
    text, told = OF_A_CASE[name]
    place = f"2:{text.index('§') + len('- {') + 1}: " if "§" in text else ""
    text = text.replace("§", "")
    first = "- {id: first, query: Q}\n"
    under_test = f"- {{{text}}}\n"
    both = f"{first}{under_test}" if name == "taken id" else f"{under_test}{first}"
    (problem, *others) = problems(tmp_path, f"cases:\n{both}")
    assert problem.startswith(place)
    assert told in problem
    assert others == []


def test_circles_of_variants_are_named(tmp_path: Path) -> None:
    text = "".join(f"- {{id: {a}, query: Q, variant_of: {b}}}\n" for a, b in (("a", "b"), ("b", "c"), ("c", "a")))
    told = problems(tmp_path, f"cases:\n{text}")
    assert "a → b → c → a" in told[0]


def test_equal_questions_are_fine(tmp_path: Path) -> None:
    assert len(load(tmp_path, "cases: [{id: a, query: Q}, {id: b, query: Q}]").cases) == 2
