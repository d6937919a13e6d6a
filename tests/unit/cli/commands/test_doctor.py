"""``reviewsctl doctor``: each test on its own, and the command against real listeners."""

import json
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import pytest

from reviewsctl.daemon.errors import DaemonError, Refused, Unreachable
from reviewsctl.doctor import offline, public, running
from reviewsctl.doctor.verdict import Diagnosis, Verdict
from reviewsd.api.files import CheckReport, Diagnostic, EffectiveConfig, Facts, Setting
from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, instant
from reviewsd.api.status import Status
from tests.support import admin_fake
from tests.support.authority import authority
from tests.support.commands import Ctl
from tests.support.hub_answers import STATE
from tests.support.source_stub import Asked, Stub, response

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"
SKIP: Final = "skip"
GOOD = msgspec.convert(admin_fake.STATUS, Status)
GONE = Unreachable("it is not running: there is no /s", "Start it")


def report(data: Path | None = None, **members: object) -> CheckReport:
    empty = CheckReport(config="/etc/r.yaml", data_dir=None if data is None else str(data))
    return msgspec.structs.replace(empty, **members)


def effective(base_url: str, data_dir: str) -> EffectiveConfig:
    values = {"base_url": base_url, "data_dir": data_dir}
    settings = (Setting(key=key, value=value, origin="file") for key, value in values.items())
    return EffectiveConfig(file="/etc/r.yaml", settings=tuple(settings))


def remark(file: str) -> Diagnostic:
    return Diagnostic(file=file, reason="r", lines=(f"{file}:1:1: r",))


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory that other users can enter, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "data"
        folder.mkdir()
        folder.chmod(0o755)
        (folder / "reviews.json").write_text("{}")
        (folder / "reviews.json").chmod(0o644)
        yield folder


# --- owners


def test_files_of_the_owner_of_the_folder_are_good(data: Path) -> None:
    assert OK == offline.ownership(report(data)).verdict
    assert SKIP == offline.ownership(report(data / "nowhere")).verdict


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_file_of_another_user_is_named_with_its_remedy(data: Path) -> None:
    """An import by another user leaves a file that a sync can neither read nor replace."""
    (data / ".reviewsctl").mkdir()
    log = data / ".reviewsctl" / "imports.log"
    log.touch()
    (data / "insights.json").symlink_to("/etc/hostname")
    for path in (data, data / "reviews.json", data / ".reviewsctl"):
        os.chown(path, 65534, 65534)
    result = offline.ownership(report(data))
    assert WARN == result.verdict
    assert f"{log} belongs to root, the folder to nobody" == result.detail
    assert result.remedy.endswith(f"chown -h --reference={data} {log}")


# --- the daemon


INSTALLED = msgspec.structs.replace(GOOD, installed_at=instant(1_760_000_000))


@pytest.mark.parametrize(
    ("answer", "own", "installed_at", "verdict", "detail"),
    [
        (GOOD, "0.1.0", 0, OK, "reviewsd 0.1.0 answers on /s"),
        (GOOD, None, 0, OK, "reviewsd 0.1.0 answers on /s"),
        (GOOD, "0.2.0", 0, WARN, "the daemon is reviewsd 0.1.0, this is reviewsctl 0.2.0"),
        (INSTALLED, "0.1.0", 1_760_000_000.9, OK, "reviewsd 0.1.0 answers on /s"),
        (  # between two builds of one version, as a checkout makes them
            *(INSTALLED, "0.1.0", 1_760_003_600, WARN),
            "the daemon's program was installed 2025-10-09 08:53:20 UTC, this one 2025-10-09 09:53:20 UTC",
        ),
        (GONE, None, 0, FAIL, "it is not running: there is no /s"),
        (Refused("Draining", "", status=503), None, 0, FAIL, "draining"),
    ],
)
def test_daemon_is_compared_with_this_program(
    answer: Status | DaemonError,
    own: str | None,
    installed_at: float,
    verdict: Verdict,
    detail: str,
) -> None:
    diagnosis = running.socket(answer, Path("/s"), own, installed_at)
    assert (verdict, detail) == (diagnosis.verdict, diagnosis.detail)


