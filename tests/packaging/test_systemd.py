"""The service under a real systemd: by the Debian package, and by ``service install`` (O1 to O7, O14).

One machine is booted for all tests, which use it one after the other: each finds the service running and
leaves it so, until the package is purged.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import booted
from tests.support.booted import Machine
from tests.support.distribution import ROOT, VERSION, block, program, run, takeout

pytestmark = pytest.mark.packaging

PACKAGE = "REVIEWSD_TEST_PACKAGE"
"""Names a folder with a package that has been built already."""

CONFIG = "/etc/reviewsd/reviewsd.yaml"
ENABLE = "sudo systemctl enable --now reviewsd.socket reviewsd-admin.socket reviewsd.service"
UNITS = ("reviewsd.service", "reviewsd.socket", "reviewsd-admin.socket")
ELSEWHERE = "/opt/elsewhere"

GET = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
connection.request("GET", sys.argv[1], headers={"Host": "reviews.example.com"})
response = connection.getresponse()
body = response.read().decode()
print(response.status, body)
"""

WAIT = f"""
import time
while True:
    exec({GET!r})
    if sys.argv[2] in body:
        break
    time.sleep(0.1)
"""

LOAD = """
import http.client, json, pathlib, threading, time
answered, failures, stop = [], [], pathlib.Path("/run/load-stop")
def read(keep):
    connection = None
    while not stop.exists():
        connection = connection or http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
        try:
            connection.request("GET", "/reviews.json", headers={"Host": "reviews.example.com"})
            response = connection.getresponse()
            answered.append(response.read())
            if response.status != 200:
                failures.append(response.status)
        except Exception as error:
            failures.append(repr(error))
        if not keep or response.will_close:
            connection.close()
            connection = None
        pathlib.Path("/run/load-begun").touch()
        time.sleep(0.01)
threads = [threading.Thread(target=read, args=[keep]) for keep in (False, False, True)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps([len(answered), failures]))
"""
"""Reads all the time until it is stopped, on new connections and on one that is kept."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, made as quickly as can be."""
    if reason := booted.unable():
        pytest.skip(reason)
    target = Path(os.environ.get(PACKAGE) or tmp_path_factory.mktemp("deb"))
    if not list(target.glob("*.deb")):
        if shutil.which("dpkg-deb") is None:
            pytest.skip("needs dpkg-deb: it is built on Debian")
        uv = Path(program("uv")).parent
        environ = {"PATH": f"/usr/bin:/bin:{uv}", "REVIEWSD_DEB_COMPRESSION": "none"}
        run(ROOT / "packaging/deb/build", target, env={**os.environ, **environ}, seconds=900)
    (built,) = target.glob("*.deb")
    return built


@pytest.fixture(scope="module")
def machine(package: Path) -> Iterator[Machine]:
    """A machine with the package, configured and started by the commands of the document."""
    with booted.booted() as machine:
        shutil.copyfile(package, machine.path("/root") / package.name)
        takeout(machine.path("/root/takeout.zip"))
        *lines, enable, doctor = block(
            "install.md", "sudo apt-get", "As a Debian package"
        ).splitlines()
        assert (ENABLE, "sudo reviewsctl doctor") == (enable, doctor)
        printed = machine.shell("\n".join(as_root(line) for line in lines))
        assert 3 == printed.count(ENABLE), printed  # the package, init and import
        assert "service install" not in printed
        assert "installed and not started" in printed
        assert [] == list(machine.path("/etc/systemd/system").glob("*.wants/reviewsd*"))
        machine.shell(as_root(enable))
        yield machine


def as_root(command: str) -> str:
    """A command of a document, for a machine without sudo."""
    return command.replace("sudo ", "").replace("apt-get install", "apt-get install -q -y")


def get(machine: Machine, path: str = "/healthz") -> str:
    """The status of a response, and its body."""
    return machine.run("python3", "-c", GET, path)


