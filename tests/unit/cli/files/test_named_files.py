"""The files that a configuration names: which of them a service cannot read (interfaces.md 1.6)."""

from pathlib import Path

import pytest

from reviewsctl.daemon import local
from reviewsctl.doctor import offline
from reviewsctl.files.named_files import unreadable_secrets

CONFIG = """
base_url: https://r.example.com
data_dir: data
hub: {callbacks: {ca_file: ca.pem}}
mcp: {session_key_file: mcp.key}
notify: [{name: owner, url_file: owner.url, stars: 2}, {name: chat, url_file: gone.url, stars: 2}]
sources: [{name: web, type: url, url: "https://example.com/r.csv", header_file: web.header}]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "reviewsd.yaml"
    file.write_text(CONFIG)
    file.chmod(0o644)
    for name in ("ca.pem", "mcp.key", "owner.url", "web.header"):
        (tmp_path / name).touch(0o600)
    return file


def unreadable(config: Path, user: int | None = None) -> list[str]:
    settings = local.settings(config).value
    return [file.key for file in unreadable_secrets(settings, Path("/"), user)]


def test_secret_of_another_user_alone_is_unreadable_for_the_service(config: Path) -> None:
    """Of the sources another service reads the secrets."""
    assert ["mcp.session_key_file", "notify.owner.url_file"] == unreadable(config)
    (config.parent / "owner.url").chmod(0o640)
    assert ["mcp.session_key_file"] == unreadable(config)
    assert [] == unreadable(config, config.stat().st_uid)


def test_doctor_says_how_systemd_hands_it_over(config: Path) -> None:
    settings = local.settings(config).value
    *_, result = map(offline.unreadable, unreadable_secrets(settings, Path("/")))
    assert "fail" == result.verdict
    file = config.parent / "owner.url"
    assert result.detail.endswith(f"who cannot read {file}")
    assert f"sudo install -D -m 600 {file} /etc/reviewsd/notify/owner.url; then" in result.remedy
