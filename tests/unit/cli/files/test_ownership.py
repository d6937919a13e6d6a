"""Programs that other users can change, by the file or by its folder, with real owners."""

import os
from pathlib import Path

import pytest

from reviewsctl.files.ownership import faults
from reviewsd.api.places import caller

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")

JO, ANN = 1234, 4321


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """``bin/program`` is a link to ``opt/program``; all is root's."""
    place = tmp_path / "place"
    for folder in ("opt", "bin"):
        (place / folder).mkdir(parents=True)
    (place / "opt/program").write_text("x")
    (place / "bin/program").symlink_to("../opt/program")
    return place


def found(place: Path, *trusted: int) -> dict[str, str]:
    """Return the faults below the place, with their reasons."""
    return {
        str(fault.path.relative_to(place)): fault.reason
        for fault in faults([place / "bin/program", place / "absent"], {0, *trusted})
    }


def test_program_of_root_has_no_fault(place: Path) -> None:
    assert {} == found(place)


@pytest.mark.parametrize("path", ["opt", "opt/program"])
def test_program_of_another_user_is_a_fault(place: Path, path: str) -> None:
    """By its file, or by its folder, where that user can put another in its place."""
    os.chown(place / path, JO, JO)
    assert {path: f"belongs to uid {JO}"} == found(place)
    assert {} == found(place, JO)
    assert {path: f"belongs to uid {JO}"} == found(place, ANN)


@pytest.mark.parametrize("path", ["opt", "opt/program"])
@pytest.mark.parametrize(
    ("mode", "group", "reason"),
    [
        (0o757, 0, "every user can write there"),
        (0o775, JO, "its group can write there"),
        (0o775, 0, None),
        (0o755, JO, None),
    ],
)
def test_program_that_others_may_write_is_a_fault(
    place: Path, path: str, mode: int, group: int, reason: str | None
) -> None:
    os.chown(place / path, 0, group)
    (place / path).chmod(mode)
    assert ({} if reason is None else {path: reason}) == found(place)


def test_sticky_folder_is_no_fault(place: Path) -> None:
    """In /tmp, for example, only the owner of a file can replace it."""
    (place / "opt").chmod(0o1777)
    assert {} == found(place)


@pytest.mark.parametrize(
    ("reason", "remedy"), [("owner", "sudo chown root: '{}'"), ("mode", "sudo chmod go-w '{}'")]
)
def test_fault_names_the_command_that_removes_it(place: Path, reason: str, remedy: str) -> None:
    path = place / "opt/a b"
    path.write_text("x")
    if reason == "owner":
        os.chown(path, JO, 0)
    else:
        path.chmod(0o666)
    (fault,) = faults([path], {0})
    assert remedy.format(path) == fault.remedy


@pytest.mark.parametrize(
    ("environ", "uid"),
    [({}, 0), ({"SUDO_UID": "1234"}, 1234), ({"SUDO_UID": "-1"}, 0), ({"SUDO_UID": "²"}, 0)],
)
def test_caller_of_sudo_is_the_installing_user(environ: dict[str, str], uid: int) -> None:
    assert uid == caller(environ)
