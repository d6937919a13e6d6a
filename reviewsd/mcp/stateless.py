"""The checks of the stateless era, in their order (mcp.md 2b-2, 6, 9, 10; SH#server-validation)."""

import base64
import binascii
from collections.abc import Sequence
from typing import Protocol

import msgspec

from reviewsd.mcp.jsonrpc import JsonRpcError, JsonRpcRequest
from reviewsd.mcp.methods import SUPPORTED
from reviewsd.mcp.params import Params
from reviewsd.mcp.revisions import STATELESS

HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_SENTINEL, _SENTINEL_END = b"=?base64?", b"?="

_encode = msgspec.json.Encoder().encode


class Mirrors(Protocol):
    """The header fields that repeat the body: every value of each, as it came."""

    @property
    def versions(self) -> Sequence[bytes]:
        """``MCP-Protocol-Version``."""

    @property
    def methods(self) -> Sequence[bytes]:
        """``Mcp-Method``."""

    @property
    def names(self) -> Sequence[bytes]:
        """``Mcp-Name``."""


def check_request(request: JsonRpcRequest, params: Params, mirrors: Mirrors) -> None:
    """Pass a request whose ``_meta`` and header fields are in order.

    Raises:
        JsonRpcError: -32602, ``_meta`` is incomplete; -32020, a field differs from the body;
            -32022, the revision is not offered.
    """
    params.check_meta()
    version = params.stateless_version or ""
    _same("MCP-Protocol-Version", mirrors.versions, version)
    _same("Mcp-Method", mirrors.methods, request.method)
    if request.method == "tools/call":
        _same_name(mirrors.names, params.name)
    elif request.method == "resources/read":
        _same_name(mirrors.names, params.uri)
    elif len(mirrors.names) > 1:
        raise _mismatch("Mcp-Name", "came twice")
    _check_offered(version)


def check_notification(params: Params, mirrors: Mirrors) -> None:
    """Pass a notification in a revision that is offered.

    Its ``_meta`` and its other fields are not looked at: the revision says nothing of them.

    Raises:
        JsonRpcError: -32020, -32022.
    """
    version = params.stateless_version
    if version is None:
        version = b", ".join(mirrors.versions).strip(b" \t").decode("latin-1")
    elif mirrors.versions:
        _same("MCP-Protocol-Version", mirrors.versions, version)
    _check_offered(version)


def _check_offered(version: str) -> None:
    if version != STATELESS.name:
        raise JsonRpcError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            b'{"supported":%b,"requested":%b}' % (SUPPORTED, _encode(version)),
        )


def _same(field: str, values: Sequence[bytes], expected: str) -> None:
    if _only(field, values) != expected.encode():
        raise _mismatch(field, "differs from the body")


def _same_name(values: Sequence[bytes], expected: str | None) -> None:
    """``Mcp-Name`` says what the body says: the same name, or both none."""
    if expected is None and not values:
        return  # the method itself will miss its name
    try:
        given = _decoded(_only("Mcp-Name", values))
    except ValueError:
        raise _mismatch("Mcp-Name", "is neither ASCII nor valid base64 of UTF-8") from None
    if given != expected:
        raise _mismatch("Mcp-Name", "differs from the body")


def _only(field: str, values: Sequence[bytes]) -> bytes:
    if len(values) != 1:
        raise _mismatch(field, "came twice" if values else "is missing")
    return values[0].strip(b" \t")


def _decoded(value: bytes) -> str:
    """A field's value, out of base64 where it says so (SH#value-encoding).

    Raises:
        ValueError: It is not what it says.
    """
    if not (value.startswith(_SENTINEL) and value.endswith(_SENTINEL_END)):
        return value.decode("ascii")
    encoded = value[len(_SENTINEL) : -len(_SENTINEL_END)]
    try:
        plain = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError from error
    if base64.b64encode(plain) != encoded:
        raise ValueError
    return plain.decode()


def _mismatch(field: str, fault: str) -> JsonRpcError:
    return JsonRpcError(HEADER_MISMATCH, f"Header mismatch: {field} {fault}")
