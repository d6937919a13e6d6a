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

from reviewsd.publish import publication, sources
from reviewsd.publish.job import Failed, Outcome, Published, Refused, Step, Unchanged
from reviewsd.publish.publication import publish
from reviewsd.snapshot import layout as folder
from reviewsd.snapshot.layout import BuildInfo, open_manifest
from tests.support.columns import SETTINGS, Review, review
from tests.support.publishing import NOW, ROOT, House, run

LATER = NOW + 1_000


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


# -- published, unchanged


def test_the_first_publication_makes_a_folder_and_a_link(house: House) -> None:
    house.write(review("a"))
    outcome = house.publish()
    assert Published(house.current.readlink().name) == outcome
    house.check_tidy()
    assert house.seen() == BuildInfo(
        signature=sources.signature(house.data),
        build_key=house.order.build_key("1"),
        published_at=NOW,
        first_seen={document.path: int(NOW) for document in house.manifest().documents},
    )


def touched(house: House) -> None:
    os.utime(house.data / "reviews.json", ns=(1, 1))


def rewritten(house: House) -> None:
    content = (house.data / "reviews.json").read_bytes()
    (house.data / "aside").write_bytes(content)
    (house.data / "aside").replace(house.data / "reviews.json")


def reordered(house: House) -> None:
    content = json.loads((house.data / "reviews.json").read_bytes())
    turned = {"reviews": content["reviews"][::-1], "business": content["business"]}
    (house.data / "reviews.json").write_text(json.dumps(turned, indent=1))


@pytest.mark.parametrize("change", [touched, rewritten, reordered])
def test_the_same_content_changes_nothing_but_what_the_files_look_like(
    house: House, change: Callable[[House], None]
) -> None:
    house.write(review("a"), review("b"))
    published = house.publish()
    assert isinstance(published, Published)
    before, folder_before = house.seen(), house.current.stat()
    seen_before = (house.current / folder.SEEN).stat()
    change(house)
    assert Unchanged(published.revision) == house.publish(LATER)
    house.check_tidy()
    assert folder_before.st_ino == house.current.stat().st_ino
    assert seen_before.st_ino != (house.current / folder.SEEN).stat().st_ino  # nobody reads half
    assert before.signature != sources.signature(house.data)
    renewed = msgspec.structs.replace(before, signature=sources.signature(house.data))
    assert renewed == house.seen()


def test_changed_data_take_the_place_of_the_old(house: House) -> None:
    house.write(review("a"), insights={"model": "x"})
    first = house.publish()
    house.write(review("a"), review("b", date="2025-03-15"))
    second = house.publish(LATER)
    assert first != second
    house.check_tidy()
    assert Published(house.current.readlink().name) == second
    assert LATER == house.seen().published_at
    changed = {"/reviews.json", "/api/feed.json", "/feed.xml", "/insights.json"}
    assert {
        document.path: int(LATER if document.path in changed else NOW)
        for document in house.manifest().documents
    } == house.seen().first_seen


def test_a_document_keeps_the_time_when_its_bytes_appeared(house: House) -> None:
    """seed 4.7; another base_url changes the feeds, not the reviews"""
    house.write(review("a"))
    house.publish()
    moved = replace(SETTINGS, base_url="https://elsewhere.example")
    assert isinstance(house.publish(LATER, settings=moved), Published)
    times = house.seen().first_seen
    assert (int(NOW), int(LATER)) == (times["/reviews.json"], times["/feed.xml"])
    house.write(review("a"), insights={})
    house.publish(LATER + 1, settings=moved)
    times = house.seen().first_seen
    assert (int(LATER), int(LATER) + 1) == (times["/feed.xml"], times["/insights.json"])


