"""The values of a configuration file (interfaces.md 1.3)."""

from pathlib import Path

import pytest

from reviewsd.config import convert
from reviewsd.config.load import load
from reviewsd.config.schema import Config
from tests.support.configuration import BASE, Write, refused


def test_all_but_two_keys_have_defaults(write: Write, tmp_path: Path) -> None:
    loaded = load(write(BASE), {})
    config, warnings = loaded.config, loaded.warnings
    assert warnings == ()
    assert Config(base_url="https://reviews.example.com", data_dir=tmp_path / "data") == config


def test_relative_paths_start_at_the_folder_of_the_file(write: Write, tmp_path: Path) -> None:
    """The service does not run in the folder of its configuration."""
    text = BASE + (
        "state_dir: state\nadmin_socket: run/admin.sock\n"
        "hub: {callbacks: {ca_file: ca.pem}}\nmcp: {session_key_file: /etc/key}\n"
        "notify: [{name: a, stars: 2, url_file: a.url}]\n"
    )
    config = load(write(text), {}).config
    assert tmp_path / "data" == config.data_dir
    assert tmp_path / "state" == config.state_dir
    assert tmp_path / "run/admin.sock" == config.admin_socket
    assert str(tmp_path / "ca.pem") == config.hub.callbacks.ca_file
    assert config.mcp.session_key_file == "/etc/key"
    assert str(tmp_path / "a.url") == config.notify[0].url_file


def test_relative_file_gives_absolute_paths(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(BASE)
    monkeypatch.chdir(tmp_path)
    config = load(Path("reviewsd.yaml"), {}).config
    assert tmp_path / "data" == config.data_dir


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://reviews.example.com", "https://reviews.example.com"),
        ("https://reviews.example.com/", "https://reviews.example.com"),
        ("HTTPS://Reviews.Example.COM:443/", "https://reviews.example.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:80", "http://localhost"),
        ("https://my_host:8443/", "https://my_host:8443"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_base_url_is_an_origin_in_normal_form(write: Write, address: str, origin: str) -> None:
    config = load(write(f"base_url: {address}\ndata_dir: /srv"), {}).config
    assert origin == config.base_url


def test_authority_of_feeds_is_the_host_by_default(write: Write) -> None:
    assert load(write(BASE), {}).config.authority == "reviews.example.com"
    chosen = write(BASE + "feeds: {authority: old.example.com, year: 2019}")
    assert load(chosen, {}).config.authority == "old.example.com"
    numbered = write("base_url: http://[::1]:8080\ndata_dir: d\nfeeds: {authority: a.example}")
    assert load(numbered, {}).config.authority == "a.example"


@pytest.mark.parametrize(
    "endpoint",
    [
        "tcp:8080",
        "tcp:0:interface=127.0.0.1",
        "tcp:port=8080:backlog=100",
        r"tcp:8080:interface=\:\:1",
        "tcp6:8080",
        "unix:/run/reviewsd/http.sock:mode=660",
        "ssl:443:privateKey=/nowhere/key.pem",
        "systemd:name=http",
        "systemd:domain=INET6:name=http",
        "systemd:index=0",
        "haproxy:tcp:8080",
        "haproxy:systemd:name=http",
    ],
)
def test_listeners_are_twisted_endpoints(write: Write, endpoint: str) -> None:
    config = load(write(BASE + f"listen: ['{endpoint}']"), {}).config
    assert (endpoint,) == config.listen


def test_address_of_target_in_configuration_is_refused_without_being_shown(write: Write) -> None:
    """It has a token, and the refusal goes to the log."""
    (line,) = refused(write(BASE + "notify:\n  - url: slack://Secret\n    name: a\n    stars: 2"))
    assert line.startswith("FILE:4:5: notify[0].url: unknown key: an address holds a password")
    assert line.endswith("for example: url_file: owner.url")


def test_byte_order_mark_is_ignored(write: Write) -> None:
    config = load(write("\ufeff" + BASE), {}).config
    assert config.base_url == "https://reviews.example.com"


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://db.example.com/reviews",
        "postgresql://reviews:s3%2Fcret@[2001:db8::5]:5433/reviews?sslmode=verify-full",
        "postgresql://a.example,b.example:5433/reviews?target_session_attrs=read-write",
        "postgresql:///reviews?host=/run/postgresql",
    ],
)
def test_store_may_be_postgresql(write: Write, store: str) -> None:
    config = load(write(BASE + f"hub: {{store: '{store}'}}"), {}).config
    assert store == config.hub.store
    assert config.hub.shared