def edit(machine: Machine, change: Callable[[str], str], name: str = CONFIG) -> None:
    """Replace a file of the machine by a changed one."""
    file = machine.path(name)
    new = file.with_name("new")
    new.write_text(change(file.read_text()))
    new.chmod(0o644)
    new.rename(file)


def rename_business(machine: Machine, name: str) -> None:
    """Change the data."""
    edit(
        machine,
        lambda text: json.dumps({**json.loads(text), "business": {"name": name}}),
        "/srv/reviews/reviews.json",
    )


def check_runs(machine: Machine) -> None:
    """The service and both sockets are active, and it answers."""
    states = machine.run("systemctl", "show", "--value", "--property=ActiveState", *UNITS)
    assert ["active"] * 3 == states.split()
    assert "200 " == get(machine)[:4]
    assert "" == machine.run("reviewsctl", "status", "--quiet")


def socket_file(machine: Machine) -> str:
    """Inode, mode, owner and group of the admin socket."""
    return machine.run("stat", "--format=%i %a %U %G", "/run/reviewsd/admin.sock")


@contextmanager
def load(machine: Machine) -> Iterator[None]:
    """Read all the time during the block; not one request may fail."""
    for name in ("load-stop", "load-begun"):
        machine.run("rm", "-f", f"/run/{name}")
    process = machine.popen("python3", "-c", LOAD)
    try:
        machine.shell("until [ -e /run/load-begun ]; do sleep 0.1; done")
        yield
    finally:
        machine.run("touch", "/run/load-stop")
        output, _ = process.communicate(timeout=120)
    answered, failures = json.loads(output)
    assert [] == failures
    assert answered > 10


def test_package_is_configured_and_started_as_documented(machine: Machine) -> None:
    check_runs(machine)
    assert '"review_count":7' in get(machine, "/insights.json").replace(" ", "")
    code, report = machine.attempt("reviewsctl", "doctor")
    assert 5 == code  # there is no name server
    for line in ("ok    admin socket", "ok    serving", "ok    systemd"):
        assert f"\n{line}" in f"\n{report}"


def test_package_has_its_files(machine: Machine) -> None:
    assert f"reviewsd {VERSION}\n" == machine.run("reviewsd", "--version")
    owned = machine.run("dpkg-query", "-W", "-f", "${Conffiles}", "reviewsd")
    assert [CONFIG] == re.findall(r"/\S+", owned)
    assert "reviewsd" not in machine.attempt("systemd-analyze", "verify", "--man=no", *UNITS)[1]
    listed = machine.run("dpkg", "-L", "reviewsd").splitlines()
    pages = ("man1/reviewsctl.1", "man8/reviewsd.8", "man5/reviewsd.yaml.5")
    assert {f"/usr/share/man/{page}.gz" for page in pages} <= set(listed)
    completion = machine.path("/usr/share/bash-completion/completions/reviewsctl")
    assert "_REVIEWSCTL_COMPLETE" in completion.read_text()
    machine.run("/opt/reviewsd/bin/python3", "-c", "import psycopg")


def test_configuration_of_the_package_has_no_base_url(machine: Machine, package: Path) -> None:
    machine.shell(f"dpkg-deb --fsys-tarfile {package.name} | tar -xO .{CONFIG} > shipped.yaml")
    assert "base_url" in machine.run(
        "reviewsd", "--check", "--config", "/root/shipped.yaml", code=78
    )


def test_exposure_of_the_running_service_is_at_most_one_and_a_half(machine: Machine) -> None:
    """O6, judged by the systemd that runs it."""
    machine.run("systemd-analyze", "security", "--threshold=15", "--no-pager", "reviewsd.service")


def test_admin_socket_is_open_to_its_group_alone(machine: Machine) -> None:
    assert socket_file(machine).endswith(" 660 root reviewsd-admin\n")
    group = machine.run("getent", "group", "reviewsd-admin").split(":")[2]
    stranger = ("setpriv", "--reuid=12345", "--regid=12345")
    refused = machine.run(*stranger, "--clear-groups", "reviewsctl", "status", "-q", code=3)
    assert "no permission to use /run/reviewsd/admin.sock" in refused
    output = machine.run(*stranger, f"--groups={group}", "reviewsctl", "status", "-q")
    assert "" == output


