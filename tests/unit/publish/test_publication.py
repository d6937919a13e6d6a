"""Publishing: whole or not at all, whatever happens (security-and-operations.md R2 to R5)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import msgspec
import pytest

from reviewsd.api.jobs import Step
from reviewsd.api.texts import counted
from reviewsd.config.schema import Pages
from reviewsd.mcp.tools import LISTING
from reviewsd.pages.settings import MachineSettings
from reviewsd.publish import publication, sources
from reviewsd.publish.messages import Outcome
from reviewsd.snapshot import layout as folder
from reviewsd.snapshot.layout import BuildInfo
from tests.support.columns import SETTINGS, Review, review
from tests.support.generate import write_data
from tests.support.publishing import NOW, ROOT, Directories, run

LATER = NOW + 1_000


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


# -- published, unchanged


def test_the_first_publication_makes_a_folder_and_a_link(directories: Directories) -> None:
    directories.write(review("a"))
    outcome = directories.publish()
    assert Outcome(result="published", revision=directories.current.readlink().name) == outcome
    directories.check_tidy()
    assert directories.seen() == BuildInfo(
        fingerprint=sources.fingerprint(directories.data),
        build_key=directories.order.build_key("1"),
        published_at=NOW,
        first_seen={document.path: int(NOW) for document in directories.manifest().documents},
    )


def touched(directories: Directories) -> None:
    os.utime(directories.data / "reviews.json", ns=(1, 1))


def rewritten(directories: Directories) -> None:
    content = (directories.data / "reviews.json").read_bytes()
    (directories.data / "aside").write_bytes(content)
    (directories.data / "aside").replace(directories.data / "reviews.json")


def reordered(directories: Directories) -> None:
    content = json.loads((directories.data / "reviews.json").read_bytes())
    turned = {"reviews": content["reviews"][::-1], "business": content["business"]}
    (directories.data / "reviews.json").write_text(json.dumps(turned, indent=1))


@pytest.mark.parametrize("change", [touched, rewritten, reordered])
def test_the_same_content_changes_nothing_but_what_the_files_look_like(
    directories: Directories, change: Callable[[Directories], None]
) -> None:
    directories.write(review("a"), review("b"))
    published = directories.publish()
    assert published.result == "published"
    before, folder_before = directories.seen(), directories.current.stat()
    seen_before = (directories.current / folder.SEEN).stat()
    change(directories)
    assert Outcome(result="unchanged", revision=published.revision) == directories.publish(LATER)
    directories.check_tidy()
    assert folder_before.st_ino == directories.current.stat().st_ino
    assert (
        seen_before.st_ino != (directories.current / folder.SEEN).stat().st_ino
    )  # nobody reads half
    assert before.fingerprint != sources.fingerprint(directories.data)
    renewed = msgspec.structs.replace(before, fingerprint=sources.fingerprint(directories.data))
    assert renewed == directories.seen()


def test_changed_data_take_the_place_of_the_old(directories: Directories) -> None:
    directories.write(review("a"), insights={"model": "x"})
    first = directories.publish()
    directories.write(review("a"), review("b", date="2025-03-15"))
    second = directories.publish(LATER)
    assert first != second
    directories.check_tidy()
    assert Outcome(result="published", revision=directories.current.readlink().name) == second
    assert LATER == directories.seen().published_at
    changed = {"/reviews.json", "/api/feed.json", "/feed.xml", "/insights.json"}
    assert {
        document.path: int(LATER if document.path in changed else NOW)
        for document in directories.manifest().documents
    } == directories.seen().first_seen


def test_a_document_keeps_the_time_when_its_bytes_appeared(directories: Directories) -> None:
    """seed 4.7; another base_url changes the feeds, not the reviews"""
    directories.write(review("a"))
    directories.publish()
    moved = replace(SETTINGS, base_url="https://elsewhere.example")
    assert directories.publish(LATER, settings=moved).result == "published"
    times = directories.seen().first_seen
    assert (int(NOW), int(LATER)) == (times["/reviews.json"], times["/feed.xml"])
    directories.write(review("a"), insights={})
    directories.publish(LATER + 1, settings=moved)
    times = directories.seen().first_seen
    assert (int(LATER), int(LATER) + 1) == (times["/feed.xml"], times["/insights.json"])


def test_changed_document_gets_a_later_time_after_clock_set_back(directories: Directories) -> None:
    """Otherwise a client that only sends If-Modified-Since would keep the old bytes (D13)."""
    directories.write(review("a"))
    directories.publish(LATER)
    directories.write(review("b"))
    directories.publish(NOW)
    times = directories.seen().first_seen
    assert (int(LATER) + 1, int(LATER)) == (
        times["/reviews.json"],
        times["/.well-known/openapi.json"],
    )


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        (folder.MANIFEST, b"{", "published"),
        (folder.MANIFEST, b'{"layout":1,"base_url":"\xff"}', "published"),
        (folder.MANIFEST, None, "published"),
        (folder.SEEN, b"", "unchanged"),
        (folder.SEEN, b'{"build_key":"\xff"}', "unchanged"),
        (folder.SEEN, None, "unchanged"),
    ],
)
def test_a_damaged_snapshot_is_replaced(
    directories: Directories, file: str, content: bytes | None, expected: str
) -> None:
    directories.write(review("a"))
    directories.publish()
    (directories.current / file).unlink()
    if content is not None:
        (directories.current / file).write_bytes(content)
    assert directories.publish(LATER).result == expected
    directories.check_tidy()
    assert LATER == directories.seen().published_at
    assert {int(LATER)} == set(directories.seen().first_seen.values())


def test_files_of_killed_runs_are_removed(directories: Directories) -> None:
    directories.write(review("a"))
    directories.publish()
    (directories.snapshots / "tmp123").write_bytes(b"a copy that still had a name")
    (directories.snapshots / ".new").mkdir()
    (directories.snapshots / ".new" / "reviews.json").touch()
    (directories.snapshots / ".current").symlink_to("gone")
    directories.write(review("b"))
    assert directories.publish().result == "published"
    directories.check_tidy()


# -- refused

BROKEN = [
    ("reviews.json", None, "reviews.json: there is none yet; to make it: reviewsctl import FILE"),
    ("reviews.json", "{", "reviews.json:1:2: invalid JSON: "),
    ("insights.json", "[]", "insights.json: $: expected"),
    ("reviews.json", "x" * 2_000_000, "reviews.json: larger than 1000000 bytes"),
]


def changed(path: Path) -> tuple[int, int, int]:
    """The attributes that show a change; not atime, which reading changes."""
    result = path.stat()
    return result.st_ino, result.st_size, result.st_mtime_ns


@pytest.mark.parametrize(("name", "content", "problem"), BROKEN)
def test_broken_data_leave_the_snapshot_alone(
    directories: Directories, name: str, content: str | None, problem: str
) -> None:
    directories.write(review("a"))
    directories.publish()
    before = {path: changed(path) for path in directories.snapshots.rglob("*")}
    (directories.data / name).unlink(missing_ok=True)
    if content is not None:
        (directories.data / name).write_text(content)
    outcome = directories.publish(LATER, max_bytes=1_000_000)
    assert outcome.result == "refused"
    assert outcome.problems[0].startswith(problem)
    assert before == {path: changed(path) for path in directories.snapshots.rglob("*")}
    directories.check_tidy()


SHRINKING = [
    # before, after, max_shrink, force, accepted
    (4, 0, None, False, True),
    (4, 2, 0.5, False, True),
    (4, 1, 0.5, False, False),
    (4, 1, 0.5, True, True),
    (4, 3, 0.0, False, False),
    (4, 4, 0.0, False, True),
    (4, 5, 0.0, False, True),
    (4, 0, 1.0, False, True),
    (0, 0, 0.5, False, True),
    (0, 1, 0.5, False, True),
]


@pytest.mark.parametrize(("before", "after", "share", "force", "accepted"), SHRINKING)
def test_the_shrink_guard_refuses_what_lost_too_much(
    directories: Directories,
    before: int,
    after: int,
    share: float | None,
    *,
    force: bool,
    accepted: bool,
) -> None:
    directories.write(*(review(f"a{n}") for n in range(before)))
    assert directories.publish(max_shrink=share).result == "published"
    directories.write(*(review(f"a{n}") for n in range(after)), name="Other")
    outcome = directories.publish(lifted=frozenset({"shrink"} if force else ()), max_shrink=share)
    reason = f"$.reviews: has {counted(after, 'review')}, was {before}; use reload --force"
    if accepted:
        assert outcome.result == "published"
    else:
        assert Outcome(result="refused", problems=(f"reviews.json: {reason}",)) == outcome
    assert ("Other" if accepted else "Acme") == directories.served()
    directories.check_tidy()


_moving: list[Path] = []
"""Files that change whenever they are opened, and the number of changes left."""


def _write_meanwhile(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _moving and str(arguments[0]) == str(_moving[-1]):
        os.utime(_moving.pop(), ns=(len(_moving), len(_moving)))


sys.addaudithook(_write_meanwhile)  # stays for good, and does nothing when nothing moves


@pytest.mark.parametrize(
    ("times", "expected"), [(1, "published"), (19, "published"), (20, "failed")]
)
def test_files_in_motion_are_waited_for(
    directories: Directories, monkeypatch: pytest.MonkeyPatch, times: int, expected: str
) -> None:
    monkeypatch.setattr(publication, "_SETTLE_SECONDS", 0.001)
    directories.write(review("a"))
    _moving.extend([directories.data / "reviews.json"] * times)
    outcome = directories.publish()
    assert not _moving
    assert outcome.result == expected
    if outcome.result == "failed":
        assert outcome.problems == ("the data files are being written all the time",)


# -- the process


# Not the process itself, which gives way to others and so may take long.
PUBLISH = """
import sys
import msgspec
from reviewsd.publish.messages import Job
from reviewsd.publish.publication import publish

