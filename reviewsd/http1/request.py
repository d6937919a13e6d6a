"""One request as the routes see it, whichever way it came to them."""

from msgspec import Struct

from reviewsd.http1.head import Fields

MAX_PREFERENCES = 256
"""Bytes of Accept or Accept-Encoding that are read; browsers send 140. A header has room for thousands
of ranges, which take 10 microseconds each."""

_NO_FIELDS = Fields({}, None, 0, True, False, False, None)  # noqa: FBT003  in their order


METHODS = frozenset(b"GET HEAD OPTIONS POST PUT PATCH DELETE TRACE QUERY".split())
"""The known ones; others are 501, these 405 where they are not allowed (S7)."""


class Request(Struct, frozen=True):
    """A request whose body has come."""

    method: bytes
    path: bytes
    """As it came, escapes and all."""
    query: bytes = b""
    fields: Fields = _NO_FIELDS
    body: bytes = b""
    truncated: bool = False
    """Whether there was more in the body than may be."""
    client: str | None = None
    """The address of who sent it; None where the transport knows none."""
    loopback: bool = False
    """Whether it came to a listener on loopback, where only this machine can ask."""
    authority: bytes | None = None
    """By which name the server is asked, port included (RFC 9112 3.2.2)."""

    def lines(self, name: bytes) -> tuple[bytes, ...]:
        """All values of a field; its name is in lower case."""
        return self.fields.values.get(name, ())

    def preferences(self, name: bytes) -> tuple[bytes, ...]:
        """The same of a field that says what the client would like; none where they are too long.

        A server may disregard them (RFC 9110 12.1).
        """
        lines = self.fields.values.get(name)
        if lines is None:
            return ()
        size = len(lines[0]) if len(lines) == 1 else sum(map(len, lines))
        return lines if size <= MAX_PREFERENCES else ()
