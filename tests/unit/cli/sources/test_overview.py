"""The states of the sources in ``status`` and ``doctor`` (sources.md)."""

import datetime
from pathlib import Path

import pytest

from reviewsctl.files.folders import opened
from reviewsctl.sources import overview
from reviewsctl.sources.state import SourceState, save

NOW = datetime.datetime(2026, 11, 26, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    states = {
        "google": SourceState(state="ok", tried_at=NOW - HOUR, read_at=NOW - 2 * HOUR),
        "shop": SourceState(state="failed", tried_at=NOW - 3 * HOUR, detail="503 from the shop"),
        "old": SourceState(
            state="stopped", read_at=NOW - 48 * HOUR, detail="401", remedy="Put a new key in."
        ),
    }
    with opened(tmp_path) as folder:
        save(folder, states)
    return tmp_path


def test_status_counts_the_sources_and_names_the_last_run(data: Path) -> None:
    assert "1 ok, 1 failed, 1 stopped; last run 1 h 0 min ago" == overview.line(data, NOW)


def test_doctor_fails_for_stopped_sources_with_their_remedy(data: Path) -> None:
    assert [
        ("ok", "google: read 2 h 0 min ago", ""),
        (
            "warn",
            "shop: never read completely, failed: 503 from the shop",
            "The next sync tries again.",
        ),
        ("fail", "old: read 2 d 0 h ago, stopped: 401", "Put a new key in."),
    ] == [(item.verdict, item.detail, item.remedy) for item in overview.diagnoses(data, NOW)]


def test_doctor_has_the_remedy_of_a_source_that_fails(tmp_path: Path) -> None:
    """A login page in place of the data passes by no further try."""
    state = SourceState(state="failed", detail="a web page came", remedy="Is it a login page?")
    with opened(tmp_path) as folder:
        save(folder, {"shop": state})
    (diagnosis,) = overview.diagnoses(tmp_path, NOW)
    assert ("warn", "Is it a login page?") == (diagnosis.verdict, diagnosis.remedy)


def test_nothing_is_said_without_sources(tmp_path: Path) -> None:
    assert None is overview.line(tmp_path, NOW)
    assert [] == overview.diagnoses(tmp_path, NOW)


def test_damaged_state_is_told_with_the_command_that_mends_it(data: Path) -> None:
    (data / ".reviewsctl" / "sources.json").write_text("{")
    line = overview.line(data, NOW)
    assert line is not None
    assert ".reviewsctl/sources.json cannot be read" in line
    (diagnosis,) = overview.diagnoses(data, NOW)
    assert "fail" == diagnosis.verdict
