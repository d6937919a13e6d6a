"""A container has no sudo: what helps there is a matter of its user and of what is mounted."""

import ast
import errno
import re
from pathlib import Path

import pytest

from reviewsctl.terminal import remedies

CLI = Path(remedies.__file__).parents[1]

OF_SYSTEMD = {
    "commands/init.py",  # the examples of --help
    "commands/service.py",
    "doctor/running.py",
    "files/ownership.py",
    "files/named_files.py",
}
"""Modules whose advice is about units of systemd, which no container has."""


def test_sudo_is_advised_outside_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("container", raising=False)
    assert "Use sudo, or ask its owner." == remedies.to_write(tmp_path, "ask its owner.")
    assert "sudo chmod o+r x" == remedies.as_root("chmod o+r x")


def test_room_is_advised_on_a_full_disk(tmp_path: Path) -> None:
    """Neither sudo nor the owner helps; the folder may not be there yet."""
    fault = OSError(errno.ENOSPC, "No space left on device")
    remedy = remedies.to_write(tmp_path / "new", "ask its owner.", fault)
    assert re.fullmatch(r"Make room: [0-9,.]+ [A-Za-z]+ are free at /\S+", remedy.rstrip("."))


def test_user_of_the_container_is_advised_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("container", "oci")
    remedy = remedies.to_write(tmp_path, "ask its owner.")
    assert f"the folder that is mounted at {tmp_path}: --user UID:GID" in remedy
    assert "sudo" not in remedy
    assert "chmod o+r x (on the host)" == remedies.as_root("chmod o+r x")


def test_module_that_advises_sudo_asks_whether_it_is_in_a_container() -> None:
    advising = set()
    for file in sorted(CLI.rglob("*.py")):
        tree = ast.parse(file.read_text())
        docstrings = {
            node.body[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
        ]
        if any("sudo " in text or text.endswith("sudo") for text in texts):
            imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
            if all(node.module != remedies.__name__ for node in imports):
                advising.add(str(file.relative_to(CLI)))
    assert set() == advising - OF_SYSTEMD - {"terminal/remedies.py"}
