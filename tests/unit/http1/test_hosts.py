"""Web origins that may send requests, and host names that are served (mcp.md 7, 2a-11, 2a-12; S12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.hosts import Hosts, Origins

BASE_URL = "https://reviews.example.com"
ORIGINS = Origins(BASE_URL, ["https://app.example.com:8443", "http://intranet.example"])


OWN, LOOPBACK, FOREIGN = (True, True), (True, False), (False, False)
"""Whether an origin or a name is allowed on loopback, and elsewhere."""


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (b"https://reviews.example.com", OWN),
        (b"https://reviews.example.com:443", OWN),
        (b"HTTPS://Reviews.Example.Com", OWN),
        (b"https://app.example.com:8443", OWN),
        (b"http://intranet.example:80", OWN),
        (b"http://reviews.example.com", FOREIGN),
        (b"https://reviews.example.com:8443", FOREIGN),
        (b"https://reviews.example.com.evil.example", FOREIGN),
        (b"https://evil.example/?https://reviews.example.com", FOREIGN),
        (b"https://xreviews.example.com", FOREIGN),
        (b"https://reviews.example.com@evil.example", FOREIGN),
        (b"https://reviews.example.com/", FOREIGN),
        (b"https://app.example.com", FOREIGN),
        (b"http://app.example.com:8443", FOREIGN),
        (b"null", FOREIGN),
        (b"", FOREIGN),
        (b"*", FOREIGN),
        (b"file://", FOREIGN),
        (b"https://", FOREIGN),
        (b"https://reviews.example.com, https://reviews.example.com", FOREIGN),
        (b"https://reviews.example.com\xa0", FOREIGN),
        (b"https://reviews.example.com:99999999", FOREIGN),
        (b"https://reviews.example.com:", FOREIGN),
        # the Inspector's page is at port 6274
        (b"http://localhost", LOOPBACK),
        (b"http://localhost:6274", LOOPBACK),
        (b"https://LOCALHOST:3000", LOOPBACK),
        (b"http://127.0.0.1:6274", LOOPBACK),
        (b"http://[::1]:6274", LOOPBACK),
        (b"https://127.0.0.1", LOOPBACK),
        (b"http://localhost.evil.example", FOREIGN),
        (b"http://127.0.0.1.evil.example", FOREIGN),
        (b"http://[::2]", FOREIGN),
        # any app may use this name for its pages, so it identifies only web pages of this machine
        (b"capacitor://localhost", FOREIGN),
    ],
)
def test_own_set_or_local_origin_is_allowed(origin: bytes, allowed: tuple[bool, bool]) -> None:
    answers = [ORIGINS.allowed([origin], loopback=loopback) for loopback in (True, False)]
    assert [origin if is_allowed else None for is_allowed in allowed] == answers


def test_repeated_origin_is_refused() -> None:
    assert ORIGINS.allowed([BASE_URL.encode()] * 2, loopback=True) is None


@pytest.mark.parametrize("origin", [b"https://any.example", b"null", b"vscode-webview://x"])
def test_star_allows_all_origins(origin: bytes) -> None:
    origins = Origins(BASE_URL, ["https://app.example.com", "*"])
    assert b"*" == origins.allowed([origin], loopback=False)


APPS = Origins(
    BASE_URL, ["app://obsidian.md", "chrome-extension://abcdefghijklmnop", "x+y.z-1://a"]
)


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (b"app://obsidian.md", True),
        (b"APP://Obsidian.md", True),
        (b"chrome-extension://abcdefghijklmnop", True),
        (b"x+y.z-1://a", True),
        (b"app://obsidian.md.evil.example", False),
        (b"app://obsidian.md:80", False),
        (b"https://obsidian.md", False),
        (b"apps://obsidian.md", False),
        (b"app://", False),
        (b"app:obsidian.md", False),
        (b"1app://obsidian.md", False),
        (b"chrome-extension://abcdefghijklmnoq", False),
    ],
)
@pytest.mark.parametrize("loopback", [True, False])
def test_origin_of_an_app_is_allowed_by_name(origin: bytes, allowed: bool, loopback: bool) -> None:
    """Extensions and desktop apps have schemes of their own, without a default port."""
    assert (origin if allowed else None) == APPS.allowed([origin], loopback=loopback)


@given(st.binary(max_size=40))
def test_any_bytes_are_no_allowed_origin(origin: bytes) -> None:
    assert ORIGINS.allowed([origin], loopback=False) is None


@pytest.mark.parametrize(
    ("host", "served"),
    [
        (b"localhost", LOOPBACK),
        (b"localhost:8080", LOOPBACK),
        (b"LocalHost:1", LOOPBACK),
        (b"127.0.0.1", LOOPBACK),
        (b"127.0.0.1:8080", LOOPBACK),
        (b"127.0.0.2", LOOPBACK),
        (b"[::1]:8080", LOOPBACK),
        (b"[::1]", LOOPBACK),
        (b"localhost.", LOOPBACK),
        (b"reviews.example.com", OWN),
        (b"reviews.example.com.", OWN),
        (b"reviews.example.com.:8080", OWN),
        (b"reviews.example.com:8080", OWN),
        (b"Reviews.Example.Com", OWN),
        (b"reviews.internal", OWN),
        (b"reviews.internal.", OWN),
        (b"reviews.internal:80", OWN),
        (b"evil.example", FOREIGN),
        (b"localhost.evil.example", FOREIGN),
        (b"127.0.0.1.evil.example", FOREIGN),
        (b"evil.example:8080", FOREIGN),
        (b"10.0.0.1", FOREIGN),
        (b"[::2]", FOREIGN),
        (b"", FOREIGN),
        (b".", FOREIGN),
        (b"evil.example.", FOREIGN),
        (b"reviews.example.com..", FOREIGN),
        (b"localhost, evil.example", FOREIGN),
        (b"localhost:80:80", FOREIGN),
        (b"localhost\xa0", FOREIGN),
    ],
)
def test_own_configured_or_local_name_is_served(host: bytes, served: tuple[bool, bool]) -> None:
    """S3; DNS rebinding: evil.example resolves to this machine."""
    hosts = Hosts(BASE_URL, ["Reviews.internal"])
    assert served == tuple(hosts.allow(host, loopback=loopback) for loopback in (True, False))


@pytest.mark.parametrize("loopback", [True, False])
def test_request_without_a_name_is_served(loopback: bool) -> None:
    assert Hosts(BASE_URL).allow(None, loopback=loopback)


@pytest.mark.parametrize("loopback", [True, False])
def test_star_allows_all_names(loopback: bool) -> None:
    assert Hosts(BASE_URL, ["*"]).allow(b"evil.example", loopback=loopback)


@pytest.mark.parametrize("base_url", ["http://[2001:db8::1]:8080", "http://10.0.0.1"])
def test_own_name_may_be_an_address(base_url: str) -> None:
    host = base_url.removeprefix("http://")
    assert Hosts(base_url).allow(host.encode(), loopback=False)
    assert Origins(base_url).allowed([base_url.encode()], loopback=False)
