"""A parsed request."""

from msgspec import Struct

from reviewsd.http1.head import Fields

METHODS = frozenset(b"GET HEAD OPTIONS POST PUT PATCH DELETE TRACE QUERY".split())
"""The known methods; others are 501, these 405 if they are not allowed (S7)."""

_NO_FIELDS = Fields({}, None, 0, True, False, False, None)  # noqa: FBT003  in their order


class Request(Struct, frozen=True):
    """A request with its body."""

    method: bytes
    path: bytes
    """The path as the client sent it, escapes included."""
    query: bytes = b""
    fields: Fields = _NO_FIELDS
    body: bytes = b""
    truncated: bool = False
    """Whether the body was larger than it may be."""
    client: str | None = None
    """The address of the client; None if the transport knows none."""
    loopback: bool = False
    """Whether the client is on this machine."""
    authority: bytes | None = None
    """The host name that the client used, port included (RFC 9112 3.2.2)."""

    def lines(self, name: bytes) -> tuple[bytes, ...]:
        """Return all values of a field; its name is in lower case."""
        return self.fields.values.get(name, ())