@pytest.mark.parametrize("command", ["reviewsctl reload", "systemctl reload reviewsd", ""])
def test_changed_data_is_published_at_once_by_a_reload_and_soon_without(
    machine: Machine, command: str
) -> None:
    """``ExecReload=`` runs reviewsctl as the user of the daemon, through the group."""
    name = f"By {command or 'itself'}"
    rename_business(machine, name)
    if command:
        machine.run(*command.split())
        assert name in get(machine, "/reviews.json")
    else:
        machine.run("python3", "-c", WAIT, "/reviews.json", name)


def test_restarts_under_load_lose_no_request(machine: Machine) -> None:
    before = socket_file(machine)
    with load(machine):
        for _ in range(2):
            machine.run("systemctl", "restart", "reviewsd")
    assert before == socket_file(machine)
    check_runs(machine)


def test_killed_service_starts_again_behind_the_same_sockets(machine: Machine) -> None:
    before = socket_file(machine)
    machine.run("systemctl", "kill", "--signal=KILL", "--kill-whom=main", "reviewsd")
    assert "200 " == get(machine)[:4]  # it waits in the socket for the next process
    machine.wait("reviewsd", "SubState", "running")
    assert "1" == machine.shown("reviewsd", "NRestarts")
    assert before == socket_file(machine)
    check_runs(machine)


@contextmanager
def setting(machine: Machine, *lines: str) -> Iterator[None]:
    """Add lines to the unit of the service for the block."""
    drop_in = "/run/systemd/system/reviewsd.service.d/test.conf"
    words = " ".join(lines)
    machine.shell(f"mkdir -p {Path(drop_in).parent}; printf '%s\\n' {words} > {drop_in}")
    machine.run("systemctl", "daemon-reload")
    yield
    machine.shell(f"rm {drop_in}; systemctl daemon-reload")


def test_stuck_service_is_restarted_by_the_watchdog(machine: Machine) -> None:
    """The watchdog's interval is shorter here than the 30 s of the unit."""
    with setting(machine, "[Service]", "WatchdogSec=3", "TimeoutAbortSec=1"):
        machine.run("systemctl", "restart", "reviewsd")
        machine.run("kill", "-STOP", machine.shown("reviewsd", "MainPID"))
        machine.wait("reviewsd", "NRestarts", "1")
        machine.wait("reviewsd", "SubState", "running")
    assert "Watchdog timeout (limit 3s)!" in machine.journal("-u", "reviewsd")
    check_runs(machine)


def test_clients_of_a_broken_configuration_do_not_start_it_again(machine: Machine) -> None:
    """Otherwise they would use up the start limit, and systemd would refuse the repaired start."""
    good = machine.path(CONFIG).read_text()
    client = machine.popen("bash", "-c", 'while python3 -c "$0" /healthz; do sleep 0.3; done', GET)
    edit(machine, lambda text: re.sub("(?m)^base_url: .*", "base_url: nonsense", text))
    began = time.time()
    try:
        machine.run("systemctl", "restart", "reviewsd", code=1)
        output, _ = client.communicate(timeout=60)  # refused, not left to wait
    finally:
        client.kill()
    assert "Connection re" in output  # refused, or reset while it waited
    journal = machine.journal("-u", "reviewsd", f"--since=@{int(began)}")
    assert 1 == journal.count("status=78/CONFIG"), journal
    states = machine.run("systemctl", "show", "--value", "--property=ActiveState", *UNITS)
    assert ["failed", "inactive", "inactive"] == states.split()

    refusal = machine.run("reviewsctl", "status", code=3)
    match = re.search(r"Start it: (sudo .*) \(or name", refusal)
    assert match, refusal
    assert f"then: {match[1]}\n" in machine.attempt("reviewsctl", "doctor")[1]
    edit(machine, lambda _: good)
    machine.shell(as_root(match[1]))
    check_runs(machine)


