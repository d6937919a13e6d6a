"""The daemon as systemd and a shell meet it: how it starts, what it says, how it ends (O1-O7, O12)."""

import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from reviewsd.__main__ import AS_ROOT
from tests.support import commands, fork_server
from tests.support.daemon import NO_PAGES, Daemon, until
from tests.support.generate import write_data
from tests.support.programs import run_program

PUBLICATION = b"reviewsd.publish.publication"
NOBODY = 65_534
QUICK = "data: {poll_interval: 0.05}\n"


@pytest.fixture
def _real_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself is started, not forked from a process that has its imports."""
    monkeypatch.setattr(fork_server.Switch, "on", False)


real_start = pytest.mark.usefixtures("_real_start")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """It looks for new data all the time."""
    daemon = Daemon(tmp_path, NO_PAGES + QUICK)
    yield daemon
    daemon.close()


@pytest.fixture
def new_daemon(tmp_path: Path) -> Iterator[Daemon]:
    """It finds nothing published."""
    daemon = Daemon(tmp_path, NO_PAGES, publishes=True)
    yield daemon
    daemon.close()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.reviewsd(
        {"PYTHONPATH": str(fork_server.ROOT), "PYTHONWARNINGS": "error"}, *arguments
    )


def publishing(daemon: Daemon) -> list[int]:
    """The publishing processes that the daemon has started."""
    pid = daemon.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if PUBLICATION in command_of(int(child))]


def command_of(pid: int) -> bytes:
    """Empty when there is no such process, or it only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def hold_publication(daemon: Daemon) -> int:
    """Wait for a publishing process, and stop it in the middle of its work."""
    until(lambda: publishing(daemon), "a publication")
    (child,) = publishing(daemon)
    os.kill(child, signal.SIGSTOP)
    return child


def check_tidy(daemon: Daemon) -> None:
    """Nothing is left in the state directory but what the documentation names."""
    documented = {"lock", "mcp.key", "secret.key", "snapshots", "state.sqlite"}
    # the log of the store, while it is open
    assert documented == {path.name for path in daemon.state.iterdir()} - {"state.sqlite-wal"}
    current = (daemon.state / "snapshots" / "current").readlink()
    assert {"current", str(current)} == {
        path.name for path in (daemon.state / "snapshots").iterdir()
    }


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
    except ConnectionRefusedError:
        return False
    return True


# -- what systemd hears


def test_ready_comes_after_the_first_publication_and_all_listeners(new_daemon: Daemon) -> None:
    """O1: a long start asks for time and says what it does."""
    daemon = new_daemon
    write_data(daemon.data, reviews=3_000)
    daemon.start()
    assert 200 == daemon.get("/healthz").status
    before = daemon.heard[: daemon.heard.index("READY=1")]
    assert "EXTEND_TIMEOUT_USEC=30000000" in before
    assert any(re.fullmatch(r"STATUS=\w+ [\d,]+ of [\d,]+", message) for message in before)
    assert {"STATUS", "EXTEND_TIMEOUT_USEC"} == {message.partition("=")[0] for message in before}
    until(lambda: daemon.heard[-1].startswith("STATUS=Serving 3,000 reviews, data of 20"), "status")


def test_a_reload_by_signal_is_bracketed_for_notify_reload(new_daemon: Daemon) -> None:
    """It is ready again only after the reload, and the status comes before (O2)."""
    daemon = new_daemon
    daemon.start()
    daemon.edit(name="Edited")
    begin = len(daemon.heard)
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: "READY=1" in daemon.heard[begin:], "READY=1 after SIGHUP")
    messages = daemon.heard[begin:]  # and perhaps a status of the watcher's before it, or behind
    first = next(at for at, message in enumerate(messages) if message.startswith("RELOADING=1"))
    reloading, *between, ready = messages[first : messages.index("READY=1") + 1]
    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", reloading)
    assert {"STATUS"} == {message.partition("=")[0] for message in between}
    assert "READY=1" == ready
    assert "Edited" == daemon.get("/reviews.json").json()["business"]["name"]


