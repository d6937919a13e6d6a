"""Faults of a configuration are shown at their place (interfaces.md 1.3)."""

from pathlib import Path

import pytest

from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.load import load
from reviewsd.config.schema import Config, keys
from tests.support.configuration import BASE, Write, heads, refused

ROOT = Path(__file__).parents[3]
KEYS = ", ".join(Config.__struct_fields__)

_ENDPOINT = 'expected an endpoint such as "tcp:8080:interface=127.0.0.1" or "systemd:name=http"'

OBJECTS = [
    (
        "hub: 5",
        "3:6: hub: expected object, got integer 5; for example: hub: {store: sqlite}",
    ),
    ("cache:", "3:7: cache: expected object, got null; for example: cache: {max_age: 60}"),
    (
        "data: [1]",
        "3:7: data: expected object, got array; for example: data: {poll_interval: 1.0}",
    ),
    (
        "notify: {name: owner}",
        (
            "3:9: notify: expected array, got object;"
            " for example: notify: [{name: owner, url_file: owner.url, stars: 2}]"
        ),
    ),
    ("prot: 1", f'3:1: prot: unknown key "prot"; there are: {KEYS}'),
    ("lsten: []", '3:1: lsten: unknown key "lsten"; did you mean "listen"?'),
    ("hub:\n  laese: {}", '4:3: hub.laese: unknown key "laese"; did you mean "lease"?'),
    (
        "hub: {a b: 1}",
        f'3:7: hub["a b"]: unknown key "a b"; there are: {", ".join(HubConfig.__struct_fields__)}',
    ),
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
    ("server: {idle: .nan}", '3:16: server.idle: expected number, got string ".nan"'),
    ("server: {idle: 1e999}", '3:16: server.idle: expected number, got string "1e999"'),
    ("feeds: {year: 25}", "3:15: feeds.year: expected 1985..9999, got 25"),
    (
        "hub:\n  lease:\n    default: -5",
        "5:14: hub.lease.default: expected 300..2592000, got -5",
    ),
    (
        "hub: {delivery: {retry_delays: [60, x]}}",
        (
            '3:37: hub.delivery.retry_delays[1]: expected number, got string "x";'
            " for example: retry_delays: [60, 1800]"
        ),
    ),
    (
        "hub: {delivery: {retry_delays: [60]}}",
        "3:32: hub.delivery.retry_delays: expected 2 delays, got 1",
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
        '3:20: data.max_shrink: expected a percentage such as "50%", got "101%"',
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
        "mcp: {registry_auth: ' '}",
        '3:22: mcp.registry_auth: expected a line such as "v=MCPv1; k=ed25519; p=...", got " "',
    ),
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
    *(
        (
            f"hub:\n  callbacks:\n    nat64_prefixes:\n    - {document}",
            f"6:7: hub.callbacks.nat64_prefixes[0]: {reason}",
        )
        for document, reason in PREFIXES
    ),
]

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
        '3:10: listen[0]: unknown option "foo" in "tcp:80:foo=1"; there are: port, interface, backlog',
    ),
    (
        "listen: ['tcp:80:intrface=127.0.0.1']",
        (
            '3:10: listen[0]: unknown option "intrface" in "tcp:80:intrface=127.0.0.1"; '
            'did you mean "interface"?'
        ),
    ),
    (
        "listen: ['tcp:80:backlog=a']",
        f'3:10: listen[0]: {_ENDPOINT}, got "tcp:80:backlog=a"',
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
        "hub: {lease: &a {default: 300, 'default': 400}}",
        '3:32: hub.lease.default: duplicate key "default"; the first is in line 3',
    ),
    (
        "feeds: {year: &x 2000}\nstate_dir: *x",
        "4:12: state_dir: aliases are not supported; write the value out",
    ),
    ("state_dir: !!str a", "3:12: state_dir: tags are not supported; write the value without"),
    ("? [a]\n: 1", "3:3: expected a plain word as key"),
    ("<<: {state_dir: a}", f'3:1: ["<<"]: unknown key "<<"; there are: {KEYS}'),
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
    [*OBJECTS, *TARGETS, *NUMBERS, *STRINGS, *MACHINES, *CALLBACKS, *ENDPOINTS, *YAML],
)
def test_fault_is_shown_at_its_place(write: Write, text: str, finding: str) -> None:
    assert [f"FILE:{finding}"] == heads(refused(write(BASE + text)))


SAME = "metrics.listen: metrics.listen and listen have the same port 8250"


@pytest.mark.parametrize(
    ("listen", "metrics", "is_same"),
    [
        ("tcp:8250:interface=127.0.0.1", "tcp:8250:interface=127.0.0.1", True),
        ("tcp:8250", "tcp:8250:interface=127.0.0.1", True),
        ("tcp:8250:interface=127.0.0.1", "tcp:port=8250:interface=0.0.0.0", True),
        ("haproxy:tcp:8250", "tcp:8250", True),
        (r"tcp6:8250:interface=\:\:1", r"tcp6:8250:interface=\:\:1", True),
        ("tcp:8250:interface=127.0.0.1", r"tcp6:8250:interface=\:\:1", False),
        ("tcp:8250:interface=127.0.0.1", "tcp:8250:interface=127.0.0.2", False),
        ("tcp:8250", "tcp:8251", False),
        ("tcp:0", "tcp:0", False),
        ("systemd:name=http", "tcp:8250", False),
    ],
)
def test_metrics_have_a_port_of_their_own(
    write: Write, listen: str, metrics: str, *, is_same: bool
) -> None:
    """The start said that the daemon itself listens there already."""
    file = write(f"{BASE}listen: ['{listen}']\nmetrics: {{listen: '{metrics}'}}")
    if is_same:
        assert [f"FILE:4:19: {SAME}"] == heads(refused(file))
    else:
        load(file, {})


