"""Fast YAML gives the values of `yaml.safe_load`, and knows where each of them stands."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_auepora.base.complaints import Problem
from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.source import Source
from pytest_auepora.io.yaml import nodes
from pytest_auepora.io.yaml.nodes import load_yaml


def read(text: str) -> tuple[Any, Source]:
    source = Source("x.yaml", text)
    return load_yaml(source), source


def same(a: Any, b: Any) -> bool:
    """Equal in value, type and order; NaN equals NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items(), strict=True))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b) or (a != a and b != b)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.datetimes()
    | st.binary(max_size=8)
    | st.text(max_size=20)
    | st.sampled_from(
        ["no", "On", "~", "12", "0x1F", "1_000", "12:30:45", "1e3", ".inf", "<<", "=", "", " a", "a: b", "# c"]
    )
)
KEYS = st.text(max_size=8) | st.integers() | st.booleans() | st.none() | st.dates()
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=4) | st.dictionaries(KEYS, v, max_size=4), max_leaves=20)
STYLES = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([None, True, False]),
        "default_style": st.sampled_from([None, "'", '"', "|", ">"]),
        "allow_unicode": st.booleans(),
        "width": st.sampled_from([20, 80, 1000]),
        "indent": st.sampled_from([2, 4]),
        "explicit_start": st.booleans(),
    }
)


@given(VALUES, STYLES)
def test_random_values_come_back_as_safe_load_gives_them(value: Any, style: dict[str, Any]) -> None:
    text = yaml.safe_dump(value, sort_keys=False, **style)
    expected = yaml.safe_load(text)
    made, source = read(text)
    assert same(made, expected)
    assert source.problems == []


PIECES = st.sampled_from(
    ["a", "b", "key: ", ": ", "- ", "\n", "\n  ", "\n- ", "[", "]", "{", "}", ", ", "'", '"', "12", "0o7", "0x1F",
     "1_000", "no", "y", "~", "null", "2024-01-01", "2001-12-14t21:59:43.10-05:00", "12:30:45", "1e3", "1.5", ".inf",
     ".nan", "| ", ">-\n  ", "# c", "&x ", "*x", "&y ", "*y", "!!str ", "!!int ", "!!set ", "!!omap ", "! ", "<<: ",
     "? ", "=", "%", "\t", "---\n", "...\n", "\u2028", "\x85", "é", "😀", "\\"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
@settings(max_examples=5 * settings().max_examples)
@example("a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}")
@example("a: &x {b: 1}\nd: {<<: [*x, {c: 2}], e: 3}")
@example("! 12")
@example("!!int ")
@example("=: =")
@example("=: a")
@example("&x =: a")
@example("!!timestamp x")
@example("[!!str 12, ! 12, !!int '12']")
@example("!!set {a, b}")
@example("!!omap [a: 1]")
@example("- &x a\n- *x")
@example("{? a, ? b}")
@example("? a\n? b\n")
@example("--- # nothing\n")
def test_random_text_is_read_or_refused_as_safe_load_does(text: str) -> None:
    try:
        expected: Any = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Exception:  # PyYAML's constructors raise whatever the text trips over
        expected = GoldenFileError
    try:
        made, source = read(text)
    except GoldenFileError as exc:
        refused = str(exc)
        assert expected is GoldenFileError or any(
            why in refused for why in ("contains itself", "mapping cannot be a key", "counts in sixties", "plain data")
        )
        return
    if not any("given twice" in p.message for p in source.problems):
        assert expected is not GoldenFileError
        # releases of PyYAML differ in the order of merged keys
        assert same(made, expected) or ("<<" in text and made == expected)


def places(node: yaml.Node, source: Source, path: tuple[Any, ...], value: Any) -> None:
    """Compare all places of *value* with the marks of PyYAML's own node graph."""
    assert source.position(path) == (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.ScalarNode):
        return
    for i, part in enumerate(node.value):
        key = i
        if isinstance(node, yaml.MappingNode):
            key = list(value)[i]
            key_mark, part = part[0].start_mark, part[1]  # noqa: PLW2901
            assert source.position((*path, key), on_key=True) == (key_mark.line + 1, key_mark.column + 1)
        places(part, source, (*path, key), value[key])


TREES = st.recursive(
    st.text("abc \n'", max_size=6) | st.integers(),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1, max_size=4), v, max_size=4),
    max_leaves=25,
).filter(lambda v: isinstance(v, (list, dict)))


@given(TREES, STYLES)
def test_every_key_and_value_has_the_place_pyyaml_gives_it(tree: Any, style: dict[str, Any]) -> None:
    text = yaml.safe_dump(tree, sort_keys=False, **style)
    value, source = read(text)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    places(root, source, (), value)


def test_both_ways_take_the_same_file(parser: Any) -> None:
    plain = "top: 1\ncases:\n- {id: a, n: 012, on: yes, day: 2024-02-03, none: ~, s: '12'}\n"
    made, _ = read(plain)
    assert same(made, yaml.safe_load(plain))
    shared = plain + "other: &a [1, 2]\nsame: *a\n"
    made, _ = read(shared)
    assert same(made, yaml.safe_load(shared))
    assert made["other"] is made["same"]


def key_given_twice(problem: Problem) -> tuple[int, int, str, int]:
    """Where a key is repeated, the key, and the line of the first."""
    words = problem.message.split()
    return problem.line, problem.col, words[0], int(words[-1])


