"""The configuration: where it is found, what it may say, how a fault is told (interfaces.md 1.3)."""

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.config import convert
from reviewsd.config.errors import ConfigError
from reviewsd.config.load import find, load
from reviewsd.config.schema import Config, keys

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "config" / "reviewsd.yaml"

# Two lines that every table row begins with, so that its own first line is line 3.
BASE = "base_url: https://reviews.example.com\ndata_dir: data\n"

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str | bytes) -> Path:
        file = tmp_path / "reviewsd.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(0o644)
        return file

    return write


def refused(file: Path, environ: Mapping[str, str] | None = None) -> list[str]:
    """The lines of the refusal, with FILE for the file."""
    with pytest.raises(ConfigError) as caught:
        load(file, environ or {})
    assert str(caught.value) == "\n".join(caught.value.lines)
    return [line.replace(str(file), "FILE") for line in caught.value.lines]


def heads(lines: list[str]) -> list[str]:
    """The findings without their source lines."""
    return [line for line in lines if not re.match(r" {2,}[0-9]* *\|", line)]


# --- values


def test_two_keys_are_enough(write: Write, tmp_path: Path) -> None:
    config, warnings = load(write(BASE), {})
    assert warnings == ()
    assert Config(base_url="https://reviews.example.com", data_dir=tmp_path / "data") == config


def test_relative_paths_start_at_the_files_folder(write: Write, tmp_path: Path) -> None:
    """The service does not run in the folder of its configuration."""
    text = BASE + (
        "state_dir: state\nadmin_socket: run/admin.sock\n"
        "hub: {callbacks: {ca_file: ca.pem}}\nmcp: {session_key_file: /etc/key}\n"
    )
    config, _ = load(write(text), {})
    assert tmp_path / "data" == config.data_dir
    assert tmp_path / "state" == config.state_dir
    assert tmp_path / "run/admin.sock" == config.admin_socket
    assert str(tmp_path / "ca.pem") == config.hub.callbacks.ca_file
    assert config.mcp.session_key_file == "/etc/key"


