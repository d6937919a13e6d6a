"""The systemd units: valid, hardened, and in agreement with the daemon (O5-O7, O14)."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reviewsctl.commands.root import app
from reviewsd.config.load import load
from reviewsd.publish.memory_limit import SHARE
from reviewsd.publish.sources import MAX_BYTES
from reviewsd.server.connections import DRAIN_SECONDS
from tests.support.programs import run_program

ROOT = Path(__file__).parent.parent
UNITS = ROOT / "systemd"
NAMES = tuple(
    name.format(node)
    for node in ("", "@")
    for name in (
        *("reviewsd{}.service", "reviewsd{}.socket"),
        *("reviewsd-admin{}.socket", "reviewsd-failed{}.target"),
    )
)
VERIFIED = (*NAMES, "sync/reviewsd-sync.service", "sync/reviewsd-sync.timer")


def settings(name: str, section: str) -> dict[str, list[str]]:
    """The settings of a section; one given several times has several values."""
    values: dict[str, list[str]] = {}
    current = ""
    for line in (UNITS / name).read_text().splitlines():
        if line.startswith("["):
            current = line.strip("[]")
        elif current == section and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            values.setdefault(key, []).append(value)
    return values


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="systemd-analyze is not installed (Debian: apt install systemd)",
)
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    """The units have stand-ins for the programs, which are not installed here."""
    units = []
    for name in VERIFIED:
        text = re.sub("/usr/bin/reviews(d|ctl) ", "/bin/true ", (UNITS / name).read_text())
        units.append(tmp_path / Path(name).name)
        units[-1].write_text(text)
    done = run_program(["systemd-analyze", "verify", "--man=no", *units])
    assert [line for line in done.stderr.splitlines() if "reviewsd" in line] == []
    assert done.returncode == 0


SERVICE, SOCKETS = "reviewsd.service", "reviewsd.socket reviewsd-admin.socket"


@pytest.mark.parametrize(
    ("unit", "section", "key", "value"),
    [
        # each of these protections broke something when it was on (F11, F12, F22)
        (SERVICE, "Service", "MemoryDenyWriteExecute", "no"),
        (SERVICE, "Service", "PrivateUsers", "no"),
        (SERVICE, "Service", "ProcSubset", "all"),
        (SERVICE, "Service", "PrivateNetwork", None),
        # systemd would delete it, and the admin socket in it, whenever the service stops (O14)
        (SERVICE, "Service", "RuntimeDirectory", None),
        ("reviewsd-admin.socket", "Socket", "FileDescriptorName", "admin"),
        ("reviewsd-admin.socket", "Socket", "SocketMode", "0660"),
        ("reviewsd-admin.socket", "Socket", "SocketGroup", "reviewsd-admin"),
        (SERVICE, "Service", "SupplementaryGroups", "reviewsd-admin"),  # for a reload
        # the sockets stay when the service ends: no client is refused by a restart (O14)
        ("reviewsd.socket", "Install", "WantedBy", "sockets.target"),
        ("reviewsd-admin.socket", "Install", "WantedBy", "sockets.target"),
        (SERVICE, "Install", "Also", SOCKETS),
        # and are closed when it has failed: else a client that waits starts it again and again
        (SERVICE, "Service", "Sockets", SOCKETS),
        (SERVICE, "Unit", "OnFailure", "reviewsd-failed.target"),
        ("reviewsd-failed.target", "Unit", "Conflicts", SOCKETS),
        # a start is not repeated with a wrong command line, configuration, data or state (O7)
        (SERVICE, "Service", "Restart", "on-failure"),
        (SERVICE, "Service", "RestartPreventExitStatus", "2 78"),
        (SERVICE, "Service", "WatchdogSec", "30"),  # of a daemon that is stuck (O3)
        (SERVICE, "Service", "UMask", "0077"),
        # a reload waits for its outcome
        (SERVICE, "Service", "Type", "notify"),
        (SERVICE, "Service", "ExecReload", "/usr/bin/reviewsctl reload"),
        (SERVICE, "Service", "MemoryMax", "2G"),
        (SERVICE, "Service", "OOMPolicy", "continue"),  # the process that compiles is killed first
        # the last layer below the daemon's own checks; cloud metadata is link-local (E15)
        (SERVICE, "Service", "IPAddressDeny", "link-local multicast"),
    ],
)
def test_setting_has_its_value(unit: str, section: str, key: str, value: str | None) -> None:
    assert (None if value is None else [value]) == settings(unit, section).get(key)


def test_the_admin_socket_is_where_the_configuration_says() -> None:
    (address,) = settings("reviewsd-admin.socket", "Socket")["ListenStream"]
    assert str(load(ROOT / "config/reviewsd.yaml", {}).config.admin_socket) == address


def unit(name: str) -> str:
    """The unit without the comment before its first section."""
    return "[Unit]" + (UNITS / name).read_text().partition("[Unit]")[2]


def test_a_node_runs_as_the_single_service_does() -> None:
    """Two templates would drift apart; systemd has no way to include one in the other."""
    expected = unit("reviewsd.service")
    for single, node in {
        "Reviews Service (": "Reviews Service, node %i (",
        "reset-failed reviewsd\n": "reset-failed reviewsd@%i\n",
        "OnFailure=reviewsd-failed.target": "OnFailure=reviewsd-failed@%i.target",
        "/reviewsd.yaml\n": "/reviewsd.yaml --node %i\n",
        "reviewsctl reload": "reviewsctl --socket /run/reviewsd/%i.sock reload",
        "FileDescriptorName of reviewsd.socket": "FileDescriptorName of reviewsd@.socket",
        "# of reviewsd-admin.socket": "# of reviewsd-admin@.socket",
        "=reviewsd.socket reviewsd-admin.socket": "=reviewsd@%i.socket reviewsd-admin@%i.socket",
        "DynamicUser=yes\n": (
            "DynamicUser=yes\n# one user for all nodes, since they share the keys in the state"
            " directory\nUser=reviewsd\n"
        ),
    }.items():
        assert single in expected
        expected = expected.replace(single, node)
    assert expected == unit("reviewsd@.service")
    shared = unit("reviewsd.socket").replace("listener", "listener, node %i")
    address = "ListenStream=127.0.0.1:8080\n"
    reuse = "# a socket for each node; the kernel spreads connections over them\nReusePort=yes\n"
    assert shared.replace(address, address + reuse) == unit("reviewsd@.socket")


def test_there_is_room_for_all_connections_and_time_to_end_them() -> None:
    """The publishing process has files and threads of its own."""
    service = settings("reviewsd.service", "Service")
    config = load(ROOT / "config/reviewsd.yaml", {}).config
    assert int(service["LimitNOFILE"][0]) >= 2 * config.server.max_connections
    assert int(service["TasksMax"][0]) >= 64
    assert int(service["TimeoutStopSec"][0]) > DRAIN_SECONDS + 2  # O4


def test_memory_is_enough_for_the_largest_files() -> None:
    """Both files have their largest size: compiling takes 0.6 of their sum."""
    assert SHARE * 2 * (1 << 30) > 0.6 * 2 * MAX_BYTES


@pytest.mark.parametrize(
    "unit", ["reviewsd.service", "reviewsd@.service", "sync/reviewsd-sync.service"]
)
def test_commands_of_units_are_accepted_by_reviewsctl(unit: str) -> None:
    service = settings(unit, "Service")
    commands = [line for key in service if key.startswith("Exec") for line in service[key]]
    arguments = [shlex.split(line)[1:] for line in commands if "/reviewsctl " in line]
    assert arguments
    for words in arguments:
        done = CliRunner().invoke(app, [*words, "--help"])
        assert 0 == done.exit_code, done.output


def test_nothing_runs_as_root() -> None:
    """A program may belong to another user."""
    service = settings("reviewsd.service", "Service")
    commands = [line for key in service if key.startswith("Exec") for line in service[key]]
    assert all(command.startswith("/") for command in commands)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (
            "reviewsd.service",
            ["reviewsd.hub-secret-key", "reviewsd.mcp-session-key", "notify:/etc/reviewsd/notify"],
        ),
        ("sync/reviewsd-sync.service", ["sources:/etc/reviewsd/credentials"]),
    ],
)
def test_credentials_may_be_missing(unit: str, expected: list[str]) -> None:
    """One without a path is looked up; one with an absolute path would be required without another value."""
    service = settings(unit, "Service")
    assert expected == service["LoadCredential"]
    folders = [name for name in expected if ":/" in name]
    assert [f"{name.partition(':')[0]}:none" for name in folders] == service["SetCredential"]


def test_the_service_listens_on_the_sockets_that_systemd_opens() -> None:
    """The shipped configuration and the shipped units work together as they are."""
    service = settings("reviewsd.service", "Service")
    assignments = [word for line in service["Environment"] for word in shlex.split(line)]
    environ = dict(word.split("=", 1) for word in assignments)
    config = load(ROOT / "config/reviewsd.yaml", environ).config
    (name,) = settings("reviewsd.socket", "Socket")["FileDescriptorName"]
    assert (f"systemd:name={name}",) == config.listen
    # getaddrinfo cannot be cancelled: by itself it would try names of attackers for 20 s (E6)
    assert "timeout:2 attempts:1" == environ["RES_OPTIONS"]


def test_the_service_reads_and_keeps_its_files_where_the_configuration_says() -> None:
    service = settings("reviewsd.service", "Service")
    config = load(ROOT / "config/reviewsd.yaml", {}).config
    assert service["ExecStart"] == ["/usr/bin/reviewsd --config /etc/reviewsd/reviewsd.yaml"]
    assert service["ConfigurationDirectory"] == ["reviewsd"]
    assert [config.state_dir] == [Path("/var/lib") / name for name in service["StateDirectory"]]
    assert [f"-{config.data_dir}"] == service["ReadOnlyPaths"]


@pytest.mark.skipif(
    shutil.which("systemd-sysusers") is None, reason="systemd-sysusers is not installed"
)
def test_sysusers_makes_the_group(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    done = run_program(["systemd-sysusers", f"--root={tmp_path}", UNITS / "reviewsd.sysusers.conf"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "etc/group").read_text().startswith("reviewsd-admin:")


def test_a_sync_is_as_confined_as_the_daemon() -> None:
    """It has the tokens; what it may do beyond the daemon is to write the data."""
    daemon = settings("reviewsd.service", "Service")
    sync = settings("sync/reviewsd-sync.service", "Service")
    own = {"SystemCallFilter", "RestrictSUIDSGID"}  # another process; a folder that is setgid
    confining = [
        name
        for name in daemon
        if name.startswith(
            ("Protect", "Private", "Restrict", "System", "Lock", "NoNew", "Capability")
        )
    ]
    assert {name: daemon[name] for name in confining if name not in own} == {
        name: sync.get(name) for name in confining if name not in own
    }
    assert ["any"] == sync["SocketBindDeny"]
    assert ["/srv/reviews"] == sync["ReadWritePaths"]
