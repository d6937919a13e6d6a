"""``reviewsctl doctor``: each test on its own, and the command against real listeners."""

import http.server
import json
import os
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from reviewsctl.daemon.errors import Problem, Refused, Unreachable
from reviewsctl.doctor import offline, public, running
from reviewsctl.doctor.verdict import Diagnosis, Verdict
from reviewsd.api.diagnostic import Diagnostic
from reviewsd.api.files import CheckReport, Facts
from reviewsd.api.hub import HubState
from reviewsd.api.status import Status
from tests.support.authority import authority
from tests.support.commands import reviewsctl
from tests.unit.cli.test_main import DEGRADED, STATUS

OK, WARN, FAIL, SKIP = Verdict.OK, Verdict.WARN, Verdict.FAIL, Verdict.SKIP
GOOD = msgspec.convert(STATUS, Status)
GONE = Unreachable("it is not running: there is no /s", "Start it")


def report(data: Path | None = None, **members: object) -> CheckReport:
    empty = CheckReport(
        config="/etc/r.yaml",
        data_dir=None if data is None else str(data),
        problems=(),
        problem_count=0,
        warnings=(),
        warning_count=0,
        facts=None,
    )
    return msgspec.structs.replace(empty, **members)


NO_FACTS = Facts(
    business="B",
    reviews=0,
    first=None,
    last=None,
    average=None,
    stars={},
    insights=False,
    analysed=0,
    uncovered=0,
    made=True,
)


def remark(file: str) -> Diagnostic:
    return Diagnostic(file=file, reason="r", lines=(f"{file}:1:1: r",))


