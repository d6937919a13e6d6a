"""Remedies for a folder that cannot be written."""

import errno
import re
from pathlib import Path

from reviewsctl.terminal.remedies import to_write


def test_another_user_is_advised_inside_and_outside_a_container(tmp_path: Path) -> None:
    """A container has no sudo; its user is an option of its start."""
    remedy = "In a container, run it as the owner of the folder: --user UID:GID."
    assert f"Use sudo, or ask its owner. {remedy}" == to_write(tmp_path, "ask its owner.")


def test_room_is_advised_on_a_full_disk(tmp_path: Path) -> None:
    """Neither sudo nor the owner helps; the folder may not be there yet."""
    fault = OSError(errno.ENOSPC, "No space left on device")
    remedy = to_write(tmp_path / "new", "ask its owner.", fault)
    assert re.fullmatch(r"Make room: [0-9,.]+ [A-Za-z]+ are free at /\S+", remedy.rstrip("."))
