"""Downloads, and lists that come in pages: complete, or not at all (sources.md 3)."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.wire import Wire
from reviewsd.api.texts import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The result of a complete read of a source: files that an import understands."""

    files: Sequence[Path]
    look: str
    """For the next run's first look."""
    origin: str = "FILE"
    """The name of the file to import it by hand; a download has none yet."""
    rows: int | None = None
    """Reviews in the files; None where only the import can count them."""
    is_current: bool = True
    """Whether it is all that the platform has at the moment."""


class SourceReader(Protocol):
    """A type of source: how its wire is read."""

    def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Read everything, or find that nothing has changed.

        Args:
            spool: An empty folder for the files.
            look: That of the last complete read; empty without one.
            full: Whether to read everything even if a first look finds nothing new.

        Returns:
            The download; None if nothing has changed.

        Raises:
            ReadFailedError: It is not complete.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page."""

    content: bytes
    rows: int
    total: int | None
    """The number of reviews that the platform names."""
    next: str | None
    """The token of the next page; None if this is the last one."""


def read_pages(
    fetch: Callable[[str], Page], spool: Path, look: str, wire: Wire, *, full: bool
) -> Download | None:
    """Read all pages.

    Args:
        fetch: Returns the page of a token; the first has none.
        spool: The folder for the files.
        look: That of the last complete read.
        wire: Has a request left for each page, else the read is not begun.
        full: Whether to read on where the first page is the same as then.

    Returns:
        The download; None if nothing has changed.

    Raises:
        ReadFailedError: A page came twice, or reviews are missing from the number that the platform names.
    """
    page = fetch("")
    current = f"{hashlib.sha256(page.content).hexdigest()} {page.total}"
    if current == look and not full:
        return None
    if page.total and page.rows:
        wire.check_left(-(-page.total // page.rows) - 1)
    files: list[Path] = []
    tokens: set[str] = set()
    digests: set[bytes] = set()
    rows = 0
    while True:
        digest = hashlib.sha256(page.content).digest()
        if page.rows and (digest in digests or page.next in tokens):
            raise ReadFailedError("the platform sent a page twice")
        digests.add(digest)
        if page.rows:
            file = spool / f"{len(files) + 1:04}.json"
            file.touch(mode=0o600)
            file.write_bytes(page.content)
            files.append(file)
        rows += page.rows
        if page.next is None:
            break
        tokens.add(page.next)
        page = fetch(page.next)
    if page.total is not None and rows < page.total:
        raise ReadFailedError(
            f"{counted(rows, 'review')} came, and the platform tells of {page.total:,}"
        )
    return Download(files=files, look=current, rows=rows)
