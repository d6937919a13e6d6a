"""The section ``sources`` of the configuration (sources.md 2); most of its faults are in ``faults.txt``."""

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


def test_files_start_at_the_folder_of_the_configuration(tmp_path: Path) -> None:
    (source,) = loaded(tmp_path, "  - {name: a, type: file, path: in/*.zip}\n").sources
    assert str(tmp_path / "in/*.zip") == source.path


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
