"""Checks of ``_meta`` and header fields in the stateless era (mcp.md 2b-2, 2b-6, 2b-9, 2b-10).

Three header fields repeat members of the body, and must agree with them (SH#server-validation).
"""

import base64
import binascii
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from reviewsd.http1.request import Request
from reviewsd.mcp.jsonrpc import INVALID_PARAMS, JsonRpcError, JsonRpcRequest, Notification, string
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS, SUPPORTED

HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

_BASE64_START, _BASE64_END = b"=?base64?", b"?="

# a client may arrive here with a session's request and an unusual MCP-Protocol-Version
_META_LACKS = (
    f"Sessions have the revisions {', '.join(revision.name for revision in HANDSHAKE)};"
    f' for {STATELESS.name} "_meta" lacks'
)

_encode = msgspec.json.Encoder().encode


def header_version(request: Request) -> bytes | None:
    """Return ``MCP-Protocol-Version``, its values joined: no revision has such a name."""
    versions = request.lines(b"mcp-protocol-version")
    return b", ".join(versions).strip(b" \t") if versions else None


def check_request(message: JsonRpcRequest, request: Request) -> None:
    """Check ``_meta`` and the header fields of a request.

    Raises:
        JsonRpcError: -32602, ``_meta`` is incomplete; -32020, a field differs from the body;
            -32022, the revision is not offered.
    """
    meta = message.params.meta
    version = string(meta.get(PROTOCOL_VERSION, Raw()))
    if version is None:
        raise JsonRpcError(INVALID_PARAMS, f'{_META_LACKS} "{PROTOCOL_VERSION}", a string')
    if not bytes(meta.get(CLIENT_CAPABILITIES, b"")).startswith(b"{"):
        raise JsonRpcError(INVALID_PARAMS, f'{_META_LACKS} "{CLIENT_CAPABILITIES}", an object')
    _check_field("MCP-Protocol-Version", request.lines(b"mcp-protocol-version"), version)
    _check_field("Mcp-Method", request.lines(b"mcp-method"), message.method)
    names = request.lines(b"mcp-name")
    if message.method == "tools/call":
        _check_name(names, string(message.params.name))
    elif message.method == "resources/read":
        _check_name(names, string(message.params.uri))
    elif len(names) > 1:
        raise _mismatch("Mcp-Name", "came twice")
    _check_offered(version)


def check_notification(message: Notification, request: Request) -> None:
    """Check the revision of a notification; the specification requires nothing else of it.

    Raises:
        JsonRpcError: -32020, -32022.
    """
    version = string(message.params.meta.get(PROTOCOL_VERSION, Raw()))
    if version is None:
        version = (header_version(request) or b"").decode("latin-1")
    elif versions := request.lines(b"mcp-protocol-version"):
        _check_field("MCP-Protocol-Version", versions, version)
    _check_offered(version)


def _check_offered(version: str) -> None:
    if version != STATELESS.name:
        raise JsonRpcError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            b'{"supported":%b,"requested":%b}' % (SUPPORTED, _encode(version)),
        )


def _check_field(field: str, values: Sequence[bytes], expected: str) -> None:
    if _single(field, values) != expected.encode():
        raise _mismatch(field, "differs from the body")


def _check_name(values: Sequence[bytes], expected: str | None) -> None:
    if expected is None and not values:
        return  # the method refuses a body without a name
    try:
        name = _decoded(_single("Mcp-Name", values))
    except ValueError:
        raise _mismatch("Mcp-Name", "is neither ASCII nor valid base64 of UTF-8") from None
    if name != expected:
        raise _mismatch("Mcp-Name", "differs from the body")


def _single(field: str, values: Sequence[bytes]) -> bytes:
    if len(values) != 1:
        raise _mismatch(field, "came twice" if values else "is missing")
    return values[0].strip(b" \t")


def _decoded(value: bytes) -> str:
    """Return the text of a field that may be in base64 (SH#value-encoding).

    Raises:
        ValueError: The value is neither ASCII nor valid base64.
    """
    if not (value.startswith(_BASE64_START) and value.endswith(_BASE64_END)):
        return value.decode("ascii")
    encoded = value[len(_BASE64_START) : -len(_BASE64_END)]
    try:
        plain = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError from error
    if base64.b64encode(plain) != encoded:
        raise ValueError
    return plain.decode()


def _mismatch(field: str, fault: str) -> JsonRpcError:
    return JsonRpcError(HEADER_MISMATCH, f"Header mismatch: {field} {fault}")
