"""Sources of the type ``google-business``: the reviews of one location (Business Profile API, v4)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import msgspec

from reviewsctl.sources.faults import LOG_IN
from reviewsctl.sources.oauth import GoogleTokens
from reviewsctl.sources.paging import Download, Page, read_pages

ORIGIN: Final = "https://mybusiness.googleapis.com"
_PAGE_SIZE: Final = 50


class _Reviews(msgspec.Struct, rename={"total": "totalReviewCount", "next_token": "nextPageToken"}):
    """A page; Google leaves out what is empty."""

    reviews: list[msgspec.Raw] = []
    total: int | None = None
    next_token: str = ""


@dataclass(frozen=True, slots=True)
class GoogleReader:
    """Reads the reviews of one location."""

    tokens: GoogleTokens
    location: str
    """``accounts/1/locations/2``."""
    origin: str = ORIGIN

    def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Read all pages, the review that was changed last first."""
        wire, remedy = self.tokens.wire, LOG_IN.format(name=self.tokens.name)

        def fetch(token: str) -> Page:
            query = {"pageSize": str(_PAGE_SIZE), "orderBy": "updateTime desc"}
            if token:
                query["pageToken"] = token
            url = f"{self.origin}/v4/{self.location}/reviews?{urlencode(query)}"
            answer = wire.get(url, self.tokens.access_token, remedy)
            page = answer.decoded(_Reviews)
            return Page(
                content=answer.body,
                rows=len(page.reviews),
                total=page.total,
                next=page.next_token or None,
            )

        return read_pages(fetch, spool, look, wire, full=full)
