"""``reviewsctl restore`` refuses what is no backup (security-and-operations.md D12)."""

import gzip
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from reviewsctl.backups import restoring
from reviewsctl.commands.restore import start_of
from reviewsctl.daemon import units
from reviewsctl.importing.errors import ImportRefusedError
from reviewsd.api.places import SYSTEM
from tests.support.commands import Ctl

pytestmark = pytest.mark.processes

FILES = {
    "config": "config/reviewsd.yaml",
    "reviews": "data/reviews.json",
    "corrections": "data/corrections.json",
    "log": "data/.reviewsctl/corrections.log",
}
CONFIG = b"""
base_url: https://r.example.com
data_dir: data
state_dir: state
hub: {callbacks: {ca_file: /nowhere/ca.pem}}
notify: [{name: owner, url_file: owner.url, stars: 2}, {name: chat, stars: 5}]
"""
REVIEWS = b'{"business": {"name": "B"}, "reviews": []}'
CORRECTIONS = b'{"version": 1, "reviews": {}}'
MISSING = (
    "note: not restored: /nowhere/ca.pem (hub.callbacks.ca_file); put it there before the start\n"
    "note: not restored: {shop}/owner.url (notify.owner.url_file); put it there before the start\n"
    "note: not restored: /etc/reviewsd/notify/chat.url (the address of notify.chat); "
    "put it there before the start\n"
)


def archive(path: Path, *names: str, **more: bytes) -> bytes:
    """Write an archive with a manifest and further files, and return its bytes.

    Args:
        path: Its place.
        names: The names of files without meaning.
        more: The contents of others, by kind.
    """
    folders = dict.fromkeys(("data_dir", "state_dir", "keys_dir"), str(path.parent / "restored"))
    config = str(path.parent / "reviewsd.yaml")
    manifest = json.dumps({"made_at": "2026-11-26T00:00:00Z", "config": config, **folders}).encode()
    contents = {"manifest.json": manifest, **dict.fromkeys(names, os.urandom(5_000))}
    contents |= {FILES[kind]: content for kind, content in more.items()}
    with tarfile.open(path, "w:gz") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path.read_bytes()


@pytest.mark.parametrize(
    ("names", "end", "reason"),
    [
        ((), 0, "the file is not a backup of reviewsctl"),
        ((), -1, "the backup is damaged: "),
        (("data/insights.yaml",), -200, "the backup is damaged: "),
        (("../etc/passwd",), None, "the backup has a file that no other has: '../etc/passwd'"),
    ],
    ids=["empty", "cut by a byte", "cut", "foreign name"],
)
def test_other_archives_are_refused(
    ctl: Ctl, tmp_path: Path, names: tuple[str, ...], end: int | None, reason: str
) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_bytes(archive(file, *names)[:end])
    refused = ctl("restore", str(file), "--config", str(tmp_path / "r.yaml"))
    assert (1, "") == (refused.returncode, refused.stdout)
    assert refused.stderr.startswith(f"Error: not restored: {reason}")
    assert not (tmp_path / "restored").exists()


def test_a_file_of_another_kind_is_no_backup(ctl: Ctl, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Shopping list")
    refused = ctl("restore", str(tmp_path / "notes.txt"), "--config", str(tmp_path / "r.yaml"))
    assert refused.stderr.startswith("Error: not restored: the file is not a backup of reviewsctl")


def test_archive_with_any_changed_bit_is_refused_unless_its_files_are_same(tmp_path: Path) -> None:
    """A few bits mean nothing, as those of the time in the header of gzip."""
    content = archive(tmp_path / "b.tar.gz", config=CONFIG, reviews=REVIEWS)
    for bit in range(len(content) * 8):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            restoring.list_files(io.BytesIO(changed))
        except ImportRefusedError:
            continue
        assert gzip.decompress(content) == gzip.decompress(changed)


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (("data/insights.yaml", "data/.reviewsctl/imports.json"), "restored in part, 1 file"),
        (("data/.reviewsctl/imports.json", "data/insights.yaml"), "not restored"),
    ],
    ids=["after a file", "before all"],
)
def test_restore_that_fails_says_how_many_files_it_has_written(
    ctl: Ctl, tmp_path: Path, names: tuple[str, ...], title: str
) -> None:
    file, restored = tmp_path / "backup.tar.gz", tmp_path / "restored"
    archive(file, *names)
    restored.mkdir()
    (restored / ".reviewsctl").touch()
    failed = ctl("restore", str(file), "--config", str(tmp_path / "r.yaml"))
    assert (1, "") == (failed.returncode, failed.stdout)
    assert failed.stderr.startswith(f"Error: {title}: {restored}/.reviewsctl: Not a directory\n")
    is_partial = title != "not restored"
    assert is_partial == ("Then run it again with --force" in failed.stderr)
    assert is_partial == (restored / "insights.yaml").exists()


