"""One request as the routes see it, whichever way it came to them."""

from msgspec import Struct

from reviewsd.http1.head import Fields

_NO_FIELDS = Fields(b"", {}, None, 0, True, False, False, None, None)  # noqa: FBT003  in their order


class Asked(Struct, frozen=True):
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
