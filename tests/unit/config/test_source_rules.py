"""The section ``sources`` of the configuration: each fault is shown at its place (sources.md 2)."""

from pathlib import Path

import pytest

from reviewsd.config import load, show
from reviewsd.config.errors import ConfigError
from reviewsd.config.schema import Config

BASE = "base_url: https://reviews.example.com\ndata_dir: data\nsources:\n"
PORTAL = "  - {name: portal, type: url, url: https://shop.example/r.csv?token=hush}\n"


def loaded(folder: Path, sources: str) -> Config:
    file = folder / "reviewsd.yaml"
    file.write_text(BASE + sources)
    file.chmod(0o644)
    return load.load(file, {})[0]


def faults(folder: Path, sources: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(folder, sources)
    return str(caught.value).replace(f"{folder}/", "")


def test_defaults_are_those_of_the_documents(tmp_path: Path) -> None:
    (source,) = loaded(tmp_path, PORTAL).sources
    assert ("1h", "24h", 2, "10%", None, 2_000, True) == (
        *(source.every, source.full, source.gone, source.max_loss, source.max_age),
        *(source.requests_per_day, source.enabled),
    )


@pytest.mark.parametrize(("written", "scale"), [("10", 10), ("'10'", "10"), ("6-1", "6-1")])
def test_scale_of_a_table_may_be_a_number(tmp_path: Path, written: str, scale: object) -> None:
    """YAML reads 10 as a number, and so does ``sources add --set import.scale=10``."""
    source = f"  - {{name: a, type: file, path: x, import: {{scale: {written}}}}}\n"
    assert loaded(tmp_path, source).sources[0].import_.scale == scale


def test_scale_that_cannot_be_is_shown_at_its_key(tmp_path: Path) -> None:
    source = "  - {name: a, type: file, path: x, import: {scale: 1}}\n"
    assert "import.scale: expected 2..100, got 1" in faults(tmp_path, source)


def test_files_start_at_the_folder_of_the_configuration(tmp_path: Path) -> None:
    (source,) = loaded(tmp_path, "  - {name: a, type: file, path: in/*.zip}\n").sources
    assert str(tmp_path / "in/*.zip") == source.path


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("name: a, type: file", "sources[0].path: missing; a source of type file needs it"),
        ("name: A b, type: file, path: x", "expected at most 32 letters a to z, digits"),
        ("name: a, type: yelp", "sources[0].type"),
        (
            "name: a, type: file, path: x, key_file: k",
            "sources[0].key_file: a source of type file has no such key",
        ),
        ("name: a, type: file, path: x, every: 4m", "every: expected 5m to 7d, got 4m"),
        ("name: a, type: file, path: x, every: 8d", "every: expected 5m to 7d, got 8d"),
        ("name: a, type: file, path: x, every: 90", "sources[0].every: expected string"),
        ("name: a, type: file, path: x, every: 1w", 'expected a time such as "1h"'),
        ("name: a, type: file, path: x, gone: 0", "sources[0].gone"),
        ("name: a, type: file, path: x, max_loss: 10", "sources[0].max_loss"),
        (
            "name: g, type: google-business, account: accounts/1, location: locations/2, max_age: 31d",
            "max_age: expected 1d to 30d, got 31d",
        ),
        (
            "name: g, type: google-business, account: '1', location: locations/2",
            'account: expected a name such as "accounts/1234"',
        ),
        ("name: a, type: url, url: http://shop.example/", "expected an https address"),
        ("name: a, type: url, url: 'https://[::1'", "expected an https address"),
        ("name: a, type: url, url: ftp://shop.example/", "expected an https address"),
        ("name: a, type: url, url: https://u:p@shop.example/", "a password belongs into a file"),
        ("name: a, type: file, path: x, import: {form: csv}", 'did you mean "from"?'),
    ],
)
def test_fault_is_shown_at_its_key(tmp_path: Path, source: str, fault: str) -> None:
    shown = faults(tmp_path, f"  - {{{source}}}\n")
    assert "reviewsd.yaml:4:" in shown
    assert fault in shown


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "sources[1].name: two sources have this name" in faults(tmp_path, PORTAL + PORTAL)


@pytest.mark.parametrize(
    ("key", "file"),
    [
        ("key", "key_file"),
        ("secret", "secret_file"),
        ("client_secret", "secret_file"),
        ("header", "header_file"),
        ("token", "header_file"),
    ],
)
def test_literal_secret_is_refused_without_being_quoted(
    tmp_path: Path, key: str, file: str
) -> None:
    """Faults of the configuration end in logs and bug reports."""
    source = f"  - name: a\n    type: trustpilot\n    business_unit: b.example\n    {key}: s3cret\n"
    shown = faults(tmp_path, source)
    assert f"name that by {file}" in shown
    assert "reviewsd.yaml:7:" in shown
    assert "s3cret" not in shown


def test_query_of_an_address_is_not_shown(tmp_path: Path) -> None:
    loaded(tmp_path, PORTAL)
    shown = show.shown(load.examine(tmp_path / "reviewsd.yaml", {})).value("sources")
    assert "hush" not in str(shown)
    assert "https://shop.example/r.csv?***" in str(shown)


@pytest.mark.parametrize("url", ["http://shop.example/r?token=hush", "https://[::1/?token=hush"])
def test_query_of_a_faulty_address_is_not_quoted(tmp_path: Path, url: str) -> None:
    assert "hush" not in faults(tmp_path, f"  - name: a\n    type: url\n    url: '{url}'\n")
