"""reviews.json is replaced whole or not at all."""

from pathlib import Path

import pytest

from reviewsctl.files.folders import opened
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.reviews_file import draft


def test_without_commit_nothing_remains(tmp_path: Path) -> None:
    path = tmp_path / "reviews.json"
    path.write_text("old")
    with opened(tmp_path) as folder, draft(folder, path.name) as new:
        new.file.write(b"new")

    assert ["reviews.json"] == [file.name for file in tmp_path.iterdir()]
    assert "old" == path.read_text()


def test_old_file_is_kept_before_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "reviews.json"
    for content in (b"1", b"2", b"3"):
        with opened(tmp_path) as folder, draft(folder, path.name) as new:
            new.file.write(content)
            new.commit(lambda: folder.keep(path.name, "kept"))  # called at once

    assert {"reviews.json": "3", "kept": "2"} == {
        file.name: file.read_text() for file in tmp_path.iterdir()
    }


@pytest.mark.parametrize("before", [None, "old"])
def test_file_that_another_program_writes_meanwhile_is_not_overwritten(
    tmp_path: Path, before: str | None
) -> None:
    path = tmp_path / "reviews.json"
    if before is not None:
        path.write_text(before)
    with opened(tmp_path) as folder, draft(folder, path.name) as new:
        new.file.write(b"new")
        path.write_text("theirs")
        with pytest.raises(ImportRefusedError):
            new.commit(bool)

    assert {"reviews.json": "theirs"} == {
        file.name: file.read_text() for file in tmp_path.iterdir()
    }
