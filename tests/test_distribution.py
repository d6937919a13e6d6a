"""The files of wheel and sdist, their metadata, and their equal bytes.

That they work alone, in an empty environment, is tested in ``tests/packaging``.
"""

import shutil
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from tests.support.distribution import PROJECT, ROOT, build, tracked

NOT_SHIPPED = {".gitignore"}
"""hatchling adds it by itself where there is one."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", tmp_path_factory.mktemp("sdist"))


def test_the_wheel_has_all_that_the_packages_have(wheel: Path) -> None:
    """Templates, word lists and their licenses, sample data, units, and py.typed; links as files."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        unit = archive.read("reviewsctl/shipped/reviewsd.service")
    expected = {
        name.removeprefix("cli/") for name in tracked() if name.startswith(("reviewsd/", "cli/"))
    }
    assert expected == {name for name in names if ".dist-info/" not in name}
    assert {"reviewsd/py.typed", "reviewsctl/py.typed", "reviewsd/demo/reviews.json"} <= names
    assert (ROOT / "systemd/reviewsd.service").read_bytes() == unit


def test_the_sdist_has_the_repository(sdist: Path) -> None:
    """The tests are in it, so that packagers can run them."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(tracked()) - NOT_SHIPPED == names - {"PKG-INFO"} - NOT_SHIPPED


def test_equal_sources_give_equal_bytes(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """The copy is in another place, by a user with another umask, from files with other times."""
    elsewhere = tmp_path / "elsewhere"
    for name in tracked():
        copy = elsewhere / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy, follow_symlinks=False)
        if not copy.is_symlink():
            copy.chmod(0o700 if (ROOT / name).stat().st_mode & 0o100 else 0o600)
    again = build("wheel", tmp_path / "wheel", elsewhere, umask=0o077)
    assert (wheel.name, wheel.read_bytes()) == (again.name, again.read_bytes())
    packed = build("sdist", tmp_path / "sdist", elsewhere, umask=0o077)
    assert sdist.read_bytes() == packed.read_bytes()


def test_the_wheel_of_the_sdist_is_the_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """A wheel that is built from the source distribution is the wheel that was tested."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert wheel.read_bytes() == build("wheel", tmp_path / "dist", unpacked).read_bytes()


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    root = f"reviewsd-{PROJECT['version']}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields = message_from_bytes(contents[f"{root}/METADATA"])
    assert (PROJECT["name"], PROJECT["version"]) == (fields["Name"], fields["Version"])
    assert "MIT" == fields["License-Expression"]
    assert {f"{name}, {url}" for name, url in PROJECT["urls"].items()} == set(
        fields.get_all("Project-URL", [])
    )
    assert "text/markdown" == fields["Description-Content-Type"]
    assert {"notify", "postgres", "model", "test", "lint"} == set(
        fields.get_all("Provides-Extra", [])
    )
    licenses = [
        "LICENSE",
        *(f"reviewsd/analysis/data/LICENSE-{name}.txt" for name in ("opinion-lexicon", "vader")),
        "reviewsd/pages/fonts/LICENSE-manrope.txt",
    ]
    assert licenses == fields.get_all("License-File")
    assert all(contents[f"{root}/licenses/{name}"] for name in licenses)
