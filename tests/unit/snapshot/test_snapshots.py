"""Published folders are opened, and the last good one is served (R4)."""

import datetime
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from twisted.logger import capturedLogs

from reviewsd.domain.search_query import SearchQuery
from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot, SnapshotError, Snapshots
from tests.support.columns import review
from tests.support.limits import few_descriptors
from tests.support.publishing import NOW, Directories, texts
from tests.support.steps import finish


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    directories = Directories(tmp_path)
    directories.write(
        review("a", date="2025-01-01", text="The boiler works."),
        review("b", date="2025-03-01", text="No boiler at all."),
        review("c", date="2025-02-01"),
    )
    return directories


def opened(directories: Directories) -> Snapshots:
    snapshots = Snapshots(directories.snapshots)
    snapshots.refresh()
    return snapshots


def published(directories: Directories) -> Snapshots:
    """Publish the reviews, and open them."""
    directories.publish()
    return opened(directories)


def record(snapshot: Snapshot, position: int) -> object:
    return json.loads(bytes(snapshot.records.at(position)))["id"]


# -- reads of a snapshot


def test_documents_are_the_files_of_the_folder(directories: Directories) -> None:
    snapshot = published(directories).current
    for document in directories.manifest().documents:
        rendered = snapshot.documents[document.path]
        content = (directories.current / document.file).read_bytes()
        assert content == bytes(rendered.body)
        assert b'"%s"' % document.tag.encode() == rendered.etag
        assert document.media_type.encode() == rendered.media_type
        assert int(NOW) == rendered.last_modified
        assert document.compressed == (rendered.gzip is not None)
        if rendered.gzip is not None:
            content = (directories.current / (document.file + layout.GZIP)).read_bytes()
            assert content == bytes(rendered.gzip)


def test_records_are_slices_newest_first(directories: Directories) -> None:
    snapshot = published(directories).current
    served = json.loads((directories.current / "reviews.json").read_bytes())["reviews"]
    assert served == [json.loads(bytes(snapshot.records.at(n))) for n in range(3)]
    assert ["b", "c", "a"] == [record(snapshot, n) for n in range(3)]


def test_empty_data_is_served(directories: Directories) -> None:
    directories.write()
    assert directories.publish().result == "published"
    snapshot = opened(directories).current
    assert (0, b"") == (
        snapshot.since(datetime.date.min)[0],
        bytes(snapshot.since(datetime.date.min)[1]),
    )
    assert snapshot.cursor(finish(snapshot.search(SearchQuery()))) is None
    body = bytes(snapshot.documents["/reviews.json"].body)
    assert [] == json.loads(body)["reviews"]


def test_reviews_are_found_by_id(directories: Directories) -> None:
    directories.write(*map(review, ("b", "Ba", "bA", "BA", "c")))
    snapshot = published(directories).current
    for review_id in ("b", "Ba", "bA", "BA", "c"):
        position = snapshot.position(f" {review_id}")
        assert position is not None
        assert review_id == record(snapshot, position) == snapshot.records.id_at(position)
    position = snapshot.position("ba")
    assert position is not None
    assert "bA" == snapshot.records.id_at(position)  # the newest of those that it may be
    assert [None] * 4 == [snapshot.position(name) for name in ("", "a", "bb", "\U0010ffff")]


@pytest.mark.parametrize(
    ("review_id", "expected"), [("a", {"a"}), ("A0", {"a", "b"}), ("", {"a"}), ("z", {"c"})]
)
def test_unknown_id_has_neighbors(
    directories: Directories, review_id: str, expected: set[str]
) -> None:
    snapshot = published(directories).current
    assert expected == {
        snapshot.records.id_at(position) for position in snapshot.neighbors(review_id)
    }


def test_insight_of_a_review_is_a_slice_of_the_document(directories: Directories) -> None:
    """Ids are found with escapes and blanks."""
    directories.publish()
    assert [None] * 3 == [opened(directories).current.insight(position) for position in range(3)]
    text = """{ "model": "x", "per_review" : { "gone": {}, "\\u0061" : { "score" : 0.50 },
        "quo\\"te\\\\": {}, "c": {"x": "}\\"{"}, "": {} }, "version": 1 }"""
    (directories.data / "insights.json").write_text(text)
    snapshot = published(directories).current
    insights = [snapshot.insight(position) for position in range(3)]  # b, c, a
    assert [None, b'{"x":"}\\"{"}', b'{"score":0.50}'] == [
        entry if entry is None else bytes(entry) for entry in insights
    ]


