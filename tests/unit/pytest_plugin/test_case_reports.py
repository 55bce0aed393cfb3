from __future__ import annotations

from pytest_auepora.pytest_plugin.case_reports import run_provenance


def test_what_all_say_is_said_of_the_run() -> None:
    said = {"model": "m", "dims": 3}
    assert run_provenance([]) == ({}, None)
    assert run_provenance([said, dict(said)]) == (said, None)


def test_what_differs_is_neither_of_the_two() -> None:
    one, other = {"model": "m", "corpus": "3.12", "seed": 1}, {"model": "m", "corpus": "3.11"}
    for said in ((one, other), (other, one)):
        found, note = run_provenance(said)
        assert found == {"model": "m", "corpus": "3.11 and 3.12", "seed": "1 and not said"}
        assert note is not None
        assert note.why is not None
        assert {change.key for change in note.why.changes} == {"corpus", "seed"}
