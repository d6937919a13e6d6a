"""What models have said is kept line by line, by one run at a time (insights.md 7, cache)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.files import folders
from reviewsctl.labelling import records
from reviewsctl.labelling.endpoint import ModelError


def test_a_line_without_an_end_is_taken_away(tmp_path: Path) -> None:
    file = tmp_path / records.NAME
    file.write_bytes(b"one\ntw")
    with folders.opened(tmp_path) as folder, records.opened(folder) as kept:
        assert [b"one\n"] == list(kept.lines())
        kept.add(b"two")
        with pytest.raises(ModelError, match="another run"), records.opened(folder):
            pass
    assert b"one\ntwo\n" == file.read_bytes()


def test_a_file_that_nothing_was_written_to_does_not_stay(tmp_path: Path) -> None:
    with folders.opened(tmp_path) as folder, records.opened(folder) as kept:
        assert [] == list(kept.lines())
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_file_of_others_is_not_written_through_a_name_here(
    make: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Root may run this in a folder that is somebody else's."""
    other = tmp_path / "other"
    other.write_bytes(b"theirs\n")
    data = tmp_path / "data"
    data.mkdir()
    make(other, data / records.NAME)
    refused = pytest.raises(OSError, match=r"link|one name")
    with folders.opened(data) as folder, refused, records.opened(folder):
        pass
    assert b"theirs\n" == other.read_bytes()