def test_metrics_have_another_port_than_listen_without_a_key(write: Write) -> None:
    text = "metrics: {listen: 'tcp:8080'}"
    assert SAME.replace("8250", "8080") in heads(refused(write(BASE + text)))[0]


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
        ("http://localhost:web", 'expected a port of 1..65535, got "web"'),
        ("http://localhost:-1", 'expected a port of 1..65535, got "-1"'),
        ("'http://localhost:'", 'expected a port of 1..65535, got ""'),
        ("http://localhost:123456", 'expected a port of 1..65535, got "123456"'),
        ("https://a..b", 'expected a host name or address after //, got "https://a..b"'),
        ("https://[::g%1]", 'expected a host name or address after //, got "https://[::g%1]"'),
        (
            "https://bücher.example",
            (
                'expected a host name or address after //, got "https://bücher.example";'
                " write a name with other letters as xn--..."
            ),
        ),
        ("https://a.example:0", 'expected a port of 1..65535, got "0"'),
        ("https://a.example:65536", 'expected a port of 1..65535, got "65536"'),
        (
            "https://[::1]",
            "an address cannot name the feeds (RFC 4151); set feeds.authority too",
        ),
    ],
)
def test_base_url_is_only_an_origin(write: Write, base_url: str, finding: str) -> None:
    """All endpoints live at the origin (seed 1), and links are made by appending paths."""
    lines = refused(write(f"data_dir: data\nbase_url: {base_url}"))
    assert [f"FILE:2:11: base_url: {finding}"] == heads(lines)


def test_fault_shows_its_line_and_a_caret(write: Write) -> None:
    text = BASE + "\n\n\nhub:\n  lease:\n    # five\n    default: -5\n"
    assert refused(write(text)) == [
        "FILE:9:14: hub.lease.default: expected 300..2592000, got -5",
        "    9 |     default: -5",
        "      |              ^",
    ]


def test_tab_does_not_move_the_caret(write: Write) -> None:
    """Whatever width the terminal gives the tab, it gives it twice."""
    assert refused(write(BASE + "state_dir:\t99")) == [
        "FILE:3:12: state_dir: expected string, got integer 99",
        "    3 | state_dir:\t99",
        "      |           \t^",
    ]


def test_target_behind_an_invalid_one_keeps_its_number(write: Write) -> None:
    findings = heads(
        refused(write(BASE + "notify: [5, {name: a, data: true}, {name: a, data: true}]"))
    )
    assert findings[1:] == ["FILE:3:43: notify[2].name: expected a name that no other target has"]


def test_unknown_key_is_shown_at_the_key(write: Write) -> None:
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
def test_file_is_one_mapping(write: Write, text: str, got: str) -> None:
    assert [f"FILE:1:1: expected object, got {got}"] == heads(refused(write(text)))


def test_all_faults_are_reported_in_the_order_of_the_file(write: Write) -> None:
    text = (
        "state_dir: 0\nstate_dir: 1\nlisten: ['8080', tcp:x]\nlsten: 1\n"
        "hub: {store: x, lease: {default: 500, max: 400}}\ndata_dir: ''\n"
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
        "FILE:5:39",
        "FILE:6:11",
    ]


def test_at_most_20_faults_are_shown(write: Write) -> None:
    text = BASE + "".join(f"key{number}: 1\n" for number in range(23))
    lines = heads(refused(write(text)))
    assert len(lines) == 21
    assert lines[-1] == "... and 3 more"


def test_byte_that_is_not_utf_8_is_shown_at_its_place(write: Write) -> None:
    assert refused(write(BASE.encode() + "state_dir: /ä/".encode() + b"\xe4/x")) == [
        "FILE:3:15: expected UTF-8 text",
        "    3 | state_dir: /ä/?/x",
        "      |               ^",
    ]


def test_long_line_is_not_shown(write: Write) -> None:
    text = BASE + f"state_dir: 0 # {'x' * 200}"
    assert refused(write(text)) == ["FILE:3:12: state_dir: expected string, got integer 0"]


def test_large_file_is_refused(write: Write) -> None:
    """Reading stops there: --config /dev/zero ends as well."""
    assert heads(refused(write("#" * 2**21))) == ["FILE:1:1: expected at most 1048576 characters"]


@pytest.mark.parametrize("password", ["s3/cret", "1/3", "1?3", "a@b", "a:b", "a b", "a#b"])
def test_password_must_be_encoded(write: Write, password: str) -> None:
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


def test_schema_has_at_most_40_keys() -> None:
    """An operator reads all of them, so limits that are never set are constants (decision 300)."""
    names = list(keys(Config))
    sections = {name.rpartition(".")[0] for name in names}
    assert len(set(names) - sections) <= 40
