"""Answers POST and DELETE at ``/mcp`` (mcp.md 2a, 2b).

Both eras share the address. A message is stateless if its header names anything but a revision
with sessions, or if its ``_meta`` names any revision (2b-1). Any other message needs a session, except initialize, which
opens one. An error has a status of its own in the stateless era; in a session it has 200.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from msgspec import Raw, Struct

from reviewsd.http1.negotiation import EVENT_RANGES, accepts
from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.mcp import stateless
from reviewsd.mcp.change_streams import LISTEN, ChangeStream, ChangeStreams
from reviewsd.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    JsonRpcError,
    JsonRpcRequest,
    Message,
    Notification,
    failure,
    read_body,
    read_member,
    result,
    string,
)
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS, Revision, negotiated
from reviewsd.mcp.sessions import RANDOM_BYTES, Session, SessionGoneError, Sessions
from reviewsd.snapshot.snapshots import Snapshot

MAX_BATCH = 50  # messages; mcp.md 2a-15
ALLOW = (b"Allow", b"POST, DELETE, OPTIONS")
SESSION_ID = b"Mcp-Session-Id"

BATCH_FULL = "The answers to this batch are too large together; send this request by itself"

STREAMS_FULL = (
    "Too many streams of changes are open, from your network or in total; read the resource from time"
    " to time instead"
)

_HANDSHAKE_VERSIONS = frozenset(revision.name.encode() for revision in HANDSHAKE)
_NOT_CLIENT_FAULTS = frozenset((429, 500, 503))
"""Statuses of requests that are valid."""


class McpAnswer(Struct, frozen=True):
    """The response to a request, without the headers of CORS and caching."""

    status: int
    body: tuple[Buffer, ...] = ()
    """One JSON value in parts; Content-Type is sent only with a body."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    events: ChangeStream | None = None
    """The events that follow the body, which is then the first one."""


def refusal(
    status: int,
    message: str,
    headers: tuple[tuple[bytes, bytes], ...] = (),
    request_id: bytes | None = None,
) -> McpAnswer:
    """Return an answer with an error that has no code of its own (the end of mcp.md 2b)."""
    code = INTERNAL_ERROR if status in _NOT_CLIENT_FAULTS else INVALID_REQUEST
    return McpAnswer(status, (failure(JsonRpcError(code, message), request_id),), headers)


ACCEPTED = McpAnswer(202)
ENDED = McpAnswer(204)
NOT_ALLOWED = refusal(405, "Use POST to send messages, DELETE to end a session", (ALLOW,))
NO_ROOM = refusal(
    405,
    "No more sessions can be ended; this one ends when it expires",
    ((b"Allow", b"POST, OPTIONS"),),
)


class AnswerRoom(Protocol):
    """Counts the memory of an answer while it grows."""

    @property
    def full(self) -> bool:
        """Whether the answer must not grow further."""

    def reserve(self, parts: Sequence[Buffer]) -> None:
        """Count parts that were added."""

    def release(self) -> None:
        """Stop counting: the answer is complete, or the client has left."""


