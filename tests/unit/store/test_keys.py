"""Files of keys that the operator gives; ``test_secrets`` has those that are made (S18, H11)."""

from pathlib import Path

import pytest

from reviewsd.store import keys
from reviewsd.store.keys import KeyFileError
from tests.support.stores import names


def test_a_given_file_takes_the_place_of_the_own(tmp_path: Path) -> None:
    (tmp_path / "given").write_text(f"# theirs\n{'11' * 32}\n{'22' * 32}\n")
    found = keys.load(tmp_path / "own", "Signs.", tmp_path / "given")
    assert (b"\x11" * 32, b"\x22" * 32) == found
    assert ["given"] == names(tmp_path)


def test_a_given_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A key of our own instead would be another than the other nodes have."""
    with pytest.raises(KeyFileError, match="given cannot be used"):
        keys.load(tmp_path / "own", "Signs.", tmp_path / "given")
    assert [] == names(tmp_path)


def test_a_given_file_keeps_its_mode(tmp_path: Path) -> None:
    """It is the operator's, and may be on a file system that this user cannot change."""
    (tmp_path / "given").write_text("11" * 32)
    (tmp_path / "given").chmod(0o440)
    keys.load(tmp_path / "own", "Signs.", tmp_path / "given")
    assert 0o440 == (tmp_path / "given").stat().st_mode & 0o777


def test_an_own_file_says_what_it_is_for(tmp_path: Path) -> None:
    keys.load(tmp_path / "own", "Signs.")
    assert "# Signs." == (tmp_path / "own").read_text().splitlines()[0]


def test_a_credential_is_there_or_not(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert tmp_path / "a" == keys.credential(tmp_path, "a")
    assert keys.credential(tmp_path, "b") is None
    assert keys.credential(None, "a") is None
