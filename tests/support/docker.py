"""A real Docker, and Podman: Debian's, in a folder and in namespaces of their own.

The engine has its own mounts, processes, network and child control groups, so nothing of it reaches the
machine: its bridges, its rules of iptables and the ports that it publishes are in its network. There is
no way out of that network, so all images are loaded from files.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.support import debian, namespace
from tests.support.daemon import until
from tests.support.distribution import run

SUITE = "trixie"
PACKAGES = (
    "docker.io,docker-cli,docker-compose,iptables,iproute2,ca-certificates,"
    "podman,crun,uidmap,passt,fuse-overlayfs,nftables,aardvark-dns"
)
CLIENTS = {"192.0.2.1": 24, "192.0.2.2": 24, "2001:db8:1::1": 64, "2001:db8:2::1": 64}
"""Addresses of the system, from which clients can connect, with the bits of their networks."""

USER = 4711
"""The uid of a user in the group docker, with subordinate ids for rootless Podman."""
HOME = "/home/user"

_SUBORDINATE = 100_000  # the first of the user's subordinate ids
_CGROUPS = Path("/sys/fs/cgroup")

# In the control group of the engine, as root of the machine
_OUTSIDE = """
for group in "$@"; do echo $$ > "$group/cgroup.procs"; done
exec unshare --mount --net --pid --ipc --uts --cgroup --fork --kill-child=KILL --propagation private \
    sh -euc "$INSIDE"
"""

# In the namespaces. Control groups of the first version are mounted one by one; in the second version
# a group that has processes cannot have controllers for its children, so the processes move away
_INSIDE = """
mount -t tmpfs memory "$PLACE" && cd "$PLACE" && mkdir upper work root
mount -t overlay system -o "lowerdir=$SYSTEM,upperdir=upper,workdir=work" root && cd root
mkdir -p var/lib/docker "$OWNER_HOME"
# overlays of the containers cannot be on an overlay
mount -t tmpfs docker var/lib/docker
mount -t tmpfs -o "uid=$OWNER,gid=$OWNER,mode=755" home "$OWNER_HOME"
mount -t proc proc proc && mount -t sysfs sys sys && mount --rbind /dev dev
mount -t tmpfs run run && mount -t tmpfs tmp tmp
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup sys/fs/cgroup && mkdir sys/fs/cgroup/init
    for process in $(cat sys/fs/cgroup/cgroup.procs); do
        echo "$process" > sys/fs/cgroup/init/cgroup.procs || true
    done
    sed 's/[a-z]*/+&/g' sys/fs/cgroup/cgroup.controllers > sys/fs/cgroup/cgroup.subtree_control
else
    mount -t tmpfs cgroup sys/fs/cgroup
    for controller in $CONTROLLERS; do
        mkdir "sys/fs/cgroup/$controller"
        mount -t cgroup -o "$controller" cgroup "sys/fs/cgroup/$controller"
    done
