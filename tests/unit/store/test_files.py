"""Files that are whole, private and on the disk; that they are is for ``tests/system/crash`` to show."""

import errno
import os
import stat
from pathlib import Path

import pytest

from reviewsd.store.files import create, renew
from tests.support.stores import names


def test_created_file_is_complete_and_private(tmp_path: Path) -> None:
    create(tmp_path / "key", b"content")
    assert b"content" == (tmp_path / "key").read_bytes()
    assert ["key"] == names(tmp_path)
    assert 0o600 == stat.S_IMODE((tmp_path / "key").stat().st_mode)


def test_file_that_exists_already_stays(tmp_path: Path) -> None:
    """Two nodes that start at the same moment agree on the key of one of them."""
    create(tmp_path / "key", b"first")
    create(tmp_path / "key", b"second")
    assert b"first" == (tmp_path / "key").read_bytes()
    assert ["key"] == names(tmp_path)


def test_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk each attempt would add one, with the key in it."""

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        create(tmp_path / "key", b"content")
    assert [] == names(tmp_path)


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_renewed_file_has_the_same_content(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "log").write_bytes(content)
    renew(tmp_path / "log")
    assert content == (tmp_path / "log").read_bytes()
