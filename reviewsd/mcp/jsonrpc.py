"""JSON-RPC 2.0: parses bodies strictly, renders responses (mcp.md 2a-13 to 2a-15, 2c; S17).

A message has its envelope and the names of its parameters decoded; ids and values stay raw. A body with
anything that decoders disagree on is refused: invalid UTF-8, a byte order mark, NaN, lone surrogates,
two members of one name, nesting deeper than 64, integers of more than 4,300 digits.
"""

import json
import re
from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from reviewsd.domain.strict_json import MAX_DEPTH, too_deep
from reviewsd.http1.representation import Buffer

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

NULL = b"null"

_INTEGER = re.compile(rb"-?[0-9]+")
_VERSION = b'"2.0"'
_NOT_AN_OBJECT = "A message is a JSON object"
_BAD_PARAMS = '"params" must be an object'


class JsonRpcError(Exception):
    """An error response.

    Attributes:
        code: An error code of JSON-RPC or MCP.
        message: One sentence for the developer, without any text of the request.
        data: Rendered details.
        request_id: The id of the message if it is well-formed, else null.
    """

    def __init__(
        self, code: int, message: str, data: bytes | None = None, request_id: bytes = NULL
    ) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        super().__init__(f"{code} {message}")


class Params(Struct, frozen=True):
    """The parameters that methods read; unknown ones are ignored (mcp.md 2a-24)."""

    name: Raw = Raw()
    arguments: Raw = Raw()
    uri: Raw = Raw()
    cursor: Raw = Raw()
    notifications: Raw = Raw()
    protocol_version: Raw = msgspec.field(default=Raw(), name="protocolVersion")
    raw_meta: Raw = msgspec.field(default=Raw(), name="_meta")

    @property
    def meta(self) -> dict[str, Raw]:
        """The members of ``_meta``; empty unless it is an object."""
        return _members.decode(self.raw_meta) if bytes(self.raw_meta).startswith(b"{") else {}


class JsonRpcRequest(Struct, frozen=True):
    """A message that gets a response."""

    id: bytes
    """A raw JSON string or integer."""
    method: str
    params: Params


class Notification(Struct, frozen=True):
    """A message without a response."""

    method: str
    params: Params


class JsonRpcResponse(Struct, frozen=True):
    """A response; it is ignored, because the server sends no requests."""


Message = JsonRpcRequest | Notification | JsonRpcResponse


class _Error(Struct, frozen=True):
    """The required members of an error (JSON-RPC 5.1)."""

    code: int
    message: str


class _Envelope(Struct, frozen=True):
    """A message with raw members, so that a wrong type does not hide the id."""

    jsonrpc: Raw = Raw()
    id: Raw = Raw()
    method: Raw = Raw()
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


_envelope = msgspec.json.Decoder(_Envelope)
_params = msgspec.json.Decoder(Params)
_items = msgspec.json.Decoder(list[Raw])
_members = msgspec.json.Decoder(dict[str, Raw])
_error = msgspec.json.Decoder(_Error)
_string = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode


def read_body(body: bytes) -> Message | list[Raw]:
    """Parse the body of a POST: a message, or the elements of a batch, for ``read_member``.

    The caller limits their number.

    Raises:
        JsonRpcError: -32700, it is not strict JSON; -32600, it is neither a message nor an array;
            -32602, its parameters are an array.
    """
    check_strict(body)
    try:
        return _message(_envelope.decode(body))
    except msgspec.ValidationError:  # not an object
        pass
    try:
        return _items.decode(body)
    except msgspec.ValidationError:
        raise JsonRpcError(INVALID_REQUEST, _NOT_AN_OBJECT) from None


