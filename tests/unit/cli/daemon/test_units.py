"""The command that starts the service depends on the installed units (interfaces.md 1.6)."""

from pathlib import Path

import pytest

from reviewsctl.daemon.units import (
    OWN,
    PACKAGED,
    START,
    folder,
    install_command,
    restart_remedy,
    start_command,
    sudo_reviewsctl,
)

ENABLE = "sudo systemctl enable --now reviewsd.socket reviewsd-admin.socket reviewsd.service"


@pytest.fixture
def packaged(tmp_path: Path) -> Path:
    """A system with the units of the Debian package, not enabled."""
    units = tmp_path / "usr/lib/systemd/system"
    units.mkdir(parents=True)
    (units / "reviewsd.service").touch()
    return tmp_path


def test_units_of_the_package_are_enabled_and_not_replaced(packaged: Path) -> None:
    """Units in /etc would mask those of the package for good."""
    assert ENABLE == install_command(packaged)
    assert ENABLE == start_command(packaged)
    assert PACKAGED == folder(packaged)


def test_enabled_service_is_started_after_its_failures_are_reset(packaged: Path) -> None:
    """systemd refuses to reset a unit that it has not loaded, and loads what is enabled."""
    wants = packaged / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    (wants / "reviewsd.service").symlink_to("/lib/systemd/system/reviewsd.service")
    assert START == start_command(packaged)


def test_units_are_installed_where_there_are_none(tmp_path: Path) -> None:
    assert f"{sudo_reviewsctl()} service install" == install_command(tmp_path)
    assert START == start_command(tmp_path)
    assert OWN == folder(tmp_path)


def test_units_in_etc_come_before_those_of_the_package(packaged: Path) -> None:
    (packaged / "etc/systemd/system").mkdir(parents=True)
    (packaged / "etc/systemd/system/reviewsd.service").touch()
    assert OWN == folder(packaged)


def test_sudo_gets_the_path_of_a_program_that_it_would_not_find(tmp_path: Path) -> None:
    """uv and pipx install into the home directory, which is not in sudo's secure_path."""
    assert 'sudo "$(command -v reviewsctl)"' == sudo_reviewsctl(str(tmp_path))
    (tmp_path / "reviewsctl").touch(0o755)
    assert "sudo reviewsctl" == sudo_reviewsctl(str(tmp_path))


def test_restart_brings_the_units_up_to_date_where_service_install_made_them(
    packaged: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A new port of the metrics needs another unit."""
    assert "Restart it: sudo systemctl restart reviewsd" == restart_remedy(packaged)
    system = tmp_path_factory.mktemp("system")
    assert restart_remedy(system).startswith("Restart it: Ctrl-C in its terminal, then reviewsd ")
    (system / "etc/systemd/system").mkdir(parents=True)
    (system / "etc/systemd/system/reviewsd.service").touch()
    assert restart_remedy(system).endswith("service install --restart")
