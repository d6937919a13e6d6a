"""JSON-RPC 2.0: bodies read strictly, answers put together (mcp.md 2a-13 to 15, 2c; S17).

Only the envelope is decoded. ``id`` and ``params`` stay the text they came as: the id goes back byte
for byte, the parameters are read by whose they are. What decoders let through is refused for the
whole body at once, so nobody behind this module meets it: invalid UTF-8, a byte order mark, NaN, lone
surrogates, two members of one name, nesting deeper than 64, integers of more than 4,300 digits.
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

_USUAL = 4_096
"""Bytes of a body that is decoded at once; larger ones may have thousands of arrays."""

_INTEGER = re.compile(rb"-?[0-9]+")
_VERSION = b'"2.0"'
_NO_OBJECT = "A message is a JSON object"
_NO_PARAMS = '"params" must be an object'


class JsonRpcError(Exception):
    """The answer to a message is an error.

    Attributes:
        code: Of JSON-RPC or MCP.
        message: One sentence for the developer; it repeats nothing of what was sent.
        data: More about it, rendered.
        request_id: Of what was not a request, where it had a valid one.
    """

    def __init__(
        self, code: int, message: str, data: bytes | None = None, request_id: bytes = NULL
    ) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        super().__init__(f"{code} {message}")


class JsonRpcRequest(Struct, frozen=True):
    """A message that wants an answer."""

    id: bytes
    """A JSON string or integer, as it was given."""
    method: str
    params: bytes
    """A JSON object; ``{}`` where there are none."""


class Notification(Struct, frozen=True):
    """A message that wants none."""

    method: str
    params: bytes
    """As those of a Request."""


class JsonRpcResponse(Struct, frozen=True):
    """The answer to a request; nobody here asks anything."""


Message = JsonRpcRequest | Notification | JsonRpcResponse


class JsonRpcBatch(Struct, frozen=True):
    """What came in one array, for ``read_member``: there may be far too many of them."""

    members: Sequence[Raw]


class _Error(Struct, frozen=True):
    """What a client's error has at least (JSON-RPC 5.1)."""

    code: int
    message: str


class _Envelope(Struct, frozen=True):
    """Members are raw: one of a wrong type must not hide the id."""

    jsonrpc: Raw = Raw()
    id: Raw = Raw()
    method: Raw = Raw()
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


_envelope = msgspec.json.Decoder(_Envelope)
_items = msgspec.json.Decoder(list[Raw])
_anything = msgspec.json.Decoder()
_error = msgspec.json.Decoder(_Error)
_text = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode


def read_body(body: bytes) -> Message | JsonRpcBatch:
    """What was posted.

    Raises:
        JsonRpcError: -32700, it is not JSON or not strictly so; -32600, it is JSON, but neither a
            message nor an array; -32602, its parameters are an array.
    """
    check_strict(body)
    try:
        return _message(_envelope.decode(body))
    except msgspec.ValidationError:  # not an object
        pass
    try:
        return JsonRpcBatch(_items.decode(body))
    except msgspec.ValidationError:
        raise JsonRpcError(INVALID_REQUEST, _NO_OBJECT) from None


