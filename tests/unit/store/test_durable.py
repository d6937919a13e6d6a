"""Files that are whole, private and on the disk; that they are is for ``tests/system/crash`` to show."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsd.store.durable import create, renew, sync
from tests.support.stores import names


def test_a_created_file_is_whole_and_private(tmp_path: Path) -> None:
    create(tmp_path / "key", b"content")
    assert b"content" == (tmp_path / "key").read_bytes()
    assert ["key"] == names(tmp_path)
    assert 0o600 == stat.S_IMODE((tmp_path / "key").stat().st_mode)


def test_what_an_earlier_try_left_is_not_used(tmp_path: Path) -> None:
    """Not even its mode."""
    (tmp_path / "key.new").write_bytes(b"longer than the content")
    (tmp_path / "key.new").chmod(0o666)
    create(tmp_path / "key", b"content")
    assert b"content" == (tmp_path / "key").read_bytes()
    assert 0o600 == stat.S_IMODE((tmp_path / "key").stat().st_mode)
    assert ["key"] == names(tmp_path)


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_renewing_changes_nothing(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "log").write_bytes(content)
    renew(tmp_path / "log")
    assert content == (tmp_path / "log").read_bytes()


@pytest.mark.parametrize("action", [sync, renew])
def test_what_is_not_there_is_an_error(tmp_path: Path, action: Callable[[Path], None]) -> None:
    with pytest.raises(FileNotFoundError):
        action(tmp_path / "absent")
