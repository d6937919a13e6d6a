"""Faults of a configuration are shown at their place (interfaces.md 1.3)."""

import re
from pathlib import Path

import pytest

from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.schema import Config, keys
from tests.support.configuration import BASE, Write, heads, refused

KEYS = ", ".join(Config.__struct_fields__)

FAULTS = re.findall(
    r"^((?:[^#=\n].*\n)+)=> (.+)$",
    (Path(__file__).parent / "faults.txt").read_text("utf-8"),
    re.MULTILINE,
)

COMPUTED = [
    ("prot: 1", f'3:1: prot: unknown key "prot"; there are: {KEYS}'),
    ("<<: {state_dir: a}", f'3:1: ["<<"]: unknown key "<<"; there are: {KEYS}'),
    (
        "hub: {a b: 1}",
        f'3:7: hub["a b"]: unknown key "a b"; there are: {", ".join(HubConfig.__struct_fields__)}',
    ),
    (f"admin_socket: /{'x' * 107}", "3:15: admin_socket: expected at most 107 bytes, got 108"),
    ("x: " + "[" * 40, "3:18: expected at most 16 levels"),
    ("hub:\n\tlease: 1", "4:1: no valid YAML: found a tab; indent with spaces"),
    ("x: \x1b[2J", "3:4: the character U+001B is not allowed"),
]


@pytest.mark.parametrize(("text", "finding"), [*FAULTS, *COMPUTED])
def test_fault_is_shown_at_its_place(write: Write, text: str, finding: str) -> None:
    required = "data_dir: data\n" if text.startswith("base_url") else BASE
    assert [f"FILE:{finding}"] == heads(refused(write(required + text)))


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