class McpServer:
    """Answers requests.

    Args:
        sessions: Mints and reads session ids.
        methods: The methods of the protocol.
        streams: The streams of changes.
        random: Returns a number of unguessable bytes.
    """

    def __init__(
        self,
        sessions: Sessions,
        methods: Methods,
        streams: ChangeStreams,
        random: Callable[[int], bytes],
    ) -> None:
        self._sessions = sessions
        self._methods = methods
        self._streams = streams
        self._random = random

    def post(
        self, request: Request, snapshot: Snapshot, now: float, room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        """Answer a POST in steps.

        Args:
            request: The request.
            snapshot: The data.
            now: POSIX seconds.
            room: Memory for the answer to a batch.
        """
        try:
            message = read_body(request.body)
        except JsonRpcError as error:
            return McpAnswer(400, (failure(error),))
        if _is_stateless(message, request):
            return (yield from self._stateless(message, request, snapshot))
        if isinstance(message, JsonRpcRequest) and message.method == "initialize":
            return self._initialize(message, snapshot, now)
        session = self._session(request, now, _id(message))
        if isinstance(session, McpAnswer):
            return session
        if isinstance(message, list):
            return (yield from self._batch(message, session.revision, snapshot, room))
        if not isinstance(message, JsonRpcRequest):
            return ACCEPTED
        return McpAnswer(200, (yield from self._response(message, session.revision, snapshot)))

    def delete(self, request: Request, now: float) -> Session | McpAnswer:
        """Return the session that a DELETE ends, or the refusal (2a-8).

        The caller ends the session and answers ``ENDED``, or ``NO_ROOM``.
        """
        version = stateless.header_version(request)
        if version == STATELESS.name.encode():
            return NOT_ALLOWED
        if version is not None and version not in _HANDSHAKE_VERSIONS:
            return refusal(400, "MCP-Protocol-Version names a revision that is not offered")
        return self._session(request, now, None)

    def fault(self, request: Request) -> McpAnswer:
        """Return the answer to a POST that raised an exception."""
        try:
            message = read_body(request.body)
        except JsonRpcError:
            return refusal(500, "Internal error")
        return refusal(500, "Internal error", request_id=_id(message))

    def _session(
        self, request: Request, now: float, request_id: bytes | None
    ) -> Session | McpAnswer:
        tokens = request.lines(b"mcp-session-id")
        if not tokens:
            message = "Mcp-Session-Id is missing; initialize gives one"
            return refusal(400, message, request_id=request_id)
        try:
            return self._sessions.read(b", ".join(tokens).strip(b" \t"), now)
        except SessionGoneError:
            message = "The session is unknown or has ended; initialize opens a new one"
            return refusal(404, message, request_id=request_id)

    def _initialize(self, message: JsonRpcRequest, snapshot: Snapshot, now: float) -> McpAnswer:
        version = string(message.params.protocol_version)
        if version is None:
            error = JsonRpcError(INVALID_PARAMS, '"protocolVersion" must be a string')
            return McpAnswer(200, (failure(error, message.id),))
        revision = negotiated(version)
        token = self._sessions.mint(revision, now, self._random(RANDOM_BYTES))
        payload = self._methods.initialize(revision, snapshot)
        return McpAnswer(200, result(message.id, (payload,)), ((SESSION_ID, token),))

    def _response(
        self, message: JsonRpcRequest, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, tuple[Buffer, ...]]:
        """Return the response to a request in a session."""
        try:
            payload = yield from self._methods.call(message, revision, snapshot)
        except JsonRpcError as error:
            return (failure(error, message.id),)
        return result(message.id, payload)

    def _batch(
        self, batch: Sequence[Raw], revision: Revision, snapshot: Snapshot, room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        if not revision.batches:
            return refusal(400, f"Revision {revision.name} has no batches: send one message")
        if not 0 < len(batch) <= MAX_BATCH:
            return refusal(400, f"A batch has 1 to {MAX_BATCH} messages")
        parts: list[Buffer] = []
        try:
            for member in batch:
                response = yield from self._member(member, revision, snapshot, room)
                if response:
                    room.reserve(response)
                    parts += (b"," if parts else b"[", *response)
                yield
        finally:
            room.release()
        return McpAnswer(200, (*parts, b"]")) if parts else ACCEPTED

    def _member(
        self, member: Raw, revision: Revision, snapshot: Snapshot, room: AnswerRoom
    ) -> Generator[None, None, tuple[Buffer, ...]]:
        """Return the response to an element of a batch; empty without one."""
        try:
            message = read_member(member)
        except JsonRpcError as invalid:
            return (failure(invalid),)
        if not isinstance(message, JsonRpcRequest):
            return ()
        if message.method == "initialize":
            error = JsonRpcError(INVALID_REQUEST, "initialize must not be in a batch")
            return (failure(error, message.id),)
        if room.full:
            return (failure(JsonRpcError(INVALID_REQUEST, BATCH_FULL), message.id),)
        return (yield from self._response(message, revision, snapshot))

    def _stateless(
        self, message: Message | list[Raw], request: Request, snapshot: Snapshot
    ) -> Generator[None, None, McpAnswer]:
        try:
            if isinstance(message, Notification):
                stateless.check_notification(message, request)
                return ACCEPTED
            if not isinstance(message, JsonRpcRequest):
                kind = "an array" if isinstance(message, list) else "a response"
                return refusal(400, f"Revision {STATELESS.name} takes single requests, not {kind}")
            stateless.check_request(message, request)
            if message.method == LISTEN:
                return self._listen(message, request, snapshot)
            payload = yield from self._methods.call(message, STATELESS, snapshot)
        except JsonRpcError as error:
            status = 404 if error.code == METHOD_NOT_FOUND else 400
            return McpAnswer(status, (failure(error, _id(message)),))
        return McpAnswer(200, result(message.id, payload))

    def _listen(self, message: JsonRpcRequest, request: Request, snapshot: Snapshot) -> McpAnswer:
        """Return the first event of a stream of changes, and the stream."""
        if not accepts(request.lines(b"accept"), EVENT_RANGES):
            text = "The answer is text/event-stream, which Accept excludes"
            return refusal(406, text, request_id=message.id)
        stream = self._streams.stream(message, request, snapshot)
        if stream is None:
            return refusal(429, STREAMS_FULL, ((b"Retry-After", b"60"),), message.id)
        return McpAnswer(200, (stream.acknowledgment,), events=stream)


def _is_stateless(message: Message | list[Raw], request: Request) -> bool:
    version = stateless.header_version(request)
    if version is not None and version not in _HANDSHAKE_VERSIONS:
        return True
    return (
        isinstance(message, JsonRpcRequest | Notification)
        and stateless.PROTOCOL_VERSION in message.params.meta
    )


def _id(message: Message | list[Raw]) -> bytes | None:
    return message.id if isinstance(message, JsonRpcRequest) else None