def test_stopped_service_with_its_sockets_stays_stopped(machine: Machine) -> None:
    """A restore needs that; the next start opens the sockets again."""
    document = (ROOT / "docs/how-to/back-up.md").read_text()
    match = re.search(r"^sudo (systemctl stop .*)\nsudo .* restore ", document, re.MULTILINE)
    assert match
    machine.shell(match[1])
    assert "refused" in machine.run("python3", "-c", GET, "/healthz", code=1)
    states = machine.run("systemctl", "show", "--value", "--property=ActiveState", *UNITS)
    assert ["inactive"] * 3 == states.split()
    machine.run("systemctl", "start", "reviewsd")
    check_runs(machine)


def test_upgrade_under_load_loses_no_request(machine: Machine, package: Path) -> None:
    """Installing the same version is enough: dpkg runs the same scripts as for a newer one."""
    before, process = socket_file(machine), machine.shown("reviewsd", "MainPID")
    with load(machine):
        machine.run("dpkg", "--install", f"/root/{package.name}")
    assert process != machine.shown("reviewsd", "MainPID")
    assert before == socket_file(machine)
    check_runs(machine)


@contextmanager
def two_nodes(machine: Machine) -> Iterator[None]:
    """Run two nodes instead of the service for the block; their database is down, and reads go on."""
    document = (ROOT / "docs/how-to/nodes.md").read_text()
    to_nodes = document.partition("two nodes:\n\n```sh\n")[2].partition("```")[0]
    good = machine.path(CONFIG).read_text()
    edit(machine, lambda text: f"{text}hub: {{store: postgresql://a@127.0.0.1/a}}\n")
    machine.shell(as_root(to_nodes))
    yield
    machine.shell(
        "systemctl disable --now reviewsd@{1,2}.socket reviewsd-admin@{1,2}.socket reviewsd@{1,2}"
    )
    edit(machine, lambda _: good)
    machine.run(*ENABLE.removeprefix("sudo ").split())
    check_runs(machine)


def test_nodes_share_address_and_keys_and_restart_without_a_lost_request(machine: Machine) -> None:
    with two_nodes(machine):
        sockets = machine.run("stat", "--format=%n %a %U %G", "/run/reviewsd/1.sock")
        assert "/run/reviewsd/1.sock 660 root reviewsd-admin\n" == sockets
        refusal = machine.run("reviewsctl", "status", code=3)
        assert "several nodes run here (1.sock, 2.sock in /run/reviewsd)" in refusal
        for node in ("1", "2"):
            status = machine.run("reviewsctl", "status", "--socket", f"/run/reviewsd/{node}.sock")
            assert "state      unready\n" in status
        state = machine.path("/var/lib/private/reviewsd")
        assert {"secret.key", "mcp.key", "nodes"} <= {entry.name for entry in state.iterdir()}
        assert {"1", "2"} == {entry.name for entry in (state / "nodes").iterdir()}
        with load(machine):
            for node in ("1", "2"):
                machine.run("systemctl", "restart", f"reviewsd@{node}")
        machine.run("systemctl", "reload", "reviewsd@1")
        machine.run(
            "systemctl", "stop", "reviewsd@1.socket", "reviewsd-admin@1.socket", "reviewsd@1"
        )
        assert "200 " == get(machine)[:4]
        assert "" == machine.run("reviewsctl", "status", "--quiet")  # of the only node


def add_source(machine: Machine, author: str, folder: str = "/srv/incoming") -> None:
    """Configure a source, with one new review in a file."""
    imported = "import: {source: shop, verified: true}"
    source = f"{{name: shop, type: file, path: {folder}/*.csv, {imported}}}"
    edit(machine, lambda text: f"{text}sources: [{source}]\n")
    machine.shell(
        f"install -d -m755 {folder}\n"
        f"echo id,rating,date,author > {folder}/shop.csv\n"
        f"echo {author}-1,5,2026-11-02,{author} >> {folder}/shop.csv\n"
        f"touch -d '5 minutes ago' {folder}/shop.csv"
    )


