import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Clock
from twisted.internet.threads import deferToThread
from twisted.logger import LogEvent, capturedLogs, formatEvent

from reviewsd.publish.sources import fingerprint
from reviewsd.publish.watcher import Watcher
from reviewsd.snapshot.layout import Fingerprint

OLD = b'{"reviews": ["old"]}'
NEW = b'{"reviews": ["new", "and longer"]}'
INSIGHTS = b'{"overall": {}}'

UNSETTLED = (
    "the data files have been changing for 60 s without a pause; "
    "they are published once they stay unchanged for a second"
)
HANGING = (
    "reading the data directory has taken more than 30 s; "
    "changes are not noticed until it ends; check the disk or network mount"
)

SETTLED = 3 * 0.25
WITHIN = 3.0  # seconds in which a change has to be picked up; R1

Content = tuple[bytes | None, bytes | None]


class Watch:
    """A Watcher on real files and virtual time, and what the files held at each wake."""

    def __init__(self, data_dir: Path, seen: Fingerprint | None = None) -> None:
        self.data_dir = data_dir
        self.clock = Clock()
        self.woken: list[Content] = []
        self.watcher = Watcher(self.clock, self.look, self.wake)
        self.watcher.start(seen)

    def look(self) -> Deferred[Fingerprint]:
        return succeed(fingerprint(self.data_dir))

    def wake(self) -> None:
        self.woken.append(self.content())

    def content(self) -> Content:
        files = [self.data_dir / name for name in ("reviews.json", "insights.json")]
        reviews, insights = (file.read_bytes() if file.exists() else None for file in files)
        return reviews, insights

    def let_pass(self, seconds: float) -> None:
        self.clock.pump([0.25] * int(seconds / 0.25))


def directory(path: Path, reviews: bytes = OLD, insights: bytes | None = None) -> Path:
    path.mkdir()
    (path / "reviews.json").write_bytes(reviews)
    if insights is not None:
        (path / "insights.json").write_bytes(insights)
    return path


def replace_link(link: Path, target: str) -> None:
    """Replace a link atomically, like ``ln -sfn``."""
    new = link.with_name(link.name + "_tmp")
    new.symlink_to(target)
    new.rename(link)


# Each style of replacing files is a generator: up to the first yield it prepares the data
# directory, and each further yield is a moment half-way at which the watcher may look.
Style = Callable[[Path], Iterator[Path]]


def rename_over(root: Path) -> Iterator[Path]:
    """Replace a file as the documentation recommends, and ``reviewsctl import`` does."""
    data = directory(root / "data")
    yield data
    (data / "reviews.json.tmp").write_bytes(NEW)
    yield data
    (data / "reviews.json.tmp").rename(data / "reviews.json")


def rewrite_in_place(root: Path) -> Iterator[Path]:
    """``cp new.json reviews.json``."""
    data = directory(root / "data")
    yield data
    (data / "reviews.json").write_bytes(NEW)


def unlink_and_create(root: Path) -> Iterator[Path]:
    data = directory(root / "data")
    yield data
    (data / "reviews.json").unlink()
    yield data
    (data / "reviews.json").write_bytes(NEW)


def truncate_and_append_slowly(root: Path) -> Iterator[Path]:
    data = directory(root / "data")
    yield data
    with (data / "reviews.json").open("wb", buffering=0) as file:
        yield data
        for start in range(0, len(NEW), 4):
            file.write(NEW[start : start + 4])
            yield data


def swap_of_the_data_link(root: Path) -> Iterator[Path]:
    """A Kubernetes ConfigMap volume: the files are links through ``..data``."""
    data = root / "volume"
    data.mkdir()
    directory(data / "..2026_01_01")
    (data / "..data").symlink_to("..2026_01_01")
    (data / "reviews.json").symlink_to("..data/reviews.json")
    yield data
    directory(data / "..2026_01_02", NEW)
    yield data
    replace_link(data / "..data", "..2026_01_02")
    yield data
    shutil.rmtree(data / "..2026_01_01")


def swap_of_a_linked_directory(root: Path) -> Iterator[Path]:
    """Releases beside each other: the data directory itself is the link."""
    directory(root / "release-1")
    (root / "current").symlink_to("release-1")
    yield root / "current"
    directory(root / "release-2", NEW)
    yield root / "current"
    replace_link(root / "current", "release-2")


