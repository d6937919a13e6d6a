"""What is looked after is mended, and told once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs, formatEvent

from reviewsd.app.file_guard import LOOK_SECONDS, FileGuard
from reviewsd.store.kept import DELETED, REPLACED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("first")
    return path


class Mender:
    """Puts a file back, when it can."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.works = True
        self.fates: list[str] = []

    async def __call__(self, fate: str) -> str:
        self.fates.append(fate)
        if not self.works:
            raise OSError("no room")
        self._path.write_text("again")
        return "it is there again"


def looking(guard: FileGuard) -> Callable[[], list[tuple[str, str | None]]]:
    """Looks, and returns what is logged."""
    clock = Clock()
    guard.start(clock)

    def look() -> list[tuple[str, str | None]]:
        with capturedLogs() as events:
            clock.advance(LOOK_SECONDS)
        return [(event["log_level"].name, formatEvent(event)) for event in events]

    return look


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    path.with_name("other").write_text("other")
    path.with_name("other").replace(path)


@pytest.mark.parametrize(("lose", "fate"), [(remove, DELETED), (replace, REPLACED)])
def test_what_is_lost_is_mended_each_time(
    file: Path, lose: Callable[[Path], None], fate: str
) -> None:
    guard, mender = FileGuard(), Mender(file)
    guard.keep(file, mender)
    look = looking(guard)
    assert [] == look()
    for _ in range(2):
        lose(file)
        assert [("warn", f"{file} {fate}: it is there again")] == look()
        assert [] == look()
    assert [fate, fate] == mender.fates


def test_what_cannot_be_mended_is_told_once_and_tried_again(file: Path) -> None:
    guard, mender = FileGuard(), Mender(file)
    guard.keep(file, mender)
    look = looking(guard)
    mender.works = False
    file.unlink()
    assert [("error", f"{file} {DELETED}: which could not be mended (no room)")] == look()
    assert [] == look()
    mender.works = True
    assert [("warn", f"{file} {DELETED}: it is there again")] == look()


def test_after_the_stop_nothing_is_put_back(file: Path) -> None:
    guard, mender = FileGuard(), Mender(file)
    guard.keep(file, mender)
    look = looking(guard)
    stopped = Deferred.fromCoroutine(guard.stop())
    assert stopped.called
    file.unlink()
    assert [] == look()
    assert [] == mender.fates
