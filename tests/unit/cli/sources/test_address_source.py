"""Sources of the type ``url``: the rules of the wire (sources.md 4), over real sockets."""

import datetime
import gzip
import json
import re
import socket
from pathlib import Path

import pytest

from reviewsctl.sources import report
from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.run import Outcome
from reviewsctl.sources.wire import PAUSES, Wire
from tests.support.source_stub import Asked, Stub, response
from tests.support.sources import START, Business, table

HOUR = datetime.timedelta(hours=1)
TOKEN, HUSH = "Bearer s3cret-t0ken", "qu3ry-t0ken"


def section(url: str, more: str = "allow_private: true") -> str:
    return (
        f"  - name: portal\n    type: url\n    url: {url}/r.csv?key={HUSH}\n    gone: 1\n"
        f"    header_file: portal.header\n    {more}\n"
        "    import: {verified: true, source: shop, name: Harbor}\n"
    )


@pytest.fixture
def business(tmp_path: Path, stub: Stub) -> Business:
    header = tmp_path / "portal.header"
    header.write_text(f"Authorization: {TOKEN}\n")
    header.chmod(0o600)
    return Business(tmp_path, section(stub.url))


def synced(business: Business, *, full: bool = False) -> Outcome:
    (outcome,) = business.sync(full=full)
    lines = report.lines(outcome, 0, 0, dry_run=False)
    outputs = [json.dumps(report.document(outcome)), *lines]
    files = [file for file in business.folder.rglob("*") if file.is_file()]
    copies = [file for file in files if file.name not in {"reviewsd.yaml", "portal.header"}]
    for content in (*map(str.encode, outputs), *(file.read_bytes() for file in copies)):
        assert HUSH.encode() not in content
        assert b"s3cret" not in content
    assert [] == list((business.folder / "state" / "spool").iterdir())
    return outcome


def test_file_is_fetched_with_its_header(business: Business, stub: Stub) -> None:
    stub.answer = lambda _: response(table("ab"))
    outcome = synced(business)
    assert ("ok", 2) == (outcome.state.state, outcome.state.reviews)
    (asked,) = stub.asked
    assert ("GET", f"/r.csv?key={HUSH}") == (asked.method, asked.target)
    assert TOKEN == asked.headers["authorization"]
    assert "cookie" not in asked.headers
    assert ["Ann a", "Ann b"] == business.authors


def test_unchanged_file_is_not_sent_again(business: Business, stub: Stub) -> None:
    def answer(asked: Asked) -> bytes:
        is_known = asked.headers.get("if-none-match") == '"1"'
        return response(status=304) if is_known else response(table("ab"), ETag='"1"')

    stub.answer = answer
    synced(business)
    assert (synced(business)).is_unchanged
    assert not (synced(business, full=True)).is_unchanged


def test_file_without_validators_is_compared(business: Business, stub: Stub) -> None:
    stub.answer = lambda _: response(table("ab"))
    synced(business)
    assert (synced(business)).is_unchanged


@pytest.mark.parametrize(
    ("status", "state", "tries"),
    [
        *((status, "failed", 5) for status in (408, 425, 429, 500, 503)),
        *((status, "stopped", 1) for status in (401, 403)),
        *((status, "failed", 1) for status in (400, 404)),
    ],
)
def test_only_a_passing_fault_is_tried_again(
    business: Business, stub: Stub, status: int, state: str, tries: int
) -> None:
    stub.answer = lambda _: response(HUSH, status)
    outcome = synced(business)
    assert (state, tries) == (outcome.state.state, len(stub.asked))
    host = stub.url.removeprefix("http://")
    assert (f"{status} from {host}, tried 5 times" == outcome.state.detail) == (tries > 1)
    pauses = business.pauses
    assert tries - 1 == len(pauses)
    expected = PAUSES[: tries - 1]
    assert all(p / 2 <= pause <= p * 1.5 for p, pause in zip(expected, pauses, strict=True))


def test_each_pause_is_told(business: Business, stub: Stub) -> None:
    """Else a sync by hand looks hung for minutes."""
    answers = [response(status=503, Retry_After="120"), response(status=500), response(table("a"))]
    stub.answer = lambda _: answers.pop(0)
    synced(business)
    host = stub.url.removeprefix("http://")
    first, then, second = business.told
    assert "reading portal ..." == first
    assert f"503 from {host}; tried again in 120 s (2 of 5), Ctrl-C ends" == then
    assert re.fullmatch(rf"500 from {host}; tried again in \d+ s \(3 of 5\), Ctrl-C ends", second)


