"""The parameters of the methods, as far as the protocol itself reads them (mcp.md 2a-20, 22, 24).

Unknown members are tolerated; those of a tool's arguments are its own business.
"""

import msgspec
from msgspec import Raw

from reviewsd.mcp.jsonrpc import INVALID_PARAMS, NULL, JsonRpcError
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class _Members(msgspec.Struct, frozen=True):
    """All that any method reads; raw, since which ones count depends on the method."""

    name: Raw = Raw()
    arguments: Raw = Raw()
    uri: Raw = Raw()
    cursor: Raw = Raw()
    protocol_version: Raw = msgspec.field(default=Raw(), name="protocolVersion")
    meta: Raw = msgspec.field(default=Raw(), name="_meta")


_members = msgspec.json.Decoder(_Members)
_text = msgspec.json.Decoder(str)
_object = msgspec.json.Decoder(dict[str, Raw])


class Params:
    """The ``params`` of one message.

    Args:
        raw: A JSON object, strictly read before (``jsonrpc.read_body``).
    """

    def __init__(self, raw: bytes) -> None:
        self._members = _members.decode(raw)
        self.meta = _object_of(self._members.meta)
        """The members of ``_meta``; empty where it is absent or no object."""

    @property
    def name(self) -> str | None:
        """``name``, if it is a string; so are the next two."""
        return _string_of(self._members.name)

    @property
    def uri(self) -> str | None:
        """Of a resource."""
        return _string_of(self._members.uri)

    @property
    def protocol_version(self) -> str | None:
        """What initialize asks for."""
        return _string_of(self._members.protocol_version)

    @property
    def stateless_version(self) -> str | None:
        """The revision that ``_meta`` names, if it is a string."""
        return _string_of(self.meta.get(PROTOCOL_VERSION, _ABSENT))

    @property
    def arguments(self) -> bytes:
        """Of a tool: a JSON object, ``{}`` where there are none.

        Raises:
            JsonRpcError: -32602, it is something else.
        """
        given = bytes(self._members.arguments)
        if given in {b"", NULL}:
            return b"{}"
        if not given.startswith(b"{"):
            raise JsonRpcError(INVALID_PARAMS, '"arguments" must be an object')
        return given

    def check_cursor(self) -> None:
        """Pass no cursor: every list fits one page, so none was ever given out.

        Raises:
            JsonRpcError: -32602.
        """
        if bytes(self._members.cursor) not in {b"", NULL}:
            raise JsonRpcError(INVALID_PARAMS, "Unknown cursor: the list has one page only")

    def check_meta(self) -> None:
        """Pass what the stateless era requires in ``_meta`` (2026-07-28 B#meta).

        Raises:
            JsonRpcError: -32602.
        """
        if self.stateless_version is None:
            raise JsonRpcError(INVALID_PARAMS, f'{_META_LACKS} "{PROTOCOL_VERSION}", a string')
        if not bytes(self.meta.get(CLIENT_CAPABILITIES, _ABSENT)).startswith(b"{"):
            raise JsonRpcError(INVALID_PARAMS, f'{_META_LACKS} "{CLIENT_CAPABILITIES}", an object')


# who comes here by mistake has sent a session's request with an odd MCP-Protocol-Version
_META_LACKS = (
    f"Sessions have the revisions {', '.join(each.name for each in HANDSHAKE)};"
    f' for {STATELESS.name} "_meta" lacks'
)

_ABSENT = Raw()


def _string_of(raw: Raw) -> str | None:
    return _text.decode(raw) if bytes(raw).startswith(b'"') else None


def _object_of(raw: Raw) -> dict[str, Raw]:
    return _object.decode(raw) if bytes(raw).startswith(b"{") else {}