fi
mkdir -p .outside && pivot_root . .outside && umount -l .outside
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount --make-rshared /
ip link set lo up
# A network beyond the machine, with nobody in it: rootless networks need a route, and clients addresses
ip link add outside type veth peer name beyond
for link in outside beyond; do ip link set $link up; done
for address in $CLIENTS; do ip address add $address dev outside nodad; done
ip route add default via ${GATEWAYS% *}
ip -6 route add default via ${GATEWAYS#* }
# what docs/how-to/containers.md advises for Podman without root
echo 80 > /proc/sys/net/ipv4/ip_unprivileged_port_start
hostname docker
# as udev would have them, for rootless networks and file systems
for device in net/tun=10,200 fuse=10,229; do
    name=${device%=*} number=${device#*=}
    mkdir -p /run/devices/net && mknod -m 666 "/run/devices/$name" c "${number%,*}" "${number#*,}"
    mount --bind "/run/devices/$name" "/dev/$name"
done
mkdir -p -m 700 "/run/user/$OWNER" && chown "$OWNER" "/run/user/$OWNER"
# ip6tables: as docs/how-to/containers.md advises for Docker before 27
exec env -i PATH=$PATH HOME=/root dockerd --exec-opt native.cgroupdriver=cgroupfs \
    --experimental --ip6tables
"""


class Engine:
    """A system in which ``dockerd`` runs, and ``podman`` can be run.

    Args:
        system: A Debian with ``PACKAGES``; it is not changed, what is written is in memory.
        place: Gets the log of ``dockerd``.
    """

    def __init__(self, system: Path, place: Path) -> None:
        (place / "root").mkdir()
        log = place / "log"
        self._groups = [folder / f"reviewsd-test-{os.getpid()}" for folder in _own_groups()]
        for group in self._groups:
            group.mkdir()
            if group.parent.joinpath("cpuset.cpus").exists():  # else no process may enter
                for name in ("cpuset.cpus", "cpuset.mems"):
                    (group / name).write_text((group.parent / name).read_text())
        environ = {
            **os.environ,
            "INSIDE": _INSIDE,
            "SYSTEM": str(system),
            "PLACE": str(place / "root"),
            "OWNER": str(USER),
            "OWNER_HOME": HOME.lstrip("/"),
            "CLIENTS": " ".join(f"{address}/{bits}" for address, bits in CLIENTS.items()),
            "GATEWAYS": "192.0.2.254 2001:db8:1::fe",
            "CONTROLLERS": " ".join(_controllers(folder) for folder in _own_groups()),
        }
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                ["sh", "-euc", _OUTSIDE, "sh", *self._groups], env=environ, stdout=out, stderr=out
            )
        ready = "API listen on"
        try:
            until(
                lambda: (
                    ready in log.read_text(errors="replace") or self._process.poll() is not None
                ),
                "dockerd",
                60,
            )
            assert self._process.poll() is None, log.read_text()
            children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
            self._pid = int(children.read_text().split()[0])
        except BaseException:
            self.close()
            raise

    def run(self, command: str, *, cwd: str = HOME, user: int = USER, code: int = 0) -> str:
        """Run lines of shell as the user or as root; returns their output."""
        words = ["nsenter", f"--target={self._pid}", "--all", "--"]
        if user != 0:
            words += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]
        environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": HOME if user == USER else "/root",
            "USER": "user" if user == USER else "root",
            "XDG_RUNTIME_DIR": f"/run/user/{user}",
            "LC_ALL": "C.UTF-8",
            "PODMAN_IGNORE_CGROUPSV1_WARNING": "1",
        }
        return run(*words, "bash", "-euc", f"cd {cwd}; {command}", env=environ, code=code)

    def own(self, path: str) -> None:
        """Give a folder of the system, and all in it, to the user."""
        run("chown", "--recursive", f"{USER}:{USER}", self.path(path))

    def path(self, name: str) -> Path:
        """Return the path by which this machine reaches a path of the system."""
        return Path(f"/proc/{self._pid}/root{name}")

    @contextmanager
    def network(self) -> Iterator[None]:
        """Have this thread make its sockets in the network of the system."""
        with (
            Path("/proc/self/ns/net").open() as ours,
            Path(f"/proc/{self._pid}/ns/net").open() as its,
        ):
            namespace.enter(its.fileno())
            try:
                yield
            finally:
                namespace.enter(ours.fileno())

    def close(self) -> None:
        """End all of it."""
        self._process.kill()  # and, by --kill-child, the first process of its namespace, and so all
        self._process.wait()
        for group in self._groups:
            until(partial(_removed, group), f"the end of {group}", 30)


def _own_groups() -> Iterator[Path]:
    """The control groups of this process, one for each controller of the first version."""
    if (_CGROUPS / "cgroup.controllers").exists():
        yield _CGROUPS / Path("/proc/self/cgroup").read_text().partition("::")[2].strip().lstrip(
            "/"
        )
        return
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        folder = _CGROUPS / names / path.lstrip("/")
        if names and not names.startswith("name=") and folder.is_dir():
            yield folder


def _controllers(folder: Path) -> str:
    return folder.relative_to(_CGROUPS).parts[0] if folder != _CGROUPS else ""


def _removed(group: Path) -> bool:
    """Remove a control group with its children, once their processes have ended."""
    for folder, _, _ in os.walk(group, topdown=False):
        try:
            Path(folder).rmdir()
        except OSError:
            return False
    return True


@contextmanager
def engine(place: Path) -> Iterator[Engine]:
    """Run the engine for the block; the test is skipped where there can be none."""
    started = Engine(debian.kept(SUITE, PACKAGES), place)
    try:
        lines = {
            "passwd": f"user:x:{USER}:{USER}::{HOME}:/bin/bash",
            "group": f"user:x:{USER}:",
            "subuid": f"user:{_SUBORDINATE}:65536",
            "subgid": f"user:{_SUBORDINATE}:65536",
        }
        for name, line in lines.items():
            with started.path(f"/etc/{name}").open("a") as file:
                file.write(f"{line}\n")
        started.run("usermod --append --groups docker user", cwd="/", user=0)
        yield started
    finally:
        started.close()
