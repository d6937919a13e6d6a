"""The files of a data directory that its owner would miss: for a backup, and for a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reviewsctl.importing.history import FOLDER
from reviewsd.api.places import DATA_FILES, KEPT_FOLDER

KEPT_FOLDERS: Final = (KEPT_FOLDER, f"{KEPT_FOLDER}/{FOLDER}")
"""The folders of what ``reviewsctl`` keeps: the log of imports, and the versions that can be restored."""


def owner_files(data: Path) -> Iterator[str]:
    """Yield the paths of the files, relative to the directory."""
    yield from (name for name in DATA_FILES if (data / name).is_file())
    for folder in KEPT_FOLDERS:
        yield from (
            f"{folder}/{path.name}"
            for path in sorted((data / folder).glob("*"))
            if path.is_file() and not path.name.startswith(".")
        )