def test_other_tests_of_a_daemon_that_does_not_answer_are_skipped() -> None:
    for test in (running.serving, running.hub):
        assert SKIP == test(GONE).verdict
    assert SKIP == running.same_configuration(GONE, effective("", "")).verdict


def test_serving_reports_count_and_refused_data() -> None:
    assert "120 reviews of /srv/reviews" == running.serving(GOOD).detail
    diagnosis = running.serving(msgspec.convert(admin_fake.DEGRADED, Status))
    assert FAIL == diagnosis.verdict
    assert diagnosis.detail.startswith(
        "120 reviews, but not the newest: reviews.json: $.reviews[1]"
    )


@pytest.mark.parametrize(
    ("members", "verdict", "detail"),
    [
        ({}, OK, "1,204 subscriptions, 12 of them behind"),
        ({"paused": True}, WARN, "it is paused, nothing is sent"),
        ({"store": "disk full"}, FAIL, "the store cannot be used: disk full"),
    ],
)
def test_hub_reports_its_state(members: dict[str, object], verdict: Verdict, detail: str) -> None:
    hub = msgspec.convert({**STATE, **members}, HubState)
    diagnosis = running.hub(msgspec.structs.replace(GOOD, hub=hub))
    assert (verdict, detail) == (diagnosis.verdict, diagnosis.detail)


IN_EFFECT = "the daemon uses it as it was at the last start or reload"


@pytest.mark.parametrize(
    ("members", "verdict", "detail"),
    [
        ({}, OK, IN_EFFECT),
        ({"config": ConfigChanges(applied=("crawlers",))}, OK, IN_EFFECT),
        (
            {"config": ConfigChanges(applied=("crawlers",), restart=("notify", "hub.store"))},
            *(WARN, "changed, and not in effect: notify, hub.store"),
        ),
        (
            {"config": ConfigChanges(problems=("/etc/r.yaml:3:1: notify: there is no x", "more"))},
            *(WARN, "at the last reload it had a fault: /etc/r.yaml:3:1: notify: there is no x"),
        ),
        (
            {"base_url": "https://other.example.com"},
            WARN,
            "base_url is https://reviews.example.com in the file and https://other.example.com in the daemon",
        ),
        (
            {"data": msgspec.structs.replace(GOOD.data, dir="/srv/other")},
            *(WARN, "data_dir is /srv/reviews in the file and /srv/other in the daemon"),
        ),
    ],
)
def test_configuration_that_is_not_in_effect_is_named_with_its_remedy(
    members: dict[str, object], verdict: Verdict, detail: str
) -> None:
    settings = effective("https://reviews.example.com", "/srv/reviews")
    diagnosis = running.same_configuration(msgspec.structs.replace(GOOD, **members), settings)
    assert (verdict, detail) == (diagnosis.verdict, diagnosis.detail)
    assert (verdict == WARN) == bool(diagnosis.remedy)


def program(folder: Path, name: str, output: str, code: int = 0) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {code}\n")
    path.chmod(0o755)


