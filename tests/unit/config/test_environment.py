"""Environment variables replace keys of the file (interfaces.md 1.3)."""

import json
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest

from reviewsd.config.load import load
from reviewsd.config.schema import Config, keys
from tests.support.configuration import BASE, Write, heads, refused

_ENDPOINT = 'expected an endpoint such as "tcp:8080:interface=127.0.0.1" or "systemd:name=http"'


def test_variable_replaces_a_key(write: Write) -> None:
    environ = {
        "REVIEWSD_HUB__LEASE__DEFAULT": "3600",
        "REVIEWSD_LISTEN": '["systemd:name=http", "tcp:8080"]',
        "REVIEWSD_SECURITY": '{"contact": ["tel:+1"]}',
        "REVIEWSD_SECURITY__EXPIRES": "2027-06-30T00:00:00Z",
        "REVIEWSD_METRICS__LISTEN": "tcp:9090:interface=127.0.0.1",
        "REVIEWSD_FEEDS__AUTHORITY": "",
        "REVIEWSD_DATA_DIR": "/srv/a: b #c",
        "REVIEWSD_CONFIG": "/elsewhere.yaml",
        "PATH": "/usr/bin",
    }
    file = write(BASE + "feeds: {year: 2001, authority: a.example}\nsecurity: {contact: 5}")
    config = load(file, environ).config
    assert config.hub.lease.default == 3600
    assert config.listen == ("systemd:name=http", "tcp:8080")
    assert ("tel:+1",) == config.security.contact
    assert config.security.expires is not None
    assert config.metrics.listen == "tcp:9090:interface=127.0.0.1"
    assert config.feeds.authority is None
    assert Path("/srv/a: b #c") == config.data_dir
    assert config.feeds.year == 2001


def test_variables_alone_are_enough(write: Write) -> None:
    environ = {"REVIEWSD_BASE_URL": "https://a.example", "REVIEWSD_DATA_DIR": "data"}
    file = write("")
    config = load(file, environ).config
    assert ("https://a.example", file.parent / "data") == (config.base_url, config.data_dir)


def test_every_key_has_a_variable(write: Write) -> None:
    standard = Config(base_url="https://a.example", data_dir=Path("/srv"))
    file = write("base_url: https://a.example\ndata_dir: /srv")
    for key in keys(Config):
        value = json.loads(msgspec.json.encode(attrgetter(key)(standard), enc_hook=str))
        text = value if isinstance(value, str) else json.dumps(value)
        assert standard == load(file, {f"REVIEWSD_{key.replace('.', '__').upper()}": text}).config


@pytest.mark.parametrize(
    ("variable", "value", "finding"),
    [
        ("HUB__LEASE__DEFAULT", "-5", "hub.lease.default: expected 300..2592000, got -5"),
        ("FEEDS__YEAR", "'2'", "feeds.year: expected integer, got string \"'2'\""),
        ("FEEDS__YEAR", "", "feeds.year: expected integer, got null"),
        (
            "HUB",
            '{"lease": {"defualt": 1}}',
            'hub.lease.defualt: unknown key "defualt"; did you mean "default"?',
        ),
        (
            "HUB",
            "sqlite",
            'hub: expected object, got string "sqlite"; for example: hub: {store: sqlite}',
        ),
        ("LISTEN", '["8080"]', f'listen[0]: {_ENDPOINT}, got "8080"'),
        ("STATE_DIR", "a\nb", "state_dir: must not contain control characters or line breaks"),
        ("STATE_DIR", "a\udce4", "state_dir: must not contain control characters or line breaks"),
        ("LISTEN", '["a\udce4"]', "listen: expected UTF-8 text"),
        (
            "HUB__LEASE",
            '{"default": 300, "default": 400}',
            'hub.lease: duplicate key "default"; the first is in line 1',
        ),
        (
            "HUB__STORE",
            "mysql://me:s3cret@db",
            'hub.store: expected "sqlite" or a URL such as "postgresql://host/database"',
        ),
    ],
)
def test_faulty_variable_is_named(write: Write, variable: str, value: str, finding: str) -> None:
    lines = refused(write(BASE), {f"REVIEWSD_{variable}": value})
    assert [f"environment: REVIEWSD_{variable}: {finding}"] == lines


def test_innermost_variable_is_named(write: Write) -> None:
    environ = {"REVIEWSD_HUB": '{"min_interval": -1}', "REVIEWSD_HUB__LEASE__DEFAULT": "0"}
    assert refused(write(BASE), environ) == [
        "environment: REVIEWSD_HUB: hub.min_interval: expected 0..3600, got -1",
        "environment: REVIEWSD_HUB__LEASE__DEFAULT: hub.lease.default: expected 300..2592000, got 0",
    ]


def test_malformed_list_in_a_variable_is_refused(write: Write) -> None:
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
def test_unknown_variable_is_refused(write: Write, variable: str, hint: str) -> None:
    lines = refused(write(BASE), {variable: "1"})
    assert [f"environment: {variable}: unknown variable{hint}"] == lines


def test_faults_of_variables_follow_those_of_the_file(write: Write) -> None:
    lines = refused(
        write(BASE + "hub: 5"), {"REVIEWSD_HUB__STORE": "x", "REVIEWSD_FEEDS__YEAR": "0"}
    )
    assert heads(lines) == [
        "FILE:3:6: hub: expected object, got integer 5; for example: hub: {store: sqlite}",
        "environment: REVIEWSD_FEEDS__YEAR: feeds.year: expected 1985..9999, got 0",
    ]
