"""The Debian package: built, judged by lintian, installed, upgraded, removed and purged in a chroot.

Nothing runs there: ``test_systemd.py`` boots the package, configures it as documented, and has it serve.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import debian
from tests.support.debian import System
from tests.support.distribution import (
    ROOT,
    VERSION,
    program,
    run,
)

pytestmark = pytest.mark.packaging

CONFIG = "/etc/reviewsd/reviewsd.yaml"
UNITS = ("reviewsd.service", "reviewsd.socket", "reviewsd-admin.socket", "reviewsd-failed.target")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Two revisions of it, as this machine's Debian makes them."""
    for name in ("dpkg-deb", "/usr/bin/python3"):
        if shutil.which(name) is None:
            pytest.skip(f"needs {name}: it is built on Debian")
    uv = Path(program("uv")).parent
    target = tmp_path_factory.mktemp("deb")
    environ = {**os.environ, "PATH": f"/usr/bin:/bin:{uv}"}
    run(ROOT / "packaging/deb/build", target, env=environ, seconds=900)
    (first,) = target.glob("*.deb")
    # the same with the next revision; compressing it again would take a minute
    unpacked, second = target / "unpacked", target / first.name.replace("-1~", "-2~")
    run("dpkg-deb", "-R", first, unpacked)
    control = unpacked / "DEBIAN" / "control"
    control.write_text(
        control.read_text().replace(f"Version: {VERSION}-1~", f"Version: {VERSION}-2~")
    )
    run("dpkg-deb", "--build", "--root-owner-group", "-Znone", unpacked, second)
    return {1: first, 2: second}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    root = debian.base(tmp_path_factory.mktemp("debian") / "root")
    with debian.system(root) as system:
        system.run("apt-get", "update", "-q")
        yield system


def test_lintian_has_nothing_to_say(packages: dict[int, Path]) -> None:
    lintian = program("lintian")
    done = subprocess.run(
        [lintian, "--fail-on", "error,warning", str(packages[1])],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ("", 0) == (done.stdout, done.returncode)


def test_its_life(packages: dict[int, Path], machine: System) -> None:
    """Install, upgrade, remove, purge: one after the other, on one machine."""
    output = install(machine, packages[1])
    assert "installed and not started" in output
    installed(machine)

    marked = machine.path(CONFIG).read_text() + "# ours\n"
    machine.path(CONFIG).write_text(marked)
    assert "not started" not in install(machine, packages[2])
    assert f"{VERSION}-2" in machine.run("dpkg-query", "-W", "-f", "${Version}", "reviewsd")
    assert marked == machine.path(CONFIG).read_text()

    machine.run("dpkg", "--remove", "reviewsd")
    assert not machine.path("/opt/reviewsd").exists()
    assert not machine.path("/usr/bin/reviewsd").is_symlink()
    assert marked == machine.path(CONFIG).read_text()

    machine.path("/var/lib/reviewsd").mkdir(exist_ok=True)
    machine.run("dpkg", "--purge", "reviewsd")
    assert not machine.path("/etc/reviewsd").exists()
    assert not machine.path("/var/lib/reviewsd").exists()


def install(machine: System, package: Path) -> str:
    shutil.copyfile(package, machine.path("/tmp") / package.name)
    return machine.run("apt-get", "install", "-q", "-y", f"/tmp/{package.name}")


def installed(machine: System) -> None:
    """Check the files and the group of the package, and that no service is enabled."""
    assert f"reviewsd {VERSION}\n" == machine.run("reviewsd", "--version")
    owner = machine.run("dpkg-query", "-W", "-f", "${Conffiles}", "reviewsd")
    assert [CONFIG] == re.findall(r"/\S+", owner)
    assert "reviewsd-admin:" in machine.path("/etc/group").read_text()
    for unit in UNITS:
        assert machine.path(f"/usr/lib/systemd/system/{unit}").is_file()
    assert [] == list(machine.path("/etc/systemd/system").glob("*.wants/reviewsd*"))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={machine.root}", *UNITS],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "reviewsd" not in verified.stderr
    for page in ("man1/reviewsctl.1", "man8/reviewsd.8", "man5/reviewsd.yaml.5"):
        assert f"/usr/share/man/{page}.gz" in machine.run("dpkg", "-L", "reviewsd")
    completion = machine.path("/usr/share/bash-completion/completions/reviewsctl")
    assert "_REVIEWSCTL_COMPLETE" in completion.read_text()
    refused = machine.run("reviewsd", "--check", code=78)
    assert "base_url" in refused
    assert "psycopg" in machine.run(
        "/opt/reviewsd/bin/python3", "-c", "import psycopg; print(psycopg)"
    )
