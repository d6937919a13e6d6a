"""Who can change what the service runs: every folder, link and file counts, with real owners."""

import os
from pathlib import Path

import pytest

from reviewsctl.files.ownership import caller, faults, steps

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")

JO, ANN = 1234, 4321


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """``opt/env`` with a program and modules, all root's; ``usr/bin/program`` is a link to it."""
    place = tmp_path / "place"
    for folder in ("opt/env/bin", "opt/env/lib/package", "opt/env/lib/.libs", "usr/bin"):
        (place / folder).mkdir(parents=True)
    for file in ("bin/program", "lib/module.py", "lib/package/library.so", "lib/.hidden.pth"):
        (place / "opt/env" / file).write_text("x")
    (place / "usr/bin/program").symlink_to("../../opt/env/bin/program")
    return place


def found(place: Path, *trusted: int) -> dict[str, str]:
    """What is wrong, below the place."""
    files, trees = [place / "usr/bin/program", place / "absent"], [place / "opt/env/lib"]
    return {
        str(fault.path.relative_to(place)): fault.reason
        for fault in faults(files, trees, {0, *trusted})
    }


def test_what_only_root_can_change_is_well(place: Path) -> None:
    """And uv's lock, which is for all to write and which nobody reads."""
    lock = place / "opt/env/lib/.lock"
    lock.touch()
    lock.chmod(0o666)
    assert {} == found(place)


@pytest.mark.parametrize(
    "path",
    [
        ".",
        "opt",
        "opt/env",
        "opt/env/bin",
        "opt/env/bin/program",
        "opt/env/lib",
        "opt/env/lib/module.py",
        "opt/env/lib/package",
        "opt/env/lib/package/library.so",
        "opt/env/lib/.hidden.pth",
        "opt/env/lib/.libs",
        "usr",
        "usr/bin",
        "usr/bin/program",
    ],
)
def test_whatever_belongs_to_another_is_told(place: Path, path: str) -> None:
    """Folders above, the link itself and where it leads, and all that lies where modules are."""
    os.lchown(place / path, JO, JO)
    assert {path: f"belongs to uid {JO}"} == found(place)
    assert {} == found(place, JO)
    assert {path: f"belongs to uid {JO}"} == found(place, ANN)


@pytest.mark.parametrize("path", ["opt", "opt/env/bin", "opt/env/lib", "opt/env/lib/module.py"])
@pytest.mark.parametrize(
    ("mode", "group", "reason"),
    [
        (0o757, 0, "everybody may write there"),
        (0o775, JO, "its group may write there"),
        (0o775, 0, None),
        (0o755, JO, None),
    ],
)
def test_what_others_may_write_is_told(
    place: Path, path: str, mode: int, group: int, reason: str | None
) -> None:
    os.chown(place / path, 0, group)
    (place / path).chmod(mode)
    assert ({} if reason is None else {path: reason}) == found(place)


def test_in_a_sticky_folder_nobody_replaces_what_is_roots(place: Path) -> None:
    """As /tmp; but who may add a file where modules are looked for adds a module."""
    (place / "opt").chmod(0o1777)
    assert {} == found(place)
    (place / "opt/env/lib").chmod(0o1777)
    assert {"opt/env/lib": "everybody may write there"} == found(place)


def test_links_among_the_modules_are_followed(place: Path) -> None:
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "more.py").write_text("x")
    (place / "opt/env/lib/more.py").symlink_to(elsewhere / "more.py")
    assert {} == found(place)
    os.chown(elsewhere, JO, JO)
    assert {"elsewhere": f"belongs to uid {JO}"} == found(place)


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [("owner", "sudo chown -h root: '{}'"), ("mode", "sudo chmod go-w '{}'")],
)
def test_a_command_mends_it(place: Path, reason: str, remedy: str) -> None:
    path = place / "opt/a b"
    path.write_text("x")
    if reason == "owner":
        os.chown(path, JO, 0)
    else:
        path.chmod(0o666)
    (fault,) = faults([path], [], {0})
    assert remedy.format(path) == fault.remedy


def test_a_circle_of_links_ends(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    assert len(list(steps(place / "a"))) < 100


@pytest.mark.parametrize(
    ("environ", "uid"),
    [({}, 0), ({"SUDO_UID": "1234"}, 1234), ({"SUDO_UID": "-1"}, 0), ({"SUDO_UID": "²"}, 0)],
)
def test_who_calls_sudo_is_who_runs_it(environ: dict[str, str], uid: int) -> None:
    assert uid == caller(environ)
