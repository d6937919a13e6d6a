"""Replaces a file that the operator may have edited: it is kept as ``.bak``, and that is never replaced."""

import os
from pathlib import Path

from reviewsctl.files.folders import opened
from reviewsctl.terminal.errors import CommandError


def check_free(path: Path, option: str, *, is_forced: bool) -> None:
    """Refuse to replace a file without the option for it, or beside an earlier one."""
    backup = path.with_name(f"{path.name}.bak")
    remedy = f"Replace it with {option}; it is kept as {backup.name}."
    if is_forced and os.path.lexists(path):
        path, remedy = backup, "Move it away, or remove it."
    if os.path.lexists(path):
        raise CommandError("not written", f"{path} is there already", remedy)


def write(path: Path, text: str, *, is_kept: bool) -> bool:
    """Write a file, for all to read if it is new (O11), and return whether one was there, which may be kept."""
    from reviewsctl.importing.reviews_file import commit  # msgspec, see main

    backup = f"{path.name}.bak"
    with opened(path.parent, make=True) as folder, folder.draft(path.name) as new:
        new.file.write(text.encode())
        commit(new, lambda: folder.rename(path.name, backup) if is_kept and new.before else None)
    return new.before is not None