def test_a_relative_file_gives_absolute_paths(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(BASE)
    monkeypatch.chdir(tmp_path)
    config, _ = load(Path("reviewsd.yaml"), {})
    assert tmp_path / "data" == config.data_dir


@pytest.mark.parametrize(
    ("written", "origin"),
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
def test_base_url_is_an_origin_in_normal_form(write: Write, written: str, origin: str) -> None:
    config, _ = load(write(f"base_url: {written}\ndata_dir: /srv"), {})
    assert origin == config.base_url


def test_feeds_are_minted_by_the_host_unless_said_otherwise(write: Write) -> None:
    assert load(write(BASE), {})[0].authority == "reviews.example.com"
    chosen = write(BASE + "feeds: {authority: old.example.com, year: 2019}")
    assert load(chosen, {})[0].authority == "old.example.com"
    numbered = write("base_url: http://[::1]:8080\ndata_dir: d\nfeeds: {authority: a.example}")
    assert load(numbered, {})[0].authority == "a.example"


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
    config, _ = load(write(BASE + f"listen: ['{endpoint}']"), {})
    assert (endpoint,) == config.listen


def test_yaml_words_of_old_mean_what_they_say(write: Write) -> None:
    """YAML 1.1 would read 7 octal digits, a base-60 number and a boolean here."""
    text = BASE + "state_dir: no\nhub: {limits: {active: 0660}}\nfeeds: {authority: '1'}"
    config, _ = load(write(text), {})
    assert (config.state_dir.name, config.hub.limits.active) == ("no", 660)


def test_address_of_a_target_in_the_configuration_is_refused_without_being_shown(
    write: Write,
) -> None:
    """It has a token, and the refusal goes to the log."""
    (line,) = refused(write(BASE + "notify:\n  - url: slack://Secret\n    name: a\n    stars: 2"))
    assert line.startswith("FILE:4:5: notify[0].url: unknown key: an address holds a password")
    assert line.endswith("for example: url_file: owner.url")


def test_url_file_is_relative_to_the_configuration(write: Write, tmp_path: Path) -> None:
    config, _ = load(write(BASE + "notify: [{name: a, stars: 2, url_file: a.url}]"), {})
    assert str(tmp_path / "a.url") == config.notify[0].url_file


def test_a_byte_order_mark_is_nothing(write: Write) -> None:
    config, _ = load(write("\ufeff" + BASE), {})
    assert config.base_url == "https://reviews.example.com"


# --- faults

OBJECTS = [
    ("hub: 5", "3:6: hub: expected object, got integer 5"),
    ("cache:", "3:7: cache: expected object, got null"),
    ("data: [1]", "3:7: data: expected object, got array"),
    ("prot: 1", '3:1: prot: unknown key "prot"'),
    ("lsten: []", '3:1: lsten: unknown key "lsten"; did you mean "listen"?'),
    ("hub:\n  laese: {}", '4:3: hub.laese: unknown key "laese"; did you mean "lease"?'),
    ("hub: {a b: 1}", '3:7: hub["a b"]: unknown key "a b"'),
]

TARGETS = [
    (
        "notify: [{name: Owner, stars: 2}]",
        '3:17: notify[0].name: expected a name of a-z, 0-9 and -, got "Owner"',
    ),
    (
        "notify: [{name: a, stars: 6}]",
        "3:27: notify[0].stars: expected 1..5, got 6",
    ),
    (
        "notify: [{name: a, data: true}, {name: a, data: true}]",
        "3:40: notify[1].name: expected a name that no other target has",
    ),
    (
        "notify: [{name: a, sources: false}]",
        "3:10: notify[0]: expected at least one of stars, unanswered_days, sources, data",
    ),
]

NUMBERS = [
    ("feeds: {year: 0}", "3:15: feeds.year: expected 1985..9999, got 0"),
    ("feeds: {year: two}", '3:15: feeds.year: expected integer, got string "two"'),
    ("feeds: {year: '2'}", '3:15: feeds.year: expected integer, got string "2"'),
    ("feeds: {year: 1.5}", "3:15: feeds.year: expected integer, got number 1.5"),
    ("feeds: {year: true}", "3:15: feeds.year: expected integer, got boolean true"),
    ("cache: {max_age: -1}", "3:18: cache.max_age: expected 0..31536000, got -1"),
    ("data: {poll_interval: 0}", "3:23: data.poll_interval: expected 0.05..3600, got 0"),
    ("mcp: {session_lifetime: 0}", "3:25: mcp.session_lifetime: expected 1..31536000, got 0"),
    ("mcp: {answer_budget: 10}", "3:22: mcp.answer_budget: expected 4000..10000000, got 10"),
    (
        "server: {max_body: {mcp: 1}}",
        "3:26: server.max_body.mcp: expected 1024..16777216, got 1",
    ),
    ("data: {settle: .nan}", '3:16: data.settle: expected number, got string ".nan"'),
    ("data: {settle: 1e999}", '3:16: data.settle: expected number, got string "1e999"'),
    ("feeds: {year: 25}", "3:15: feeds.year: expected 1985..9999, got 25"),
    (
        "hub:\n  lease:\n    min: -5",
        "5:10: hub.lease.min: expected 1..2592000, got -5",
    ),
    (
        "hub: {delivery: {retry_delays: [60, x]}}",
        '3:37: hub.delivery.retry_delays[1]: expected number, got string "x"',
    ),
    (
        "hub: {delivery: {retry_delays: [60]}}",
        "3:32: hub.delivery.retry_delays: expected 2 delays, got 1",
    ),
    (
        "hub: {lease: {max: 3600}}",
        (
            "3:20: hub.lease.max: expected min <= default <= max,"
            " got min 300, default 864000, max 3600"
        ),
    ),
]

STRINGS = [
    (
        "data: {max_shrink: 50}",
        (
            "3:20: data.max_shrink: expected string or null, got integer 50;"
            " for example: max_shrink: 50%"
        ),
    ),
    (
        "data: {max_shrink: 101%}",
        (
            '3:20: data.max_shrink: expected a percentage such as "50%", got "101%";'
            " for example: max_shrink: 50%"
        ),
    ),
    (
        "feeds: {authority: Example.com}",
        (
            "3:20: feeds.authority: expected a domain or e-mail address in lower case,"
            ' got "Example.com"'
        ),
    ),
    ("state_dir: ''", "3:12: state_dir: must not be empty"),
    ("state_dir: 5", "3:12: state_dir: expected string, got integer 5"),
    ("state_dir: [x]", "3:12: state_dir: expected string, got array"),
    (
        f"admin_socket: /{'x' * 107}",
        "3:15: admin_socket: expected at most 107 bytes, got 108",
    ),
    (
        "hub: {store: mysql}",
        ('3:14: hub.store: expected "sqlite" or a URL such as "postgresql://host/database"'),
    ),
    (
        "hub: {store: 'postgresql://host'}",
        ('3:14: hub.store: expected "sqlite" or a URL such as "postgresql://host/database"'),
    ),
    (
        "hub: {signature_method: md5}",
        '3:25: hub.signature_method: expected one of "sha1", "sha256", "sha384", "sha512", got "md5"',
    ),
    (
        "hub: {callbacks: {allow_networks: [10.0.0.1/8]}}",
        (
            "3:36: hub.callbacks.allow_networks[0]:"
            ' expected a network such as "10.0.0.0/8", got "10.0.0.1/8"; did you mean "10.0.0.0/8"?'
        ),
    ),
    (
        "hub: {callbacks: {allow_networks: [everything]}}",
        (
            "3:36: hub.callbacks.allow_networks[0]:"
            ' expected a network such as "10.0.0.0/8", got "everything"'
        ),
    ),
    (
        "server: {trusted_proxies: [10.1.0.0/8]}",
        (
            "3:28: server.trusted_proxies[0]:"
            ' expected a network such as "10.0.0.0/8", got "10.1.0.0/8"; did you mean "10.0.0.0/8"?'
        ),
    ),
    (
        "server: {allowed_hosts: [a.example, 'a.example:8080']}",
        (
            '3:37: server.allowed_hosts[1]: expected a host such as "reviews.internal",'
            ' got "a.example:8080"; leave the port out'
        ),
    ),
    (
        "server: {allowed_hosts: ['https://a.example']}",
        (
            '3:26: server.allowed_hosts[0]: expected a host such as "reviews.internal",'
            ' got "https://a.example"'
        ),
    ),
    (
        "mcp: {allowed_origins: ['*', 'https://a.example/x']}",
        (
            "3:30: mcp.allowed_origins[1]: must not have a path: all addresses start at the origin,"
            ' got "https://a.example/x"'
        ),
    ),
]

_CONTACT = 'expected an address such as "mailto:security@example.com" or "https://..."'
_EXPIRES = "expires: 2027-06-30T00:00:00Z"

MACHINES = [
    (
        "crawlers: noai",
        '3:11: crawlers: expected one of "all", "no-training", "no-ai", "none", got "noai"',
    ),
    (
        f"security: {{contact: [security@a.example], {_EXPIRES}}}",
        (
            f'3:22: security.contact[0]: {_CONTACT}, got "security@a.example";'
            ' write "mailto:security@a.example"'
        ),
    ),
    (
        f"security: {{contact: ['http://a.example'], {_EXPIRES}}}",
        f'3:22: security.contact[0]: {_CONTACT}, got "http://a.example"',
    ),
    (
        f"security: {{contact: ['mailto:a b'], {_EXPIRES}}}",
        f'3:22: security.contact[0]: {_CONTACT}, got "mailto:a b"',
    ),
    (
        "security: {contact: ['tel:+1'], expires: 2027-06-30}",
        (
            '3:42: security.expires: expected a time such as "2027-06-30T00:00:00Z",'
            ' got "2027-06-30"'
        ),
    ),
    (
        "security: {contact: ['tel:+1']}",
        "3:21: security.contact: needs security.expires too (RFC 9116)",
    ),
    (
        f"security: {{{_EXPIRES}}}",
        "3:21: security.expires: needs security.contact too (RFC 9116)",
    ),
    (
        "security: {policy: 'javascript:1'}",
        (
            '3:20: security.policy: expected an address such as "https://example.com/",'
            ' got "javascript:1"'
        ),
    ),
    (
        "mcp: {registry_auth: ' '}",
        '3:22: mcp.registry_auth: expected a line such as "v=MCPv1; k=ed25519; p=...", got " "',
    ),
    (
        "pages: {sitemap_reviews: some}",
        '3:26: pages.sitemap_reviews: expected one of "all", "none", got "some"',
    ),
    (
        "pages: {sitemap_reviews: -1}",
        "3:26: pages.sitemap_reviews: expected 0..2147483648, got -1",
    ),
]

_PORTS = 'expected a port such as "443" or ports such as "1024-65535"'
_OTHERS = "expected 443 or ports from 1024 on, since those below belong to other services"

# What is written in the list, and the finding at its place.
PORTS = [
    (
        "443",
        'expected string, got integer 443; for example: ports: ["443", "1024-65535"]',
    ),
    ("'22'", f'{_OTHERS}, got "22"'),
    ("1023-2000", f'{_OTHERS}, got "1023-2000"'),
    ("443-444", f'{_OTHERS}, got "443-444"'),
    ("90-80", f'{_OTHERS}, got "90-80"'),
    ("'65536'", 'expected ports up to 65535, got "65536"'),
    ("1024-99999", 'expected ports up to 65535, got "1024-99999"'),
    (
        "9000-8000",
        'expected the lower port first, got "9000-8000"; did you mean "8000-9000"?',
    ),
    ("https", f'{_PORTS}, got "https"'),
    ("'0'", f'{_PORTS}, got "0"'),
    ("'0443'", f'{_PORTS}, got "0443"'),
    ("'-443'", f'{_PORTS}, got "-443"'),
    ("1024-", f'{_PORTS}, got "1024-"'),
    ("1024 - 2000", f'{_PORTS}, got "1024 - 2000"'),
    ("'١٠٢٤'", f'{_PORTS}, got "١٠٢٤"'),
    ("100000", 'expected string, got integer 100000; for example: ports: ["443", "1024-65535"]'),
]

_PREFIX = 'expected an IPv6 network such as "64:ff9b::/96"'
_LENGTHS = "has none of the lengths /32, /40, /48, /56, /64, /96"

PREFIXES = [
    ("10.0.0.0/8", f'{_PREFIX}, got "10.0.0.0/8"'),
    ("'64:ff9b::1/96'", f'{_PREFIX}, got "64:ff9b::1/96"'),
    ("nat64", f'{_PREFIX}, got "nat64"'),
    ("'64:ff9b::/95'", f"the NAT64 prefix 64:ff9b::/95 {_LENGTHS}"),
    ("'64:ff9b::'", f"the NAT64 prefix 64:ff9b::/128 {_LENGTHS}"),
]

CALLBACKS = [
    ("hub: {callbacks: {ports: []}}", "3:26: hub.callbacks.ports: expected at least one port"),
    *(
        (
            f"hub:\n  callbacks:\n    ports:\n    - {written}",
            f"6:7: hub.callbacks.ports[0]: {reason}",
        )
        for written, reason in PORTS
    ),
    *(
        (
            f"hub:\n  callbacks:\n    nat64_prefixes:\n    - {written}",
            f"6:7: hub.callbacks.nat64_prefixes[0]: {reason}",
        )
        for written, reason in PREFIXES
    ),
]

CLAIMS = [
    (
        "hub: {delivery: {timeout: 90}}",
        "3:27: hub.delivery.timeout: expected 0.1..60, got 90",
    ),
    (
        "hub: {verification: {timeout: 60.5}}",
        "3:31: hub.verification.timeout: expected 0.1..60, got 60.5",
    ),
    (
        "hub: {callbacks: {max_lifetime: 90}}",
        "3:33: hub.callbacks.max_lifetime: expected 0.1..85, got 90",
    ),
]
"""A delivery is claimed for 90 s: whatever takes longer could run twice (D5)."""

_ENDPOINT = 'expected an endpoint such as "tcp:8080:interface=127.0.0.1" or "systemd:name=http"'

ENDPOINTS = [
    ("listen: []", "3:9: listen: expected at least one endpoint"),
    (
        "listen: 8080",
        (
            "3:9: listen: expected array, got integer 8080;"
            " for example: listen: [tcp:8080:interface=127.0.0.1]"
        ),
    ),
    (
        "listen: [8080]",
        (
            "3:10: listen[0]: expected string, got integer 8080;"
            " for example: listen: [tcp:8080:interface=127.0.0.1]"
        ),
    ),
    ("listen: ['8080']", f'3:10: listen[0]: {_ENDPOINT}, got "8080"'),
    ("listen: ['tpc:80']", f'3:10: listen[0]: {_ENDPOINT}, got "tpc:80"; did you mean "tcp"?'),
    (
        "listen: ['tcp:65536']",
        '3:10: listen[0]: expected a port of 0..65535 after tcp:, got "tcp:65536"',
    ),
    (
        "listen: ['tcp:127.0.0.1:8080']",
        '3:10: listen[0]: expected a port of 0..65535 after tcp:, got "tcp:127.0.0.1:8080"',
    ),
    (
        "listen: ['tcp:80:foo=1']",
        (
            f"3:10: listen[0]: {_ENDPOINT},"
            " got \"tcp:80:foo=1\" (_parseTCP() got an unexpected keyword argument 'foo')"
        ),
    ),
    (
        "listen: ['systemd:http']",
        (
            '3:10: listen[0]: expected "systemd:name=NAME" with the FileDescriptorName= of the socket'
            ' unit, got "systemd:http"'
        ),
    ),
    (
        "listen: ['haproxy:haproxy:tcp:80']",
        f'3:10: listen[0]: {_ENDPOINT}, got "haproxy:haproxy:tcp:80"',
    ),
    (
        "metrics: {listen: 9090}",
        (
            "3:19: metrics.listen: expected string or null, got integer 9090;"
            " for example: listen: tcp:9090:interface=127.0.0.1"
        ),
    ),
]

YAML = [
    ("feeds: {}\nfeeds: {}", '4:1: feeds: duplicate key "feeds"; the first is in line 3'),
    (
        "hub: {lease: &a {min: 1, 'min': 2}}",
        '3:26: hub.lease.min: duplicate key "min"; the first is in line 3',
    ),
    (
        "feeds: {year: &x 2000}\nstate_dir: *x",
        "4:12: state_dir: aliases are not supported; write the value out",
    ),
    ("state_dir: !!str a", "3:12: state_dir: tags are not supported; write the value without"),
    ("? [a]\n: 1", "3:3: expected a plain word as key"),
    ("<<: {state_dir: a}", '3:1: ["<<"]: unknown key "<<"'),
    (
        'state_dir: "a\\nb"',
        "3:12: state_dir: must not contain control characters or line breaks",
    ),
    (
        "---\nstate_dir: a",
        (
            "3:1: no valid YAML: expected a single document in the stream,"
            " but found another document"
        ),
    ),
    ("hub:\n\tlease: 1", "4:1: no valid YAML: found a tab; indent with spaces"),
    ("x: " + "[" * 40, "3:18: expected at most 16 levels"),
    ("x: \x1b[2J", "3:4: the character U+001B is not allowed"),
]


@pytest.mark.parametrize(
    ("text", "finding"),
    [*OBJECTS, *TARGETS, *NUMBERS, *STRINGS, *MACHINES, *CALLBACKS, *CLAIMS, *ENDPOINTS, *YAML],
)
def test_a_fault_is_told_at_its_place(write: Write, text: str, finding: str) -> None:
    assert [f"FILE:{finding}"] == heads(refused(write(BASE + text)))


@pytest.mark.parametrize(
    ("base_url", "finding"),
    [
        ("5", "expected string, got integer 5; for example: base_url: https://reviews.example.com"),
        ("a.example", 'expected an address such as "https://example.com", got "a.example"'),
        (
            "ftp://a.example",
            'expected an address such as "https://example.com", got "ftp://a.example"',
        ),
        ("https://u:p@a.example", "must not contain a user name or password"),
        (
            "https://a.example/app",
            'must not have a path: all addresses start at the origin, got "https://a.example/app"',
        ),
        (
            "https://a.example//",
            'must not have a path: all addresses start at the origin, got "https://a.example//"',
        ),
        (
            "https://a.example/?x",
            'must not have a query or fragment, got "https://a.example/?x"',
        ),
        (
            "'https://a.example#x'",
            'must not have a query or fragment, got "https://a.example#x"',
        ),
        ("https://", 'expected a host name or address after //, got "https://"'),
        ("https://a..b", 'expected a host name or address after //, got "https://a..b"'),
        ("https://[::g%1]", 'expected a host name or address after //, got "https://[::g%1]"'),
        (
            "https://bücher.example",
            (
                'expected a host name or address after //, got "https://bücher.example";'
                " write a name with other letters as xn--..."
            ),
        ),
        ("https://a.example:0", "expected a port of 1..65535, got 0"),
        ("https://a.example:65536", "expected a port of 1..65535, got 65536"),
        (
            "https://[::1]",
            "an address cannot name the feeds (RFC 4151); set feeds.authority too",
        ),
    ],
)
def test_base_url_is_nothing_but_an_origin(write: Write, base_url: str, finding: str) -> None:
    """All endpoints live at the origin (seed 1), and links are made by appending paths."""
    lines = refused(write(f"data_dir: data\nbase_url: {base_url}"))
    assert [f"FILE:2:11: base_url: {finding}"] == heads(lines)


def test_a_finding_shows_the_line_and_a_caret(write: Write) -> None:
    text = BASE + "\n\n\nhub:\n  lease:\n    # five\n    min: -5\n"
    assert refused(write(text)) == [
        "FILE:9:10: hub.lease.min: expected 1..2592000, got -5",
        "    9 |     min: -5",
        "      |          ^",
    ]


def test_a_tab_does_not_move_the_caret(write: Write) -> None:
    """Whatever width the terminal gives the tab, it gives it twice."""
    assert refused(write(BASE + "state_dir:\t99")) == [
        "FILE:3:12: state_dir: expected string, got integer 99",
        "    3 | state_dir:\t99",
        "      |           \t^",
    ]


def test_an_unknown_key_is_shown_at_the_key(write: Write) -> None:
    assert refused(write(BASE + "cache:\n  max_aeg: 60")) == [
        'FILE:4:3: cache.max_aeg: unknown key "max_aeg"; did you mean "max_age"?',
        "    4 |   max_aeg: 60",
        "      |   ^",
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}", "null"])
def test_missing_key_is_reported_with_its_variable(write: Write, text: str) -> None:
    """In a container the file belongs to the image, and the operator sets the variable."""
    assert refused(write(text)) == [
        f"FILE:1:1: {key}: missing; for example: {key}: {example}, or the environment variable {variable}"
        for key, example, variable in (
            ("base_url", "https://reviews.example.com", "REVIEWSD_BASE_URL"),
            ("data_dir", "/srv/reviews", "REVIEWSD_DATA_DIR"),
        )
    ]


@pytest.mark.parametrize(
    ("text", "got"), [("- a", "array"), ("a", 'string "a"'), ("7", "integer 7")]
)
def test_the_file_is_one_mapping(write: Write, text: str, got: str) -> None:
    assert [f"FILE:1:1: expected object, got {got}"] == heads(refused(write(text)))


def test_all_faults_come_at_once_in_the_order_of_the_file(write: Write) -> None:
    text = (
        "state_dir: 0\nstate_dir: 1\nlisten: ['8080', tcp:x]\nlsten: 1\n"
        "hub: {store: x, lease: {min: 500, max: 400}}\ndata_dir: ''\n"
    )
    places = [line.split(": ")[0] for line in heads(refused(write(text)))]
    assert places == [
        "FILE:1:1",
        "FILE:1:12",
        "FILE:2:1",
        "FILE:3:10",
        "FILE:3:18",
        "FILE:4:1",
        "FILE:5:14",
        "FILE:5:30",
        "FILE:6:11",
    ]


def test_at_most_20_findings_are_shown(write: Write) -> None:
    text = BASE + "".join(f"key{number}: 1\n" for number in range(23))
    lines = heads(refused(write(text)))
    assert len(lines) == 21
    assert lines[-1] == "... and 3 more"


def test_what_is_no_utf_8_is_shown_at_its_byte(write: Write) -> None:
    assert refused(write(BASE.encode() + "state_dir: /ä/".encode() + b"\xe4/x")) == [
        "FILE:3:15: expected UTF-8 text",
        "    3 | state_dir: /ä/?/x",
        "      |               ^",
    ]


def test_a_long_line_is_not_shown(write: Write) -> None:
    text = BASE + f"state_dir: 0 # {'x' * 200}"
    assert refused(write(text)) == ["FILE:3:12: state_dir: expected string, got integer 0"]


def test_a_huge_file_is_refused(write: Write) -> None:
    """Reading stops there: --config /dev/zero ends as well."""
    assert heads(refused(write("#" * 2**21))) == ["FILE:1:1: expected at most 1048576 characters"]


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://db.example.com/reviews",
        "postgresql://reviews:s3%2Fcret@[2001:db8::5]:5433/reviews?sslmode=verify-full",
        "postgresql://a.example,b.example:5433/reviews?target_session_attrs=read-write",
        "postgresql:///reviews?host=/run/postgresql",
    ],
)
def test_the_hub_may_keep_its_state_in_postgresql(write: Write, store: str) -> None:
    config, _ = load(write(BASE + f"hub: {{store: '{store}'}}"), {})
    assert store == config.hub.store
    assert config.hub.shared