def test_signatures_by_sha1_are_allowed_with_a_warning(write: Write) -> None:
    """Some subscribers support nothing else."""
    loaded = load(write(BASE + "hub: {signature_method: sha1}"), {})
    config, warnings = loaded.config, loaded.warnings
    assert "sha1" == config.hub.signature_method
    assert (
        "hub.signature_method: sha1 is weak; use sha256 unless a subscriber knows sha1 only",
    ) == (warnings)


@pytest.mark.parametrize(
    ("base_url", "listen", "port"),
    [
        ("http://127.0.0.1:8081", "tcp:8080:interface=127.0.0.1", 8080),
        ("http://localhost", "tcp:8080", 8080),
        ("http://[::1]:8081", r"tcp6:8080:interface=\:\:1", 8080),
        ("http://127.0.0.1:8081", "haproxy:tcp:8080:interface=192.0.2.7", 8080),
        ("http://127.0.0.1:8080", "tcp:8080:interface=127.0.0.1", None),
        ("http://localhost:8081", "tcp:0:interface=127.0.0.1", None),
        ("http://localhost:8081", "unix:/run/reviewsd.sock", None),
        ("https://localhost", "tcp:8080:interface=127.0.0.1", None),
        ("http://reviews.example.com", "tcp:8080:interface=127.0.0.1", None),
    ],
)
def test_port_that_nobody_listens_on_is_a_warning(
    write: Write, base_url: str, listen: str, port: int | None
) -> None:
    """Every link of the pages would be dead; behind a proxy another port is right."""
    feeds = "feeds: {authority: example.com}"
    text = f"base_url: '{base_url}'\ndata_dir: data\nlisten: ['{listen}']\n{feeds}\n"
    warnings = load(write(text), {}).warnings
    assert (port is not None) == bool(warnings)
    assert all(f"another port than listen ({port});" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("app://obsidian.md", "app://obsidian.md"),
        ("Chrome-Extension://ABCDEFGHIJKLMNOP/", "chrome-extension://abcdefghijklmnop"),
        ("vscode-webview://1a-2b:80", "vscode-webview://1a-2b:80"),
    ],
)
def test_origin_of_an_app_is_allowed(write: Write, address: str, origin: str) -> None:
    """The 403 of MCP names this key as the remedy, whatever the scheme of the page."""
    config = load(write(BASE + f"mcp: {{allowed_origins: ['{address}']}}"), {}).config
    assert (origin,) == convert.allowed_origins(config)


@pytest.mark.parametrize("address", ["file://", "app:x", "null", "app://", "-x://a", "app://a/b"])
def test_origin_without_a_host_is_refused(write: Write, address: str) -> None:
    (finding, *_) = refused(write(BASE + f"mcp: {{allowed_origins: ['{address}']}}"))
    assert "mcp.allowed_origins[0]: " in finding


def test_hosts_are_normalized(write: Write) -> None:
    text = BASE + "server: {allowed_hosts: [reviews.internal, '[2001:db8::1]', Other., '*']}"
    config = load(write(text), {}).config
    assert ("reviews.internal", "[2001:db8::1]", "other", "*") == convert.allowed_hosts(config)


def test_lists_of_networks_and_origins_are_taken_as_written(write: Write) -> None:
    text = BASE + (
        "hub: {callbacks: {allow_networks: [10.0.0.0/8, 'fd00::/8', 127.0.0.1]}}\n"
        "mcp: {allowed_origins: ['*', 'https://app.example.com:8443']}\n"
        "server: {trusted_proxies: []}\n"
    )
    config = load(write(text), {}).config
    assert config.hub.callbacks.allow_networks == ("10.0.0.0/8", "fd00::/8", "127.0.0.1")
    assert config.mcp.allowed_origins == ("*", "https://app.example.com:8443")
    assert config.server.trusted_proxies == ()


def test_nat64_prefix_is_taken_as_written(write: Write) -> None:
    """Its lengths are those of ``Addresses``."""
    config = load(write(BASE + "hub: {callbacks: {nat64_prefixes: ['2001:db8::/32']}}"), {}).config
    assert config.hub.callbacks.nat64_prefixes == ("2001:db8::/32",)