def test_dry_run_lists_what_would_be_written_and_kept(ctl: Ctl, tmp_path: Path) -> None:
    file, shop = tmp_path / "backup.tar.gz", tmp_path / "shop"
    archive(file, config=CONFIG, reviews=REVIEWS, corrections=CORRECTIONS)
    command = ("restore", str(file), "--config", str(shop / "reviewsd.yaml"), "--dry-run")
    empty = ctl(*command)
    assert (0, "") == (empty.returncode, empty.stderr)
    assert empty.stdout == (
        f"would write {shop}/reviewsd.yaml\n"
        f"would write {shop}/restored/reviews.json\n"
        f"would write {shop}/restored/corrections.json\n"
        "the backup is of 2026-11-26 00:00 UTC\n"
        f"{MISSING.format(shop=shop)}"
        "nothing was written\n"
    )
    assert not shop.exists()

    (shop / "data").mkdir(parents=True)
    (shop / "owner.url").touch()
    (shop / "reviewsd.yaml").write_bytes(CONFIG.replace(b"/nowhere/ca.pem", b"owner.url"))
    (shop / "data/reviews.json").touch()
    (shop / "data/corrections.json").write_bytes(CORRECTIONS)
    full = ctl(*command)
    assert (0, "") == (full.returncode, full.stderr)
    assert full.stdout == (
        f"would keep {shop}/reviewsd.yaml\n"
        f"would replace {shop}/data/reviews.json\n"
        f"would merge {shop}/data/corrections.json\n"
        "the backup is of 2026-11-26 00:00 UTC\n"
        f"{MISSING.splitlines()[2]}\n"
        f"it would be refused: {shop}/data/reviews.json exists already. Replace 1 existing file with --force; "
        "to restore it elsewhere: reviewsctl init NEW-FOLDER, and here --config NEW-FOLDER/reviewsd.yaml --force\n"
        "nothing was written\n"
    )
    document = json.loads(ctl(*command, "--json").stdout)
    assert document == {
        "dry_run": True,
        "files": [f"{shop}/data/reviews.json", f"{shop}/data/corrections.json"],
        "actions": {
            f"{shop}/reviewsd.yaml": "keep",
            f"{shop}/data/reviews.json": "replace",
            f"{shop}/data/corrections.json": "merge",
        },
        "missing": ["/etc/reviewsd/notify/chat.url"],
        "made_at": "2026-11-26 00:00:00+00:00",
        "erased": 0,
    }


def test_export_that_a_source_names_is_listed_where_none_is(ctl: Ctl, tmp_path: Path) -> None:
    """The next sync failed, as no backup has the tables that are imported."""
    file, shop = tmp_path / "backup.tar.gz", tmp_path / "shop"
    sources = (
        "sources:\n"
        "  - {name: own, type: file, path: incoming/own.xlsx}\n"
        "  - {name: google, type: file, path: incoming/takeout*.zip}\n"
    )
    head = "base_url: https://r.example.com\ndata_dir: data\n"
    archive(file, config=f"{head}{sources}".encode(), reviews=REVIEWS)
    (shop / "incoming").mkdir(parents=True)
    (shop / "incoming/takeout-1.zip").touch()
    command = ("restore", str(file), "--config", str(shop / "reviewsd.yaml"), "--dry-run")
    path = f"{shop}/incoming/own.xlsx"
    notes = [line for line in ctl(*command).stdout.splitlines() if line.startswith("note: ")]
    assert [f"note: not restored: {path} (sources.own.path); put it there before the sync"] == notes
    assert [path] == json.loads(ctl(*command, "--json").stdout)["missing"]


