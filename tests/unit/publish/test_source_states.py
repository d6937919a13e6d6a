"""sources.json as the daemon reads it: whole, or with the reason why not."""

import json
from pathlib import Path

import pytest

from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.status import SOURCES_FILE
from reviewsd.publish.source_states import SourceStates

GOOD = {"version": 1, "sources": {"google": {"state": "ok", "reviews": 3, "look": "x"}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / KEPT_FOLDER).mkdir()
    return tmp_path / KEPT_FOLDER / SOURCES_FILE


def test_absent_file_has_no_sources(tmp_path: Path) -> None:
    report = SourceStates(tmp_path).load()
    assert ({}, "") == (report.sources, report.problem)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated"),
        (b"[]", "Expected `object`"),
        (json.dumps(GOOD).encode()[:-9], "truncated"),
        (json.dumps({**GOOD, "version": 2}).encode(), "another version"),
        (b"\xff\x00", "malformed"),
        (b'{"version": 1, "sources": {"a b": {}}}', "matching"),
        (b'{"version": 1, "sources": {"a": {"state": "well"}}}', "unknown state 'well'"),
    ],
)
def test_damaged_file_is_a_problem(file: Path, content: bytes, reason: str) -> None:
    """Else a source that is stopped would count as none."""
    file.write_bytes(content)
    report = SourceStates(file.parent.parent).load()
    assert {} == report.sources
    assert reason in report.problem
    assert report.problem.startswith(".reviewsctl/sources.json cannot be read: ")


def test_file_is_parsed_again_only_when_it_has_changed(file: Path) -> None:
    file.write_text(json.dumps(GOOD))
    states = SourceStates(file.parent.parent)
    first = states.load()
    assert first is states.load()
    changed = file.with_name("new")
    changed.write_text(json.dumps({**GOOD, "sources": {}}))
    changed.rename(file)
    assert {} == states.load().sources
