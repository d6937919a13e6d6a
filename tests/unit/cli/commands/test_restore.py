"""``reviewsctl restore`` refuses what is no backup (security-and-operations.md D12)."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from tests.support.commands import reviewsctl

pytestmark = pytest.mark.processes


def archive(path: Path, *names: str) -> bytes:
    """Write an archive with a manifest and further files, and return its bytes."""
    folders = dict.fromkeys(("data_dir", "state_dir", "keys_dir"), str(path.parent / "restored"))
    manifest = json.dumps({"made_at": "2026-11-26T00:00:00Z", "config": "", **folders}).encode()
    contents = {"manifest.json": manifest, **dict.fromkeys(names, os.urandom(5_000))}
    with tarfile.open(path, "w:gz") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path.read_bytes()


@pytest.mark.parametrize(
    ("names", "end", "reason"),
    [
        ((), 0, "the file is not a backup of reviewsctl"),
        (("data/reviews.json",), -2_000, "the backup is damaged"),
        (("../etc/passwd",), None, "the backup has a file that no other has: '../etc/passwd'"),
    ],
    ids=["empty", "cut", "foreign name"],
)
def test_other_archives_are_refused(
    environment: dict[str, str],
    tmp_path: Path,
    names: tuple[str, ...],
    end: int | None,
    reason: str,
) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_bytes(archive(file, *names)[:end])
    refused = reviewsctl(environment, "restore", str(file), "--config", str(tmp_path / "r.yaml"))
    assert (1, "") == (refused.returncode, refused.stdout)
    assert refused.stderr.startswith(f"Error: not restored: {reason}")
    assert not (tmp_path / "restored").exists()
