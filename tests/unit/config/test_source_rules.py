"""The section ``sources`` of the configuration (sources.md 2); most of its faults are in ``faults.txt``."""

from pathlib import Path

import pytest

from reviewsd.config import load, show
from tests.support import configuration
from tests.support.configuration import Write, refused

BASE = configuration.BASE + "sources:\n"
PORTAL = "  - {name: portal, type: url, url: https://shop.example/r.csv?token=hush}\n"


def test_defaults_are_those_of_the_documents(write: Write) -> None:
    (source,) = load.load(write(BASE + PORTAL), {}).config.sources
    assert ("1h", "24h", 2, "10%", None, 2_000, True) == (
        *(source.every, source.full, source.gone, source.max_loss, source.max_age),
        *(source.requests_per_day, source.enabled),
    )


@pytest.mark.parametrize(("written", "scale"), [("10", 10), ("'10'", "10"), ("6-1", "6-1")])
def test_scale_of_a_table_may_be_a_number(write: Write, written: str, scale: object) -> None:
    """YAML reads 10 as a number, and so does ``sources add --set import.scale=10``."""
    source = f"  - {{name: a, type: file, path: x, import: {{scale: {written}}}}}\n"
    (loaded,) = load.load(write(BASE + source), {}).config.sources
    assert loaded.import_.scale == scale


def test_files_start_at_the_folder_of_the_configuration(write: Write, tmp_path: Path) -> None:
    file = write(BASE + "  - {name: a, type: file, path: in/*.zip}\n")
    (source,) = load.load(file, {}).config.sources
    assert str(tmp_path / "in/*.zip") == source.path


def test_two_sources_of_one_name_are_refused(write: Write) -> None:
    output = "\n".join(refused(write(BASE + PORTAL + PORTAL)))
    assert "sources[1].name: two sources have this name" in output


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
def test_literal_secret_is_refused_without_being_quoted(write: Write, key: str, file: str) -> None:
    """Faults of the configuration end in logs and bug reports."""
    source = f"  - name: a\n    type: trustpilot\n    business_unit: b.example\n    {key}: s3cret\n"
    output = "\n".join(refused(write(BASE + source)))
    assert f"name that by {file}" in output
    assert "FILE:7:" in output
    assert "s3cret" not in output


def test_query_of_an_address_is_not_shown(write: Write) -> None:
    output = show.shown(load.load(write(BASE + PORTAL), {})).value("sources")
    assert "hush" not in str(output)
    assert "https://shop.example/r.csv?***" in str(output)


@pytest.mark.parametrize("url", ["http://shop.example/r?token=hush", "https://[::1/?token=hush"])
def test_query_of_a_faulty_address_is_not_quoted(write: Write, url: str) -> None:
    source = f"  - name: a\n    type: url\n    url: '{url}'\n"
    assert "hush" not in "\n".join(refused(write(BASE + source)))