@pytest.fixture
def data() -> Iterator[Path]:
    """Where others may pass: pytest's own folders are closed to them."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "data"
        folder.mkdir()
        folder.chmod(0o755)
        (folder / "reviews.json").write_text("{}")
        (folder / "reviews.json").chmod(0o644)
        yield folder


# --- the daemon


def test_a_daemon_that_answers() -> None:
    assert Diagnosis("admin socket", OK, "reviewsd 0.1.0 answers on /s") == running.socket(
        GOOD, Path("/s"), "0.1.0"
    )
    assert WARN is running.socket(GOOD, Path("/s"), "0.2.0").verdict
    assert OK is running.socket(GOOD, Path("/s"), None).verdict


def test_a_daemon_that_does_not() -> None:
    found = running.socket(GONE, Path("/s"), None)
    assert Diagnosis("admin socket", FAIL, "it is not running: there is no /s", "Start it") == found
    refused = Refused(Problem(title="Draining"), 503)
    assert "Draining" == running.socket(refused, Path("/s"), None).said
    for test in (running.serving, running.hub):
        assert SKIP is test(GONE).verdict
    assert SKIP is running.same_configuration(GONE, "", "").verdict


def test_what_is_served() -> None:
    assert "120 reviews of /srv/reviews" == running.serving(GOOD).said
    found = running.serving(msgspec.convert(DEGRADED, Status))
    assert FAIL is found.verdict
    assert found.said.startswith("120 reviews, but not the newest: reviews.json: $.reviews[1]")


HUB = {
    "paused": False,
    "active": 7,
    "pending": 0,
    "due": 2,
    "in_flight": 0,
    "oldest_due_at": None,
    "blocks": 0,
    "opened_networks": (),
    "store": "ok",
}


@pytest.mark.parametrize(
    ("members", "verdict", "said"),
    [
        ({}, OK, "7 subscriptions, 2 of them behind"),
        ({"paused": True}, WARN, "it is paused, nothing is sent"),
        ({"store": "disk full"}, FAIL, "the store cannot be used: disk full"),
    ],
)
def test_the_hub(members: dict[str, object], verdict: Verdict, said: str) -> None:
    hub = msgspec.convert({**HUB, **members}, HubState)
    found = running.hub(msgspec.structs.replace(GOOD, hub=hub))
    assert (verdict, said) == (found.verdict, found.said)


def test_whether_the_file_is_in_effect() -> None:
    def of(base_url: str, data_dir: str) -> Verdict:
        return running.same_configuration(GOOD, base_url, data_dir).verdict

    assert OK is of("https://reviews.example.com", "/srv/reviews")
    assert WARN is of("https://other.example.com", "/srv/reviews")
    assert WARN is of("https://reviews.example.com", "/srv/other")


def program(folder: Path, name: str, says: str, code: int = 0) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\nexit {code}\n")
    path.chmod(0o755)


@pytest.fixture
def booted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that runs systemd, with programs of ours in its place."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(running, "BOOTED", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("says", "verdict", "said"),
    [
        ("LoadState=not-found", WARN, "there is no reviewsd.service"),
        (
            "ActiveState=failed\nSubState=failed\nResult=exit-code",
            FAIL,
            "is failed (failed): exit-code",
        ),
        ("ActiveState=inactive\nSubState=dead", WARN, "is inactive (dead)"),
        ("ActiveState=active\nSubState=running\nNRestarts=9", WARN, "restarted 9 times"),
        (
            "ActiveState=active\nSubState=running\nUnitFileState=disabled",
            WARN,
            "not after a reboot",
        ),
        ("ActiveState=active\nSubState=running\nNRestarts=0", OK, "is active (running)"),
    ],
)
def test_how_systemd_sees_it(booted: Path, says: str, verdict: Verdict, said: str) -> None:
    program(booted, "systemctl", says)
    found = running.systemd()
    assert verdict is found.verdict
    assert said in found.said


def test_what_sets_the_clock(booted: Path) -> None:
    program(booted, "timedatectl", "yes")
    assert OK is running.synchronised().verdict
    program(booted, "timedatectl", "no")
    assert WARN is running.synchronised().verdict
    for name in ("timedatectl", "systemctl"):
        program(booted, name, "", code=1)
    assert [SKIP, SKIP] == [running.synchronised().verdict, running.systemd().verdict]


def test_without_systemd_there_is_nothing_to_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BOOTED", Path("/nonexistent"))
    assert [SKIP, SKIP] == [running.synchronised().verdict, running.systemd().verdict]


# --- offline


def test_the_configuration_and_the_data_are_told_apart() -> None:
    both = report(
        Path("/srv"), problems=(remark("/etc/r.yaml"), remark("/srv/reviews.json")), problem_count=2
    )
    assert "/etc/r.yaml:1:1: r" == offline.configuration(both).said
    assert "/srv/reviews.json:1:1: r" == offline.data(both).said
    assert [OK, OK] == [
        test(report(Path("/srv"))).verdict for test in (offline.configuration, offline.data)
    ]
    two = report(problems=(remark("/etc/r.yaml"),) * 2, problem_count=2)
    assert "/etc/r.yaml:1:1: r (and 1 more)" == offline.configuration(two).said


def test_warnings_are_passed_on() -> None:
    config = report(Path("/srv"), warnings=(remark("/etc/r.yaml"),), warning_count=1)
    assert WARN is offline.configuration(config).verdict
    odd = report(Path("/srv"), warnings=(remark("/srv/reviews.json"),), warning_count=1)
    assert [OK, WARN] == [offline.configuration(odd).verdict, offline.data(odd).verdict]


def test_what_is_not_known_is_skipped() -> None:
    assert SKIP is offline.configuration(report(config=None)).verdict
    assert [SKIP, SKIP] == [offline.data(report()).verdict, offline.directory(report()).verdict]


@pytest.mark.parametrize(
    ("folder", "file", "verdict", "said"),
    [
        (0o755, 0o644, OK, "everybody may read it; files"),
        (0o777, 0o644, FAIL, "everybody may replace the files in it"),
        (0o1777, 0o644, OK, "everybody may read it"),
        (0o750, 0o644, WARN, "others may not read it"),
        (0o755, 0o640, WARN, "others may not read it"),
    ],
)
def test_who_may_read_and_replace_the_data(
    data: Path, folder: int, file: int, verdict: Verdict, said: str
) -> None:
    (data / "reviews.json").chmod(file)
    data.chmod(folder)
    found = offline.directory(report(data))
    assert verdict is found.verdict
    assert said in found.said


def test_a_closed_folder_on_the_way_to_the_data(data: Path) -> None:
    data.parent.chmod(0o700)
    found = offline.directory(report(data))
    assert (WARN, f"sudo chmod o+rx {data.parent}") == (found.verdict, found.remedy)
    assert f"others may not read what is in {data.parent}; the service has" in found.said
    # a daemon that serves it has proved that it may
    assert OK is offline.directory(report(data), served=True).verdict


def test_data_that_is_not_there(data: Path) -> None:
    found = offline.directory(report(data / "none"))
    assert (FAIL, f"there is no {data}/none") == (found.verdict, found.said)
    assert found.remedy.endswith(f"sudo mkdir -p {data}/none")


@pytest.mark.parametrize(
    ("reviews", "warnings", "said"),
    [
        (1, 0, "1 review, valid"),
        (2, 0, "2 reviews, valid"),
        (1, 1, "1 review, valid, with 1 warning"),
        (2, 3, "2 reviews, valid, with 3 warnings"),
    ],
)
def test_what_the_data_is(data: Path, reviews: int, warnings: int, said: str) -> None:
    facts = msgspec.structs.replace(NO_FACTS, reviews=reviews)
    found = offline.data(report(data, facts=facts, warning_count=warnings))
    assert (WARN if warnings else OK, said) == (found.verdict, found.said)
    broken = report(data, problems=(remark(f"{data}/reviews.json"),), problem_count=1)
    assert (FAIL, "All that is wrong: reviewsctl check") == (
        offline.data(broken).verdict,
        offline.data(broken).remedy,
    )


def test_data_may_be_behind_links(data: Path) -> None:
    link = data.with_name("link")
    link.symlink_to(data)
    assert "links, which are swapped" in offline.directory(report(link)).said
    assert FAIL is offline.directory(report(data / "none")).verdict


def test_a_full_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert OK is offline.disk(data / "not" / "yet", report(data)).verdict
    monkeypatch.setattr(offline, "_LITTLE", 2**60)
    found = offline.disk(data, report(data))
    assert FAIL is found.verdict
    assert "Make room: a change of the data needs up to 1,048,576.0 TiB." == found.remedy


def test_a_clock_that_cannot_be_right(data: Path) -> None:
    written = (data / "reviews.json").stat().st_mtime
    assert FAIL is offline.clock(report(data), 0.0).verdict
    assert OK is offline.clock(report(data), written).verdict
    assert OK is offline.clock(report(), written).verdict
    found = offline.clock(report(data), written - 60)
    assert WARN is found.verdict
    assert found.said.endswith("was written 60 s in the future")


# --- the public address

Answer = Callable[[str, str], tuple[int, dict[str, str]]]


def ours(base_url: str, path: str) -> tuple[int, dict[str, str]]:
    links = f'<{base_url}/api/feed.json>; rel="self", <{base_url}/api/websub/hub>; rel="hub"'
    return (405 if path == "/mcp" else 200), {"Link": links}


@contextmanager
def listening(answer: Answer, identity: Path | None = None) -> Iterator[str]:
    """An HTTP server; its address."""

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers = answer(address, self.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    scheme = "http"
    if identity is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(identity)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    address = f"{scheme}://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_our_own_answers_are_known_by_their_links() -> None:
    with listening(ours) as address:
        assert [OK, OK, WARN, WARN] == [
            test.verdict
            for test in (
                public.answers(address),
                public.agents(address),
                public.resolves(address),
                public.certificate(address, 0.0),
            )
        ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *_: (404, {}), "/api/feed.json is 404"),
        (lambda *_: (200, {}), 'rel="self" is missing, not'),
        (
            lambda _, path: ours("http://other", path),
            'rel="self" is http://other/api/feed.json, not',
        ),
    ],
)
def test_others_answers_are_known_too(answer: Answer, said: str) -> None:
    with listening(answer) as address:
        found = public.answers(address)
    assert FAIL is found.verdict
    assert said in found.said


@pytest.mark.parametrize(("status", "verdict"), [(405, OK), (403, FAIL), (421, FAIL), (502, FAIL)])
def test_agents_are_let_in(status: int, verdict: Verdict) -> None:
    with listening(lambda *_: (status, {})) as address:
        assert verdict is public.agents(address).verdict


def test_nobody_answers() -> None:
    with listening(ours) as address:
        pass
    assert [FAIL, SKIP] == [public.answers(address).verdict, public.agents(address).verdict]
    secure = address.replace("http", "https")
    assert "Connection refused" in public.certificate(secure, 0.0).said


def test_a_name_that_does_not_resolve() -> None:
    assert FAIL is public.resolves("https://reviews.invalid").verdict


def test_a_certificate_that_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = authority().issue("localhost").write_with_key(tmp_path / "server.pem")
    ca = authority().identity.write(tmp_path / "ca.pem")
    with listening(ours, identity) as address:
        assert FAIL is public.certificate(address, 0.0).verdict
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        found = public.certificate(address, 0.0)
        assert OK is public.answers(address).verdict
        assert WARN is public.certificate(address, time.time() + 3650 * 86_400).verdict
    assert OK is found.verdict
    assert found.said.startswith("TLSv1.3, the certificate of localhost ends in ")


LOOPBACK = ("127.0.0.0/8", "::1/128")


@pytest.mark.parametrize(
    ("base_url", "listen", "trusted", "verdict"),
    [
        ("http://localhost:8080", ("tcp:8080",), LOOPBACK, OK),
        ("https://r.example.com", ("ssl:443:privateKey=k",), LOOPBACK, OK),
        ("https://r.example.com", ("tcp:8080:interface=127.0.0.1",), LOOPBACK, OK),
        ("https://r.example.com", ("tcp:127.0.0.1:8080",), LOOPBACK, OK),
        ("https://r.example.com", ("tcp:[::1]:8080",), LOOPBACK, OK),
        ("https://r.example.com", (r"tcp6:8080:interface=\:\:1",), LOOPBACK, OK),
        ("https://r.example.com", ("tcp:0.0.0.0:8080",), LOOPBACK, WARN),
        ("https://r.example.com", ("tcp:[::]:8080",), LOOPBACK, WARN),
        ("https://r.example.com", ("tcp:8080",), LOOPBACK, WARN),
        ("https://r.example.com", ("tcp:8080",), ("10.0.0.0/8",), OK),
        ("https://r.example.com", ("systemd:name=http",), (), OK),
    ],
)
def test_whether_clients_can_be_told_apart(
    base_url: str, listen: tuple[str, ...], trusted: tuple[str, ...], verdict: Verdict
) -> None:
    assert verdict is public.proxy(base_url, listen, trusted).verdict


@pytest.mark.parametrize(
    ("listen", "running", "verdict"),
    [
        # a daemon that answers knows the address of an inherited socket, and of a name
        ("systemd:name=http", "tcp:0.0.0.0:8080", WARN),
        ("systemd:name=http", "tcp:127.0.0.1:8080", OK),
        ("tcp:8080:interface=127.0.0.1", "tcp:127.0.0.1:8080", OK),
        # but it does not tell how it speaks there
        ("haproxy:tcp:8080", "tcp:0.0.0.0:8080", OK),
        ("ssl:443:privateKey=k", "tcp:0.0.0.0:443", OK),
    ],
)
def test_a_daemon_that_runs_tells_its_addresses(
    listen: str, running: str, verdict: Verdict
) -> None:
    base_url = "https://r.example.com"
    assert verdict is public.proxy(base_url, (listen,), LOOPBACK, (running,)).verdict


def test_whether_https_gets_out() -> None:
    assert WARN is public.outbound("outside.invalid").verdict


# --- the command


@pytest.fixture
def shop(environment: dict[str, str], tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    assert 0 == reviewsctl(environment, "init", str(folder)).returncode
    environment["REVIEWSD_CONFIG"] = str(folder / "reviewsd.yaml")
    del environment["REVIEWSD_ADMIN_SOCKET"]
    return folder


def test_a_line_for_each_test_and_a_remedy_for_each_failure(
    environment: dict[str, str], shop: Path
) -> None:
    done = reviewsctl(environment, "--socket", str(shop / "s"), "doctor", "--offline")
    assert (5, "") == (done.returncode, done.stderr)
    first, second, third, *_ = done.stdout.splitlines()
    assert f"fail  admin socket    it is not running: there is no {shop}/s" == first
    assert second.startswith(f"{'':<22}Start it: ")
    assert f"ok    configuration   {shop}/reviewsd.yaml is valid" == third
    assert "address" not in done.stdout


def test_programs_get_all_of_it(environment: dict[str, str], shop: Path) -> None:
    (shop / "reviewsd.yaml").write_text("base_url: x")
    done = reviewsctl(environment, "doctor", "--json", "--offline")
    found = json.loads(done.stdout)
    assert (5, False) == (done.returncode, found["ok"])
    verdicts = {each["name"]: each["verdict"] for each in found["tests"]}
    assert ("fail", "skip") == (verdicts["configuration"], verdicts["data"])
    assert [] == [
        each for each in found["tests"] if each["verdict"] == "fail" and not each["remedy"]
    ]


def test_only_failures_when_quiet(environment: dict[str, str], shop: Path) -> None:
    done = reviewsctl(environment, "doctor", "--quiet", "--offline")
    assert {"fail  ", "      "} == {line[:6] for line in done.stdout.splitlines()}


def test_the_address_is_tested(environment: dict[str, str], shop: Path) -> None:
    with listening(ours) as address:
        environment["REVIEWSD_BASE_URL"] = address
        done = reviewsctl(environment, "doctor", "--outbound", "outside.invalid")
    assert f"ok    answers         {address} is ours" in done.stdout
    assert "warn  outbound https  outside.invalid: " in done.stdout
