import os
import socket
import sys
from collections.abc import Callable, Iterator
from mmap import mmap
from pathlib import Path

import msgspec
import pytest

from reviewsd.api.files import Diagnostic
from reviewsd.domain.data_errors import DataError
from reviewsd.publish import sources
from reviewsd.publish.sources import Unsettled, fingerprint, read
from reviewsd.snapshot.layout import Fingerprint
from tests.support.limits import few_descriptors, file_size

LIMIT = 1000

_interruption: list[tuple[str, Callable[[], object]]] = []
"""Call a function just before a file of that name is opened for the first time."""


def _interrupt(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _interruption:
        name, strike = _interruption[0]
        if str(arguments[0]).endswith(name):
            _interruption.clear()
            strike()


sys.addaudithook(_interrupt)  # stays for good, and does nothing when nothing is to happen


Strikes = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def before_opening() -> Iterator[Strikes]:
    """Another process that strikes in the middle of ``read``, always at the same moment."""
    yield lambda name, strike: _interruption.append((name, strike))
    _interruption.clear()


def write(data_dir: Path, reviews: str = "{}", insights: str | None = None) -> None:
    (data_dir / "reviews.json").write_text(reviews)
    if insights is not None:
        (data_dir / "insights.json").write_text(insights)


def refusal(data_dir: Path) -> list[Diagnostic]:
    with pytest.raises(DataError) as refused:
        read(data_dir, LIMIT)
    return list(refused.value.findings)


def test_both_files_are_read_with_the_fingerprint_they_had(tmp_path: Path) -> None:
    write(tmp_path, '{"a": 1}', '{"b": 2}')
    contents = read(tmp_path, LIMIT)
    assert contents.reviews == b'{"a": 1}'
    assert contents.insights == b'{"b": 2}'
    assert contents.fingerprint == fingerprint(tmp_path)


def test_a_file_as_large_as_the_limit_is_read(tmp_path: Path) -> None:
    write(tmp_path, " " * LIMIT)
    assert len(read(tmp_path, LIMIT).reviews) == LIMIT


def test_logo_that_is_added_changes_the_fingerprint(tmp_path: Path) -> None:
    """The watcher notices it then."""
    write(tmp_path)
    before = fingerprint(tmp_path)
    (tmp_path / "logo.svg").write_text("<svg/>")
    assert fingerprint(tmp_path) != before
    assert {"logo.svg": b"<svg/>"} == read(tmp_path, LIMIT).logos


def test_a_fingerprint_survives_json_even_when_a_path_is_not_utf8(tmp_path: Path) -> None:
    """It is stored beside the snapshot, so that a restart can compare."""
    data_dir = tmp_path / os.fsdecode(b"caf\xe9")
    data_dir.mkdir()
    write(data_dir, insights="{}")
    stored = msgspec.json.encode(fingerprint(data_dir))
    assert msgspec.json.decode(stored, type=Fingerprint) == fingerprint(data_dir)


def test_links_to_equal_files_have_different_fingerprints(tmp_path: Path) -> None:
    """Two releases may share one file by a hard link; the swap of the link still shows."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write(tmp_path / "one")
    os.link(tmp_path / "one" / "reviews.json", tmp_path / "two" / "reviews.json")
    current = tmp_path / "current"
    current.symlink_to("one")
    before = fingerprint(current)
    current.unlink()
    current.symlink_to("two")
    assert fingerprint(current) != before


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def too_large(path: Path) -> None:
    path.write_bytes(b" " * (LIMIT + 1))


def enormous(path: Path) -> None:
    """Sparse: were it read, the test would run out of memory."""
    with path.open("wb") as file:
        file.truncate(1 << 42)


LARGE = sources._LARGE + 1


def test_a_large_file_is_copied_and_mapped(tmp_path: Path) -> None:
    """A later write neither changes the copy nor truncates the mapping."""
    copies = tmp_path / "copies"
    copies.mkdir()
    content = "0123456789" * (LARGE // 10 + 1)
    write(tmp_path, content, "{}")
    contents = read(tmp_path, 2 * LARGE, copies)
    assert isinstance(contents.reviews, mmap)
    assert b"{}" == contents.insights  # a small one is not
    os.truncate(tmp_path / "reviews.json", 10)
    (tmp_path / "reviews.json").write_text("x")
    assert content.encode() == contents.reviews[:]
    contents.forget()
    assert content.encode() == bytes(memoryview(contents.reviews))
    assert [] == list(copies.iterdir())


@pytest.mark.parametrize("strikes_left", [0, 100])
def test_a_large_file_that_is_cut_while_reading_is_unsettled(
    tmp_path: Path, before_opening: Strikes, strikes_left: int
) -> None:
    write(tmp_path, "x" * LARGE)
    before_opening("reviews.json", lambda: os.truncate(tmp_path / "reviews.json", strikes_left))
    with pytest.raises(Unsettled):
        read(tmp_path, LARGE, tmp_path)


def test_no_space_for_the_copy_is_no_fault_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "x" * LARGE)
    with file_size(1000), pytest.raises(OSError, match="File too large"):
        read(tmp_path, LARGE, tmp_path)


def test_passing_error_is_not_a_data_error(tmp_path: Path) -> None:
    """An error message would send the operator looking for a fault that does not exist."""
    write(tmp_path)
    with few_descriptors(0), pytest.raises(OSError, match="Too many open files"):
        read(tmp_path, LIMIT)


FAULTS: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.symlink_to(path.name), "cannot read: Too many levels of symbolic links"),
    (a_socket, "cannot read: No such device or address"),
    (lambda path: path.symlink_to("/dev/zero"), "cannot read: not a regular file"),
    (Path.mkdir, "cannot read: not a regular file"),
    (os.mkfifo, "cannot read: not a regular file"),
    (too_large, "larger than 1000 bytes"),
    (enormous, "larger than 1000 bytes"),
]


@pytest.mark.parametrize("name", ["reviews.json", "insights.json"])
@pytest.mark.parametrize(("make", "reason"), FAULTS)
def test_file_that_cannot_be_read_is_refused(
    tmp_path: Path, name: str, make: Callable[[Path], object], reason: str
) -> None:
    write(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    assert refusal(tmp_path) == [Diagnostic(file=name, reason=reason)]


def test_reviews_that_are_missing_are_refused_with_the_remedy(tmp_path: Path) -> None:
    reason = "there is none yet; to make it: reviewsctl import FILE (or reviewsctl init)"
    assert refusal(tmp_path) == [Diagnostic(file="reviews.json", reason=reason)]


def test_reviews_that_are_a_dangling_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "reviews.json").symlink_to("nothing")
    reason = "cannot read: No such file or directory"
    assert refusal(tmp_path) == [Diagnostic(file="reviews.json", reason=reason)]


def test_missing_data_directory_is_named(tmp_path: Path) -> None:
    (finding,) = refusal(tmp_path / "none")
    assert f"there is no folder {tmp_path / 'none'} (data_dir)" == finding.reason


def test_insights_that_are_a_dangling_link_are_missing(tmp_path: Path) -> None:
    """A removed optional key of a mounted Kubernetes volume leaves such a link."""
    write(tmp_path)
    (tmp_path / "insights.json").symlink_to("nothing")
    assert read(tmp_path, LIMIT).insights is None


def test_the_faults_of_both_files_are_reported_at_once(tmp_path: Path) -> None:
    too_large(tmp_path / "insights.json")
    assert [finding.file for finding in refusal(tmp_path)] == ["reviews.json", "insights.json"]


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    reasons = [finding.reason for finding in refusal(tmp_path / "data")]
    assert reasons == ["cannot read: Not a directory"] * 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "reviews.json").chmod(0)
    assert [finding.reason for finding in refusal(tmp_path)] == ["cannot read: Permission denied"]


def append(data_dir: Path) -> None:
    with (data_dir / "reviews.json").open("a") as file:
        file.write("more")


@pytest.mark.parametrize(
    ("moment", "strike"),
    [
        ("reviews.json", append),
        ("insights.json", append),
        ("reviews.json", lambda data_dir: os.truncate(data_dir / "reviews.json", 1 << 42)),
        ("reviews.json", lambda data_dir: (data_dir / "reviews.json").unlink()),
        ("insights.json", lambda data_dir: (data_dir / "insights.json").unlink()),
        ("reviews.json", lambda data_dir: (data_dir / "new").replace(data_dir / "reviews.json")),
        ("insights.json", lambda data_dir: (data_dir / "new").replace(data_dir / "insights.json")),
    ],
    ids=[
        "appended",
        "appended later",
        "grown",
        "removed",
        "removed later",
        "replaced",
        "replaced later",
    ],
)
def test_a_file_that_changes_while_reading_is_unsettled(
    tmp_path: Path, before_opening: Strikes, moment: str, strike: Callable[[Path], object]
) -> None:
    write(tmp_path, insights="{}")
    (tmp_path / "new").write_text("{ }")
    before_opening(moment, lambda: strike(tmp_path))
    with pytest.raises(Unsettled):
        read(tmp_path, LIMIT)


def test_file_that_comes_meanwhile_is_unsettled(tmp_path: Path, before_opening: Strikes) -> None:
    """A missing file that is being replaced must not be reported as missing."""
    new = tmp_path / "new"
    new.write_text("{}")
    before_opening("reviews.json", lambda: new.replace(tmp_path / "reviews.json"))
    with pytest.raises(Unsettled):
        read(tmp_path, LIMIT)


def test_link_swapped_there_and_back_is_unsettled(tmp_path: Path, before_opening: Strikes) -> None:
    """The fingerprints before and after are equal, but what was opened was something else."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, f'"{name}"', "{}")
    current = tmp_path / "current"
    current.symlink_to("one")
    before = fingerprint(current)

    def swap(target: str) -> None:
        current.unlink()
        current.symlink_to(target)

    def there() -> None:
        swap("two")
        before_opening("insights.json", lambda: swap("one"))

    before_opening("reviews.json", there)
    with pytest.raises(Unsettled):
        read(current, LIMIT)
    swap("one")
    assert fingerprint(current) == before