def test_a_restart_does_not_wait_long_for_new_data(daemon: Daemon) -> None:
    """A million reviews take half a minute; meanwhile the last good ones are served."""
    daemon.start()
    before = daemon.get("/reviews.json").body
    daemon.stop()
    daemon.edit(name="Edited")
    daemon.launch()
    child = hold_publication(daemon)
    daemon.wait_ready()
    assert before == daemon.get("/reviews.json").body
    data = daemon.status()["data"]
    assert ("ok", None) == (data["state"], data["last_reload"])
    os.kill(child, signal.SIGCONT)
    until(lambda: daemon.get("/reviews.json").body != before, "the new data")
    assert "Edited" == daemon.get("/reviews.json").json()["business"]["name"]


# -- exit codes of starts that fail


def no_data(daemon: Daemon) -> None:
    shutil.rmtree(daemon.data)


def no_reviews(daemon: Daemon) -> None:
    (daemon.data / "reviews.json").unlink()


def broken_data(daemon: Daemon) -> None:
    file = daemon.data / "reviews.json"
    file.write_text(file.read_text().replace('"rating": 5', '"rating": 7', 1))


def bad_config(daemon: Daemon) -> None:
    with daemon.config.open("a") as config:
        config.write("cache: {max_age: never}\n")


def a_file_for_the_state(daemon: Daemon) -> None:
    daemon.state.write_text("")


def a_file_for_the_socket(daemon: Daemon) -> None:
    daemon.socket.write_text("")


def no_way_to_the_socket(daemon: Daemon) -> None:
    (daemon.directory / "file").write_text("")
    text = daemon.config.read_text()
    daemon.config.write_text(text.replace("admin.sock", "file/admin.sock"))


@pytest.mark.parametrize(
    ("prepare", "code", "reason"),
    [
        (bad_config, 78, r"^reviewsd: \S+/reviewsd\.yaml:8:18: cache\.max_age: expected .*"),
        (
            no_data,
            78,
            r"^reviewsd: there is no data to serve:\n.*reviews\.json: there is no folder .*\(data_dir\)",
        ),
        (
            no_reviews,
            78,
            r" warn  data refused; nothing is served yet: reviews\.json: there is none yet",
        ),
        (broken_data, 78, r"^reviewsd: .*\n.*reviews\.json: \$\.reviews\[\d+\]\.rating \(id \S+\)"),
        (a_file_for_the_state, 78, r"^reviewsd: state_dir \S+ cannot be used: File exists"),
        (a_file_for_the_socket, 1, r"^reviewsd: admin_socket \S+ exists and is no socket"),
        (no_way_to_the_socket, 1, r"^reviewsd: admin_socket \S+: Not a directory"),
    ],
)
def test_a_start_that_cannot_succeed_says_why(
    daemon: Daemon, prepare: Callable[[Daemon], None], code: int, reason: str
) -> None:
    """O7: 78 where starting again cannot help."""
    prepare(daemon)
    daemon.launch()
    assert code == daemon.ended()
    log = daemon.log.read_text()
    assert re.search(reason, log, re.MULTILINE)
    assert "last good" not in log
    assert "Traceback" not in log
    assert "READY=1" not in daemon.heard


