"""The requests of the public site: Twisted's, without what no route here wants.

Twisted makes every request ready for everything: arguments and cookies read, the resource looked up
from the root, header names put right and values cleaned time and again. That costs more than most
answers, so what is left here is what Klein and the routes use.
"""

import time
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from twisted.python.failure import Failure
from twisted.web.http_headers import Headers
from twisted.web.server import Request

from reviewsd.domain.preconditions import http_date

if TYPE_CHECKING:
    from reviewsd.web.channel import Channel

SERVER = b"reviewsd"

_date = lru_cache(maxsize=2)(http_date)


class Fields(Headers):
    """Header fields from who spells their names as ``Headers`` would, and has clean values.

    The channel puts names right and refuses values with line breaks before it adds them; it looks at
    what is sent once more as a whole.
    """

    def addRawHeader(self, name: bytes, value: bytes) -> None:  # type: ignore[override]
        self._rawHeaders.setdefault(name, []).append(value)

    def setRawHeaders(self, name: str | bytes, values: list[bytes]) -> None:  # type: ignore[override]
        if isinstance(name, str):  # only Twisted's own
            super().setRawHeaders(name, values)
        else:
            self._rawHeaders[name] = values


class BoundedRequest(Request):
    """A request whose body is counted by its channel, and held in memory."""

    channel: "Channel"
    truncated = False
    """Whether there was more in the body than may be."""

    def __init__(self, channel: "Channel", *queued: object) -> None:
        super().__init__(channel, *queued)
        self.requestHeaders = Fields()
        self.responseHeaders = Fields()

    def getRequestHostname(self) -> bytes:
        # Klein asks, and fails on a Host that is no name; routes do not depend on it
        return b"localhost"

    def parseCookies(self) -> None:
        """No route reads any."""

    def gotLength(self, _length: int | None) -> None:
        self.content = BytesIO()  # Twisted writes what comes in chunks to a file

    def handleContentChunk(self, data: bytes) -> None:
        if self.channel.takes(len(data)):
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self.method, self.uri, self.clientproto = command, path, version
        self.path = path.partition(b"?")[0]
        self.content.seek(0)  # type: ignore[union-attr]  # None before the headers only
        self.process()

    def process(self) -> None:
        self.site = self.channel.site
        self.responseHeaders.setRawHeaders(b"Server", [SERVER])
        self.responseHeaders.setRawHeaders(b"Date", [_date(int(time.time()))])
        self.prepath: list[bytes] = []
        self.postpath = [unquote_to_bytes(part) for part in self.path[1:].split(b"/")]  # for Klein
        try:
            self.render(self.site.resource)
        except Exception:  # noqa: BLE001 - logged there, with its traceback
            self.processingFailed(Failure())
