"""Reads lists that come in pages: completely, or not at all (sources.md 3)."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.download import Download
from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.wire import Answer

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page."""

    content: bytes
    rows: int
    total: int | None
    """The number of reviews that the platform names."""
    next: str | None
    """The token of the next page; None if this is the last one."""


def decoded(answer: Answer, kind: type[_T]) -> _T:
    """Return the JSON of a response.

    Raises:
        ReadFailedError: It is none, is cut, or has another form.
    """
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ReadFailedError(f"what {answer.host} sent is not the JSON of its API") from error


async def read_pages(
    fetch: Callable[[str], Awaitable[Page]],
    spool: Path,
    look: str,
    budget: RequestBudget,
    *,
    full: bool,
) -> Download | None:
    """Read all pages.

    Args:
        fetch: Returns the page of a token; the first has none.
        spool: The folder for the files.
        look: That of the last complete read.
        budget: Checked before a read that could not end.
        full: Whether to read on where the first page is the same as then.

    Returns:
        The download; None if nothing has changed.

    Raises:
        ReadFailedError: A page came twice, or reviews are missing from the number that the platform names.
    """
    page = await fetch("")
    current = f"{hashlib.sha256(page.content).hexdigest()} {page.total}"
    if current == look and not full:
        return None
    if page.total and page.rows:
        budget.check(-(-page.total // page.rows) - 1)
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
        page = await fetch(page.next)
    if page.total is not None and rows < page.total:
        raise ReadFailedError(f"{rows:,} reviews came, and the platform tells of {page.total:,}")
    return Download(files=files, look=current, rows=rows)