@pytest.fixture
def booted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that seems to run systemd; its programs are scripts in this folder."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for module in (running, offline):
        monkeypatch.setattr(module, "BOOTED", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("output", "verdict", "detail"),
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
def test_unit_state_is_reported(booted: Path, output: str, verdict: Verdict, detail: str) -> None:
    program(booted, "systemctl", output)
    diagnosis = running.systemd()
    assert verdict == diagnosis.verdict
    assert detail in diagnosis.detail


def test_time_service_is_asked_for_synchronization(booted: Path) -> None:
    for output, verdict in (("yes", OK), ("no", WARN)):
        program(booted, "timedatectl", output)
        assert verdict == offline.clock(report(), time.time()).verdict
    for name in ("timedatectl", "systemctl"):
        program(booted, name, "", code=1)
    assert [OK, SKIP] == [offline.clock(report(), time.time()).verdict, running.systemd().verdict]


def test_test_of_systemd_is_skipped_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BOOTED", Path("/nonexistent"))
    assert SKIP == running.systemd().verdict


# --- offline

CONFIG, REVIEWS = remark("/etc/r.yaml"), remark("/srv/reviews.json")
BOTH = report(Path("/srv"), problems=(CONFIG, REVIEWS))


def warned(diagnostic: Diagnostic) -> CheckReport:
    return report(Path("/srv"), warnings=(diagnostic,), warning_count=1)


def counted(reviews: int, warnings: int = 0) -> CheckReport:
    no_days = dict.fromkeys(("first", "last", "average"))
    numbers = {"reviews": reviews, "stars": {}, "analysed": 0, "uncovered": 0}
    about = {"business": "B", "insights": False, "made": True}
    facts = msgspec.convert({**no_days, **numbers, **about}, Facts)
    return report(Path("/srv"), facts=facts, warning_count=warnings)


@pytest.mark.parametrize(
    ("test", "checked", "verdict", "detail"),
    [
        (offline.configuration, report(config=None), SKIP, "there is none"),
        (offline.configuration, report(Path("/srv")), OK, "/etc/r.yaml is valid"),
        (offline.configuration, BOTH, FAIL, "/etc/r.yaml:1:1: r"),
        (offline.configuration, report(problems=(CONFIG,) * 2), FAIL, "/etc/r.yaml:1:1: r (and 1 "),
        (offline.configuration, warned(CONFIG), WARN, "/etc/r.yaml:1:1: r"),
        (offline.configuration, warned(REVIEWS), OK, "/etc/r.yaml is valid"),
        (offline.data, report(), SKIP, "the configuration does not say where it is"),
        (offline.data, BOTH, FAIL, "/srv/reviews.json:1:1: r"),
        (offline.data, warned(REVIEWS), WARN, "0 reviews, valid, with 1 warning"),
        (offline.data, counted(1), OK, "1 review, valid"),
        (offline.data, counted(2), OK, "2 reviews, valid"),
        (offline.data, counted(2, warnings=3), WARN, "2 reviews, valid, with 3 warnings"),
        (offline.notices, report(unread_addresses=("owner",)), SKIP, "the addresses of owner are"),
        (offline.directory, report(), SKIP, "the configuration does not say where it is"),
    ],
)
def test_report_of_check_is_summarized_for_configuration_and_data(
    test: Callable[[CheckReport], Diagnosis], checked: CheckReport, verdict: Verdict, detail: str
) -> None:
    diagnosis = test(checked)
    assert verdict == diagnosis.verdict
    assert diagnosis.detail.startswith(detail)
    assert (verdict in {WARN, FAIL}) == diagnosis.remedy.startswith("See ")


@pytest.mark.parametrize(
    ("folder", "file", "verdict", "detail"),
    [
        (0o755, 0o644, OK, "every user can read it"),
        (0o777, 0o644, FAIL, "every user can replace the files in it"),
        (0o1777, 0o644, OK, "every user can read it"),
        (0o750, 0o644, WARN, "cannot read it"),
        (0o755, 0o640, WARN, "cannot read it"),
    ],
)
def test_permissions_of_the_data_are_reported(
    data: Path, folder: int, file: int, verdict: Verdict, detail: str
) -> None:
    (data / "reviews.json").chmod(file)
    data.chmod(folder)
    diagnosis = offline.directory(report(data))
    assert verdict == diagnosis.verdict
    assert detail in diagnosis.detail


def test_closed_parent_folder_is_named(data: Path) -> None:
    data.parent.chmod(0o700)
    diagnosis = offline.directory(report(data))
    assert (WARN, f"sudo chmod o+rx {data.parent}") == (diagnosis.verdict, diagnosis.remedy)
    assert (
        f"other users, as that of the service, cannot read what is in {data.parent}"
        in diagnosis.detail
    )
    assert OK == offline.directory(report(data), served=True).verdict


def test_remedies_of_a_folder_can_be_pasted_into_a_shell(data: Path) -> None:
    folder = data.parent / "Anna's reviews & more"
    missing = offline.directory(report(folder))
    assert (FAIL, f"there is no {folder}") == (missing.verdict, missing.detail)
    assert missing.remedy.endswith(f"sudo {shlex.join(['mkdir', '-p', str(folder)])}")
    folder.mkdir()
    (folder / "reviews.json").touch(0o600)
    folder.chmod(0o750)
    commands = offline.directory(report(folder)).remedy
    files = str(folder / "reviews.json")
    assert ["sudo", "chmod", "o+rx", str(folder), "&&", "sudo", "chmod", "o+r", files] == (
        shlex.split(commands)
    )
    folder.chmod(0o757)
    assert ["sudo", "chmod", "o-w", str(folder)] == (
        shlex.split(offline.directory(report(folder)).remedy)
    )


def test_full_disk_fails(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert OK == offline.disk(data / "not" / "yet", report(data)).verdict
    monkeypatch.setattr(offline, "_MIN_FREE", 2**60)
    diagnosis = offline.disk(data, report(data))
    assert FAIL == diagnosis.verdict
    assert "Make room: a change of the data needs up to 1,048,576.0 TiB." == diagnosis.remedy


def test_clock_that_is_behind_the_data_is_reported(data: Path) -> None:
    file_text = (data / "reviews.json").stat().st_mtime
    assert OK == offline.clock(report(data), file_text).verdict
    assert OK == offline.clock(report(), file_text).verdict
    diagnosis = offline.clock(report(data), file_text - 60)
    assert WARN == diagnosis.verdict
    assert diagnosis.detail.endswith("was written 60 s in the future")


# --- the public address


@contextmanager
def listening(
    answer: Callable[[Asked], bytes] | None = None, identity: Path | None = None
) -> Iterator[str]:
    """Run a server that answers as this service does, or otherwise; yield its address."""
    with Stub("localhost", identity) as stub:
        stub.answer = answer or (lambda _: ours(stub.url))
        yield stub.url


def ours(base_url: str) -> bytes:
    links = f'<{base_url}/api/feed.json>; rel="self", <{base_url}/api/websub/hub>; rel="hub"'
    return response(Link=links)


def test_this_service_is_recognized_by_its_links() -> None:
    with listening() as address:
        assert [OK, WARN, WARN] == [
            test.verdict
            for test in (
                public.answers(address),
                public.resolves(address),
                public.certificate(address, 0.0),
            )
        ]


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (lambda _: response(status=404), "/api/feed.json is 404"),
        (lambda _: response(status=421), "/api/feed.json is 421"),
        (lambda _: response(), 'rel="self" is missing, not'),
        (lambda _: ours("http://other"), 'rel="self" is http://other/api/feed.json'),
    ],
)
def test_foreign_answer_at_base_url_fails(answer: Callable[[Asked], bytes], detail: str) -> None:
    with listening(answer) as address:
        diagnosis = public.answers(address)
    assert FAIL == diagnosis.verdict
    assert detail in diagnosis.detail


