"""The image: built by buildah on a Debian from debootstrap, and run as its metadata say.

There is no container engine that can run here, so the test does what one would: the root is read-only,
the user and the environment are the image's, all capabilities are gone, ``/data`` and ``/state`` are
mounted, ``/tmp`` is in memory.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import debian
from tests.support.daemon import DEMO, until
from tests.support.distribution import (
    LISTENING,
    LOOPBACK,
    ROOT,
    VERSION,
    block,
    fetch,
    program,
    run,
    takeout,
)

pytestmark = pytest.mark.packaging

PRIVILEGES = ("--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
MOUNTS = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
mount -t proc proc "$1/proc" && mount --bind -o ro /dev "$1/dev"
mount --bind -o ro "$2" "$1/data" && mount --bind "$3" "$1/state" && mount -t tmpfs none "$1/tmp"
root=$1; shift 3; exec /usr/sbin/chroot "$root" "$@"
"""


IMPORT = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount --bind -o ro /dev "$1/dev"
mount --bind "$2" "$1/data" && mount -t tmpfs none "$1/tmp" && mount --bind -o ro "$3" "$1/srv"
root=$1; shift 3; exec /usr/sbin/chroot "$root" "$@"
"""


class Image:
    """The image, in a storage of its own, and its files mounted."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._environ = {
            **os.environ,
            "BUILDAH_ISOLATION": "chroot",
            "TMPDIR": str(place),
        }
        base = debian.base(place / "debian")
        scratch = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", scratch, str(base), "/")
        self.buildah("commit", "--quiet", scratch, "localhost/base")
        self.buildah("rm", scratch)
        shutil.rmtree(base)
        self.buildah(
            *("build", "--quiet", "--format", "docker", "--build-arg", "BASE=localhost/base"),
            *("--tag", "localhost/reviewsd", "--file", str(ROOT / "Containerfile"), str(ROOT)),
        )
        self.container = self.buildah("from", "localhost/reviewsd")
        self.root = Path(self.buildah("mount", self.container))
        told = json.loads(self.buildah("inspect", "--type", "image", "localhost/reviewsd"))
        self.config: dict[str, Any] = told["Docker"]["config"]

    def buildah(self, *arguments: str) -> str:
        """Its last line."""
        # vfs and chroot work everywhere, also where a container may not mount an overlay
        places = (
            *(f"--root={self._place}/storage", f"--runroot={self._place}/run"),
            "--storage-driver=vfs",
        )
        command = ("buildah", *places, *arguments)
        told = run(*command, env=self._environ, seconds=1500).strip()
        return told if arguments[0] == "inspect" else told.rpartition("\n")[2]

    def close(self) -> None:
        self.buildah("umount", "--all")
        self.buildah("rm", "--all")
        self.buildah("rmi", "--all", "--force")

    def inside(self, *command: str, user: str = "") -> list[str]:
        """A command as the image's user, or another, who may do nothing else."""
        user, _, group = (user or self.config["User"]).partition(":")
        ids = (f"--reuid={user}", f"--regid={group}")
        return ["/usr/bin/setpriv", *ids, *PRIVILEGES, "--", *command]

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        return {**dict(each.split("=", 1) for each in self.config["Env"]), **more}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    program("buildah")
    if os.geteuid() != 0:
        pytest.skip("building an image here needs root")
    image = Image(tmp_path_factory.mktemp("image"))
    yield image
    image.close()


def test_it_is_as_an_engine_wants_it(image: Image) -> None:
    config = image.config
    assert ("10001:10001", ["reviewsd"]) == (config["User"], config["Entrypoint"])
    assert "SIGTERM" == config["StopSignal"]
    assert ["CMD", "reviewsctl", "ping"] == config["Healthcheck"]["Test"]
    assert {"/data", "/state"} == set(config["Volumes"])
    assert {"8080/tcp"} == set(config["ExposedPorts"])
    assert f"reviewsd {VERSION}" == image.buildah(
        "run", image.container, "--", "reviewsd", "--version"
    )
    left = [image.root / name for name in ("source", "uv", "requirements.txt")]
    assert [] == [each for each in left if each.exists()]


def test_it_serves_read_only_without_any_right(image: Image, tmp_path: Path) -> None:
    """Healthy by its own check, and stopped by its own signal; without base_url it says what it needs."""
    data, state, log = tmp_path / "data", tmp_path / "state", tmp_path / "log"
    data.mkdir()
    state.mkdir()
    os.chown(state, 10001, 10001)
    shutil.copyfile(DEMO / "reviews.json", data / "reviews.json")
    tmp_path.chmod(0o755)

    def start(**environ: str) -> "subprocess.Popen[bytes]":
        command = ["unshare", "--mount", "sh", "-euc", MOUNTS, "sh"]
        with log.open("wb") as out:
            return subprocess.Popen(
                [*command, image.root, data, state, *image.inside(*image.config["Entrypoint"])],
                env=image.environ(environ),
                stdout=out,
                stderr=out,
            )

    assert 78 == start().wait(60)
    assert "base_url" in log.read_text()

    base_url = "https://reviews.example.com"
    environ = {"REVIEWSD_BASE_URL": base_url, "REVIEWSD_LISTEN": LOOPBACK}
    process = start(**environ)
    try:
        until(
            lambda: LISTENING.search(log.read_text()) or process.poll() is not None, "serving", 120
        )
        found = LISTENING.search(log.read_text())
        assert found, log.read_text()
        assert b'"reviews"' in fetch(f"http://{found[1]}/reviews.json")
        check = image.inside(*image.config["Healthcheck"]["Test"][1:])
        join = ("nsenter", f"--target={process.pid}", "--mount", f"--root=/proc/{process.pid}/root")
        assert "pong\n" == run(*join, *check, env=image.environ(environ))
        rights = Path(f"/proc/{process.pid}/status").read_text()
        assert {"0000000000000000"} == set(re.findall(r"^Cap\w+:\s(\S+)", rights, re.MULTILINE))
        process.send_signal(signal.Signals[image.config["StopSignal"]])
        assert 0 == process.wait(45), log.read_text()
    finally:
        process.kill()
        process.wait()
    assert 10001 == (state / "state.sqlite").stat().st_uid


def test_an_export_is_imported_into_the_data(image: Image, tmp_path: Path) -> None:
    """As the document says, by a user who owns the data; but for the place of the export."""
    text = block("As a container", "mkdir").partition("docker run ")[2].replace("\\\n", " ")
    words = shlex.split(text)
    options, command = words[: words.index("reviewsd")], words[words.index("reviewsd") + 1 :]
    assert {"--read-only", "--entrypoint", "reviewsctl"} <= set(options)
    assert ["import", "/takeout.zip"] == command
    data = tmp_path / "data"
    data.mkdir()
    tmp_path.chmod(0o755)
    os.chown(data, 4711, 4711)
    export = takeout(tmp_path / "export/takeout.zip")
    base_url = options[options.index("--env") + 1].partition("=")
    environ = image.environ({base_url[0]: base_url[2]})
    inside = image.inside("reviewsctl", "import", "/srv/takeout.zip", user="4711:4711")
    scene = ("unshare", "--mount", "sh", "-euc", IMPORT, "sh", image.root, data, export.parent)
    assert "imported 7 new" in run(*scene, *inside, env=environ)
    assert 4711 == (data / "reviews.json").stat().st_uid
