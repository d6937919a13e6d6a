"""Sources of the type ``trustpilot``: the service reviews of a business unit, by the API for businesses."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from reviewsctl.sources.paging import Download, Page, read_pages
from reviewsctl.sources.wire import Wire

ORIGIN: Final = "https://api.trustpilot.com"
_TOKEN: Final = "/v1/oauth/oauth-business-users-for-applications/accesstoken"  # noqa: S105  # a path
_PER_PAGE: Final = 100
_REMEDY: Final = "Put the key and the secret of your API application into key_file and secret_file."


class _Token(msgspec.Struct):
    access_token: str


class _Count(msgspec.Struct):
    total: int


class _Unit(msgspec.Struct, rename={"number_of_reviews": "numberOfReviews"}):
    id: str
    number_of_reviews: _Count


class _Reviews(msgspec.Struct):
    reviews: list[msgspec.Raw]


@dataclass(slots=True)
class TrustpilotReader:
    """Reads the reviews of one business unit; the access token lives as long as the run."""

    wire: Wire
    business_unit: str
    key: str
    secret: str
    origin: str = ORIGIN
    _token: str = field(default="", init=False)

    def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Read all pages; the one after the last is empty."""
        unit = self._unit()
        path = f"{self.origin}/v1/private/business-units/{quote(unit.id, safe='')}/reviews"

        def fetch(token: str) -> Page:
            number = int(token or "1")
            query = {"page": number, "perPage": _PER_PAGE, "orderBy": "createdat.desc"}
            url = f"{path}?{urlencode(query)}"
            answer = self.wire.get(url, self._access_token, _REMEDY)
            rows = len(answer.decoded(_Reviews).reviews)
            return Page(
                content=answer.body,
                rows=rows,
                total=unit.number_of_reviews.total,
                next=str(number + 1) if rows else None,
            )

        return read_pages(fetch, spool, look, self.wire, full=full)

    def _unit(self) -> _Unit:
        query = urlencode({"name": self.business_unit})
        url = f"{self.origin}/v1/business-units/find?{query}"
        answer = self.wire.request("GET", url, {"apikey": self.key})
        return answer.checked(_REMEDY).decoded(_Unit)

    def _access_token(self, new: bool) -> str:  # noqa: FBT001  # its only argument
        if new or not self._token:
            basic = base64.b64encode(f"{self.key}:{self.secret}".encode()).decode()
            answer = self.wire.request(
                "POST",
                self.origin + _TOKEN,
                {
                    "Authorization": f"Basic {basic}",
                    "Content-Type": "application/x-www-form-urlencoded",
                },
                data=b"grant_type=client_credentials",
            )
            self._token = answer.checked(_REMEDY).decoded(_Token).access_token
        return self._token
