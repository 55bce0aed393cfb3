"""Records are held to their classes; the message has the key, what was expected and what was found."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from pytest_auepora.base.records import (
    Checked,
    Count,
    Free,
    HandWritten,
    Number,
    Place,
    Record,
    RecordError,
    check_record,
    load_record,
    read_record,
    record_schema,
    record_text,
)
from pytest_auepora.errors import BaselineError


@dataclass(slots=True)
class Spot(Record):
    """Where something is."""

    path: str
    """Of the file."""
    line: Count
    """From 1 on."""


@dataclass(slots=True)
class Span(Record):
    low: Number
    high: Number

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low below high")


@dataclass(slots=True)
class Held(Record):
    """What is held."""

    name: str
    """As people
    call it."""
    state: Literal["good", "bad"]
    format: Literal[2] = 2
    values: dict[str, Number | None] = field(default_factory=dict)
    spots: list[Spot] = field(default_factory=list)
    pair: tuple[int, str] = (0, "")
    odd: Annotated[int, Checked("an odd number", lambda value: value % 2 == 1)] | None = 1
    spot: Spot | None = None
    """The main one."""
    span: Span | None = None
    ids: list[int | str] = field(default_factory=list)
    free: Free = None
    n: Place = 0
    word: Annotated[int | str, Checked("a word or its number", lambda _: True)] | None = None
    share: Annotated[float, Checked("a share", lambda value: 0 <= value <= 1)] = 0.0


SOUND = {
    "name": "a", "state": "good", "format": 2, "values": {"mrr": 0.5, "bleu": None, "n": 3}, "later": [],
    "spots": [{"path": "p", "line": 3, "later": 1}], "pair": [1, "x"], "odd": 3, "spot": {"path": "q", "line": 1},
    "span": {"low": 1, "high": 2}, "ids": [1, "a"], "free": {"a": [1, None, True, 2.5, "x"]}, "n": 0, "share": 1,
}  # fmt: skip


def test_reading_gives_the_class_and_passes_over_newer_keys() -> None:
    held = read_record(Held, json.dumps(SOUND))
    assert held == Held(
        "a", "good", 2, {"mrr": 0.5, "bleu": None, "n": 3.0}, [Spot("p", 3)], (1, "x"), 3, Spot("q", 1), Span(1.0, 2.0),
        [1, "a"], {"a": [1, None, True, 2.5, "x"]}, 0, None, 1.0,
    )  # fmt: skip
    assert read_record(Held, b'{"name": "a", "state": "bad"}') == Held("a", "bad")


def test_what_is_written_is_read_back_with_equal_bytes() -> None:
    held = read_record(Held, json.dumps(SOUND))
    text = record_text(held)
    assert read_record(Held, text) == held
    assert text == record_text(read_record(Held, text))
    assert text.startswith('{\n "format": 2,\n "free": {')
    assert text.endswith("\n}\n")


def test_what_is_no_finite_number_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        record_text(Span(0.0, float("inf")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 3}, "name: expected a text, found 3"),
        ({"state": "odd"}, 'state: expected one of good, bad, found "odd"'),
        ({"values": {"mrr": float("nan")}}, "values.mrr: expected a finite number or null, found NaN"),
        ({"values": {"mrr": float("inf")}}, "values.mrr: expected a finite number or null, found Infinity"),
        ({"values": {"mrr": 1e301}}, "values.mrr: expected a finite number or null, found 1e+301"),
        ({"values": {"mrr": True}}, "values.mrr: expected a finite number or null, found true"),
        ({"values": {"mrr": "0.5"}}, 'values.mrr: expected a finite number or null, found "0.5"'),
        ({"values": []}, "values: expected a mapping, found []"),
        ({"spots": [{"path": "p"}]}, "there is no key 'spots.0.line'"),
        ({"spots": [{"path": "p", "line": 1.0}]}, "spots.0.line: expected a whole number from 1 on, found 1.0"),
        ({"spots": [{"path": "p", "line": 0}]}, "spots.0.line: expected a whole number from 1 on, found 0"),
        ({"spots": {}}, "spots: expected a list, found {}"),
        ({"pair": [1]}, "pair: expected a list of 2, found [1]"),
        ({"pair": [1, "a", 2]}, 'pair: expected a list of 2, found [1, "a", 2]'),
        ({"odd": 2}, "odd: expected an odd number or null, found 2"),
        ({"spot": {"path": 1, "line": 1}}, "spot.path: expected a text, found 1"),
        ({"spot": 1}, "spot: expected a mapping or null, found 1"),
        ({"span": {"low": 2, "high": 1}}, 'span: expected low below high, found {"low": 2, "high": 1}'),
        ({"ids": ["a", 1.5]}, "ids.1: expected a whole number or a text, found 1.5"),
        ({"free": {"a": [float("nan")]}}, 'free: expected anything but infinity and NaN, found {"a": [NaN]}'),
        ({"n": -1}, "n: expected a whole number from 0 on, found -1"),
        ({"word": []}, "word: expected a word or its number or null, found []"),
        ({"share": 2}, "share: expected a share, found 2"),
        ({"format": 3, "name": 1}, "format 3, this version reads 2: another version of pytest-auepora wrote it"),
        ({"name": ["x" * 99]}, f'name: expected a text, found ["{"x" * 57}…'),
        ({"values": {"k" * 99: ""}}, f'values.{"k" * 59}…: expected a finite number or null, found ""'),
    ],
)
def test_a_wrong_value_is_told_with_its_key(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordError) as seen:
        read_record(Held, json.dumps({**SOUND, **change}))
    assert str(seen.value) == said
    assert seen.value.at("f.json") == f"f.json: {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "f: expected a mapping, found []"),
        ('{"name": "a"}', "f: there is no key 'state'"),
        ('{"name": "a",\n "state" "good"}', "f:2:10: not JSON: Expecting ':' delimiter"),
        ('{"name": "a",', "f:1:14: not JSON: Expecting property name enclosed in double quotes (the file seems cut"),
        ('{\n<<<<<<< HEAD\n"name": "a"\n=======\n"name": "b"\n>>>>>>> other\n}', "f:2: merge-conflict markers; keep"),
        ('{"name": "a", "state": "good", "name": "b"}', "f: 'name' is there twice, as a merge leaves it: keep one"),
        ('{"name": "a", "state": "good", "free": {"x": 1, "x": 1}}', "f: 'x' is there twice, as a merge leaves it"),
        ("[" * 100_000, "f: nests too deep"),
        ('{"name": "\\ud800", "state": "good"}', "f: not JSON: unexpected end of hex escape at line 1 column 17"),
        ('{"name": "a", "state": "good", "n": 1' + "0" * 5000 + "}", "f: not JSON: Exceeds the limit (4300 digits)"),
        ('{"name": "a", "state": "good", "n": 1' + "0" * 99 + "}", "f: n: expected a whole number from 0 on, found 10"),
        ("", "f:1:1: not JSON: Expecting value (the file seems cut short)"),
    ],
)
def test_what_is_no_record_is_told(text: str, said: str) -> None:
    with pytest.raises(RecordError) as seen:
        read_record(Held, text)
    assert seen.value.at("f").startswith(said)


@dataclass(slots=True)
class Settings(HandWritten):
    url: str = ""
    limits: dict[str, Number] = field(default_factory=dict)
    inner: Settings | None = None


@pytest.mark.parametrize(
    ("value", "said", "keys"),
    [
        ({"ulr": "x"}, "unknown key 'ulr' (did you mean 'url'?)", ("ulr",)),
        ({"inner": {"limit": {}}}, "unknown key 'inner.limit' (did you mean 'limits'?)", ("inner", "limit")),
        ({"limits": {"cost": "2"}}, 'limits.cost: expected a finite number, found "2"', ("limits", "cost")),
        ({"limits": {"cost": float("nan")}}, "limits.cost: expected a finite number, found NaN", ("limits", "cost")),
        ({"url": date(2026, 1, 2), "inner": 3}, "inner: expected a mapping or null, found 3", ("inner",)),
        ({3: "x"}, "unknown key '3'", ("3",)),
        ({"limits": "\ud83d"}, 'limits: expected a mapping, found "?"', ("limits",)),
    ],
)
def test_unknown_keys_that_people_write_are_mistakes(value: Any, said: str, keys: tuple[str, ...]) -> None:
    with pytest.raises(RecordError) as seen:
        check_record(Settings, value)
    assert (str(seen.value), seen.value.keys) == (said, keys)


def test_programs_texts_are_not_searched_for_repeated_keys() -> None:
    text = '{"name": "a", "state": "good", "name": "b"}'
    assert read_record(Held, text, by_hand=False).name == "b"


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "held.json"
    assert load_record(Held, path, BaselineError) is None
    assert load_record(Held, path / "below", BaselineError) is None
    path.write_text(record_text(Held("a", "good")))
    assert load_record(Held, path, BaselineError) == Held("a", "good")
    for damage, said in ((b"\xff", "not UTF-8"), (b'{"name": 1}', "name: expected a text, found 1")):
        path.write_bytes(damage)
        with pytest.raises(BaselineError, match=f"held.json: .*{said}"):
            load_record(Held, path, BaselineError)
    with pytest.raises(BaselineError, match="y: cannot be read: File name too long"):
        load_record(Held, tmp_path / ("y" * 5000), BaselineError)


def test_the_schema_has_the_meaning_of_each_field() -> None:
    schema = record_schema(Held)
    assert schema["description"] == "What is held."
    assert schema["properties"]["name"] == {"description": "As people\ncall it.", "type": "string"}
    assert schema["properties"]["spot"]["description"] == "The main one."
    assert schema["$defs"]["Spot"]["properties"]["line"] == {
        "description": "From 1 on.", "type": "integer", "minimum": 1, "maximum": 10**9,
    }  # fmt: skip
    assert schema["required"] == ["name", "state"]


def test_pydantic_is_imported_when_a_file_is_read() -> None:
    code = (
        "import sys\n"
        "from tests.unit.base.test_records import Held, Spot, read_record, record_text\n"
        "text = record_text(Held('a', 'good', spot=Spot('p', 1)))\n"
        "assert 'pydantic' not in sys.modules\n"
        "read_record(Held, text)\n"
        "assert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[3])