SOURCES = ("data/.reviewsctl/sources.json", "data/.reviewsctl/sources.lock")


def test_restored_files_have_the_modes_of_their_writers(ctl: Ctl, tmp_path: Path) -> None:
    """The daemon, another user, could not read the states of the sources, and an alert said they are damaged."""
    file, data = tmp_path / "backup.tar.gz", tmp_path / "restored"
    archive(
        file,
        *SOURCES,
        "data/insights.yaml",
        "data/.reviewsctl/history/1",
        "keys/k",
        corrections=CORRECTIONS,
        log=b"",
    )
    data.mkdir(mode=0o755)
    command = ("restore", str(file), "--config", str(tmp_path / "r.yaml"))
    assert 0 == ctl(*command).returncode

    def modes() -> dict[str, str]:
        files = (path for path in data.rglob("*") if path.is_file())
        return {path.name: f"{path.stat().st_mode & 0o777:o}" for path in files}

    private = {"1": "600", "k": "600", "corrections.log": "600"}
    public = {
        "corrections.json": "644",
        "insights.yaml": "644",
        "sources.json": "644",
        "sources.lock": "644",
    }
    assert {**public, **private} == modes()
    for name in ("insights.yaml", ".reviewsctl/sources.json", "k"):
        (data / name).chmod(0o664)
    assert 0 == ctl(*command, "--force").returncode
    assert {**public, **private, "insights.yaml": "664", "sources.json": "664"} == modes()


def test_log_of_corrections_keeps_the_lines_since_the_backup(ctl: Ctl, tmp_path: Path) -> None:
    """Erasures since the backup, with their notes, were on no record any more."""
    file, log = tmp_path / "backup.tar.gz", tmp_path / "restored/.reviewsctl/corrections.log"
    archive(file, reviews=REVIEWS, corrections=CORRECTIONS, log=b"1\n2\n")
    command = ("restore", str(file), "--config", str(tmp_path / "r.yaml"), "--force")
    assert 0 == ctl(*command).returncode
    assert "1\n2\n" == log.read_text()
    log.write_text("1\n2\n3\n")
    assert 0 == ctl(*command).returncode
    assert "1\n2\n3\n" == log.read_text()


def test_kept_versions_are_one_line_of_their_number(ctl: Ctl, tmp_path: Path) -> None:
    file, versions = tmp_path / "backup.tar.gz", tmp_path / "restored/.reviewsctl/history"
    names = [f"data/.reviewsctl/history/{number}" for number in range(18)]
    archive(file, *names, reviews=REVIEWS)
    command = ("restore", str(file), "--config", str(tmp_path / "r.yaml"))
    versions.mkdir(parents=True)
    (versions / "0").touch()
    announced = ctl(*command, "--dry-run").stdout.splitlines()
    assert [
        f"would write {tmp_path}/restored/reviews.json",
        f"would replace 1 file in {versions}",
        f"would write 17 files in {versions}",
    ] == announced[:3]
    assert 19 == len(json.loads(ctl(*command, "--dry-run", "--json").stdout)["actions"])
    assert f"wrote 17 files in {versions}" in ctl(*command, "--force").stdout.splitlines()


TABLE = "ID,Date,Stars,Name,Review\n1,2026-03-14,5,Jane Doe,Quick.\n"