@pytest.mark.parametrize(
    ("header", "least"),
    [
        ("300", 300),
        ("86400", 600),
        ("Tue, 01 Jan 2030 00:05:00 GMT", 300),
        ("Tue, 01 Jan 2030 00:05:00 -0000", 300),
        ("soon", 1),
        ("9" * 400, 600),
    ],
)
def test_retry_after_is_kept_up_to_ten_minutes(
    business: Business, stub: Stub, header: str, least: int
) -> None:
    answers = [response(status=503, Retry_After=header), response(table("ab"))]
    stub.answer = lambda _: answers.pop(0)
    assert "ok" == (synced(business)).state.state
    (pause,) = business.pauses
    assert least == pause or (least == 1 and pause <= 3)


def test_body_that_is_cut_is_fetched_again(business: Business, stub: Stub) -> None:
    answers = [response(table("ab"), cut=5), response(table("abc"))]
    stub.answer = lambda _: answers.pop(0)
    assert 3 == (synced(business)).state.reviews


def test_international_name_is_sent_in_ascii(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    port = stub.url.rpartition(":")[2]
    result = socket.getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: result)
    wire = Wire(allow_private=True, requests_left=1, now=lambda: START)
    wire.request("GET", f"http://žal.example:{port}/ä%20b?q=ü#part", {})
    (asked,) = stub.asked
    assert f"xn--al-1va.example:{port}" == asked.headers["host"]
    assert "/%C3%A4%20b?q=%C3%BC" == asked.target


def test_silent_server_is_tried_five_times(stub: Stub) -> None:
    stub.answer = lambda _: None
    pauses: list[float] = []
    wire = Wire(
        allow_private=True,
        requests_left=100,
        now=lambda: START,
        sleep=pauses.append,
        idle_seconds=0.05,
    )
    with pytest.raises(ReadFailedError, match=r"no answer from .* within 0.05 s, tried 5 times"):
        wire.request("GET", stub.url, {})
    assert (5, 4) == (wire.requests, len(pauses))


@pytest.mark.parametrize("page", ["<!DOCTYPE html><h1>Log in", " \n<HTML><body>", "\ufeff<html>"])
def test_web_page_is_never_a_read(business: Business, stub: Stub, page: str) -> None:
    stub.answer = lambda _: response(table("ab"))
    synced(business)
    stub.answer = lambda _: response(page)
    outcome = synced(business)
    assert "failed" == outcome.state.state
    assert "a web page came" in outcome.state.detail
    assert 2 == len(business.authors)


def test_refusal_without_a_header_asks_for_one(business: Business, stub: Stub) -> None:
    stub.answer = lambda _: response(status=401)
    assert "Put a new one into the file that header_file names." == business.state().remedy
    business.configure(section(stub.url).replace("    header_file: portal.header\n", ""))
    assert "The source has no header_file: name a file" in business.state().remedy


def test_empty_answer_is_named_by_its_host(business: Business, stub: Stub) -> None:
    stub.answer = lambda _: response("")
    host = stub.url.removeprefix("http://")
    assert f"the answer of {host} is empty" == synced(business).state.detail


def test_tries_by_hand_do_not_postpone_the_next_run(business: Business, stub: Stub) -> None:
    """Who looks for the reason of a fault runs it several times within a minute."""
    stub.answer = lambda _: response(status=404)
    by_hand = [business.state() for _ in range(4)]
    assert [(1, business.now + HOUR)] * 4 == [(item.failures, item.next_at) for item in by_hand]
    business.now += HOUR
    (outcome,) = business.sync(due=True)
    assert (2, business.now + 2 * HOUR) == (outcome.state.failures, outcome.state.next_at)
    business.now += 3 * HOUR
    assert business.now + 2 * HOUR == business.state().next_at, "no timer runs"


def test_first_failure_of_a_timer_is_kept_until_a_read(business: Business, stub: Stub) -> None:
    stub.answer = lambda _: response(status=404)
    assert business.state().failing_since is None, "a person has seen it fail"
    business.now += HOUR
    began = business.now
    business.sync(due=True)
    business.now += datetime.timedelta(days=2)
    assert began == business.state().failing_since
    stub.answer = lambda _: response(table("ab"))
    assert business.state().failing_since is None


def test_failure_of_a_source_ends_when_it_is_disabled(business: Business, stub: Stub) -> None:
    """Else a day later a message reports a fault that its operator has dealt with."""
    stub.answer = lambda _: response(status=404)
    business.sync(due=True)
    business.configure(f"{business.sources}    enabled: false\n")
    business.sync(due=True, dry_run=True)
    assert "failing_since" in business.states["portal"]
    business.sync(due=True)
    assert "failing_since" not in business.states["portal"]


def test_redirect_at_the_same_origin_keeps_the_header(business: Business, stub: Stub) -> None:
    stub.answer = lambda asked: (
        response(table("ab")) if asked.path == "/b" else response(status=302, Location="/b")
    )
    assert "ok" == (synced(business)).state.state
    assert [TOKEN, TOKEN] == [asked.headers.get("authorization") for asked in stub.asked]


