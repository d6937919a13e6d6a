"""Where the admin socket is looked for (interfaces.md 1.3)."""

from pathlib import Path

import pytest

from reviewsctl.daemon.default_paths import admin_socket


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def found(folder: Path, environ: dict[str, str] | None = None) -> str:
    socket = admin_socket(environ or {}, folder / "system.yaml", folder / "default.sock")
    return str(socket.relative_to(folder))


def test_that_of_the_folder_if_it_is_there_else_the_systems(folder: Path) -> None:
    assert "default.sock" == found(folder)
    Path("reviewsd.yaml").write_text("admin_socket: admin.sock  # beside it\n")
    assert "here/admin.sock" == found(folder)
    (folder / "default.sock").touch()
    assert "default.sock" == found(folder)
    (folder / "system.yaml").write_text(f"admin_socket: {folder}/system.sock")
    assert "system.sock" == found(folder)
    Path("admin.sock").touch()
    assert "here/admin.sock" == found(folder)


def test_the_configuration_that_is_named_comes_first(folder: Path) -> None:
    Path("reviewsd.yaml").write_text("admin_socket: admin.sock")
    Path("admin.sock").touch()
    (folder / "named.yaml").write_text("admin_socket: named.sock")
    named = {"REVIEWSD_CONFIG": str(folder / "named.yaml")}
    assert "named.sock" == found(folder, named)
    assert "default.sock" == found(folder, {"REVIEWSD_CONFIG": str(folder / "none.yaml")})


@pytest.mark.parametrize("text", ["admin_socket: [", "admin_socket: 7", "- a", "", "a: &a [*a]"])
def test_what_is_no_configuration_names_no_socket(folder: Path, text: str) -> None:
    Path("reviewsd.yaml").write_text(text)
    assert "default.sock" == found(folder)