def test_text_cache_is_bounded(directories: Directories, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients choose the texts."""
    monkeypatch.setattr("reviewsd.snapshot.search.MAX_CACHED_TEXTS", 10)
    snapshot = published(directories).current
    for number in range(50):
        finish(snapshot.search(SearchQuery(query=f"word {number}")))
    assert snapshot.columns.text_matches is not None
    assert [b"word %d" % number for number in range(40, 50)] == list(snapshot.columns.text_matches)


def test_snapshot_is_readable_after_its_folder_is_removed(directories: Directories) -> None:
    """Responses still read from it after the next publication."""
    snapshots = published(directories)
    old = snapshots.current
    directories.write(review("z"), name="Other")
    directories.publish()
    snapshots.refresh()
    assert old is not snapshots.current
    shutil.rmtree(directories.snapshots)
    body = bytes(old.documents["/reviews.json"].body)
    assert "Acme" == json.loads(body)["business"]["name"]
    assert ["b", "c", "a"] == [record(old, n) for n in range(3)]
    hits = finish(old.search(SearchQuery(query="boiler")))
    assert ["b", "a"] == [record(old, position) for position in hits.positions]
    assert 3 == old.since(datetime.date.min)[0]


# -- the current snapshot


def test_no_snapshot_is_current_before_the_first_publication(directories: Directories) -> None:
    with capturedLogs() as events:
        snapshots = opened(directories)
    assert snapshots.empty
    assert [] == events
    with pytest.raises(SnapshotError, match="nothing is published in "):
        _ = snapshots.current


def test_new_snapshot_becomes_current_only_by_refresh(directories: Directories) -> None:
    """A request must not read from two snapshots."""
    snapshots = published(directories)
    first = snapshots.current
    directories.write(review("z"))
    directories.publish()
    assert first is snapshots.current
    snapshots.refresh()
    assert directories.current.readlink().name == snapshots.current.revision


def test_current_snapshot_is_stale_after_a_publication(directories: Directories) -> None:
    """The check is fast enough to be called often."""
    snapshots = opened(directories)
    assert snapshots.empty
    directories.publish()
    assert snapshots.stale
    snapshots.refresh()
    assert not snapshots.stale
    directories.write(review("z"))
    directories.publish()
    assert snapshots.stale
    directories.current.unlink()
    assert not snapshots.stale  # there is nothing better
    directories.current.symlink_to(snapshots.current.revision)
    assert not snapshots.stale


def test_observers_are_called_once_for_each_revision(directories: Directories) -> None:
    snapshots = published(directories)
    revisions: list[str] = []
    snapshots.observe(lambda snapshot: revisions.append(snapshot.revision))
    first = snapshots.current.revision
    assert [first] == revisions  # the one that is there, at once
    snapshots.refresh()
    assert directories.publish(NOW + 1).result == "unchanged"
    snapshots.refresh()
    assert [first] == revisions
    directories.write(review("z"))
    directories.publish()
    snapshots.refresh()
    snapshots.refresh()
    assert [first, snapshots.current.revision] == revisions
    assert first != snapshots.current.revision


def test_observer_is_called_with_the_first_snapshot(directories: Directories) -> None:
    snapshots = opened(directories)
    revisions: list[str] = []
    snapshots.observe(lambda snapshot: revisions.append(snapshot.revision))
    assert [] == revisions
    directories.publish()
    snapshots.refresh()
    assert [snapshots.current.revision] == revisions


def test_fingerprint_is_updated_with_the_same_revision(directories: Directories) -> None:
    """After ``touch`` the sources must not count as changed for ever."""
    snapshots = published(directories)
    before = snapshots.current.build.fingerprint
    (directories.data / "reviews.json").touch()
    assert directories.publish().result == "unchanged"
    snapshots.refresh()
    assert before != snapshots.current.build.fingerprint
    assert directories.seen().fingerprint == snapshots.current.build.fingerprint


# -- damage


def manifest_with(**changes: object) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        manifest = msgspec.json.decode((path / layout.MANIFEST).read_bytes())
        (path / layout.MANIFEST).write_bytes(msgspec.json.encode({**manifest, **changes}))

    return damage


def long_file(path: Path) -> None:
    with (path / layout.DAYS).open("ab") as file:
        file.write(b"\0")


def folder_for_a_file(path: Path) -> None:
    (path / layout.TEXTS).unlink()
    (path / layout.TEXTS).mkdir()


def uneven_column(path: Path) -> None:
    """Cut a number in half, in agreement with the manifest."""
    long_file(path)
    manifest = msgspec.json.decode((path / layout.MANIFEST).read_bytes())
    manifest["files"][layout.DAYS]["size"] += 1
    (path / layout.MANIFEST).write_bytes(msgspec.json.encode(manifest))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a file is missing": lambda path: (path / layout.TEXTS).unlink(),
    "a file is short": lambda path: os.truncate(path / "reviews.json", 10),
    "a file is long": long_file,
    "a folder for a file": folder_for_a_file,
    "garbage for a manifest": lambda path: (path / layout.MANIFEST).write_bytes(b"\xff{"),
    "no manifest": lambda path: (path / layout.MANIFEST).unlink(),
    "garbage for seen": lambda path: (path / layout.SEEN).write_bytes(b"[]"),
    "no seen": lambda path: (path / layout.SEEN).unlink(),
    "half a number": uneven_column,
    "a later layout": manifest_with(layout=layout.LAYOUT + 1),
    "an earlier layout": manifest_with(layout=layout.LAYOUT - 1),
    "a manifest of no files": manifest_with(files={}),
    "a manifest of another type": manifest_with(review_count="many"),
    "no folder": shutil.rmtree,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_snapshot_does_not_replace_the_current_one(
    directories: Directories, damage: Callable[[Path], object]
) -> None:
    snapshots = published(directories)
    good = snapshots.current
    revisions: list[str] = []
    snapshots.observe(lambda snapshot: revisions.append(snapshot.revision))
    directories.write(review("z"))
    directories.publish()
    damage(directories.current.resolve())
    snapshots.refresh()
    assert good is snapshots.current
    assert [good.revision] == revisions


def test_snapshot_is_not_damaged_without_descriptors(directories: Directories) -> None:
    """The last good data must not be deleted for lack of a descriptor."""
    directories.publish()
    snapshots = Snapshots(directories.snapshots)
    with capturedLogs() as events:
        for free in range(40):
            with few_descriptors(free):
                snapshots.refresh()
            snapshots.discard_damaged()
            if not snapshots.empty:
                break
    assert 5 < free < 39
    assert ["the new snapshot cannot be opened: Too many open files"] == texts(events)
    directories.check_tidy()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_snapshot_is_not_served_and_is_made_again(
    directories: Directories, damage: Callable[[Path], object]
) -> None:
    """A daemon with good data must start with any damage of the folder."""
    directories.publish()
    damage(directories.current.resolve())
    snapshots = opened(directories)
    assert snapshots.empty
    snapshots.discard_damaged()
    directories.publish()
    snapshots.refresh()
    assert ["b", "c", "a"] == [record(snapshots.current, n) for n in range(3)]
    directories.check_tidy()


def test_snapshot_of_another_version_is_not_removed(directories: Directories) -> None:
    directories.publish()
    manifest_with(layout=layout.LAYOUT + 1)(directories.current)
    opened(directories).discard_damaged()
    assert directories.current.is_symlink()


def test_intact_snapshot_is_never_discarded(directories: Directories) -> None:
    directories.publish()
    opened(directories).discard_damaged()
    directories.check_tidy()
    Snapshots(directories.snapshots.parent / "none").discard_damaged()


@pytest.mark.parametrize("positions", [[], [0], [1], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
def test_pieces_are_bytes_of_the_document(directories: Directories, positions: list[int]) -> None:
    snapshot = published(directories).current
    expected = b",".join(bytes(snapshot.records.at(at)) for at in positions)
    assert expected == b"".join(snapshot.records.pieces(positions))