def test_a_clock_that_was_set_back_makes_nothing_new_look_old(house: House) -> None:
    """Else who asks by If-Modified-Since alone would keep what is no longer so (D13)."""
    house.write(review("a"))
    house.publish(LATER)
    house.write(review("b"))
    house.publish(NOW)
    times = house.seen().first_seen
    assert (int(LATER) + 1, int(LATER)) == (
        times["/reviews.json"],
        times["/.well-known/openapi.json"],
    )


def test_another_version_that_renders_the_same_is_remembered(house: House) -> None:
    house.write(review("a"))
    house.publish()
    job = msgspec.structs.replace(house.job(LATER), version="2")
    assert isinstance(publish(job, lambda *_: None), Unchanged)
    assert house.order.build_key("2") == house.seen().build_key
    recipes = {
        house.order.build_key("1"),
        house.order.build_key("2"),
        house.job(settings=replace(SETTINGS, year=2024)).order.build_key("1"),
    }
    assert len(recipes) == 3


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        (folder.MANIFEST, b"{", Published),
        (folder.MANIFEST, b'{"layout":1,"base_url":"\xff"}', Published),
        (folder.MANIFEST, None, Published),
        (folder.SEEN, b"", Unchanged),
        (folder.SEEN, b'{"build_key":"\xff"}', Unchanged),
        (folder.SEEN, None, Unchanged),
    ],
)
def test_a_damaged_snapshot_is_replaced(
    house: House, file: str, content: bytes | None, expected: type[Outcome]
) -> None:
    house.write(review("a"))
    house.publish()
    (house.current / file).unlink()
    if content is not None:
        (house.current / file).write_bytes(content)
    assert isinstance(house.publish(LATER), expected)
    house.check_tidy()
    assert LATER == house.seen().published_at
    assert {int(LATER)} == set(house.seen().first_seen.values())


def test_what_runs_that_were_killed_have_left_is_removed(house: House) -> None:
    house.write(review("a"))
    house.publish()
    (house.snapshots / "tmp123").write_bytes(b"a copy that still had a name")
    (house.snapshots / ".new").mkdir()
    (house.snapshots / ".new" / "reviews.json").touch()
    (house.snapshots / ".current").symlink_to("gone")
    house.write(review("b"))
    assert isinstance(house.publish(), Published)
    house.check_tidy()


def test_a_snapshot_of_another_layout_is_replaced(house: House) -> None:
    house.write(review("a"))
    published = house.publish()
    manifest = (house.current / folder.MANIFEST).read_bytes()
    layout = b'"layout":%d'
    other = manifest.replace(layout % folder.LAYOUT, layout % (folder.LAYOUT - 1))
    assert other != manifest
    (house.current / folder.MANIFEST).write_bytes(other)
    assert open_manifest(house.current) is None
    assert published == house.publish(LATER)
    house.check_tidy()


# -- refused

GOOD_ROW = json.dumps(review("a"))
BROKEN = [
    (None, None, "reviews.json: cannot read: No such file or directory"),
    ("{", None, "reviews.json:1:2: invalid JSON: "),
    ("[]", None, "reviews.json: $: expected object, got array"),
    ('{"business": {"name": "A"}}', None, "reviews.json: $.reviews: missing"),
    (
        '{"business": {"name": "A"}, "reviews": [{}]}',
        None,
        "reviews.json: $.reviews[0].id: missing",
    ),
    (
        f'{{"business": {{"name": "A"}}, "reviews": [{GOOD_ROW}]}}',
        "[]",
        "insights.json: $: expected",
    ),
    ("x" * 2_000_000, None, "reviews.json: larger than 1000000 bytes"),
]


