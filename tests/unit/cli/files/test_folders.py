"""Files in folders of others: no link of theirs leads root anywhere, with real owners."""

import errno
import os
import stat
from pathlib import Path

import pytest

from reviewsctl.files.folders import LinkError, opened, real

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")

JO = 1234


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of another user, beside one of root."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    secret = tmp_path / "root"
    secret.mkdir(mode=0o700)
    (secret / "file").write_text("secret")
    (secret / "file").chmod(0o600)
    if os.geteuid() == 0:
        os.chown(folder, JO, JO)
    return folder


def link(path: Path, target: str | Path, owner: int = JO) -> None:
    path.symlink_to(target)
    os.lchown(path, owner, owner)


def names(folder: Path) -> set[str]:
    return {item.name for item in folder.iterdir()}


def test_a_file_is_written_whole_and_with_its_mode(tmp_path: Path) -> None:
    with opened(tmp_path / "a" / "b", make=True) as folder:
        folder.write("file", b"old", 0o600)
        folder.rename("file", "file.bak")
        folder.write("file", b"new", 0o644)
        with folder.draft("file") as never:
            never.file.write(b"never")
        with folder.open("file") as file:
            assert b"new" == file.read()
    made = tmp_path / "a" / "b"
    assert {"file": (b"new", 0o644), "file.bak": (b"old", 0o600)} == {
        item.name: (item.read_bytes(), stat.S_IMODE(item.stat().st_mode)) for item in made.iterdir()
    }


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    """A pipe would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with opened(tmp_path) as folder:
        with pytest.raises(OSError, match="not a regular file"):
            folder.open("pipe")
        with pytest.raises(LinkError):
            folder.open("link")
        with pytest.raises(FileNotFoundError, match="absent"):
            folder.open("absent")


@pytest.mark.parametrize("name", ["absent", "file/below"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=name) as caught, opened(tmp_path / name):
        pass
    assert caught.value.errno in {errno.ENOENT, errno.ENOTDIR}


def test_link_in_place_of_file_is_replaced_and_not_followed(theirs: Path, tmp_path: Path) -> None:
    (theirs / "file").symlink_to(tmp_path / "root" / "file")
    with opened(theirs) as folder:
        folder.write("file", b"new", 0o644)
    secret = tmp_path / "root" / "file"
    assert ("secret", 0o600) == (secret.read_text(), stat.S_IMODE(secret.stat().st_mode))
    assert "new" == (theirs / "file").read_text()
    assert not (theirs / "file").is_symlink()


def test_folder_swapped_meanwhile_is_the_one_opened(theirs: Path, tmp_path: Path) -> None:
    with opened(theirs) as folder, folder.draft("file") as new:
        theirs.rename(tmp_path / "moved")
        theirs.symlink_to(tmp_path / "root")
        new.file.write(b"new")
        new.put(0o644)
    assert {"file"} == names(tmp_path / "moved")
    assert "secret" == (tmp_path / "root" / "file").read_text()


@as_root
@pytest.mark.parametrize("target", ["../root", "{}/root"])
def test_root_follows_no_link_of_others(theirs: Path, tmp_path: Path, target: str) -> None:
    link(theirs / "data", target.format(tmp_path))
    for make in (False, True):
        with (
            pytest.raises(LinkError, match="of uid 1234") as caught,
            opened(theirs / "data" / "deeper", make=make),
        ):
            pass
        assert JO == caught.value.owner
    with pytest.raises(LinkError):
        real(theirs / "data" / "file")
    assert {"file"} == names(tmp_path / "root")


@as_root
@pytest.mark.parametrize("target", ["../root", "{}/root"])
def test_root_follows_its_own_links(theirs: Path, tmp_path: Path, target: str) -> None:
    link(theirs / "data", target.format(tmp_path), owner=0)
    with opened(theirs / "data" / "..") as folder:
        assert folder.look("root") is not None
    assert tmp_path / "root" / "file" == real(theirs / "data" / "file")


@as_root
@pytest.mark.parametrize("owner", [0, JO])
def test_in_an_image_no_link_is_followed(theirs: Path, tmp_path: Path, owner: int) -> None:
    """It would lead into this system."""
    link(theirs / "etc", tmp_path / "root", owner)
    with pytest.raises(LinkError), opened(theirs / "etc/reviewsd", root=theirs, make=True):
        pass
    assert {"file"} == names(tmp_path / "root")
    with opened(theirs / "srv/reviews", root=theirs, make=True):
        assert (theirs / "srv" / "reviews").is_dir()


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(LinkError), opened(tmp_path / "a"):
        pass


@as_root
def test_folder_that_is_made_has_owner_and_mode_of_the_one_it_is_in(theirs: Path) -> None:
    """Else only root could use it afterwards."""
    theirs.chmod(0o2775)
    with opened(theirs) as folder, folder.folder("new", make=True) as new:
        new.write("file", b"1", 0o600)
        assert ["file"] == new.names()
    facts = (theirs / "new").stat()
    assert (JO, JO, 0o2775) == (facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode))


@as_root
def test_folder_that_is_a_link_is_not_opened(theirs: Path, tmp_path: Path) -> None:
    link(theirs / "new", tmp_path / "root")
    with opened(theirs) as folder:
        for make in (False, True):
            with pytest.raises(OSError, match="Not a directory"), folder.folder("new", make=make):
                pass


def test_folder_that_is_not_there_is_not_made_unasked(tmp_path: Path) -> None:
    with opened(tmp_path) as folder, pytest.raises(FileNotFoundError), folder.folder("new"):
        pass
    assert [] == list(tmp_path.iterdir())


def test_draft_of_a_killed_command_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """Not that of one that runs, and no file of another name."""
    leftover, own = ".reviews.json-0123456789abcdef.new", ".mine.new"
    for name in (leftover, own):
        (tmp_path / name).write_text("all reviews")
    with opened(tmp_path) as folder, folder.draft("reviews.json") as running:
        assert leftover not in names(tmp_path)
        folder.write("sources.json", b"{}", 0o600)
        running.file.write(b"whole")
        running.put(0o600)
    assert {own, "reviews.json", "sources.json"} == names(tmp_path)


def test_draft_is_read_by_its_descriptor_whatever_has_its_name(tmp_path: Path) -> None:
    """Users who may write in the folder can replace the file."""
    with opened(tmp_path) as folder, folder.draft("file") as new:
        new.file.write(b"ours")
        (aside,) = tmp_path.iterdir()
        aside.unlink()
        aside.write_bytes(b"theirs")
        with new.read() as file:
            assert b"ours" == file.read()