@pytest.mark.parametrize("password", ["s3/cret", "1/3", "1?3", "a@b", "a:b", "a b", "a#b"])
def test_a_password_is_encoded(write: Write, password: str) -> None:
    """libpq would take a part of it for a host, a port or a name, and tell it in its errors."""
    text = BASE + f"hub: {{store: 'postgresql://me:{password}@db/x'}}"
    (head,) = heads(refused(write(text)))
    assert head.endswith('expected "sqlite" or a URL such as "postgresql://host/database"')


def test_passwords_are_not_shown(write: Write) -> None:
    text = BASE + "hub: {store: 'mysql://me:s3cret@db/x'}\nstroe: postgresql://me:s3cret@db/x"
    lines = refused(write(text))
    assert len(lines) == 6
    assert "s3cret" not in "".join(lines)
    assert lines[4] == "    4 | stroe: postgresql://*********@db/x"


# --- the file


def test_the_file_is_looked_for_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "etc.yaml", tmp_path / "here.yaml"
    second.write_text("")
    named = {"REVIEWSD_CONFIG": "/named.yaml"}
    assert Path("/given.yaml") == find(Path("/given.yaml"), named, (first, second))
    assert Path("/named.yaml") == find(None, named, (first, second))
    assert second == find(None, {"REVIEWSD_CONFIG": ""}, (first, second))
    first.write_text("")
    assert first == find(None, {}, (first, second))