def recreated_directory(root: Path) -> Iterator[Path]:
    data = directory(root / "data")
    yield data
    shutil.rmtree(data)
    yield data
    data.mkdir()
    yield data
    (data / "reviews.json").write_bytes(NEW)


def renamed_directories(root: Path) -> Iterator[Path]:
    """``mv data old; mv new data``."""
    data = directory(root / "data")
    new = directory(root / "new", NEW)
    yield data
    data.rename(root / "old")
    yield data
    new.rename(data)


def backup_with_its_old_mtime(root: Path) -> Iterator[Path]:
    """``mv reviews.json.bak reviews.json``: as large and as old as what it replaces."""
    data = directory(root / "data")
    backup = data / "reviews.json.bak"
    backup.write_bytes(OLD.replace(b"old", b"bak"))
    for file in (data / "reviews.json", backup):
        os.utime(file, (1, 1))
    yield data
    backup.rename(data / "reviews.json")


def rewrite_with_the_old_mtime(root: Path) -> Iterator[Path]:
    """``cp -p``, ``rsync --inplace --times``, ``touch -r``: only ctime shows it."""
    data = directory(root / "data")
    os.utime(data / "reviews.json", (1, 1))
    yield data
    (data / "reviews.json").write_bytes(OLD.replace(b"old", b"new"))
    os.utime(data / "reviews.json", (1, 1))


def touch(root: Path) -> Iterator[Path]:
    """Wakes for nothing; the publisher finds equal bytes."""
    data = directory(root / "data")
    yield data
    (data / "reviews.json").touch()


def chmod(root: Path) -> Iterator[Path]:
    """A file that could not be read may be readable now."""
    data = directory(root / "data")
    yield data
    (data / "reviews.json").chmod(0o640)


def insights_appear(root: Path) -> Iterator[Path]:
    data = directory(root / "data")
    yield data
    (data / "insights.json").write_bytes(INSIGHTS[:5])
    yield data
    (data / "insights.json").write_bytes(INSIGHTS)


def insights_vanish(root: Path) -> Iterator[Path]:
    data = directory(root / "data", insights=INSIGHTS)
    yield data
    (data / "insights.json").unlink()


def both_files(root: Path) -> Iterator[Path]:
    """They are one unit: one wake, when the later one has settled too."""
    data = directory(root / "data", insights=INSIGHTS)
    yield data
    (data / "reviews.json").write_bytes(NEW)
    yield data
    (data / "insights.json").write_bytes(INSIGHTS + b"\n")


STYLES = [
    rename_over,
    rewrite_in_place,
    unlink_and_create,
    truncate_and_append_slowly,
    swap_of_the_data_link,
    swap_of_a_linked_directory,
    recreated_directory,
    renamed_directories,
    backup_with_its_old_mtime,
    rewrite_with_the_old_mtime,
    touch,
    chmod,
    insights_appear,
    insights_vanish,
    both_files,
]


def let_the_file_clock_tick(root: Path) -> None:
    """Kernels stamp files with a clock of some milliseconds; what follows gets a later stamp."""
    probe = root / "probe"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.touch()


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_replacement_is_picked_up_once_and_whole(
    tmp_path: Path, style: Style
) -> None:
    steps = style(tmp_path)
    watch = Watch(next(steps))
    watch.let_pass(5)
    let_the_file_clock_tick(tmp_path)
    for _ in steps:
        watch.let_pass(0.5)
        let_the_file_clock_tick(tmp_path)
        assert watch.woken == []
    final = watch.content()
    watch.let_pass(WITHIN)
    assert watch.woken == [final]
    watch.let_pass(60)
    assert watch.woken == [final]


@pytest.mark.parametrize("style", STYLES)
def test_change_before_the_start_is_detected(tmp_path: Path, style: Style) -> None:
    """The fingerprint of the last publication is stored, and this is the next start."""
    steps = style(tmp_path)
    data_dir = next(steps)
    seen = fingerprint(data_dir)
    let_the_file_clock_tick(tmp_path)
    for _ in steps:
        pass
    watch = Watch(data_dir, seen)
    watch.let_pass(WITHIN)
    assert watch.woken == [watch.content()]