def test_taken_port_ends_the_start_before_anything_is_published(tmp_path: Path) -> None:
    """O1. A million reviews would take half a minute before the same error."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"tcp:{listener.getsockname()[1]}:interface=127.0.0.1"
        daemon = Daemon(tmp_path, f'listen: ["{endpoint}"]\n', publishes=True)
        daemon.launch()
        assert 1 == daemon.ended()
    holder = f"{Path('/proc/self/comm').read_text().strip()} (pid {os.getpid()})"
    assert daemon.log.read_text().endswith(
        f"reviewsd: cannot listen on {endpoint}: {holder} already listens there; "
        "end it, or change listen in the configuration\n"
    )
    assert "READY=1" not in daemon.heard
    assert [] == list(daemon.state.glob("snapshots/*"))


def test_status_shows_first_publication_while_it_runs_and_when_it_fails(new_daemon: Daemon) -> None:
    """Both listeners are bound before; connections wait until there is something to serve."""
    daemon = new_daemon
    daemon.launch()
    child = hold_publication(daemon)
    until(daemon.socket.exists, "the admin socket")
    status = daemon.status()
    assert ("starting", None) == (status["data"]["state"], status["snapshot"])
    assert 503 == daemon.admin("GET", "/v1/ready").status
    os.kill(child, signal.SIGKILL)
    until(lambda: daemon.status()["data"]["state"] == "failing", "the failure in the status")
    second = hold_publication(daemon)  # which may begin before the command has started
    output = daemon.ctl("status").stdout
    assert "state      failing\n" in output
    assert "for want of memory" in output
    os.kill(second, signal.SIGCONT)
    daemon.wait_ready()
    assert "ok" == daemon.status()["data"]["state"]


def test_reason_of_a_failed_start_is_kept_until_a_start_succeeds(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that has exited cannot report its failure."""
    monkeypatch.setenv("REVIEWSD_CONFIG", str(daemon.config))
    reviews = daemon.data / "reviews.json"
    content = reviews.read_bytes()
    reviews.write_bytes(content.replace(b'"rating": 5', b'"rating": 7', 1))
    daemon.launch()
    assert 78 == daemon.ended()
    for command in ("status", "doctor"):
        result = commands.ctl(command)
        output = " ".join((result.stdout + result.stderr).split())
        assert 0 != result.returncode
        assert re.search(
            r"its last start failed at \S+ \S+ UTC with exit code 78: there is no data to serve: "
            r"reviews\.json: \$\.reviews\[\d+\]\.rating .*expected 1\.\.5, got 7",
            output,
        )
    reviews.write_bytes(content)
    daemon.start()
    daemon.stop()
    output = " ".join(commands.ctl("status").stderr.split())
    assert "it is not running" in output
    assert "last start" not in output
    check_tidy(daemon)


def test_wait_for_data_starts_without_data_and_serves_it_when_it_comes(tmp_path: Path) -> None:
    """Containers start in any order, and restarting every two seconds does not help."""
    daemon = Daemon(tmp_path, "server: {readyz: true}\n" + QUICK, ("--wait-for-data",))
    reviews = daemon.data / "reviews.json"
    content = reviews.read_bytes()
    for file in daemon.data.iterdir():
        file.unlink()
    with daemon:
        assert 1 == daemon.log.read_text().count("waiting for data: ")
        until(lambda: daemon.heard[-1].startswith("STATUS=Waiting for data; "), "the status line")
        assert (200, 503) == (daemon.get("/healthz").status, daemon.get("/readyz").status)
        for path in ("/", "/reviews.json", "/api/reviews/search", "/r/some-review"):
            refused = daemon.get(path)
            assert (503, "5") == (refused.status, refused.headers["Retry-After"])
        call = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        media_types = {"Content-Type": "application/json", "Accept": "application/json"}
        assert 503 == daemon.request("POST", "/mcp", media_types, call).status
        assert "state      waiting\n" in daemon.ctl("status").stdout
        assert 1 == daemon.ctl("reload").returncode

        reviews.write_bytes(b"{")
        until(
            lambda: "end" in str(daemon.status()["data"]["problems"]), "the refusal of half a file"
        )
        assert 503 == daemon.get("/reviews.json").status

        reviews.write_bytes(content)
        until(lambda: 200 == daemon.get("/reviews.json").status, "the data")
        assert 200 == daemon.get("/readyz").status
        assert "ok" == daemon.status()["data"]["state"]
        until(lambda: daemon.heard[-1].startswith("STATUS=Serving 122 reviews"), "the status line")
        assert daemon.ctl("hub", "blocks").returncode == 0


# -- modes


def test_the_state_is_private_and_the_socket_is_for_the_group(tmp_path: Path) -> None:
    """O12, A1: the group can also get to a socket in a directory that the daemon made."""
    place = tmp_path / "run" / "reviewsd"
    environ = {"REVIEWSD_ADMIN_SOCKET": str(place / "admin.sock")}
    daemon = Daemon(tmp_path, NO_PAGES, environ=environ, publishes=True)
    daemon.socket = place / "admin.sock"
    daemon.state.mkdir()
    daemon.state.chmod(0o777)
    with daemon:
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (daemon.state, place, daemon.socket)]
        assert [0o700, 0o755, 0o660] == modes
        for path in daemon.state.rglob("*"):
            assert path.is_symlink() or stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run it as root")
def test_root_is_warned_once(daemon: Daemon) -> None:
    """O12: it works, as in containers, but nothing needs it."""
    daemon.start()
    daemon.reload()
    assert 0 == daemon.stop()
    assert 1 == sum(f" warn  {AS_ROOT}" in line for line in daemon.log.read_text().splitlines())
    assert [] == daemon.unusual