def test_no_file_at_all_says_where_it_was_looked_for(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    with pytest.raises(ConfigError) as caught:
        load(None, {}, (first, second))
    assert (
        f"no configuration found: no --config, no $REVIEWSD_CONFIG, and none of {first}, {second}",
        "write one: reviewsctl init; or try: reviewsd --demo",
    ) == caught.value.lines


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    absent = tmp_path / "absent.yaml"
    assert refused(absent) == ["FILE: cannot be read: No such file or directory"]
    assert refused(tmp_path) == ["FILE: cannot be read: Is a directory"]
    dangling = tmp_path / "link.yaml"
    dangling.symlink_to(absent)
    assert dangling == find(None, {}, (dangling, tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_the_file_of_a_stranger_must_be_named(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root in a folder of somebody else would make and change files where that one says."""
    monkeypatch.chdir(tmp_path)
    file = write(BASE)
    os.chown(file, 1234, 1234)
    with pytest.raises(ConfigError) as caught:
        find(None, {}, (Path("absent.yaml"), Path(file.name)))
    expected = "reviewsd.yaml: belongs to uid 1234; to use it all the same: --config reviewsd.yaml"
    assert (expected,) == caught.value.lines
    assert file == find(file, {})
    assert Path(file.name) == find(None, {"SUDO_UID": "1234"}, (Path(file.name),))


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666, 0o777])
def test_a_file_that_everybody_may_write_is_refused(write: Write, mode: int) -> None:
    """Whoever writes the configuration decides what the service reads and trusts (O11)."""
    file = write(BASE)
    file.chmod(mode)
    assert refused(file) == ["FILE: refused, everybody may write it; run: chmod o-w FILE"]


def test_a_file_that_its_group_may_write_is_warned_about(write: Write) -> None:
    file = write(BASE)
    file.chmod(0o664)
    _, warnings = load(file, {})
    assert (f"{file}: its group may write it; run: chmod g-w {file}",) == warnings


# --- the environment


def test_a_variable_takes_the_place_of_a_key(write: Write) -> None:
    environ = {
        "REVIEWSD_HUB__LEASE__DEFAULT": "3600",
        "REVIEWSD_LISTEN": '["systemd:name=http", "tcp:8080"]',
        "REVIEWSD_CACHE": '{"max_age": 5}',
        "REVIEWSD_CACHE__STALE_IF_ERROR": "7",
        "REVIEWSD_METRICS__LISTEN": "tcp:9090:interface=127.0.0.1",
        "REVIEWSD_FEEDS__AUTHORITY": "",
        "REVIEWSD_DATA_DIR": "/srv/a: b #c",
        "REVIEWSD_CONFIG": "/elsewhere.yaml",
        "PATH": "/usr/bin",
    }
    file = write(BASE + "feeds: {year: 2001, authority: a.example}\ncache: {max_age: -1}")
    config, _ = load(file, environ)
    assert config.hub.lease.default == 3600
    assert config.listen == ("systemd:name=http", "tcp:8080")
    assert (
        config.cache.max_age,
        config.cache.stale_while_revalidate,
        config.cache.stale_if_error,
    ) == (5, 300, 7)
    assert config.metrics.listen == "tcp:9090:interface=127.0.0.1"
    assert config.feeds.authority is None
    assert Path("/srv/a: b #c") == config.data_dir
    assert config.feeds.year == 2001


def test_the_environment_can_say_everything(write: Write) -> None:
    environ = {"REVIEWSD_BASE_URL": "https://a.example", "REVIEWSD_DATA_DIR": "data"}
    file = write("")
    config, _ = load(file, environ)
    assert ("https://a.example", file.parent / "data") == (config.base_url, config.data_dir)


def test_every_key_has_a_variable(write: Write) -> None:
    standard = Config(base_url="https://a.example", data_dir=Path("/srv"))
    file = write("base_url: https://a.example\ndata_dir: /srv")
    for key in keys(Config):
        value = json.loads(msgspec.json.encode(attrgetter(key)(standard), enc_hook=str))
        text = value if isinstance(value, str) else json.dumps(value)
        assert standard == load(file, {f"REVIEWSD_{key.replace('.', '__').upper()}": text})[0]


@pytest.mark.parametrize(
    ("variable", "value", "finding"),
    [
        ("HUB__LEASE__MIN", "-5", "hub.lease.min: expected 1..2592000, got -5"),
        (
            "HUB__LEASE__MAX",
            "300",
            "hub.lease.max: expected min <= default <= max, got min 300, default 864000, max 300",
        ),
        ("FEEDS__YEAR", "'2'", "feeds.year: expected integer, got string \"'2'\""),
        ("FEEDS__YEAR", "", "feeds.year: expected integer, got null"),
        ("HUB", '{"lease": {"mni": 1}}', 'hub.lease.mni: unknown key "mni"; did you mean "min"?'),
        ("HUB", "sqlite", 'hub: expected object, got string "sqlite"'),
        ("LISTEN", '["8080"]', f'listen[0]: {_ENDPOINT}, got "8080"'),
        ("STATE_DIR", "a\nb", "state_dir: must not contain control characters or line breaks"),
        ("STATE_DIR", "a\udce4", "state_dir: must not contain control characters or line breaks"),
        ("LISTEN", '["a\udce4"]', "listen: expected UTF-8 text"),
        (
            "HUB__LEASE",
            '{"min": 1, "min": 2}',
            'hub.lease: duplicate key "min"; the first is in line 1',
        ),
        (
            "HUB__STORE",
            "mysql://me:s3cret@db",
            'hub.store: expected "sqlite" or a URL such as "postgresql://host/database"',
        ),
    ],
)
def test_a_fault_of_a_variable_names_it(
    write: Write, variable: str, value: str, finding: str
) -> None:
    lines = refused(write(BASE), {f"REVIEWSD_{variable}": value})
    assert [f"environment: REVIEWSD_{variable}: {finding}"] == lines


def test_the_closest_variable_is_blamed(write: Write) -> None:
    environ = {"REVIEWSD_HUB": '{"lease": {"max": 0}}', "REVIEWSD_HUB__LEASE__MIN": "0"}
    assert refused(write(BASE), environ) == [
        "environment: REVIEWSD_HUB__LEASE__MIN: hub.lease.min: expected 1..2592000, got 0",
        "environment: REVIEWSD_HUB: hub.lease.max: expected 1..2592000, got 0",
    ]


def test_signatures_by_sha1_are_allowed_with_a_warning(write: Write) -> None:
    """Some subscribers know nothing else; who has others should not choose it."""
    config, warnings = load(write(BASE + "hub: {signature_method: sha1}"), {})
    assert "sha1" == config.hub.signature_method
    assert (
        "hub.signature_method: sha1 is weak; use sha256 unless a subscriber knows sha1 only",
    ) == (warnings)


def test_origins_of_browsers_may_be_named_or_all_allowed(write: Write) -> None:
    text = BASE + "mcp: {allowed_origins: ['*', 'https://app.example.com:8443']}"
    assert load(write(text), {})[0].mcp.allowed_origins == ("*", "https://app.example.com:8443")


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("app://obsidian.md", "app://obsidian.md"),
        ("Chrome-Extension://ABCDEFGHIJKLMNOP/", "chrome-extension://abcdefghijklmnop"),
        ("vscode-webview://1a-2b:80", "vscode-webview://1a-2b:80"),
    ],
)
def test_origin_of_an_app_may_be_named(write: Write, written: str, origin: str) -> None:
    """The 403 of MCP names this key as the remedy, whatever the scheme of the page."""
    config, _ = load(write(BASE + f"mcp: {{allowed_origins: ['{written}']}}"), {})
    assert (origin,) == convert.allowed_origins(config)


@pytest.mark.parametrize("written", ["file://", "app:x", "null", "app://", "-x://a", "app://a/b"])
def test_origin_without_a_host_is_refused(write: Write, written: str) -> None:
    (finding, *_) = refused(write(BASE + f"mcp: {{allowed_origins: ['{written}']}}"))
    assert "mcp.allowed_origins[0]: " in finding


def test_a_listener_on_loopback_may_have_further_names(write: Write) -> None:
    text = BASE + "server: {allowed_hosts: [reviews.internal, '[2001:db8::1]', Other., '*']}"
    config, _ = load(write(text), {})
    assert ("reviews.internal", "[2001:db8::1]", "other", "*") == convert.allowed_hosts(config)


def test_networks_may_be_opened(write: Write) -> None:
    text = BASE + "hub: {callbacks: {allow_networks: [10.0.0.0/8, 'fd00::/8', 127.0.0.1]}}"
    networks = load(write(text), {})[0].hub.callbacks.allow_networks
    assert networks == ("10.0.0.0/8", "fd00::/8", "127.0.0.1")


@pytest.mark.parametrize("ports", ["443", "8443", "443-443", "1024-65535", "1024-1024", "65535"])
def test_ports_of_callbacks_are_443_and_those_without_privilege(write: Write, ports: str) -> None:
    """Below sit SSH, SMTP and others, whom a request in disguise could confuse (E3)."""
    text = BASE + f"hub: {{callbacks: {{ports: ['{ports}']}}}}"
    assert (ports,) == load(write(text), {})[0].hub.callbacks.ports


@pytest.mark.parametrize("length", [32, 40, 48, 56, 64, 96])
def test_nat64_prefixes_have_the_lengths_of_rfc_6052(write: Write, length: int) -> None:
    text = BASE + f"hub: {{callbacks: {{nat64_prefixes: ['2001:db8::/{length}']}}}}"
    prefixes = load(write(text), {})[0].hub.callbacks.nat64_prefixes
    assert (f"2001:db8::/{length}",) == prefixes


def test_no_proxy_at_all_may_be_trusted(write: Write) -> None:
    assert () == load(write(BASE + "server: {trusted_proxies: []}"), {})[0].server.trusted_proxies


def test_a_broken_list_in_a_variable_is_refused(write: Write) -> None:
    lines = refused(write(BASE), {"REVIEWSD_LISTEN": '["tcp:80"'})
    assert len(lines) == 1
    assert lines[0].startswith("environment: REVIEWSD_LISTEN: listen: no valid YAML: ")


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("REVIEWSD_HUB__LEASE__DEFUALT", '; did you mean "REVIEWSD_HUB__LEASE__DEFAULT"?'),
        ("REVIEWSD_hub__store", '; did you mean "REVIEWSD_HUB__STORE"?'),
        ("REVIEWSD_SOMETHING_ELSE_ENTIRELY", ""),
    ],
)
def test_an_unknown_variable_is_refused(write: Write, variable: str, hint: str) -> None:
    lines = refused(write(BASE), {variable: "1"})
    assert [f"environment: {variable}: unknown variable{hint}"] == lines


def test_faults_of_the_environment_follow_those_of_the_file(write: Write) -> None:
    lines = refused(
        write(BASE + "hub: 5"), {"REVIEWSD_HUB__STORE": "x", "REVIEWSD_FEEDS__YEAR": "0"}
    )
    assert heads(lines) == [
        "FILE:3:6: hub: expected object, got integer 5",
        "environment: REVIEWSD_FEEDS__YEAR: feeds.year: expected 1985..9999, got 0",
    ]


# --- the shipped file


def test_the_shipped_file_has_every_key_with_its_default() -> None:
    config, warnings = load(SHIPPED, {})
    standard = Config(base_url="https://reviews.example.com", data_dir=Path("/srv/reviews"))
    assert (standard, ()) == (config, warnings)
    shipped = yaml.safe_load(SHIPPED.read_text())
    assert list(keys(Config)) == list(written_keys(shipped))


def written_keys(tree: dict[str, object], prefix: str = "") -> list[str]:
    found = []
    for key, value in tree.items():
        found.append(prefix + key)
        if isinstance(value, dict):
            found += written_keys(value, f"{prefix}{key}.")
    return found


def test_the_shipped_file_explains_every_key() -> None:
    lines = SHIPPED.read_text().splitlines()
    assert lines[0].startswith("# ")
    bare = [
        line
        for above, line in itertools.pairwise(lines)
        if re.match(r" *[a-z_]+:", line) and not above.lstrip().startswith("#")
    ]
    assert bare == []


# --- any text at all

SCALARS = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "-1",
            "60",
            "1.5",
            "1e400",
            "9" * 30,
            "true",
            "null",
            "~",
            "50%",
            "tcp:80",
            "*",
            "systemd:name=http",
            "haproxy:unix:/x",
            "https://a.example",
            "https://[::1]",
            "10.0.0.0/8",
            "64:ff9b::/96",
            "443",
            "9000-8000",
        ]
    ),
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8),
)
NAMES = st.one_of(
    st.sampled_from(sorted({name for key in keys(Config) for name in key.split(".")})),
    SCALARS,
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(NAMES, inner), max_size=4).map(
            lambda pairs: "{" + ", ".join(f"{name}: {value}" for name, value in pairs) + "}"
        ),
    ),
    max_leaves=8,
)
TEXTS = st.one_of(
    st.text(max_size=60),
    TREES,
    st.lists(
        st.tuples(st.sampled_from([key for key in keys(Config) if "." not in key]), TREES)
    ).map(lambda pairs: BASE + "".join(f"{name}: {value}\n" for name, value in pairs)),
    st.text(alphabet="-:#&*!|>'\"%@`{}[], \t\n\rax0\x85\u2028\ufeff", max_size=40),
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


def findings(file: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong; nothing when the configuration can be used."""
    try:
        config, _ = load(file, environ)
    except ConfigError as error:
        return error.lines
    assert config.hub.lease.min <= config.hub.lease.default <= config.hub.lease.max
    return ()


@given(text=TEXTS, value=TEXTS)
def test_whatever_is_written_is_loaded_or_refused(scratch: Path, text: str, value: str) -> None:
    """Nothing but ConfigError comes out, and every place it names exists."""
    file = scratch / "any.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    for line in findings(file, {"REVIEWSD_HUB": value} if value else {}):
        if found := re.match(f"{re.escape(str(file))}:([0-9]+):([0-9]+): .", line):
            row, column = int(found[1]), int(found[2])
            assert 1 <= row <= len(lines)
            assert 1 <= column <= len(lines[row - 1]) + 1


@given(data=st.binary(max_size=40))
def test_whatever_bytes_are_written_are_loaded_or_refused(scratch: Path, data: bytes) -> None:
    file = scratch / "bytes.yaml"
    file.write_bytes(BASE.encode() + data)
    assert all(line for line in findings(file, {}))


def test_loading_opens_nothing(write: Write) -> None:
    """A check may run beside the daemon: no reactor is installed, no address is touched."""
    file = write(BASE + "listen: ['tcp:80', 'unix:/nowhere/x', 'tcp6:80', 'systemd:name=http']")
    script = (
        "import sys; from pathlib import Path; from reviewsd.config.load import load\n"
        "load(Path(sys.argv[1]), {}); print('twisted.internet.reactor' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("False\n", "", 0)


def test_what_the_command_says_does_not_steer_the_terminal() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reviewsd", "--check", "--config", "a\x1b]0;owned\x07\x9b2J\u202e"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert r"/a\u001b]0;owned\u0007\u009b2J\u202e: cannot be read" in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())