def changed(path: Path) -> tuple[int, int, int]:
    """What tells a change; not when it was read last, which looking changes."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@pytest.mark.parametrize(("reviews", "insights", "problem"), BROKEN)
def test_broken_data_leave_the_snapshot_alone(
    house: House, reviews: str | None, insights: str | None, problem: str
) -> None:
    house.write(review("a"))
    house.publish()
    before = {path: changed(path) for path in house.snapshots.rglob("*")}
    for name, content in (("reviews.json", reviews), ("insights.json", insights)):
        (house.data / name).unlink(missing_ok=True)
        if content is not None:
            (house.data / name).write_text(content)
    outcome = house.publish(LATER, max_bytes=1_000_000)
    assert isinstance(outcome, Refused)
    assert outcome.problems[0].startswith(problem)
    assert before == {path: changed(path) for path in house.snapshots.rglob("*")}
    house.check_tidy()


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
    house: House, before: int, after: int, share: float | None, *, force: bool, accepted: bool
) -> None:
    """R5"""
    house.write(*(review(f"a{n}") for n in range(before)))
    assert isinstance(house.publish(max_shrink=share), Published)
    house.write(*(review(f"a{n}") for n in range(after)), name="Other")
    outcome = house.publish(force=force, max_shrink=share)
    reason = f"$.reviews: has {after} reviews, was {before}; use reload --force"
    if accepted:
        assert isinstance(outcome, Published)
    else:
        assert Refused((f"reviews.json: {reason}",)) == outcome
    assert ("Other" if accepted else "Acme") == house.served()
    house.check_tidy()


_moving: list[Path] = []
"""Files that somebody writes to whenever they are opened, and how often still."""


def _write_meanwhile(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _moving and str(arguments[0]) == str(_moving[-1]):
        os.utime(_moving.pop(), ns=(len(_moving), len(_moving)))


sys.addaudithook(_write_meanwhile)  # stays for good, and does nothing when nothing moves


@pytest.mark.parametrize(("times", "expected"), [(1, Published), (19, Published), (20, Failed)])
def test_files_in_motion_are_waited_for(
    house: House, monkeypatch: pytest.MonkeyPatch, times: int, expected: type[Outcome]
) -> None:
    """R2"""
    monkeypatch.setattr(publication, "_SETTLE_SECONDS", 0.001)
    house.write(review("a"))
    _moving.extend([house.data / "reviews.json"] * times)
    outcome = house.publish()
    assert not _moving
    assert isinstance(outcome, expected)
    if isinstance(outcome, Failed):
        assert outcome.problem == "the data files are being written all the time"


# -- the process


def test_the_process_tells_its_steps_and_the_outcome(house: House) -> None:
    house.write(review("a"))
    status, lines, complaints = run(house.job())
    assert (0, "") == (status, complaints)
    *steps, outcome = lines
    assert Published(house.current.readlink().name) == outcome
    assert [
        Step("validating", 0, 1),
        Step("validating", 1, 1),
        Step("writing", 0, 1),
        *(Step("compressing", done, 4) for done in range(4)),
        Step("syncing", 0, 1),
    ] == steps
    assert isinstance(run(house.job())[1][-1], Unchanged)
    house.write(review("a", rating=7))
    status, lines, complaints = run(house.job())
    problem = "reviews.json: $.reviews[0].rating (id a): expected 1..5, got 7"
    assert (0, Refused((problem,)), "") == (status, lines[-1], complaints)


def test_a_state_directory_that_is_none_fails_the_process(house: House) -> None:
    house.write(review("a"))
    house.snapshots.parent.write_text("a file where a directory should be")
    status, lines, complaints = run(house.job())
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


def test_large_files_are_held_at_most_once(house: House) -> None:
    """A few large records, so that nothing else counts; the larger file decides, not both."""
    note = "x" * 2_000
    reviews = [{**review(f"r{n}"), "note": note} for n in range(10_000)]
    house.write(
        *cast("list[Review]", reviews),
        insights={"per_review": {f"r{n}": {"note": note} for n in range(10_000)}},
    )
    size = (house.data / "reviews.json").stat().st_size
    done = subprocess.run(
        [sys.executable, "-c", PEAK],
        input=msgspec.json.encode(house.job()),
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert b'"published"' in done.stdout
    assert int(done.stderr) < 1.6 * size