def count_messages(body: bytes) -> int:
    """Return the number of messages in a body; 1 unless it is a batch."""
    try:
        return max(1, len(_items.decode(body)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 1


def read_member(member: Raw) -> Message:
    """Parse an element of a batch.

    Raises:
        JsonRpcError: -32600, always without an id (JSON-RPC 6); -32602, with the request's.
    """
    try:
        return _message(_envelope.decode(member))
    except msgspec.ValidationError:
        raise JsonRpcError(INVALID_REQUEST, _NOT_AN_OBJECT) from None
    except JsonRpcError as error:
        if error.code != INVALID_REQUEST:
            raise
        raise JsonRpcError(error.code, error.message) from None


def check_strict(body: bytes) -> None:
    """Check that every decoder reads the same value from a body.

    Raises:
        JsonRpcError: -32700.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise JsonRpcError(PARSE_ERROR, "The body is not UTF-8") from None
    if too_deep(body):
        raise JsonRpcError(PARSE_ERROR, f"The body is nested deeper than {MAX_DEPTH}")
    try:
        msgspec.json.decode(body, type=Raw)  # refuses NaN and lone surrogates, unlike json
        _strict.decode(text)
    except (msgspec.DecodeError, ValueError) as error:
        reason = (
            str(error) if isinstance(error, _DuplicateNameError) else "The body is not valid JSON"
        )
        raise JsonRpcError(PARSE_ERROR, reason) from None


class _DuplicateNameError(ValueError):
    """An object has two members of one name."""


def _check_names(pairs: list[tuple[str, object]]) -> None:
    # the length first: a body has up to 21,000 objects
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        raise _DuplicateNameError("An object in the body has two members of one name")


# Python's own limit on integers stays in force: more than 4,300 digits raise ValueError
_strict = json.JSONDecoder(object_pairs_hook=_check_names)


def _message(envelope: _Envelope) -> Message:
    raw_id = bytes(envelope.id)
    has_id = raw_id.startswith(b'"') or _INTEGER.fullmatch(raw_id) is not None
    method = string(envelope.method)
    if bytes(envelope.jsonrpc) != _VERSION and string(envelope.jsonrpc) != "2.0":
        fault = '"jsonrpc" must be "2.0"'
    elif method is not None and (has_id or not raw_id):
        params = _params_of(envelope, raw_id)
        return JsonRpcRequest(raw_id, method, params) if raw_id else Notification(method, params)
    elif method is not None:
        fault = '"id" must be a string or an integer'
    elif bytes(envelope.method):
        fault = '"method" must be a string'
    elif bytes(envelope.result) or bytes(envelope.error):
        if _is_response(envelope, has_id=has_id):
            return JsonRpcResponse()
        fault = 'A response has an "id", and a "result" or "error" that is an object'
    else:
        fault = 'A message has a "method", a "result" or an "error"'
    raise JsonRpcError(INVALID_REQUEST, fault, request_id=raw_id if has_id else NULL)


def _params_of(envelope: _Envelope, raw_id: bytes) -> Params:
    raw = bytes(envelope.params)
    if raw in {b"", NULL}:
        return Params()
    if raw.startswith(b"{"):
        return _params.decode(raw)
    # JSON-RPC allows an array (4.2); the parameters of MCP have names
    code = INVALID_PARAMS if raw.startswith(b"[") else INVALID_REQUEST
    raise JsonRpcError(code, _BAD_PARAMS, request_id=raw_id or NULL)


def _is_response(envelope: _Envelope, *, has_id: bool) -> bool:
    """Return whether a message is a result with an id, or an error with or without one."""
    result, error = bytes(envelope.result), bytes(envelope.error)
    if result:
        return result.startswith(b"{") and has_id and not error
    try:
        _error.decode(error)
    except msgspec.ValidationError:
        return False
    return has_id or bytes(envelope.id) in {b"", NULL}


def string(raw: Raw) -> str | None:
    """Return the value of a member; None if it is absent or not a string."""
    return _string.decode(raw) if bytes(raw).startswith(b'"') else None


def result(request_id: bytes, payload: Sequence[Buffer]) -> tuple[Buffer, ...]:
    """Return the response with a rendered result, in parts."""
    return (b'{"jsonrpc":"2.0","id":%b,"result":' % request_id, *payload, b"}")


def failure(error: JsonRpcError, request_id: bytes | None = None) -> bytes:
    """Return the response with an error; ``request_id`` is None for an invalid message."""
    data = b"" if error.data is None else b',"data":' + error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b%b}}' % (
        request_id or error.request_id,
        error.code,
        _encode(error.message),
        data,
    )