def test_refused_connection_is_reported() -> None:
    with listening() as address:
        pass
    assert FAIL == public.answers(address).verdict
    secure = address.replace("http", "https")
    assert "Connection refused" in public.certificate(secure, 0.0).detail


def test_unresolvable_name_fails() -> None:
    assert FAIL == public.resolves("https://reviews.invalid").verdict


def test_certificate_and_expiry_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = authority().issue("localhost").write_with_key(tmp_path / "server.pem")
    ca = authority().identity.write(tmp_path / "ca.pem")
    with listening(identity=identity) as address:
        untrusted = public.certificate(address, 0.0)
        assert FAIL == untrusted.verdict
        assert "of your own authority: SSL_CERT_FILE=ca.pem reviewsctl doctor" in untrusted.remedy
        assert SKIP == public.answers(address).verdict
        elsewhere = address.replace("localhost", "127.0.0.1")
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        diagnosis = public.certificate(address, 0.0)
        assert OK == public.answers(address).verdict
        assert WARN == public.certificate(address, time.time() + 3650 * 86_400).verdict
        assert "Get one for 127.0.0.1" in public.certificate(elsewhere, 0.0).remedy
    assert OK == diagnosis.verdict
    assert diagnosis.detail.startswith("TLSv1.3, the certificate of localhost ends in ")


