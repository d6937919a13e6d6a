"""Messages and descriptors between processes: all of them, in order, and none left open."""

import os
import resource
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import Deferred

from reviewsd.workers.ipc import PIECE, MessageSocket, socketpair
from tests.support.descriptors import open_descriptors
from tests.support.outbound import reactor


class Heard:
    """Keeps what comes; ``until`` waits for so much of it."""

    def __init__(self) -> None:
        self.messages: list[tuple[bytes, int | None]] = []
        self.is_lost = False
        self.on_message: Callable[[bytes, int | None], None] = lambda *_: None
        self._wanted: tuple[Callable[[], bool], Deferred[None]] | None = None

    def received(self, message: bytes, descriptor: int | None) -> None:
        self.messages.append((message, descriptor))
        self.on_message(message, descriptor)
        self._look()

    def lost(self) -> None:
        self.is_lost = True
        self._look()

    def _look(self) -> None:
        if self._wanted is not None and self._wanted[0]():
            deferred, self._wanted = self._wanted[1], None
            deferred.callback(None)

    async def until(self, true: Callable[[], bool]) -> None:
        if not true():
            deferred: Deferred[None] = Deferred()
            deferred.addTimeout(20, reactor)
            self._wanted = (true, deferred)
            await deferred


Two = tuple[MessageSocket, Heard, MessageSocket, Heard]


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def two() -> AsyncIterator[Two]:
    here, there = Heard(), Heard()
    mine, theirs = socketpair()
    link, other = MessageSocket(reactor, mine, here), MessageSocket(reactor, theirs, there)
    yield link, here, other, there
    link.close()
    other.close()


@pytest.fixture
def descriptors() -> Iterator[None]:
    """As many are open in the end as at the beginning."""
    before = set(open_descriptors())
    yield
    assert before == set(open_descriptors())


def open_file(directory: Path, text: str) -> int:
    file = directory / "file"
    file.write_text(text)
    return os.open(file, os.O_RDONLY)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_messages_of_any_length_come_whole_and_in_order(two: Two) -> None:
    link, _, _, there = two
    sizes = [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 1_000_000, 5]
    sent = [bytes([65 + place]) * size for place, size in enumerate(sizes)]
    for message in sent:
        link.send(message)
    await there.until(lambda: len(there.messages) == len(sent))
    assert sent == [message for message, _ in there.messages]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_descriptor_comes_with_its_message(
    descriptors: None, two: Two, tmp_path: Path
) -> None:
    """Also where the message goes in several packets, and others follow."""
    link, _, _, there = two
    link.send(b"before")
    link.send(b"x" * (2 * PIECE), open_file(tmp_path, "first"))
    link.send(b"between")
    link.send(b"y", open_file(tmp_path, "second"))
    await there.until(lambda: len(there.messages) == 4)
    found = []
    for _, descriptor in there.messages:
        if descriptor is None:
            found.append("")
            continue
        assert not os.get_inheritable(descriptor)
        with os.fdopen(descriptor) as file:
            found.append(file.read())
    # the second was written over the first while that was on its way
    assert ["", "second", "", "second"] == found


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_ten_thousand_descriptors_keep_their_messages(descriptors: None, two: Two) -> None:
    """Far more than the kernel takes at once, by a sender that does not wait."""
    link, _, _, there = two
    count, at_once = 10_000, 500
    wrong: list[int] = []

    def check(message: bytes, descriptor: int | None) -> None:
        assert descriptor is not None
        with socket.socket(fileno=descriptor) as end:
            if end.recv(16) != message:
                wrong.append(int(message))

    there.on_message = check
    most = 0
    for begin in range(0, count, at_once):
        for number in range(begin, begin + at_once):
            mine, theirs = socket.socketpair()
            mine.sendall(b"%d" % number)
            mine.close()
            link.send(b"%d" % number, theirs.detach())
        most = max(most, link.waiting)
        await there.until(lambda end=begin + at_once: len(there.messages) == end)  # type: ignore[misc]
    assert [] == wrong
    assert most > 0, "the kernel took everything at once: nothing was tested"
    assert 0 == link.waiting


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_cannot_be_sent_any_more_is_closed(
    descriptors: None, two: Two, tmp_path: Path
) -> None:
    link, here, other, _ = two
    for _ in range(500):
        link.send(b"x", open_file(tmp_path, ""))
    assert link.waiting
    other.close()
    await here.until(lambda: here.is_lost)
    link.send(b"x", open_file(tmp_path, ""))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_was_said_before_the_end_is_heard(two: Two) -> None:
    link, _, _, there = two
    link.send(b"last words")
    link.close()
    await there.until(lambda: there.is_lost)
    assert [(b"last words", None)] == there.messages


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_who_hears_may_close(two: Two) -> None:
    link, here, other, there = two
    there.on_message = lambda *_: other.close()
    link.send(b"1")
    link.send(b"2")
    await here.until(lambda: here.is_lost)
    assert [(b"1", None)] == there.messages
    assert there.is_lost


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_process_without_room_for_descriptors_hears_the_message(
    two: Two, tmp_path: Path
) -> None:
    """The kernel closes what it cannot deliver; the one after it comes whole again."""
    link, _, _, there = two
    link.send(b"lost", open_file(tmp_path, ""))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(tmp_path / "file", os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, hard))
    try:
        while True:
            try:
                held.append(os.dup(held[0]))
            except OSError:
                break
        await there.until(lambda: len(there.messages) == 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for each in held:
            os.close(each)
    assert [(b"lost", None)] == there.messages
    link.send(b"found", open_file(tmp_path, ""))
    await there.until(lambda: len(there.messages) == 2)
    message, descriptor = there.messages[1]
    assert b"found" == message
    assert descriptor is not None
    os.close(descriptor)