def test_unchanged_files_never_wake(tmp_path: Path) -> None:
    data_dir = directory(tmp_path / "data")
    first, second = Watch(data_dir), Watch(data_dir, fingerprint(data_dir))
    for watch in (first, second):
        watch.let_pass(100)
        assert watch.woken == []


def test_other_files_of_the_directory_do_not_wake(tmp_path: Path) -> None:
    watch = Watch(directory(tmp_path / "data"))
    (watch.data_dir / "reviews.json.bak").write_bytes(OLD)
    watch.let_pass(10)
    assert watch.woken == []


def test_the_first_file_of_an_empty_directory_wakes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    watch = Watch(tmp_path / "data")
    watch.let_pass(10)
    assert watch.woken == []
    (tmp_path / "data" / "reviews.json").write_bytes(NEW)
    watch.let_pass(WITHIN)
    assert watch.woken == [(NEW, None)]


def test_a_link_swapped_there_and_back_does_not_wake(tmp_path: Path) -> None:
    """The current files are the published ones."""
    for name in ("one", "two"):
        directory(tmp_path / name)
    (tmp_path / "current").symlink_to("one")
    watch = Watch(tmp_path / "current")
    replace_link(tmp_path / "current", "two")
    watch.let_pass(1.25)
    replace_link(tmp_path / "current", "one")
    watch.let_pass(10)
    assert watch.woken == []


@pytest.mark.parametrize(("pause", "woken"), [(SETTLED - 0.25, 0), (SETTLED, 1)])
def test_files_have_settled_when_nothing_moved_for_three_looks(
    tmp_path: Path, pause: float, woken: int
) -> None:
    watch = Watch(directory(tmp_path / "data"))
    (watch.data_dir / "reviews.json").write_bytes(NEW)
    watch.let_pass(1.0)  # the look that finds it
    watch.let_pass(pause)
    assert len(watch.woken) == woken


def texts(events: Sequence[LogEvent]) -> list[str]:
    return [formatEvent(event) for event in events]


def test_files_that_never_settle_are_waited_for_with_one_warning(tmp_path: Path) -> None:
    watch = Watch(directory(tmp_path / "data"))
    path = watch.data_dir / "reviews.json"

    def append_for(seconds: int) -> None:
        for _ in range(seconds * 2):
            path.write_bytes(path.read_bytes() + b" ")
            watch.let_pass(0.5)

    with capturedLogs() as events:
        append_for(60)
        assert events == []
        append_for(240)
    assert texts(events) == [UNSETTLED]
    assert watch.woken == []
    watch.let_pass(WITHIN)
    assert watch.woken == [watch.content()]
    with capturedLogs() as events:
        append_for(62)
    assert len(events) == 1, "the next restless writer deserves a warning of its own"