@pytest.fixture
def shop(ctl: Ctl, tmp_path: Path) -> Path:
    """A shop of two reviews, the second of which is not in its backup, b.tar.gz."""
    shop, table = tmp_path / "shop", tmp_path / "a.csv"
    ctl("init", str(shop), "--name", "Acme")
    for row, backup in ((TABLE, True), ("2,2026-03-20,4,Uwe Braun,On time.\n", False)):
        table.write_text(row if backup else table.read_text() + row)
        for command in (
            ("import", str(table), "--source", "website"),
            *([("backup", str(tmp_path / "b.tar.gz"))] if backup else []),
        ):
            done = ctl(*command, "--config", str(shop))
            assert 0 == done.returncode, done.stderr
    return shop


def versions(ctl: Ctl, shop: Path) -> list[str]:
    """Return the change that made the file that is there, and those of the versions that undo lists."""
    done = ctl("reviews", "undo", "--dry-run", "--config", str(shop), "--json")
    document = json.loads(done.stdout)
    changes = [document["change"], *(version["change"] for version in document["versions"])]
    return [change.partition(", ")[0] for change in changes]


def authors(shop: Path) -> list[str]:
    return [
        review["author"]
        for review in json.loads((shop / "data/reviews.json").read_bytes())["reviews"]
    ]


def test_restore_and_later_edit_are_undone_one_by_one(ctl: Ctl, tmp_path: Path, shop: Path) -> None:
    """The edit was no step of its own, and took the restore back with it."""
    done = ctl("restore", str(tmp_path / "b.tar.gz"), "--config", str(shop), "--force")
    assert (0, "") == (done.returncode, done.stderr)
    assert f"skipped 4 files in {shop}/data/.reviewsctl/history\n" in done.stdout
    assert (
        f"to take the restored reviews back: reviewsctl reviews undo --config {shop}/reviewsd.yaml\n"
        in done.stdout
    )
    reviews = shop / "data/reviews.json"
    restored = reviews.read_text()
    reviews.write_text(restored.replace("Quick", "Quik"))
    assert [
        "an edit by hand",
        "the restore of b.tar.gz",
        "the import of a.csv (website)",
        "the import of a.csv (website)",
        "a change that was not logged",
    ] == versions(ctl, shop)
    undo = ("reviews", "undo", "--config", str(shop))
    assert 0 == ctl(*undo).returncode
    assert (["Jane Doe"], "Quick.") == (
        authors(shop),
        json.loads(reviews.read_text())["reviews"][0]["text"],
    )
    assert [
        "the restore of b.tar.gz",
        "an edit by hand",
    ] == versions(ctl, shop)[:2]
    assert 0 == ctl(*undo, "2").returncode
    assert ["Jane Doe", "Uwe Braun"] == authors(shop)


def test_erased_review_is_no_change_that_undo_lists(ctl: Ctl, tmp_path: Path, shop: Path) -> None:
    """It was taken for an edit by hand, as the kept version did not say that the review is gone."""
    before = versions(ctl, shop)
    erase = ("reviews", "erase", first_id(shop), "--reason", "request", "--yes")
    assert 0 == ctl(*erase, "--config", str(shop)).returncode
    assert before == versions(ctl, shop)


def first_id(shop: Path) -> str:
    content = json.loads((shop / "data/reviews.json").read_bytes())
    return str(content["reviews"][0]["id"])


def test_quiet_restore_prints_nothing(ctl: Ctl, tmp_path: Path) -> None:
    file, config = tmp_path / "backup.tar.gz", tmp_path / "r.yaml"
    archive(file, reviews=REVIEWS)
    done = ctl("restore", str(file), "--config", str(config), "-q")
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert (tmp_path / "restored/reviews.json").exists()
    refused = ctl("restore", str(file), "--config", str(config), "-q")
    assert 1 == refused.returncode
    assert (
        "exists already\nReplace 1 existing file with --force; to restore it elsewhere"
        in refused.stderr
    )


def test_restored_service_is_installed_on_a_new_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to start yet."""
    for is_installed, command in ((False, "service install"), (True, "systemctl start reviewsd")):
        monkeypatch.setattr(units, "is_installed", lambda there=is_installed: there)
        assert start_of(SYSTEM).endswith(command)
    assert "start the daemon" == start_of(Path("shop/reviewsd.yaml"))
