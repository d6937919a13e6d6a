"""Remedies that several commands name, the same inside and outside a container."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


def to_write(folder: Path, otherwise: str, fault: BaseException | None = None) -> str:
    """Return the remedy for a folder that cannot be written: room on its disk, or another user.

    Args:
        folder: The folder, or one that could not be made.
        otherwise: What helps without another user; a sentence that goes on after "or".
        fault: Why it cannot be written, where that is known.
    """
    from reviewsd.api.disk import is_full, room  # shutil and tempfile take 8 ms, see main

    if is_full(fault):
        return f"Make room: {room(folder)}."
    return f"Use sudo, or {otherwise} In a container, run it as the owner of the folder: --user UID:GID."


@contextlib.contextmanager
def writing(folder: Path, otherwise: str) -> Iterator[None]:
    """Raise faults of the file system in the block as ``ImportRefusedError``; the arguments are those of ``to_write``."""
    from reviewsctl.importing.errors import (
        ImportRefusedError,  # it imports the errors of this package
    )

    try:
        yield
    except OSError as fault:
        detail = f"{fault.filename or folder}: {fault.strerror}"
        raise ImportRefusedError(detail, to_write(folder, otherwise, fault)) from fault