@pytest.mark.parametrize("before", ["", "z: &z 1\n"])
def test_keys_given_twice_at_any_depth(parser: Any, before: str) -> None:
    value, source = read(before + "a: 1\nb: {c: {d: {e: 1,\n  f: 2, e: 3}}}\na: 2\n")
    top = before.count("\n")
    assert [key_given_twice(problem) for problem in source.problems] == [
        (top + 3, 9, "'e'", top + 2), (top + 4, 1, "'a'", top + 1),
    ]  # fmt: skip
    assert (value["a"], value["b"]["c"]["d"]["e"]) == (1, 1)


def test_merged_keys_may_be_overridden_but_not_written_twice(parser: Any) -> None:
    value, source = read("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n")
    assert value["b"] == {"x": 3, "y": 2}
    assert source.problems == []
    _, source = read("a: &a {x: 1}\nb: {<<: *a, x: 3, x: 4}\n")
    assert [key_given_twice(problem) for problem in source.problems] == [(2, 19, "'x'", 2)]


def test_aliases_within_reason_are_taken(parser: Any) -> None:
    docs = ", ".join(f"d{i}" for i in range(50))
    text = f"docs: &docs [{docs}]\ncases:\n" + "- *docs\n" * 1000
    value, _ = read(text)
    assert len(value["cases"]) == 1000
    assert value["cases"][7] is value["docs"]


@pytest.mark.parametrize("depth", [100, 101])
def test_the_depth_allowed(parser: Any, depth: int) -> None:
    for head in ("", "&a "):
        text = head + "[" * depth + "]" * depth
        if depth == 100:
            read(text)
        else:
            with pytest.raises(GoldenFileError, match="nest more than 100 deep"):
                read(text)


def test_a_bomb_of_aliases_is_refused_before_it_goes_off(parser: Any) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(GoldenFileError, match="aliases blow this file up by more than 1,000,000 values"):
        read("\n".join(lines) + "\ncases: *i\n")


def test_a_bomb_of_merge_keys_is_refused_too(parser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "MAX_ALIASED", 100)
    with pytest.raises(GoldenFileError, match=r"x\.yaml:1:4: aliases blow this file up by more than 100 values"):
        read("a: &a {k: 1, l: 2, m: 3}\ncases:\n" + "- {<<: *a}\n" * 30)


@pytest.mark.parametrize("before", ["", "x: &a 1\n"])
@pytest.mark.parametrize("depth", [101, 1_200])
def test_deep_nesting_is_refused_however_deep(parser: Any, depth: int, before: str) -> None:
    with pytest.raises(GoldenFileError, match="nest more than 100 deep"):
        read(before + "cases: " + "[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: &a {b: [*a]}", "1:4: this value contains itself"),
        ("a: *b", "1:4: not YAML: found undefined alias"),
        ("a: &a 1\nb: &a 2", "2:4: not YAML: second occurrence found duplicate anchor; first occurrence"),
        ("a: &a 2024-99-01", "1:4: `2024-99-01` looks like a date and is none (month must be in 1..12); quote it"),
        ("a: {<<: [1]}", "1:9: << merges a mapping, or a list of mappings, got 1 (a whole number)"),
        ("a: <<", "1:4: the tag !!merge is refused: golden files hold plain data"),
    ],
)
def test_what_is_wrong_with_anchors_and_aliases(text: str, told: str) -> None:
    with pytest.raises(GoldenFileError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x.yaml:{told}")


@pytest.mark.parametrize("merged", ["[*x, *y]", "[{key: 1}, {'key': 2}]"])
def test_the_first_of_merged_mappings_wins(merged: str) -> None:
    # https://yaml.org/type/merge.html
    value, _ = read(f"x: &x {{key: 1}}\ny: &y {{key: 2, other: 3}}\na: {{<<: {merged}}}")
    assert value["a"]["key"] == 1


def test_what_is_merged_or_repeated_has_its_first_place() -> None:
    value, source = read("a: &a\n  x: &x 1\n  y: 2\nb: {y: 3, <<: *a}\nc: [*x, *a]\n")
    assert value == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": [1, {"x": 1, "y": 2}]}
    assert list(value["b"]) == ["x", "y"]
    assert [source.position(path) for path in (("b",), ("b", "x"), ("b", "y"))] == [(4, 4), (2, 6), (4, 8)]
    assert (source.position(("c", 0)), source.position(("c", 1, "y"), on_key=True)) == ((2, 6), (3, 3))


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/name:os.system x",
        "a: !!python/object/new:os.system [x]",
        "!!python/tuple [1]",
        "a: !x 1",
        "a: !!bogus 1",
    ],
)
def test_tags_beyond_plain_data_are_refused(parser: Any, text: str) -> None:
    with pytest.raises(GoldenFileError, match="is refused: golden files hold plain data"):
        read(text)


def test_no_text_crashes_the_reader(parser: Any) -> None:
    for text in (
        "",
        "---",
        "...",
        "--- ---",
        "[",
        "]",
        "\x00",
        "\ufeff",
        "a: \x01",
        "&a",
        "*a",
        "? ?",
        "%YAML 9.9\n---\na",
    ):
        try:
            read(text)
        except GoldenFileError:
            continue


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")
def test_libyaml_is_used_where_it_is_there() -> None:
    assert nodes.Parser is yaml.CSafeLoader