def test_one_redirect_elsewhere_has_no_header(business: Business, stub: Stub) -> None:
    with Stub() as elsewhere:
        stub.answer = lambda _: response(status=307, Location=f"{elsewhere.url}/x?key=1")
        elsewhere.answer = lambda _: response(table("ab"))
        assert "ok" == (synced(business)).state.state
        assert [None] == [asked.headers.get("authorization") for asked in elsewhere.asked]
        elsewhere.answer = lambda _: response(status=302, Location=f"{stub.url}/r.csv")
        outcome = synced(business, full=True)
        assert "stopped" == outcome.state.state
        assert "redirects to" in outcome.state.detail


@pytest.mark.parametrize(
    "target",
    ["/r.csv", "ftp://127.0.0.1/", "file:///etc/passwd", "http://[", "http://127.0.0.1:99999/"],
)
def test_redirect_to_nowhere_stops_the_source(business: Business, stub: Stub, target: str) -> None:
    stub.answer = lambda _: response(status=302, Location=target)
    assert "stopped" == (synced(business)).state.state


def test_archive_that_unpacks_to_too_much_is_refused(business: Business, stub: Stub) -> None:
    bomb = gzip.compress(b"0" * 8_000_000)
    stub.answer = lambda _: response(bomb, Content_Encoding="gzip")
    assert "more than 40 times its size" in (synced(business)).state.detail


def test_compressed_file_is_unpacked(business: Business, stub: Stub) -> None:
    content = gzip.compress(table("ab").encode())
    stub.answer = lambda _: response(content, Content_Encoding="gzip")
    assert 2 == (synced(business)).state.reviews


@pytest.mark.parametrize(
    "content", [gzip.compress(b"rating", mtime=0)[:-9], b"no gzip"], ids=["cut", "bad"]
)
def test_damaged_compressed_file_is_no_read(business: Business, stub: Stub, content: bytes) -> None:
    """A truncated table would remove all other reviews."""
    stub.answer = lambda _: response(content, Content_Encoding="gzip")
    state = (synced(business)).state
    assert ("failed", 0) == (state.state, state.reviews)
    assert "the connection to 127.0.0.1" in state.detail


def test_private_address_is_dialed_only_where_allowed(business: Business, stub: Stub) -> None:
    url = stub.url.replace("http:", "https:")
    business.configure(section(url, "enabled: true"))
    outcome = synced(business)
    assert "stopped" == outcome.state.state
    assert "is not dialed (loopback)" in outcome.state.detail
    assert [] == stub.asked


def test_metadata_address_is_never_dialed(business: Business) -> None:
    business.configure(section("http://169.254.169.254"))
    assert "is not dialed (link-local)" in (synced(business)).state.detail


def test_server_without_a_trusted_certificate_is_not_asked(business: Business, stub: Stub) -> None:
    business.configure(section(stub.url.replace("http:", "https:")))
    stub.answer = lambda _: b"HTTP/1.1 200 OK\r\n\r\n"
    assert "failed" == (synced(business)).state.state
    assert [] == stub.asked


def test_requests_of_a_day_are_bounded(business: Business, stub: Stub) -> None:
    business.configure(section(stub.url, "allow_private: true\n    requests_per_day: 10"))
    stub.answer = lambda _: response(status=503)
    for _ in range(3):
        outcome = synced(business)
    assert 10 == len(stub.asked)
    assert "0 of requests_per_day are left" in outcome.state.detail


@pytest.mark.parametrize(
    ("content", "mode", "detail"),
    [
        (f"Authorization: {TOKEN}", 0o644, "may be read by others"),
        (TOKEN.replace(":", ""), 0o600, "header_file has no header"),
        ("A: b\nX: s3cret", 0o600, "header_file has no header"),
        ("", 0o600, "is empty"),
    ],
)
def test_header_file_is_refused(business: Business, content: str, mode: int, detail: str) -> None:
    header = business.folder / "portal.header"
    header.write_text(content)
    header.chmod(mode)
    (outcome,) = business.sync()
    assert "stopped" == outcome.state.state
    assert detail in outcome.state.detail
    assert "s3cret" not in outcome.state.detail + outcome.state.remedy


def test_systemd_credential_replaces_file(business: Business, stub: Stub, tmp_path: Path) -> None:
    business.configure(section(stub.url).replace("    header_file: portal.header\n", ""))
    credential = tmp_path / "sources_portal.header"
    credential.write_text(f"X-Key: {TOKEN}")
    credential.chmod(0o400)
    business.environ["CREDENTIALS_DIRECTORY"] = str(tmp_path)
    stub.answer = lambda _: response(table("ab"))
    (outcome,) = business.sync()
    assert "ok" == outcome.state.state
    assert TOKEN == stub.asked[0].headers["x-key"]