# -- the end


@real_start
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_daemon_stops_on_a_signal_and_leaves_nothing(daemon: Daemon, sign: signal.Signals) -> None:
    daemon.start()
    assert 0 == daemon.stop(sign)
    assert not answers(daemon.port)
    assert not daemon.socket.exists()
    check_tidy(daemon)
    assert [] == daemon.unusual


def test_a_second_signal_ends_it_at_once(daemon: Daemon) -> None:
    """O4: even while an answer waits for a slow client: no buffers of the system hold it."""
    daemon.edit(description="x" * 8_000_000)
    daemon.start()
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", daemon.port))
        client.sendall(b"GET /reviews.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.recv(1)
        daemon.process.terminate()
        until(lambda: "STOPPING=1" in daemon.heard, "STOPPING=1")
        until(lambda: not answers(daemon.port), "no more connections")
        assert daemon.process.poll() is None
        daemon.process.terminate()
        assert -signal.SIGTERM == daemon.process.wait(60)


def test_stopped_during_the_first_publication_it_ends_at_once(new_daemon: Daemon) -> None:
    """The stop does not wait until all reviews of a large business are read."""
    daemon = new_daemon
    daemon.launch()
    child = hold_publication(daemon)
    assert 0 == daemon.stop()
    assert b"" == command_of(child)
    assert "READY=1" not in daemon.heard
    assert "STOPPING=1" == daemon.heard[-1]
    assert [] == daemon.unusual
    assert [] == list((daemon.state).glob("snapshots/*"))


def test_stopped_while_the_start_waits_for_the_hub_it_ends_at_once(tmp_path: Path) -> None:
    """The hub waits for the least time between two versions (H9), the start for the hub."""
    with Daemon(tmp_path, NO_PAGES + "hub: {min_interval: 300}\n") as daemon:
        assert 0 == daemon.stop()
        write_data(daemon.data, reviews=30)
        daemon.launch()
        until(daemon.socket.exists, "the admin socket")  # sooner than reviewsctl could ask it
        assert "READY=1" not in daemon.heard
        assert 0 == daemon.stop()
        assert [] == daemon.unusual


def test_stopped_during_a_publication_it_takes_the_process_along(daemon: Daemon) -> None:
    daemon.start()
    write_data(daemon.data, reviews=3_000)
    until(lambda: [*daemon.state.glob("snapshots/.*")], "a publication that writes")
    (child,) = publishing(daemon)
    os.kill(child, signal.SIGSTOP)
    assert 0 == daemon.stop()
    assert b"" == command_of(child)
    assert "Traceback" not in daemon.log.read_text()
    daemon.start()
    until(lambda: 3_000 == daemon.status()["snapshot"]["review_count"], "the new data")
    check_tidy(daemon)


def test_a_publication_does_not_outlive_a_killed_daemon_for_long(daemon: Daemon) -> None:
    """Meanwhile it holds neither port nor lock (D7): the next daemon can start, beside the old socket (A4)."""
    daemon.start()
    daemon.edit(name="Edited")
    child = hold_publication(daemon)
    daemon.stop(signal.SIGKILL)
    assert daemon.socket.is_socket()
    assert not answers(daemon.port)
    with (daemon.state / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert command_of(child) != b""
    os.kill(child, signal.SIGCONT)
    until(lambda: command_of(child) == b"", "the end of the publication")
    daemon.start()
    until(  # a start waits for new data only so long
        lambda: "Edited" == daemon.get("/reviews.json").json()["business"]["name"], "the new data"
    )
    assert 0 == daemon.stop()
    check_tidy(daemon)


# -- command line


def test_check_of_what_is_wrong(daemon: Daemon) -> None:
    broken_data(daemon)
    reason = r"reviewsd: \S+/reviews\.json:\d+:\d+: \$\.reviews\[\d+\]\.rating \(id "
    done = run("--check", "--config", str(daemon.config))
    assert (78, "") == (done.returncode, done.stdout)
    assert re.match(reason, done.stderr)


def test_configuration_is_named_by_its_folder_too(daemon: Daemon) -> None:
    """``shop`` instead of ``shop/reviewsd.yaml`` said that it is a directory, or has no data_dir."""
    named = daemon.config.with_name("reviewsd.yaml")
    daemon.config.replace(named)
    done = run("--check", "--config", str(named.parent))
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("configuration and data are valid: 122 reviews, insights ")


def test_version_and_help() -> None:
    assert f"reviewsd {version('reviewsd')}\n" == run("--version").stdout
    help_ = run("--help")
    assert 0 == help_.returncode
    for word in ("--config FILE", "--check", "--demo", "$REVIEWSD_CONFIG", "reviewsctl"):
        assert word in help_.stdout


@pytest.mark.parametrize("arguments", [["--nope"], ["serve"], ["--check", "--demo"], ["--config"]])
def test_a_wrong_command_line_is_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert 2 == done.returncode
    assert done.stderr.startswith("usage: reviewsd")


# -- sockets handed over by systemd


@contextmanager
def handing_over(daemon: Daemon) -> Iterator[None]:
    """Give a daemon both sockets as the socket units make them."""
    with socket.create_server(("127.0.0.1", 0)) as public, socket.socket(socket.AF_UNIX) as admin:
        admin.bind(str(daemon.socket))
        daemon.socket.chmod(0o660)
        admin.listen()
        daemon.handed_over = {"http": public, "admin": admin}
        yield


def test_sockets_of_systemd_are_served_and_stay(tmp_path: Path) -> None:
    """O5, O14: what the socket units made is theirs, and survives the service."""
    daemon = Daemon(tmp_path, f'{NO_PAGES}listen: ["systemd:name=http"]\n')
    with handing_over(daemon):
        daemon.start()
        inode = daemon.socket.stat().st_ino
        assert 200 == daemon.get("/reviews.json").status
        assert 0 == daemon.stop()
    assert (inode, 0o660) == (
        daemon.socket.stat().st_ino,
        stat.S_IMODE(daemon.socket.stat().st_mode),
    )
    assert "Traceback" not in daemon.log.read_text()


@real_start
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start it as another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_socket_of_root_is_served_by_another_user(tmp_path: Path) -> None:
    """The admin socket's unit makes it root's, with the mode 0660; the daemon is never root."""
    daemon = Daemon(tmp_path, f'{NO_PAGES}listen: ["systemd:name=http"]\n')
    as_nobody = [
        *(str(shutil.which("setpriv")), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        # it may use files of root, such as the checkout, and still not change their modes
        *("--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
    ]
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    with handing_over(daemon):
        daemon.launch(as_nobody)
        daemon.wait_ready()
        facts = daemon.socket.stat()
        assert (0, 0o660) == (facts.st_uid, stat.S_IMODE(facts.st_mode))
        assert 200 == daemon.get("/reviews.json").status
        assert 0 == daemon.stop()


def test_a_hangup_during_the_start_is_no_end_and_no_ready(new_daemon: Daemon) -> None:
    """Left alone, SIGHUP would kill a daemon that is still publishing its first data."""
    daemon = new_daemon
    daemon.launch()
    child = hold_publication(daemon)
    daemon.process.send_signal(signal.SIGHUP)
    os.kill(child, signal.SIGCONT)
    daemon.wait_ready()
    assert 200 == daemon.get("/healthz").status
    assert "RELOADING=1" not in "".join(daemon.heard)


def test_start_says_where_it_listens(daemon: Daemon) -> None:
    daemon.start()
    line = f"serving https://reviews.example.com, listening on tcp:127.0.0.1:{daemon.port}"
    until(lambda: line in daemon.log.read_text(), "where it listens")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_next_to_nothing(option: str) -> None:
    """The daemon's own modules take half a second."""
    done = run_program([sys.executable, "-X", "importtime", "-m", "reviewsd", option], check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert imported.isdisjoint({"twisted", "msgspec", "yaml", "reviewsd.app"})


def test_a_state_directory_that_cannot_be_written_is_a_sentence(daemon: Daemon) -> None:
    """A full disk is imitated by a limit of no bytes for a file."""
    daemon.launch(before=["sh", "-c", '(ulimit -f 0; exec "$@") 2>&1 | cat', "sh"])
    daemon.process.wait(30)
    log = daemon.log.read_text()
    assert f"reviewsd: state_dir {daemon.state} cannot be written: File too large" in log
    assert "Traceback" not in log
