"""A store whose file is deleted or replaced while it is open: noticed, and nothing of it is lost."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.logger import LogEvent, capturedLogs, formatEvent

from reviewsd.store.sqlite import Database
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import StoreError
from tests.support.stores import blocking, names, opened, rows

BLOCKS = "SELECT value FROM block ORDER BY value"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


def read(path: Path) -> list[str]:
    """What a closed store, or a copy of one, holds; and that it is whole."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        return [value for (value,) in connection.execute(BLOCKS)]


def said(events: Sequence[LogEvent]) -> str:
    return "\n".join(str(formatEvent(event)) for event in events)


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path, name: str) -> Path:
    return path.rename(path.with_name(name))


def delete_all(path: Path) -> None:
    path.unlink()
    path.with_name("state.sqlite-wal").unlink()


def replace(path: Path) -> None:
    """By an empty store of somebody else's."""
    aside = path.with_name("other")
    with closing(sqlite3.connect(aside)) as connection:
        connection.execute("CREATE TABLE block (value TEXT)")
    aside.replace(path)


def overwrite(path: Path, content: bytes | None = None) -> None:
    """As ``cp BACKUP FILE`` does; with an empty store of the same size."""
    if content is None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE block (value TEXT)")
            content = connection.serialize()
    size = path.stat().st_size
    path.write_bytes(content.ljust(size, b"\0"))
    assert size == path.stat().st_size


def cut(path: Path) -> None:
    """As ``> FILE`` does."""
    os.truncate(path, 0)


async def refused(database: Database, purpose: Purpose) -> None:
    with pytest.raises(StoreError, match=r"state\.sqlite was .* while it was in use: .*backup"):
        await database.run(blocking("no.com"), purpose)


