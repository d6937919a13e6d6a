"""The labels of a run, in a journal until its end (insights.md 7, cache, and 12)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.files import folders
from reviewsctl.labeling import records
from reviewsctl.labeling.endpoint import ModelError
from reviewsd.analysis.kept_labels import KeptLabel, encoded
from reviewsd.analysis.model_labels import ReviewAnswer


def line(text: str, model: str = "tiny") -> bytes:
    return encoded(KeptLabel(text=text, model=model, lists="x", labels=ReviewAnswer()))


def test_journal_is_merged_at_the_end_of_the_run(tmp_path: Path) -> None:
    """The daemon publishes each change of the file, so it changes once; a run that failed counts as well."""
    file = tmp_path / "insights.labels"
    file.write_bytes(line("one") + line("two"))
    file.chmod(0o640)
    failing = pytest.raises(ZeroDivisionError)
    with failing, folders.opened(tmp_path) as folder, records.opened(folder) as stored:
        assert stored.labels().find("two") is not None
        stored.add(line("two", "other") + line("three"))
        assert line("one") + line("two") == file.read_bytes()
        with pytest.raises(ModelError, match="another run"), records.opened(folder):
            pass
        raise ZeroDivisionError
    assert line("one") + line("two", "other") + line("three") == file.read_bytes()
    assert 0o640 == file.stat().st_mode & 0o777
    assert [] == list((tmp_path / ".reviewsctl").iterdir())


def test_journal_of_a_killed_run_is_used_without_its_cut_line(tmp_path: Path) -> None:
    own = tmp_path / ".reviewsctl"
    own.mkdir()
    (own / "insights.labels").write_bytes(line("one") + line("two")[:9])
    with folders.opened(tmp_path) as folder, records.opened(folder) as stored:
        assert [] == stored.labels().faults()
        stored.add(line("three"))
    assert line("one") + line("three") == (tmp_path / "insights.labels").read_bytes()


def test_labels_of_a_run_are_dropped_when_reviews_were_erased_meanwhile(tmp_path: Path) -> None:
    erased = pytest.raises(ModelError, match="erased")
    with erased, folders.opened(tmp_path) as folder, records.opened(folder) as stored:
        stored.add(line("one"))
        (tmp_path / ".reviewsctl/insights.labels").unlink()
    assert not (tmp_path / "insights.labels").exists()


def test_a_run_without_labels_makes_no_file(tmp_path: Path) -> None:
    with folders.opened(tmp_path) as folder, records.opened(folder):
        pass
    assert not (tmp_path / "insights.labels").exists()


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_file_of_others_is_not_written_through_a_name_here(
    make: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Root may run this in a folder of another user."""
    other = tmp_path / "other"
    other.write_bytes(b"theirs\n")
    data = tmp_path / "data"
    data.mkdir()
    (data / ".reviewsctl").mkdir()
    make(other, data / ".reviewsctl/insights.labels")
    refused = pytest.raises(OSError, match=r"link|one name")
    with folders.opened(data) as folder, refused, records.opened(folder):
        pass
    assert b"theirs\n" == other.read_bytes()
