"""A copy for the operator, and the keys that belong to it (D12, H11)."""

import tempfile
from functools import partial
from pathlib import Path

import pytest
from twisted.internet.threads import deferToThread

from reviewsd.store.backup import Backups
from reviewsd.store.keys import Secrets, check_keys
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import StoreError, WrongKeysError
from tests.support.stores import opened

OLD, NEW = b"o" * 32, b"n" * 32
SIGNED = (
    "INSERT INTO subscription (topic_id, callback, callback_host, secret_sealed, lease_seconds,"
    " lease_expires_at, delivered_version, created_at, verified_at)"
    " VALUES (1, 'https://a.example/', 'a.example', x'00', 1, 1, 1, 1, 1)"
)
TOPIC = (
    "INSERT INTO topic (id, path, sha256, data_revision, changed_at)"
    " VALUES (1, '/feed.xml', '', 1, 1)"
)


async def check(database: Database, *keys: bytes) -> None:
    await database.run(partial(check_keys, secrets=Secrets(keys)))


async def run(database: Database, *statements: str) -> None:
    for statement in statements:
        await database.run(lambda cursor, sql=statement: cursor.execute(sql) and None)  # type: ignore[misc]  # its default


async def test_failed_copy_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere else"))
    async with opened(tmp_path / "state.db") as database:
        backups = Backups(database, tmp_path / "nowhere", deferToThread)
        with pytest.raises(StoreError, match="no copy could be made: No such file"):
            await backups.make()


async def test_copy_needs_no_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The open file is then the only copy of the data."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with opened(tmp_path / "state.db") as database:
        await run(database, TOPIC, SIGNED)
        file, contents = await Backups(database, tmp_path / "gone", deferToThread).make()
    with file:
        assert 1 == contents.subscriptions


async def test_copy_is_made_in_a_folder_whose_name_has_characters_of_uris(tmp_path: Path) -> None:
    folder = tmp_path / "state?100%#1"
    folder.mkdir()
    async with opened(tmp_path / "state.db") as database:
        file, contents = await Backups(database, folder, deferToThread).make()
        with file:
            assert 0 == contents.subscriptions


async def test_other_keys_are_refused_while_the_store_has_secrets(tmp_path: Path) -> None:
    async with opened(tmp_path / "state.db") as database:
        await check(database, OLD)
        await check(database, NEW)  # nothing is lost by it
        await run(database, TOPIC, SIGNED)
        with pytest.raises(WrongKeysError, match=r"secret\.key .* is not the key"):
            await check(database, OLD)


async def test_replaced_key_can_be_removed_later(tmp_path: Path) -> None:
    """The new key becomes the first line; later the old one is removed (H11)."""
    async with opened(tmp_path / "state.db") as database:
        await run(database, TOPIC, SIGNED)
        await check(database, OLD)
        await check(database, NEW, OLD)
        await check(database, NEW)
        with pytest.raises(WrongKeysError):
            await check(database, OLD)
