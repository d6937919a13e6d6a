"""``reviewsctl init``: what it writes is a configuration that runs (interfaces.md 1.1, O11)."""

import datetime
import json
import os
import re
import stat
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from reviewsctl.commands.init import configuration, next_steps
from reviewsctl.commands.root import app
from reviewsctl.manual.keys import SHIPPED
from reviewsd.api.places import SYSTEM
from reviewsd.config import syntax
from reviewsd.config.load import load
from reviewsd.config.schema import Config
from tests.support.commands import Ctl

pytestmark = pytest.mark.processes

FILES = ("reviewsd.yaml", "reviewsd.schema.json", "data/reviews.json")


def test_written_files_pass_the_check(ctl: Ctl, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    done = ctl("init", str(shop), "--name", "Ärger & Söhne")

    assert (0, "") == (done.returncode, done.stderr)
    assert [f"wrote {shop / file}" for file in FILES] == done.stdout.splitlines()[:3]
    assert "import EXPORT  " in done.stdout
    checked = ctl("check", "--config", str(shop / FILES[0]))
    assert (0, "") == (checked.returncode, checked.stderr)
    assert "Ärger & Söhne" in checked.stdout
    for index in range(2):  # nobody may take them for reviews
        assert f"$.reviews[{index}] (id 01JGFJJZ00EXAMP1E00000000{index + 1}): an example of" in (
            checked.stdout
        )
    assert "2 warnings" in checked.stdout


@pytest.mark.parametrize(
    ("address", "serving"),
    [("http://[::1]:9000", "[::1]:9000"), ("https://localhost:9000", "localhost:8080")],
)
def test_next_steps_name_the_business_where_no_option_did_and_the_address_to_see_it_at(
    ctl: Ctl, tmp_path: Path, address: str, serving: str
) -> None:
    done = ctl("init", str(tmp_path), "--base-url", address)
    assert "  reviewsctl import EXPORT --set name=NAME  " in done.stdout
    assert f"serve them on http://{serving}/\n" in done.stdout
    assert address == load(tmp_path / "reviewsd.yaml", {}).config.base_url


def test_import_of_a_service_is_typed_as_root() -> None:
    """Its data belongs to root."""
    lines = next_steps(SYSTEM.parent, "", system=True, importing="import EXPORT")
    assert re.match(r"  sudo \S+( -v reviewsctl\)\")? import EXPORT", lines[2])


@pytest.mark.parametrize(("options", "language"), [((), "en"), (("--language", "de-AT"), "de-AT")])
def test_of_the_business_only_name_and_language_are_written(
    ctl: Ctl, tmp_path: Path, options: tuple[str, ...], language: str
) -> None:
    """A law firm is no plumber."""
    ctl("init", str(tmp_path), "--name", "Roe & Roe", *options)
    content = json.loads((tmp_path / "data/reviews.json").read_text())["business"]
    assert {"name": "Roe & Roe", "language": language} == content


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--language", "German!", '"German!" is no language tag (BCP 47), such as de or en-GB'),
        ("--base-url", "foo", "https://example.com"),
    ],
)
def test_value_that_check_would_refuse_is_refused_and_nothing_is_written(
    ctl: Ctl, tmp_path: Path, option: str, value: str, reason: str
) -> None:
    done = ctl("init", str(tmp_path / "shop"), option, value)
    assert 2 == done.returncode
    assert option in done.stderr
    assert reason in done.stderr
    assert not (tmp_path / "shop").exists()


def test_written_files_are_writable_by_their_owner_only(tmp_path: Path) -> None:
    usual = os.umask(0)
    try:
        CliRunner().invoke(app, ["init", str(tmp_path / "shop")])
    finally:
        os.umask(usual)
    modes = {file: stat.S_IMODE((tmp_path / "shop" / file).stat().st_mode) for file in FILES}
    assert dict.fromkeys(FILES, 0o644) == modes


def test_an_editor_finds_the_schema(ctl: Ctl, tmp_path: Path) -> None:
    ctl("init", str(tmp_path))
    text = (tmp_path / "reviewsd.yaml").read_text()
    schema = json.loads((tmp_path / "reviewsd.schema.json").read_text())
    assert "# yaml-language-server: $schema=reviewsd.schema.json" == text.splitlines()[0]
    jsonschema.validate(yaml.safe_load(text), schema)
    lease = schema["$defs"]["Lease"]["properties"]
    assert lease["default"]["description"].startswith("Seconds that a subscription lasts")


def configured(path: Path, address: str) -> Config:
    """Write the configuration of an address, and load it."""
    origin = syntax.origin(address)
    path.write_text(configuration(origin, syntax.own_endpoint(origin), system=False))
    loaded = load(path, {})
    assert not loaded.warnings
    return loaded.config


