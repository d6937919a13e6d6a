"""A store acknowledges nothing after its open files are deleted or replaced (D9)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from twisted.logger import capturedLogs, formatEvent

from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import Purpose, StoreError
from tests.support.stores import BLOCKS, blocking, names, opened, read, rows

CLIENTS = (Purpose.REQUEST, Purpose.SESSION_END, Purpose.PROBE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


def delete(path: Path) -> None:
    path.unlink()


def delete_log(path: Path) -> None:
    path.with_name("state.sqlite-wal").unlink()


def replace(path: Path) -> None:
    path.with_name("other").write_bytes(path.read_bytes())
    path.with_name("other").replace(path)


def replace_log(path: Path) -> None:
    path.with_name("other").write_bytes(os.urandom(4096))
    path.with_name("other").replace(path.with_name("state.sqlite-wal"))


def delete_directory(path: Path) -> None:
    shutil.rmtree(path.parent)


def move(path: Path, name: str) -> Path:
    return path.rename(path.with_name(name))


async def refused(database: Database, reason: str) -> None:
    for purpose in CLIENTS:
        with pytest.raises(StoreError, match=reason):
            await database.run(blocking("refused.example"), purpose)
        assert not database.healthy


@pytest.mark.parametrize(
    ("lose", "reason"),
    [
        (delete, r"^state\.sqlite was deleted while it was in use: .*backup"),
        (replace, r"^state\.sqlite was replaced by another file while"),
        (delete_log, r"^state\.sqlite-wal was deleted while"),
        (replace_log, r"^state\.sqlite-wal was replaced by another file while"),
        (delete_directory, r"^state\.sqlite was deleted while"),
    ],
)
async def test_lost_file_stops_acknowledgements_while_work_goes_on(
    tmp_path: Path, lose: Callable[[Path], None], reason: str
) -> None:
    """The next start would not find what is acknowledged; a backup saves what is open."""
    path = tmp_path / "state" / "state.sqlite"
    path.parent.mkdir()
    async with opened(path) as database:
        await database.run(blocking("a.example"), Purpose.REQUEST)
        lose(path)
        with capturedLogs() as events:
            await refused(database, reason)
            await database.run(blocking("b.example"))
            await refused(database, reason)
        assert 1 == len(events)
        assert "cannot be used: state.sqlite" in str(formatEvent(events[0]))
        assert [("a.example",), ("b.example",)] == await rows(database, BLOCKS)
        await database.backup(tmp_path / "backup")
    assert ["a.example", "b.example"] == read(tmp_path / "backup")


async def test_commit_whose_file_was_deleted_meanwhile_is_not_acknowledged(path: Path) -> None:
    async with opened(path) as database:
        with pytest.raises(StoreError, match="was deleted"):
            await database.run(lambda _: path.unlink(), Purpose.REQUEST)


async def test_store_works_again_when_its_file_is_moved_back(path: Path) -> None:
    async with opened(path) as database:
        elsewhere = move(path, "elsewhere")
        await refused(database, "was deleted")
        move(elsewhere, path.name)
        with capturedLogs() as events:
            await database.run(blocking("a.example"), Purpose.REQUEST)
        assert database.healthy
        assert [f"the store {path} works again"] == [formatEvent(event) for event in events]
    assert ["a.example"] == read(path)


async def test_lost_file_is_not_created_again_after_a_failure(path: Path) -> None:
    """An empty store would take its place, and the hub would forget its subscribers."""
    async with opened(path) as database:
        await rows(database, "PRAGMA max_page_count = 1")

        def fill(cursor: object) -> None:
            path.unlink()
            blocking(*(f"{number}.example" for number in range(1000)))(cursor)  # type: ignore[arg-type]

        with pytest.raises(StoreError, match="full"):
            await database.run(fill)
        await refused(database, "was deleted")
        with pytest.raises(StoreError, match="was deleted"):
            await database.run(blocking("a.example"))
    assert [] == [name for name in names(path.parent) if name == path.name]


async def test_symbolic_link_to_the_file_is_followed(tmp_path: Path) -> None:
    """The state may be kept on another disk."""
    (tmp_path / "disk").mkdir()
    real, path = tmp_path / "disk" / "real.sqlite", tmp_path / "state.sqlite"
    path.symlink_to(real)
    async with opened(path) as database:
        await database.run(blocking("a.example"), Purpose.REQUEST)
        real.unlink()
        await refused(database, "was deleted")