class Looks:
    """A file system that answers when the test says so."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.asked: list[Deferred[Fingerprint]] = []
        self.woken = 0
        self.watcher = Watcher(self.clock, self.look, self.wake)

    def look(self) -> Awaitable[Fingerprint]:
        self.asked.append(Deferred())
        return self.asked[-1]

    def wake(self) -> None:
        self.woken += 1

    def stop(self) -> Deferred[None]:
        return Deferred.fromCoroutine(self.watcher.stop())


NOTHING = Fingerprint(reviews=None, insights=None)


def test_a_hanging_look_warns_once_and_no_second_one_piles_up() -> None:
    looks = Looks()
    with capturedLogs() as events:
        looks.watcher.start()
        looks.clock.pump([1.0] * 29)
        assert events == []
        looks.clock.pump([1.0] * 300)
    assert texts(events) == [HANGING]
    assert len(looks.asked) == 1


def test_watching_goes_on_after_a_hanging_look() -> None:
    looks = Looks()
    looks.watcher.start()
    looks.clock.advance(100)
    with capturedLogs() as events:
        looks.asked[0].callback(NOTHING)
    assert texts(events) == ["the data directory can be read again"]
    looks.clock.advance(1)
    assert len(looks.asked) == 2


def test_a_change_that_settles_while_stopping_does_not_wake(tmp_path: Path) -> None:
    looks = Looks()
    looks.watcher.start()
    looks.asked[-1].callback(NOTHING)
    changed = fingerprint(directory(tmp_path / "data"))
    looks.clock.advance(1)
    for _ in range(3):
        looks.asked[-1].callback(changed)
        looks.clock.advance(0.25)
    looks.stop()
    looks.asked[-1].callback(changed)
    assert looks.woken == 0


@pytest.mark.parametrize("seconds", [0, 10, 31])
def test_stop_does_not_wait_for_a_running_look(seconds: float) -> None:
    """It may hang, and nothing needs its fingerprint."""
    looks = Looks()
    looks.watcher.start()
    looks.clock.advance(seconds)
    with capturedLogs() as events:
        stopped = looks.stop()
    assert stopped.called
    assert events == []
    assert looks.clock.getDelayedCalls() == []
    looks.asked[0].callback(NOTHING)  # the thread returns late, after stop()


def test_failing_look_that_had_hung_is_not_reported_as_readable() -> None:
    looks = Looks()
    looks.watcher.start()
    looks.clock.advance(31)
    with capturedLogs() as events:
        looks.asked[0].errback(OSError("stale handle"))
    assert texts(events) == ["reading the data directory failed; trying again"]


def test_second_start_does_not_poll_twice() -> None:
    looks = Looks()
    looks.watcher.start()
    looks.watcher.start()
    assert len(looks.asked) == 1
    looks.stop()
    looks.watcher.start()
    assert len(looks.asked) == 1


def test_files_that_flap_between_published_and_other_are_reported(tmp_path: Path) -> None:
    states = [NOTHING, fingerprint(directory(tmp_path / "data"))]
    looks = Looks()
    looks.watcher.start(NOTHING)
    with capturedLogs() as events:
        for number in range(300):
            looks.asked[-1].callback(states[number % 2])
            looks.clock.pump([0.25] * 4)
            assert len(looks.asked) > number + 1
    assert texts(events) == [UNSETTLED]
    assert looks.woken == 0


def test_a_failing_look_is_logged_once_for_each_error_and_tried_again() -> None:
    clock = Clock()
    answers: list[Exception | Fingerprint] = [
        ValueError("one"),
        ValueError("one"),
        OSError("two"),
        NOTHING,
        OSError("two"),
    ]
    remaining = iter(answers)

    def look() -> Deferred[Fingerprint]:
        match next(remaining):
            case Fingerprint() as found:
                return succeed(found)
            case error:
                return fail(error)

    woken: list[None] = []
    with capturedLogs() as events:
        Watcher(clock, look, lambda: woken.append(None)).start()
        clock.pump([1.0] * (len(answers) - 1))
    assert [event["log_failure"].getErrorMessage() for event in events] == ["one", "two", "two"]
    assert woken == []
    assert list(remaining) == []


def test_a_wake_that_fails_is_logged_and_tried_again(tmp_path: Path) -> None:
    data_dir = directory(tmp_path / "data")
    clock, calls = Clock(), list[float]()

    def wake() -> None:
        calls.append(clock.seconds())
        if len(calls) < 3:
            raise ValueError("broken")

    with capturedLogs() as events:
        look = partial(succeed, fingerprint(data_dir))
        Watcher(clock, look, wake).start(NOTHING)
        clock.pump([0.25] * 40)
    assert calls == [0.75, 1.75, 2.75]
    assert texts(events) == ["publishing the data directory failed; trying again"]


async def test_with_the_real_reactor_a_thread_looks_and_the_reactor_wakes(tmp_path: Path) -> None:
    data_dir = directory(tmp_path / "data")
    looked, woken = Deferred[None](), Deferred[threading.Thread]()
    threads: set[threading.Thread] = set()

    def look() -> Fingerprint:
        threads.add(threading.current_thread())
        return fingerprint(data_dir)

    async def look_in_a_thread() -> Fingerprint:
        found = await deferToThread(look)
        if not looked.called:
            looked.callback(None)
        return found

    assert IReactorTime.providedBy(reactor)
    watcher = Watcher(
        reactor,
        look_in_a_thread,
        lambda: woken.callback(threading.current_thread()),
        poll_interval=0.01,
    )
    watcher.start()
    await looked
    let_the_file_clock_tick(tmp_path)
    (data_dir / "reviews.json").write_bytes(NEW)
    assert await woken is threading.main_thread()
    assert threading.main_thread() not in threads
    await watcher.stop()
