"""The default configuration, socket and state directory (interfaces.md 1.3, decision 137)."""

import os
from pathlib import Path

import pytest

from reviewsctl.daemon.default_paths import (
    SOCKET,
    admin_socket,
    configuration,
    data_dir,
    state_dir,
)
from reviewsd.api.places import HERE, absolute, named_configuration
from reviewsd.config.rules import check


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def found(folder: Path, environ: dict[str, str] | None = None) -> Path:
    return admin_socket(configuration(environ or {}, (HERE, folder / "system.yaml")))


def test_path_of_a_configuration_elsewhere_has_no_steps_back(folder: Path) -> None:
    """Messages had /srv/shop/../trial/data."""
    (folder / "trial").mkdir()
    file = Path("../trial/reviewsd.yaml")
    file.write_text("data_dir: data\nstate_dir: ../there/state\n")
    assert folder / "trial/data" == data_dir(file, {})
    assert folder / "there/state" == state_dir(file, {})
    rules: dict[str, object] = {"data_dir": "../data"}
    assert [] == [fault for fault in check(rules, folder / "trial") if "data_dir" in fault[0]]
    assert {"data_dir": folder / "data"} == rules


def test_step_back_through_a_link_stays_as_it_leads_elsewhere(folder: Path) -> None:
    (folder / "far/away").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "far/away")
    assert folder / "link/../data" == absolute(folder / "link/../data")


def test_socket_is_that_of_the_first_configuration(folder: Path) -> None:
    """Whether its daemon runs or not: an import in this folder goes by the same configuration."""
    assert SOCKET == found(folder)
    (folder / "system.yaml").write_text(f"admin_socket: {folder}/system.sock")
    assert folder / "system.sock" == found(folder)
    HERE.write_text("admin_socket: admin.sock  # beside it\n")
    assert folder / "here/admin.sock" == found(folder)


def test_socket_of_the_only_node_takes_the_place_of_the_configured_one(folder: Path) -> None:
    HERE.write_text("admin_socket: run/admin.sock")
    run = folder / "here/run"
    run.mkdir()
    (run / "1.sock").touch()
    assert run / "1.sock" == found(folder)
    (run / "2.sock").touch()
    assert run / "admin.sock" == found(folder)  # whose error names the nodes
    (run / "2.sock").rename(run / "admin.sock")
    assert run / "admin.sock" == found(folder)


def test_path_of_config_is_a_file_where_it_exists_or_ends_as_one(folder: Path) -> None:
    (folder / "shop.conf").touch()
    for name in ("shop.conf", "none.yaml", "none.yml"):
        assert folder / name == named_configuration(folder / name)
    for name in ("here", "none", "none.conf"):
        assert folder / name / "reviewsd.yaml" == named_configuration(folder / name)


def test_named_configuration_comes_before_all_others(folder: Path) -> None:
    HERE.write_text("admin_socket: admin.sock")
    (folder / "named.yaml").write_text("admin_socket: named.sock\nstate_dir: remembered")
    named = {"REVIEWSD_CONFIG": str(folder / "named.yaml")}
    assert folder / "named.sock" == found(folder, named)
    assert folder / "remembered" == state_dir(configuration(named), named)
    assert SOCKET == found(folder, {"REVIEWSD_CONFIG": str(folder / "none.yaml")})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_configuration_of_another_user_is_passed_over(folder: Path) -> None:
    """Any user could have made its socket."""
    HERE.write_text("admin_socket: admin.sock")
    os.chown(HERE, 1234, 1234)
    (folder / "system.yaml").write_text(f"admin_socket: {folder}/system.sock")
    assert folder / "system.sock" == found(folder)
    assert configuration({}, (HERE,)) is None
    assert folder / "here/admin.sock" == found(folder, {"SUDO_UID": "1234"})


@pytest.mark.parametrize("text", ["admin_socket: [", "admin_socket: 7", "- a", "", "a: &a [*a]"])
def test_invalid_configuration_names_no_socket(folder: Path, text: str) -> None:
    HERE.write_text(text)
    assert SOCKET == found(folder)


@pytest.mark.parametrize("broken", ["pages: {theme: [}", "pages:\n\tx: 1", "name: 'Bob's'"])
def test_socket_is_known_although_another_line_is_broken(folder: Path, broken: str) -> None:
    """The daemon that runs says what is wrong; another socket would answer that it is stopped."""
    HERE.write_text(f"{broken}\nadmin_socket: mine.sock\ndata_dir: data\n")
    assert folder / "here/mine.sock" == found(folder)
