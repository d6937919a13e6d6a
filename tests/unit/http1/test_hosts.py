"""Web origins that may send requests, and host names that are served (mcp.md 7, 2a-11, 2a-12; S12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.hosts import Hosts, Origins

BASE_URL = "https://reviews.example.com"
ORIGINS = Origins(BASE_URL, ["https://app.example.com:8443", "http://intranet.example"])


@pytest.mark.parametrize(
    "origin",
    [
        b"https://reviews.example.com",
        b"https://reviews.example.com:443",
        b"HTTPS://Reviews.Example.Com",
        b"https://app.example.com:8443",
        b"http://intranet.example:80",
    ],
)
@pytest.mark.parametrize("loopback", [True, False])
def test_own_and_configured_origins_are_allowed(origin: bytes, loopback: bool) -> None:  # noqa: FBT001
    assert origin == ORIGINS.allowed([origin], loopback=loopback)


@pytest.mark.parametrize(
    "origin",
    [
        b"http://reviews.example.com",
        b"https://reviews.example.com:8443",
        b"https://reviews.example.com.evil.example",
        b"https://evil.example/?https://reviews.example.com",
        b"https://xreviews.example.com",
        b"https://reviews.example.com@evil.example",
        b"https://reviews.example.com/",
        b"https://app.example.com",
        b"http://app.example.com:8443",
        b"null",
        b"",
        b"*",
        b"file://",
        b"https://",
        b"https://reviews.example.com, https://reviews.example.com",
        b"https://reviews.example.com\xa0",
        b"https://reviews.example.com:99999999",
        b"https://reviews.example.com:",
    ],
)
@pytest.mark.parametrize("loopback", [True, False])
def test_other_origin_is_refused(origin: bytes, loopback: bool) -> None:  # noqa: FBT001
    assert ORIGINS.allowed([origin], loopback=loopback) is None


@pytest.mark.parametrize(
    "origin",
    [
        b"http://localhost",
        b"http://localhost:6274",
        b"https://LOCALHOST:3000",
        b"http://127.0.0.1:6274",
        b"http://[::1]:6274",
        b"https://127.0.0.1",
    ],
)
def test_loopback_origin_is_allowed_on_loopback_only(origin: bytes) -> None:
    """The Inspector's page is one, at port 6274."""
    assert origin == ORIGINS.allowed([origin], loopback=True)
    assert ORIGINS.allowed([origin], loopback=False) is None


@pytest.mark.parametrize(
    "origin", [b"http://localhost.evil.example", b"http://127.0.0.1.evil.example", b"http://[::2]"]
)
def test_origin_that_resembles_loopback_is_refused(origin: bytes) -> None:
    assert ORIGINS.allowed([origin], loopback=True) is None


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
    "origin",
    [
        b"app://obsidian.md",
        b"APP://Obsidian.md",
        b"chrome-extension://abcdefghijklmnop",
        b"x+y.z-1://a",
    ],
)
def test_origin_of_an_app_is_allowed_by_name(origin: bytes) -> None:
    """Extensions and desktop apps have schemes of their own, without a default port."""
    assert origin == APPS.allowed([origin], loopback=False)


@pytest.mark.parametrize(
    "origin",
    [
        b"app://obsidian.md.evil.example",
        b"app://obsidian.md:80",
        b"https://obsidian.md",
        b"apps://obsidian.md",
        b"app://",
        b"app:obsidian.md",
        b"1app://obsidian.md",
        b"chrome-extension://abcdefghijklmnoq",
    ],
)
def test_origin_of_another_app_is_refused(origin: bytes) -> None:
    assert APPS.allowed([origin], loopback=True) is None


def test_loopback_origin_of_an_app_is_refused() -> None:
    """Any app may use this name for its pages, so it identifies only web pages of this machine."""
    assert ORIGINS.allowed([b"capacitor://localhost"], loopback=True) is None


@given(st.binary(max_size=40))
def test_any_bytes_are_no_allowed_origin(origin: bytes) -> None:
    assert ORIGINS.allowed([origin], loopback=False) is None


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"localhost:8080",
        b"LocalHost:1",
        b"127.0.0.1:8080",
        b"127.0.0.2",
        b"[::1]:8080",
        b"[::1]",
        b"localhost.",
        b"reviews.example.com",
        b"reviews.example.com.",
        b"reviews.example.com.:8080",
        b"reviews.example.com:8080",
        b"Reviews.Example.Com",
        b"reviews.internal:80",
    ],
)
def test_own_and_loopback_names_are_served_on_loopback(host: bytes) -> None:
    assert Hosts(BASE_URL, ["Reviews.internal"]).allow(host, loopback=True)


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example",
        b"localhost.evil.example",
        b"127.0.0.1.evil.example",
        b"evil.example:8080",
        b"10.0.0.1",
        b"[::2]",
        b"",
        b".",
        b"evil.example.",
        b"reviews.example.com..",
        b"localhost, evil.example",
        b"localhost:80:80",
        b"localhost\xa0",
    ],
)
@pytest.mark.parametrize("loopback", [True, False])
def test_other_name_is_not_served(host: bytes, loopback: bool) -> None:  # noqa: FBT001
    """DNS rebinding: evil.example resolves to this machine."""
    assert not Hosts(BASE_URL).allow(host, loopback=loopback)


@pytest.mark.parametrize(
    ("host", "served"),
    [
        (b"reviews.example.com", True),
        (b"Reviews.Example.Com:8080", True),
        (b"reviews.internal", True),
        (b"reviews.internal.", True),
        (b"localhost:8080", False),
        (b"127.0.0.1", False),
        (b"[::1]", False),
    ],
)
def test_only_configured_names_are_served_elsewhere(host: bytes, served: bool) -> None:  # noqa: FBT001
    """S3."""
    assert served == Hosts(BASE_URL, ["Reviews.internal"]).allow(host, loopback=False)


@pytest.mark.parametrize("loopback", [True, False])
def test_request_without_a_name_is_served(loopback: bool) -> None:  # noqa: FBT001
    assert Hosts(BASE_URL).allow(None, loopback=loopback)


@pytest.mark.parametrize("loopback", [True, False])
def test_star_allows_all_names(loopback: bool) -> None:  # noqa: FBT001
    assert Hosts(BASE_URL, ["*"]).allow(b"evil.example", loopback=loopback)


@pytest.mark.parametrize("base_url", ["http://[2001:db8::1]:8080", "http://10.0.0.1"])
def test_own_name_may_be_an_address(base_url: str) -> None:
    host = base_url.removeprefix("http://")
    assert Hosts(base_url).allow(host.encode(), loopback=False)
    assert Origins(base_url).allowed([base_url.encode()], loopback=False)
