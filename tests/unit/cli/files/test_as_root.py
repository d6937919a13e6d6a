"""Commands that root runs in folders of other users, who cannot lead them elsewhere; the owners are real."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from reviewsctl.files.steps import CopyFile
from tests.support.commands import Ctl, reviewsctl
from tests.support.shop import SAMPLES
from tests.unit.cli.commands.test_import import THERE

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others"),
    pytest.mark.processes,
]

JO = 1234
SECRET = THERE.replace("Acme", "Secret")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder of another user, with a configuration and data."""
    folder = tmp_path / "shop"
    (folder / "data").mkdir(parents=True)
    (folder / "reviewsd.yaml").write_text("base_url: https://r.example.com\ndata_dir: data\n")
    (folder / "data/reviews.json").write_text(THERE)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, JO, JO)
    return folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that only root may read."""
    file = tmp_path / "root" / "reviews.json"
    file.parent.mkdir(mode=0o700)
    file.write_text(SECRET)
    file.chmod(0o600)
    return file


def install(ctl: Ctl, shop: Path, image: Path, **variables: str) -> str:
    """Install into an image; empty if it was done, else why not."""
    (image / "etc").mkdir(parents=True, exist_ok=True)
    given = {**ctl.environment, **variables}
    arguments = ("--root", str(image), "--config", str(shop / "reviewsd.yaml"))
    done = reviewsctl(given, "service", "install", *arguments)
    assert done.returncode in {0, 1}
    return done.stderr if done.returncode else ""


needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-sysusers") is None, reason="systemd is not installed"
)


@needs_systemd
def test_the_data_of_who_installs_are_copied(ctl: Ctl, shop: Path, tmp_path: Path) -> None:
    assert "" == install(ctl, shop, tmp_path / "image", SUDO_UID=str(JO))
    copied = tmp_path / "image/srv/reviews/reviews.json"
    assert copied.read_text() == (shop / "data/reviews.json").read_text()
    assert (0, 0o644) == (copied.stat().st_uid, stat.S_IMODE(copied.stat().st_mode))


def test_a_link_to_what_only_root_may_read_is_not_installed(
    ctl: Ctl, shop: Path, secret: Path, tmp_path: Path
) -> None:
    """Before anything is done."""
    planted = shop / "data/reviews.json"
    planted.unlink()
    planted.symlink_to(secret)
    os.lchown(planted, JO, JO)
    image = tmp_path / "image"
    refusal = install(ctl, shop, image, SUDO_UID=str(JO))
    assert f"Error: not installed: {planted}: there is a link\n" in refusal
    assert [image / "etc"] == list(image.rglob("*"))
    assert 0o600 == stat.S_IMODE(secret.stat().st_mode)


@pytest.mark.parametrize("way", ["a link", "a second name", "a link to the folder"])
def test_file_that_only_root_may_read_is_not_copied_for_all_to_read(
    shop: Path, secret: Path, tmp_path: Path, way: str
) -> None:
    data = shop / "data"
    (data / "reviews.json").unlink()
    if way == "a second name":
        (data / "reviews.json").hardlink_to(secret)
    elif way == "a link":
        (data / "reviews.json").symlink_to(secret)
        os.lchown(data / "reviews.json", JO, JO)
    else:
        data.rmdir()
        data.symlink_to(secret.parent)
        os.lchown(data, JO, JO)
    with pytest.raises(OSError, match=r"there is a link|not for all to read"):
        CopyFile(data / "reviews.json", tmp_path / "reviews.json").do(tmp_path)
    assert not (tmp_path / "reviews.json").exists()


def test_files_of_another_user_are_not_installed(ctl: Ctl, shop: Path, tmp_path: Path) -> None:
    refusal = install(ctl, shop, tmp_path / "image")
    assert f"  {shop}: belongs to uid {JO}\n" in refusal
    assert f"\n  sudo chown root: {shop}\n" in refusal


def imports(ctl: Ctl, data: Path) -> str:
    """Import into a folder; empty if it was done, else why not."""
    export = str(SAMPLES / "places.json")
    done = ctl("import", export, "--data", str(data))
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr


def test_an_import_leaves_the_file_to_its_owner(ctl: Ctl, shop: Path) -> None:
    file = shop / "data/reviews.json"
    file.chmod(0o640)
    assert "" == imports(ctl, file.parent)
    kept_folder = file.parent / ".reviewsctl"
    expected = {file: 0o640, kept_folder / "imports.json": 0o640}
    expected |= dict.fromkeys((kept_folder / "history").iterdir(), 0o600)
    expected |= dict.fromkeys(
        (kept_folder, kept_folder / "history"), stat.S_IMODE(file.parent.stat().st_mode)
    )
    assert {path: (JO, mode) for path, mode in expected.items()} == {
        path: (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) for path in expected
    }


@pytest.mark.parametrize("way", ["the file", "the folder"])
def test_an_import_follows_no_link_of_others(ctl: Ctl, shop: Path, secret: Path, way: str) -> None:
    file = shop / "data/reviews.json"
    file.unlink()
    link, target = file, secret
    if way == "the folder":
        link, target = file.parent, secret.parent
        link.rmdir()
    link.symlink_to(target)
    os.lchown(link, JO, JO)
    refusal = imports(ctl, file.parent)
    assert f"Error: not imported: {link}: there is a link of uid {JO}, and root follows" in refusal
    assert "Run this as uid 1234, without sudo.\n" in refusal
    assert [secret] == list(secret.parent.iterdir())
    assert SECRET == secret.read_text()