def count_members(body: bytes) -> int:
    """How many messages a body has; 1 where it is no batch, or nothing that can be read."""
    try:
        return max(1, len(_items.decode(body)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 1


def read_member(member: Raw) -> Message:
    """One of a batch.

    Raises:
        JsonRpcError: -32600, always without an id (JSON-RPC 6); -32602, with the request's.
    """
    try:
        return _message(_envelope.decode(member))
    except msgspec.ValidationError:
        raise JsonRpcError(INVALID_REQUEST, _NO_OBJECT) from None
    except JsonRpcError as error:
        if error.code != INVALID_REQUEST:
            raise
        raise JsonRpcError(error.code, error.message) from None


def check_strict(body: bytes) -> None:
    """Pass JSON that means the same to every decoder.

    Raises:
        JsonRpcError: -32700.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise JsonRpcError(PARSE_ERROR, "The body is not UTF-8") from None
    if too_deep(body):
        raise JsonRpcError(PARSE_ERROR, f"The body is nested deeper than {MAX_DEPTH}")
    if len(body) <= _USUAL and _has_each_once(body):
        return
    try:
        msgspec.json.decode(body, type=Raw)  # refuses NaN and lone surrogates, where json does not
        _strict.decode(text)
    except (msgspec.DecodeError, ValueError) as error:
        reason = str(error) if isinstance(error, _TwiceError) else "The body is not valid JSON"
        raise JsonRpcError(PARSE_ERROR, reason) from None


def _has_each_once(body: bytes) -> bool:
    """Whether it is plain to see that a body is strict JSON, in which no object has a name twice.

    Every member has a colon, so where a body has no more of them than are left when it is decoded, none
    was lost. Where strings have colons, or arrays have objects, it is not plain.
    """
    try:
        return body.count(b":") == _count_nested(_anything.decode(body))
    except msgspec.DecodeError:  # also for numbers that are large, which JSON may have
        return False


def _count_nested(value: object) -> int:
    """The members of an object, and of those within it."""
    if not isinstance(value, dict):
        return 0
    return len(value) + sum([_count_nested(each) for each in value.values() if type(each) is dict])


class _TwiceError(ValueError):
    """An object has two members of one name."""


def _unlike(pairs: list[tuple[str, object]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):  # of 21,000 in a body most must be cheap
        raise _TwiceError("An object in the body has two members of one name")


# Python's own limit on integers stays in force: more than 4,300 digits are a ValueError
_strict = json.JSONDecoder(object_pairs_hook=_unlike)


def _message(envelope: _Envelope) -> Message:
    given = bytes(envelope.id)
    identified = given.startswith(b'"') or _INTEGER.fullmatch(given) is not None
    method = _string(envelope.method)
    if bytes(envelope.jsonrpc) != _VERSION and _string(envelope.jsonrpc) != "2.0":
        fault = '"jsonrpc" must be "2.0"'
    elif method is not None and (identified or not given):
        params = bytes(envelope.params)
        if params in {b"", NULL}:
            params = b"{}"
        if params.startswith(b"{"):
            return JsonRpcRequest(given, method, params) if given else Notification(method, params)
        # an array would do for JSON-RPC (4.2), not for MCP, whose parameters have names
        code = INVALID_PARAMS if params.startswith(b"[") else INVALID_REQUEST
        raise JsonRpcError(code, _NO_PARAMS, request_id=given or NULL)
    elif method is not None:
        fault = '"id" must be a string or an integer'
    elif bytes(envelope.method):
        fault = '"method" must be a string'
    elif bytes(envelope.result) or bytes(envelope.error):
        if _is_response(envelope, identified=identified):
            return JsonRpcResponse()
        fault = 'A response has an "id" and a "result" or an "error", each an object'
    else:
        fault = 'A message has a "method", a "result" or an "error"'
    raise JsonRpcError(INVALID_REQUEST, fault, request_id=given if identified else NULL)


def _is_response(envelope: _Envelope, *, identified: bool) -> bool:
    """Whether it is an object for the request with its id, or an error, which may lack one."""
    found, error = bytes(envelope.result), bytes(envelope.error)
    if found:
        return found.startswith(b"{") and identified and not error
    try:
        _error.decode(error)
    except msgspec.ValidationError:
        return False
    return identified or bytes(envelope.id) in {b"", NULL}


def _string(raw: Raw) -> str | None:
    """The string that a member is; None for another value and where it is absent."""
    return _text.decode(raw) if bytes(raw).startswith(b'"') else None


def result(request_id: bytes, payload: Sequence[Buffer]) -> tuple[Buffer, ...]:
    """The answer to a request, in parts.

    Args:
        request_id: As it was given.
        payload: The result, rendered, in parts.
    """
    return (b'{"jsonrpc":"2.0","id":%b,"result":' % request_id, *payload, b"}")


def failure(error: JsonRpcError, request_id: bytes | None = None) -> bytes:
    """The answer that is an error.

    Args:
        error: What is wrong.
        request_id: Of the request that failed.
    """
    data = b"" if error.data is None else b',"data":' + error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b%b}}' % (
        request_id or error.request_id,
        error.code,
        _encode(error.message),
        data,
    )