def check_synced(machine: Machine, author: str) -> None:
    """A run of the service imports the review, as the owner of the data; the timer is active."""
    machine.run("systemctl", "start", "reviewsd-sync.service")
    assert "active" == machine.shown("reviewsd-sync.timer", "ActiveState")
    machine.run("python3", "-c", WAIT, "/reviews.json", f'"{author}"')
    owners = machine.run("stat", "--format=%U", "/srv/reviews", "/srv/reviews/reviews.json")
    assert ["reviewsd-sync"] * 2 == owners.split()
    assert "reviewsctl sync" in machine.shown("reviewsd-sync.service", "Description")
    listed = machine.run("reviewsctl", "sources", "list", "--config", CONFIG)
    assert re.search(r"shop +file +ok ", listed), listed
    exposed = ("systemd-analyze", "security", "--threshold=20", "--no-pager")
    machine.run(*exposed, "reviewsd-sync.service")


def test_timer_of_the_package_syncs_as_the_owner_of_the_data(machine: Machine) -> None:
    """The timer is enabled by the commands of the document, not by the package."""
    enabled = machine.attempt("systemctl", "is-enabled", "reviewsd-sync.timer")[1]
    assert "disabled\n" == enabled
    add_source(machine, "Sue")
    document = (ROOT / "docs/how-to/sync.md").read_text()
    commands = document.partition("then enable the timer:\n\n```sh\n")[2].partition("```")[0]
    machine.shell(as_root(commands))
    check_synced(machine, "Sue")


def test_purge_leaves_only_the_reviews(machine: Machine) -> None:
    """A removal leaves the configuration. The programs are kept at another place, for the tests below."""
    machine.shell(
        f"cp -a /opt/reviewsd {ELSEWHERE}\n"
        f"sed -i '1s|.*|#!{ELSEWHERE}/bin/python3|' {ELSEWHERE}/bin/reviews*\n"
        "apt-get remove -q -y reviewsd"
    )
    assert not os.path.lexists(machine.path("/opt/reviewsd"))
    assert not os.path.lexists(machine.path("/usr/bin/reviewsd"))
    assert "base_url" in machine.path(CONFIG).read_text()
    machine.run("apt-get", "purge", "-q", "-y", "reviewsd")
    assert "" == machine.run(
        "systemctl", "list-units", "--state=active,failed", "--no-legend", "reviewsd*"
    )
    for name in ("/etc/reviewsd", "/var/lib/reviewsd", "/var/lib/private/reviewsd"):
        assert not os.path.lexists(machine.path(name)), name
    assert "refused" in machine.run("python3", "-c", GET, "/healthz", code=1)
    assert machine.path("/srv/reviews/reviews.json").exists()


def test_service_install_names_the_command_that_says_why_the_service_does_not_start(
    machine: Machine,
) -> None:
    machine.shell(
        f"ln -s {ELSEWHERE}/bin/reviewsd {ELSEWHERE}/bin/reviewsctl /usr/local/bin/\n"
        "reviewsctl init shop --name 'Acme Plumbing' --base-url https://reviews.example.com\n"
        "cd shop; reviewsctl import ../takeout.zip\n"
        "echo 'notify: [{name: owner, url_file: owner.url, stars: 2}]' >> reviewsd.yaml\n"
        "(umask 077; echo json://127.0.0.1:9 > owner.url)\n"
        "install -d -m700 /etc/credstore; echo nonsense > /etc/credstore/reviewsd.hub-secret-key"
    )
    printed = machine.run(
        "reviewsctl", "service", "install", "--config", "/root/shop/reviewsd.yaml", code=1
    )
    assert (
        "systemctl enable --now reviewsd.socket reviewsd-admin.socket reviewsd.service: exit"
        in (printed)
    )
    assert "Why a service does not start: sudo reviewsctl doctor\n" in printed
    report = machine.run("reviewsctl", "doctor", code=5)
    assert re.search(r"admin socket .*its last start failed at .* with exit code 78: .*key", report)