publish(msgspec.json.decode(sys.stdin.buffer.read(), type=Job), lambda *_: None)
"""


@pytest.mark.processes
@pytest.mark.parametrize("insights", ["auto", "file"])
def test_two_processes_make_the_same_bytes(tmp_path: Path, insights: str) -> None:
    """With other hash seeds and time zones, so that no order of a set and no clock may show."""
    machines = MachineSettings(tools=LISTING.decode())
    settings = replace(SETTINGS, pages=Pages(), machines=machines)
    snapshots = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        directories = Directories(tmp_path / seed)
        write_data(directories.data, reviews=300)
        if insights == "auto":
            (directories.data / "insights.json").unlink()
        subprocess.run(
            [sys.executable, "-c", PUBLISH],
            input=msgspec.json.encode(directories.job(settings=settings, insights=insights)),
            capture_output=True,
            check=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": f"UTC-{seed}"},
        )
        snapshots.append({file.name: file.read_bytes() for file in directories.current.iterdir()})
        del snapshots[-1][folder.SEEN]
    first, second = snapshots
    assert first == second
    assert {"insights.json", "openapi.json", "page%2F", "page%2Fdevelopers%2Fapi.md"} <= set(first)
    assert (folder.BLOCKS in first) == (insights == "auto")
    assert any(name.startswith("suffixes-") for name in first)


def test_invalid_state_directory_fails_the_process(directories: Directories) -> None:
    directories.write(review("a"))
    directories.snapshots.parent.write_text("a file where a directory should be")
    status, lines, complaints = run(directories.job())
    assert status == 1
    assert all(isinstance(line, Step) for line in lines)
    assert "NotADirectoryError" in complaints.splitlines()[-1]


# -- what it takes

PEAK = """
import sys
from pathlib import Path
from reviewsd.publish import publication

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

before = peak()
publication.main()
print(peak() - before, file=sys.stderr)
"""


@pytest.mark.processes
def test_large_files_are_held_at_most_once(directories: Directories) -> None:
    """Large records, so that nothing else counts, and more than a few blocks; the larger file decides."""
    note = "x" * 2_000
    reviews = [{**review(f"r{n}"), "note": note} for n in range(10_000)]
    directories.write(
        *cast("list[Review]", reviews),
        insights={"per_review": {f"r{n}": {"note": note} for n in range(10_000)}},
    )
    size = (directories.data / "reviews.json").stat().st_size
    done = subprocess.run(
        [sys.executable, "-c", PEAK],
        input=msgspec.json.encode(directories.job()),
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert b'"published"' in done.stdout
    assert int(done.stderr) < 1.6 * size