LOOPBACK = ("127.0.0.0/8", "::1/128")


@pytest.mark.parametrize(
    ("base_url", "endpoints", "trusted", "verdict"),
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
        # the daemon knows the address of an inherited socket, and of a name
        ("https://r.example.com", ("systemd:name=http", "tcp:0.0.0.0:8080"), LOOPBACK, WARN),
        ("https://r.example.com", ("systemd:name=http", "tcp:127.0.0.1:8080"), LOOPBACK, OK),
        ("https://r.example.com", ("tcp:8080:interface=127.0.0.1", "tcp:[::1]:80"), LOOPBACK, OK),
        # TLS and the PROXY protocol show only in the configuration
        ("https://r.example.com", ("haproxy:tcp:8080", "tcp:0.0.0.0:8080"), LOOPBACK, OK),
        ("https://r.example.com", ("ssl:443:privateKey=k", "tcp:0.0.0.0:443"), LOOPBACK, OK),
    ],
)
def test_proxy_outside_the_trusted_networks_is_a_warning(
    base_url: str, endpoints: tuple[str, ...], trusted: tuple[str, ...], verdict: Verdict
) -> None:
    """The second endpoint is that of the running daemon."""
    listen, running = endpoints[:1], endpoints[1:]
    assert verdict == public.proxy(base_url, listen, trusted, running).verdict


def test_failing_outbound_connection_is_a_warning() -> None:
    assert WARN == public.outbound("outside.invalid").verdict


# --- the command


def test_each_test_prints_a_line_and_each_failure_a_remedy(ctl: Ctl, shop: Path) -> None:
    done = ctl("--socket", str(shop / "s"), "doctor", "--offline")
    assert (5, "") == (done.returncode, done.stderr)
    first, second, third, *_ = done.stdout.splitlines()
    assert f"fail  admin socket    it is not running: there is no {shop}/s" == first
    assert second.startswith(f"{'':<22}Start it: ")
    assert f"ok    configuration   {shop}/reviewsd.yaml is valid" == third
    assert "address" not in done.stdout


def test_json_has_every_test_and_each_failure_a_remedy(ctl: Ctl, shop: Path) -> None:
    (shop / "reviewsd.yaml").write_text("base_url: x")
    done = ctl("doctor", "--json", "--offline")
    document = json.loads(done.stdout)
    assert (5, False) == (done.returncode, document["ok"])
    tests = document["tests"]
    verdicts = {test["name"]: test["verdict"] for test in tests}
    assert ("fail", "skip") == (verdicts["configuration"], verdicts["data"])
    assert [] == [test for test in tests if test["verdict"] == "fail" and not test["remedy"]]


def test_quiet_prints_failures_alone(ctl: Ctl, shop: Path) -> None:
    done = ctl("doctor", "--quiet", "--offline")
    assert {"fail  ", "      "} == {line[:6] for line in done.stdout.splitlines()}


def test_public_address_is_tested(ctl: Ctl, shop: Path) -> None:
    with listening() as address:
        ctl.environment["REVIEWSD_BASE_URL"] = address
        done = ctl("doctor", "--outbound", "outside.invalid")
    assert f"ok    answers         this service answers at {address}" in done.stdout
    assert "warn  outbound https  outside.invalid: " in done.stdout