def test_service_install_starts_the_service_from_any_place(machine: Machine) -> None:
    """After the repair, by the same command."""
    machine.run("rm", "/etc/credstore/reviewsd.hub-secret-key")
    printed = machine.run("reviewsctl", "service", "install")
    assert "note: reviewsd was running" not in printed
    check_runs(machine)
    assert socket_file(machine).endswith(" 660 root reviewsd-admin\n")
    machine.run("systemctl", "reload", "reviewsd")
    exposed = ("systemd-analyze", "security", "--threshold=15", "--no-pager", "reviewsd.service")
    machine.run(*exposed)


def test_service_install_hands_over_addresses_of_notices(machine: Machine) -> None:
    """The service has a user of its own, and the file is root's."""
    address = machine.run("stat", "--format=%a %U", "/etc/reviewsd/notify/owner.url")
    assert "600 root\n" == address
    tested = machine.run("reviewsctl", "notify", "test", code=1)
    assert "owner  failed: the service was not reached, or refused it\n" in tested


def test_service_install_restarts_a_running_service_if_told(machine: Machine) -> None:
    process = machine.shown("reviewsd", "MainPID")
    printed = machine.run("reviewsctl", "service", "install")
    note = "note: reviewsd was running and goes on as before until: sudo systemctl restart reviewsd"
    assert note in printed
    assert process == machine.shown("reviewsd", "MainPID")
    with load(machine):
        machine.run("reviewsctl", "service", "install", "--restart")
    assert process != machine.shown("reviewsd", "MainPID")
    check_runs(machine)


def test_service_install_has_a_timer_sync_the_sources(machine: Machine) -> None:
    """The data directory, which is root's, is given to the user of the sync; it sees exports in /tmp."""
    machine.run("rm", "/srv/reviews/.reviewsctl/sources.json")  # else it is not due for an hour
    machine.run("chown", "-R", "root:root", "/srv/reviews")
    rename_business(machine, "Acme Plumbing")
    add_source(machine, "Sam", "/tmp/incoming")
    machine.run("reviewsctl", "service", "install")
    check_synced(machine, "Sam")
    assert "active" == machine.shown("reviewsd.service", "ActiveState")


def test_changed_address_is_opened_by_the_commands_of_the_document(machine: Machine) -> None:
    edit(machine, lambda text: f'{text}listen: ["tcp:8081:interface=127.0.0.1"]\n')
    machine.run("reviewsctl", "service", "install")
    document = (ROOT / "docs/how-to/configure.md").read_text()
    commands = document.partition("and then close and open it:\n\n```sh\n")[2].partition("```")[0]
    machine.shell(as_root(commands))
    assert "listening  tcp:127.0.0.1:8081\n" in machine.run("reviewsctl", "status")


def test_service_install_lets_the_service_open_the_port_of_its_metrics(machine: Machine) -> None:
    edit(machine, lambda text: f'{text}metrics: {{listen: "tcp:9090:interface=127.0.0.1"}}\n')
    machine.run("reviewsctl", "service", "install", "--restart")
    allowed = machine.run("systemctl", "show", "--value", "--property=SocketBindAllow", "reviewsd")
    assert allowed.strip() in {"tcp:9090", "tcp9090"}  # the second one of systemd 252
    script = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9090/metrics').status)"
    assert "200\n" == machine.run("python3", "-c", script)


def test_service_uninstall_stops_the_service_and_keeps_the_data(machine: Machine) -> None:
    printed = machine.run("reviewsctl", "service", "uninstall")
    assert "the reviews" in printed
    listed = ("systemctl", "list-units", "--all", "--no-legend", "--state=loaded", "reviewsd*")
    assert "" == machine.run(*listed)
    assert "refused" in machine.run("python3", "-c", GET, "/healthz", code=1)
    paths = (
        "/etc/reviewsd/reviewsd.yaml",
        "/srv/reviews/reviews.json",
        "/var/lib/private/reviewsd",
    )
    assert all(machine.path(name).exists() for name in paths)
    assert not machine.path("/etc/systemd/system/reviewsd.service").exists()