@pytest.mark.parametrize(
    ("address", "listen"),
    [
        ("http://127.0.0.1:9000", "tcp:9000:interface=127.0.0.1"),
        ("http://LOCALHOST:9000/", "tcp:9000:interface=127.0.0.1"),
        ("http://127.0.0.5:8080", "tcp:8080:interface=127.0.0.5"),
        ("http://[::1]:9000", r"tcp6:9000:interface=\:\:1"),
        ("http://localhost", "tcp:80:interface=127.0.0.1"),
        ("http://localhost:8080", None),
        ("https://localhost:9000", None),
        ("http://reviews.example.com:9000", None),
    ],
)
def test_daemon_listens_on_local_address(tmp_path: Path, address: str, listen: str | None) -> None:
    """The port was ignored: the address did not answer. Before https and other hosts is a proxy."""
    config = configured(tmp_path / "reviewsd.yaml", address)
    assert (listen or "tcp:8080:interface=127.0.0.1",) == config.listen
    text = (tmp_path / "reviewsd.yaml").read_text()
    assert (listen is not None) == ("listen:" in text)
    # ids of entries survive a move to another domain then (data-model.md 4.2)
    year, is_public = datetime.datetime.now(datetime.UTC).year, "example.com" in address
    feeds = f"feeds: {{authority: {'reviews.' if is_public else ''}example.com, year: {year}}}\n"
    assert f"\n{'' if is_public or '[' in address else '# '}{feeds}" in text


def test_configuration_that_force_replaces_is_kept(ctl: Ctl, tmp_path: Path) -> None:
    """A second run is refused: it would keep what the first has written in the place of the operator's."""
    path = tmp_path / "reviewsd.yaml"
    path.write_text("mine")
    done = ctl("init", str(tmp_path), "--force")
    assert 0 == done.returncode
    assert f"wrote {path}; the one before is {path}.bak" == done.stdout.splitlines()[0]
    done = ctl("init", str(tmp_path), "--force")
    assert (1, "") == (done.returncode, done.stdout)
    assert f"{path}.bak is there already\nMove it away, or remove it.\n" in done.stderr
    assert "mine" == (tmp_path / "reviewsd.yaml.bak").read_text()
    assert "base_url" in path.read_text()


@pytest.mark.parametrize("name", ["reviews.json", "insights.yaml"])
def test_data_that_is_there_stays_whatever_is_forced(ctl: Ctl, tmp_path: Path, name: str) -> None:
    """Two runs replaced all reviews of a shop by two samples, and left no copy."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_text("mine")
    for options in ((), ("--force",)):
        assert 0 == ctl("init", str(tmp_path), *options).returncode
    assert "mine" == (tmp_path / "data" / name).read_text()


def test_a_dry_run_writes_nothing(ctl: Ctl, tmp_path: Path) -> None:
    done = ctl("init", str(tmp_path / "shop"), "--dry-run")
    for file in FILES:
        assert f"==> {tmp_path / 'shop' / file}\n" in done.stdout
    assert done.stdout.endswith("\nnothing was written\n")
    assert not (tmp_path / "shop").exists()


def test_service_has_five_keys_with_the_shipped_values(ctl: Ctl) -> None:
    address = "https://reviews.example.com"
    done = ctl("init", "/etc/reviewsd", "--dry-run", "--base-url", address)
    text = done.stdout.split("==> ")[1].partition("\n")[2]
    config = yaml.safe_load(text)
    shipped = yaml.safe_load((SHIPPED / "reviewsd.yaml").read_text())
    keys = ["base_url", "data_dir", "state_dir", "admin_socket", "feeds"]
    assert keys == list(config)
    assert [shipped[key] for key in keys[:4]] == [config[key] for key in keys[:4]]
    lines = text.splitlines()
    assert all(
        lines[lines.index(line) - 1].startswith("# ") for line in lines if line[:1].isalpha()
    )
    assert "==> /srv/reviews/reviews.json\n" in done.stdout


def test_a_folder_that_cannot_be_had(ctl: Ctl, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = ctl("init", str(tmp_path / "file" / "shop"))
    assert 1 == done.returncode
    assert "Use sudo, or name another folder." in done.stderr


def test_shipped_files_are_links_to_those_of_the_project() -> None:
    """Links into config/ and systemd/, which become files in the wheel."""
    root = SHIPPED.parents[2]
    links = {path.name: path.resolve() for path in SHIPPED.iterdir() if path.is_symlink()}
    assert {
        "reviewsd.yaml": root / "config/reviewsd.yaml",
        "configuration.md": root / "docs/reference/configuration.md",
        **{path.name: path for path in (root / "systemd").rglob("*") if path.is_file()},
    } == links