@pytest.mark.parametrize(
    ("lose", "fate"),
    [
        (delete, "was deleted"),
        (delete_all, "was deleted"),
        (replace, "was replaced"),
        (cut, "was cut short"),
        (overwrite, "was overwritten"),
    ],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_is_lost_takes_on_nothing_new_and_its_work_goes_on(
    path: Path, lose: Callable[[Path], None], fate: str
) -> None:
    async with opened(path) as database:
        await database.run(blocking("a.com"), Purpose.REQUEST)
        lose(path)
        with capturedLogs() as events:
            for purpose in (Purpose.REQUEST, Purpose.SESSIONS, Purpose.PROBE):
                await refused(database, purpose)
                assert not database.healthy
            await database.run(blocking("b.com"))
        assert [("a.com",), ("b.com",)] == await rows(database, BLOCKS)
        assert 1 == said(events).count(f"state.sqlite {fate}")

        await database.backup(path.with_name("backup"))
        assert ["a.com", "b.com"] == read(path.with_name("backup"))
        assert ["a.com"] == read(path.with_name("state.sqlite.saved"))  # should it be killed now
        await database.run(blocking("c.com"))
    assert ["a.com", "b.com", "c.com"] == read(path.with_name("state.sqlite.saved"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_backup_of_this_life_that_is_copied_over_the_store_is_noticed(path: Path) -> None:
    """The next start has what was put there, and none of the log that belonged to something else."""
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        await database.backup(path.with_name("backup"))
        await database.run(blocking("b.com"))
        overwrite(path, path.with_name("backup").read_bytes())
        await refused(database, Purpose.REQUEST)
    assert ["a.com"] == read(path)
    assert ["a.com", "b.com"] == read(path.with_name("state.sqlite.saved"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_else_can_lock_the_store_after_it_was_opened_anew(path: Path) -> None:
    """To look at the file must not end SQLite's lock on it."""
    async with opened(path) as database:
        for _ in range(2):
            await database.run(blocking())
            path.with_name("state.sqlite-wal").unlink()
        await database.run(blocking("a.com"))
        with (
            closing(sqlite3.connect(path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("SELECT 1 FROM block")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nothing_is_acknowledged_whose_file_goes_meanwhile(path: Path) -> None:
    async with opened(path) as database:

        def work(_: object) -> None:
            path.unlink()

        with pytest.raises(StoreError, match="was deleted"):
            await database.run(work, Purpose.REQUEST)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_next_start_puts_what_was_deleted_back(path: Path) -> None:
    """With nothing of the log that belonged to the file that is gone."""
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        delete(path)
        stale = path.with_name("state.sqlite-wal").read_bytes()
        await database.run(blocking("b.com"))
    path.with_name("state.sqlite-wal").write_bytes(stale)
    with capturedLogs() as events:
        async with opened(path) as database:
            assert [("a.com",), ("b.com",)] == await rows(database, BLOCKS)
            assert database.healthy
            assert ["state.sqlite", "state.sqlite-wal"] == names(path.parent)
    assert "had been deleted; it is put back" in said(events)
    assert ["a.com", "b.com"] == read(path)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_was_put_in_its_place_is_used_at_the_next_start(path: Path) -> None:
    """It may be what the operator wants; what was in use stays beside it, and that is told."""
    async with opened(path.with_name("other.sqlite")) as other:
        await other.run(blocking("other.com"))
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        path.with_name("other.sqlite").replace(path)
        await refused(database, Purpose.REQUEST)
    with capturedLogs() as events:
        async with opened(path) as database:
            assert [("other.com",)] == await rows(database, BLOCKS)
    assert "is what was in use when another file was put in the place" in said(events)
    assert ["a.com"] == read(path.with_name("state.sqlite.saved"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_file_that_comes_back_to_its_place_is_used_as_before(path: Path) -> None:
    async with opened(path) as database:
        elsewhere = move(path, "elsewhere")
        await refused(database, Purpose.REQUEST)
        move(elsewhere, path.name)
        with capturedLogs() as events:
            await database.run(blocking("a.com"), Purpose.REQUEST)
        assert database.healthy
        assert "is in its place again" in said(events)
        assert ["state.sqlite", "state.sqlite-wal"] == names(path.parent)
    assert ["a.com"] == read(path)


def delete_log(log: Path) -> None:
    log.unlink()


def replace_log(log: Path) -> None:
    log.with_name("other").write_bytes(os.urandom(4096))
    log.with_name("other").replace(log)


@pytest.mark.parametrize("lose", [delete_log, replace_log])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_log_that_goes_is_written_into_the_file_and_begun_anew(
    path: Path, lose: Callable[[Path], None]
) -> None:
    """It may hold all that was ever acknowledged, and the next start would not find it."""
    async with opened(path) as database:
        await database.run(blocking("a.com"), Purpose.REQUEST)
        lose(path.with_name("state.sqlite-wal"))
        with capturedLogs() as events:
            await database.run(blocking("b.com"), Purpose.REQUEST)
            await database.run(lambda _: None, Purpose.PROBE)
        assert 1 == said(events).count("while it was in use; nothing is lost")
        copy = path.with_name("copy")  # as a kill would leave it
        shutil.copyfile(path, copy)
        shutil.copyfile(path.with_name("state.sqlite-wal"), path.with_name("copy-wal"))
        assert ["a.com", "b.com"] == read(copy)
    assert ["a.com", "b.com"] == read(path)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_behind_a_log_that_was_cut_short_nothing_is_acknowledged(path: Path) -> None:
    """The next start reads it up to the gap."""
    async with opened(path) as database:
        await database.run(blocking("a.com"), Purpose.REQUEST)
        cut(path.with_name("state.sqlite-wal"))
        for _ in range(2):
            with pytest.raises(StoreError):
                await database.run(blocking("b.com"), Purpose.REQUEST)
        assert not database.healthy


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_lost_store_that_cannot_be_saved_says_so_and_is_as_soon_as_it_can(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state" / "state.sqlite"
    path.parent.mkdir()
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        shutil.rmtree(path.parent)
        with capturedLogs() as events:
            await refused(database, Purpose.PROBE)
            await refused(database, Purpose.PROBE)
        assert 1 == said(events).count("cannot be saved")
        await database.backup(tmp_path / "backup")
        assert ["a.com"] == read(tmp_path / "backup")
        path.parent.mkdir()
        with capturedLogs() as events:
            await refused(database, Purpose.PROBE)
        assert "is saved as" in said(events)
        assert ["a.com"] == read(path.with_name("state.sqlite.saved"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_link_to_the_file_is_followed(tmp_path: Path) -> None:
    """State that is kept on another disk."""
    (tmp_path / "disk").mkdir()
    real, path = tmp_path / "disk" / "real.sqlite", tmp_path / "state.sqlite"
    path.symlink_to(real)
    async with opened(path) as database:
        await database.run(blocking("a.com"), Purpose.REQUEST)
        real.unlink()
        await refused(database, Purpose.REQUEST)
