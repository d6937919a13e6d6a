"""The files that a configuration names: which of them a service cannot read (interfaces.md 1.6)."""

from pathlib import Path

import pytest

from reviewsctl.daemon import local
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


def test_secret_of_its_owner_alone_is_unreadable_for_the_service(config: Path) -> None:
    """Of the sources another service reads the secrets."""
    settings = local.settings(config).value
    secrets = [file.key for file in unreadable_secrets(settings, Path("/"))]
    assert ["mcp.session_key_file", "notify.owner.url_file"] == secrets
    (config.parent / "owner.url").chmod(0o640)
    (secret,) = unreadable_secrets(settings, Path("/"))
    assert "mcp.session_key_file" == secret.key
