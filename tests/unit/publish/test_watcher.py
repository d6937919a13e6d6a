import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.publish.sources import fingerprint
from reviewsd.publish.watcher import Watcher
from reviewsd.snapshot.layout import Fingerprint
from tests.support.publishing import texts

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
    os.utime(path / "reviews.json", (1, 1))
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
Step = Callable[[Path], object]
"""One change of the data directory."""


def steps(*changes: Step) -> Style:
    """Return the style of changing a plain data directory step by step."""

    def style(root: Path) -> Iterator[Path]:
        data = directory(root / "data", insights=INSIGHTS)
        for change in changes:
            yield data
            change(data)

    return style


def write(content: bytes, name: str = "reviews.json") -> Step:
    return lambda data: (data / name).write_bytes(content)


def append(content: bytes) -> Step:
    def change(data: Path) -> None:
        with (data / "reviews.json").open("ab") as file:
            file.write(content)

    return change


def unlink(name: str = "reviews.json") -> Step:
    return lambda data: (data / name).unlink()


def rename(name: str) -> Step:
    return lambda data: (data / name).rename(data / "reviews.json")


def write_with_the_old_mtime(content: bytes, name: str = "reviews.json") -> Step:
    def change(data: Path) -> None:
        (data / name).write_bytes(content)
        os.utime(data / name, (1, 1))

    return change


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


def swap_there_and_back(root: Path) -> Iterator[Path]:
    """The current files are the published ones in the end."""
    for name in ("one", "two"):
        directory(root / name)
    (root / "current").symlink_to("one")
    for target in ("two", "one"):
        yield root / "current"
        replace_link(root / "current", target)


OTHER = OLD.replace(b"old", b"bak")
"""Content of the same size."""

STYLES = {
    "renamed over": steps(write(NEW, "new"), rename("new")),
    "rewritten in place": steps(write(NEW)),
    "removed and created": steps(unlink(), write(NEW)),
    "truncated and appended slowly": steps(
        write(b""), *(append(NEW[start : start + 4]) for start in range(0, len(NEW), 4))
    ),
    "link of the data swapped": swap_of_the_data_link,
    "link of the directory swapped": swap_of_a_linked_directory,
    "directory recreated": steps(shutil.rmtree, Path.mkdir, write(NEW)),
    "directories renamed": steps(
        lambda data: data.rename(data.with_name("old")),
        lambda data: directory(data.with_name("new"), NEW).rename(data),
    ),
    "backup with its old mtime": steps(write_with_the_old_mtime(OTHER, "bak"), rename("bak")),
    "rewritten with the old mtime, as by cp -p": steps(write_with_the_old_mtime(OTHER)),
    "touched, which wakes for nothing": steps(lambda data: (data / "reviews.json").touch()),
    "made readable": steps(lambda data: (data / "reviews.json").chmod(0o640)),
    "insights appear": steps(
        unlink("insights.json"), write(b"{", "insights.json"), write(b"{}", "insights.json")
    ),
    "insights vanish": steps(unlink("insights.json")),
    "both files, which are one unit": steps(write(NEW), write(b"{}", "insights.json")),
}


def let_the_file_clock_tick(root: Path) -> None:
    """Kernels stamp files with a clock of some milliseconds; what follows gets a later stamp."""
    probe = root / "probe"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.touch()


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_each_style_of_replacement_is_found_once_and_whole(tmp_path: Path, style: Style) -> None:
    changes = style(tmp_path)
    watch = Watch(next(changes))
    watch.let_pass(5)
    let_the_file_clock_tick(tmp_path)
    for _ in changes:
        watch.let_pass(0.5)
        let_the_file_clock_tick(tmp_path)
        assert watch.woken == []
    final = watch.content()
    watch.let_pass(WITHIN)
    assert watch.woken == [final]
    watch.let_pass(60)
    assert watch.woken == [final]


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_change_before_the_start_is_detected(tmp_path: Path, style: Style) -> None:
    """The fingerprint of the last publication is stored, and this is the next start."""
    changes = style(tmp_path)
    data_dir = next(changes)
    seen = fingerprint(data_dir)
    let_the_file_clock_tick(tmp_path)
    for _ in changes:
        pass
    watch = Watch(data_dir, seen)
    watch.let_pass(WITHIN)
    assert watch.woken == [watch.content()]


@pytest.mark.parametrize(
    "style",
    [steps(lambda _: None), steps(write(OLD, "reviews.json.bak")), swap_there_and_back],
    ids=["unchanged", "another file", "swapped there and back"],
)
@pytest.mark.parametrize("is_seen", [False, True])
def test_files_of_same_content_never_wake(tmp_path: Path, style: Style, *, is_seen: bool) -> None:
    changes = style(tmp_path)
    data_dir = next(changes)
    watch = Watch(data_dir, fingerprint(data_dir) if is_seen else None)
    for _ in changes:
        watch.let_pass(1.25)
    watch.let_pass(100)
    assert watch.woken == []


def test_the_first_file_of_an_empty_directory_wakes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    watch = Watch(tmp_path / "data")
    watch.let_pass(10)
    assert watch.woken == []
    (tmp_path / "data" / "reviews.json").write_bytes(NEW)
    watch.let_pass(WITHIN)
    assert watch.woken == [(NEW, None)]


@pytest.mark.parametrize(("pause", "woken"), [(SETTLED - 0.25, 0), (SETTLED, 1)])
def test_files_have_settled_when_nothing_moved_for_three_looks(
    tmp_path: Path, pause: float, woken: int
) -> None:
    watch = Watch(directory(tmp_path / "data"))
    (watch.data_dir / "reviews.json").write_bytes(NEW)
    watch.let_pass(1.0)  # the look that finds it
    watch.let_pass(pause)
    assert len(watch.woken) == woken


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
    looks = Looks()
    looks.watcher.start()
    with capturedLogs() as events:
        for error in (ValueError("one"), ValueError("one"), OSError("two"), None, OSError("two")):
            if error is None:
                looks.asked[-1].callback(NOTHING)
            else:
                looks.asked[-1].errback(error)
            looks.clock.advance(1)
    assert [event["log_failure"].getErrorMessage() for event in events] == ["one", "two", "two"]
    assert (6, 0) == (len(looks.asked), looks.woken)


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
    assert texts(events) == ["looking at the data directory failed; trying again"]
