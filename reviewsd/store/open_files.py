"""Compares the files of an open SQLite store with the files at their paths.

A file that is deleted or replaced while it is open continues to exist without a name. The daemon would
work as before, and lose everything at its next start.
"""

from pathlib import Path

from reviewsd.store.transactions import StoreError

_REMEDY = (
    "while it was in use: new requests are refused, deliveries go on. Save the open data:"
    " reviewsctl backup FILE; then stop the daemon, run reviewsctl restore FILE --force, and start it"
)


class OpenFiles:
    """The database file and its log, as they were when they were opened.

    Args:
        path: The database file.
    """

    def __init__(self, path: Path) -> None:
        resolved = path.resolve()
        self.log = resolved.with_name(f"{resolved.name}-wal")
        self._paths = (path, self.log)
        self._opened: tuple[tuple[int, int], ...] = ()  # device and inode of each path

    def record(self) -> None:
        """Record the identity of the open files.

        Raises:
            OSError: One of them cannot be reached.
        """
        self._opened = tuple(_identity(path) for path in self._paths)

    def missing(self, *, connected: bool) -> StoreError | None:
        """Return an error if the files at the paths are not the open ones, else None.

        Args:
            connected: Whether the connection is open; the log exists only then.
        """
        paths = self._paths if connected else self._paths[:1]
        for path, opened in zip(paths, self._opened, strict=False):
            try:
                current = _identity(path)
            except (FileNotFoundError, NotADirectoryError):
                return StoreError(f"{path.name} was deleted {_REMEDY}")
            except OSError as error:
                return StoreError(f"{path.name} cannot be reached ({error.strerror})")
            if current != opened:
                return StoreError(f"{path.name} was replaced by another file {_REMEDY}")
        return None


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
