"""What is posted to ``/mcp``, and what that is answered (mcp.md 2a, 2b).

Both eras share the address. A message belongs to the stateless one when its header names a revision
that has no handshake, or its ``_meta`` names any (2b-1). Otherwise it needs a session, but for
initialize, which opens one.

A JsonRpcError is a refusal, here or behind; which status it has depends on the era: there every one
has its own, here what a session's method refuses is 200.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from msgspec import Raw, Struct

from reviewsd.http1.representation import Buffer
from reviewsd.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    JsonRpcBatch,
    JsonRpcError,
    JsonRpcRequest,
    Message,
    Notification,
    failure,
    read_body,
    read_member,
    result,
)
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.params import PROTOCOL_VERSION, Params
from reviewsd.mcp.revisions import HANDSHAKE, STATELESS, Revision, negotiated
from reviewsd.mcp.sessions import RANDOM_BYTES, Session, SessionGoneError, Sessions
from reviewsd.mcp.stateless import check_notification, check_request
from reviewsd.snapshot.snapshots import Snapshot

MAX_BATCH = 50  # messages; mcp.md 2a-15
ALLOW = (b"Allow", b"POST, DELETE, OPTIONS")
SESSION_ID = b"Mcp-Session-Id"

BATCH_FULL = "The answers to this batch are too large together; send this request by itself"

_HANDSHAKE_VERSIONS = frozenset(revision.name.encode() for revision in HANDSHAKE)
_NOT_OURS = frozenset((429, 500, 503))
"""Statuses that are no fault of the request."""


class McpRequest(Struct, frozen=True, kw_only=True):
    """What counts of an HTTP request; every value of a field, as it came."""

    body: bytes = b""
    sessions: Sequence[bytes] = ()
    """``Mcp-Session-Id``."""
    versions: Sequence[bytes] = ()
    """``MCP-Protocol-Version``."""
    methods: Sequence[bytes] = ()
    """``Mcp-Method``."""
    names: Sequence[bytes] = ()
    """``Mcp-Name``."""

    @property
    def version(self) -> bytes | None:
        """``MCP-Protocol-Version`` as one value; no revision is called like two of them."""
        return b", ".join(self.versions).strip(b" \t") if self.versions else None


class McpAnswer(Struct, frozen=True):
    """What goes back."""

    status: int
    body: tuple[Buffer, ...] = ()
    """One JSON value in parts; without any there is no Content-Type either."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Those that belong to the protocol."""


def refusal(status: int, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> McpAnswer:
    """The answer to what is refused before anybody reads its body (the end of mcp.md 2b)."""
    code = INTERNAL_ERROR if status in _NOT_OURS else INVALID_REQUEST
    return McpAnswer(status, (failure(JsonRpcError(code, message)),), headers)


ACCEPTED = McpAnswer(202)
ENDED = McpAnswer(204)
NOT_ALLOWED = refusal(405, "Use POST to send messages, DELETE to end a session", (ALLOW,))
NO_ROOM = refusal(
    405,
    "No more sessions can be ended; this one ends when it expires",
    ((b"Allow", b"POST, OPTIONS"),),
)


class _Refused(Exception):  # noqa: N818  it is an answer
    """An error whose status the handshake era fixes."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.error = JsonRpcError(INVALID_REQUEST, message)
        super().__init__(message)


class AnswerRoom(Protocol):
    """Counts the memory that an answer takes while it grows."""

    @property
    def full(self) -> bool:
        """Whether it should not grow any more."""

    def reserve(self, parts: Sequence[Buffer]) -> None:
        """It has grown by these."""

    def release(self) -> None:
        """It is complete, or nobody waits for it."""


class McpServer:
    """Answers what is posted.

    Args:
        sessions: Gives out and reads session ids.
        methods: Answers requests.
        random: That many bytes nobody can guess.
    """

    def __init__(
        self, sessions: Sessions, methods: Methods, random: Callable[[int], bytes]
    ) -> None:
        self._sessions = sessions
        self._methods = methods
        self._random = random

    def post(
        self, posted: McpRequest, snapshot: Snapshot, now: float, room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        """The answer to a POST, in steps.

        Args:
            posted: The request.
            snapshot: What is answered from.
            now: POSIX seconds.
            room: For an answer that takes several steps.
        """
        try:
            message = read_body(posted.body)
        except JsonRpcError as error:
            return McpAnswer(400, (failure(error),))
        version = posted.version
        params = Params(
            message.params if isinstance(message, JsonRpcRequest | Notification) else b"{}"
        )
        if PROTOCOL_VERSION in params.meta or not (
            version is None or version in _HANDSHAKE_VERSIONS
        ):
            return (yield from self._stateless(message, params, posted, snapshot))
        if isinstance(message, JsonRpcRequest) and message.method == "initialize":
            return self._initialize(message, params, snapshot, now)
        try:
            session = self._session(posted, now)
        except _Refused as refused:
            return McpAnswer(refused.status, (failure(refused.error, _id(message)),))
        if isinstance(message, JsonRpcBatch):
            return (yield from self._batch(message, session.revision, snapshot, room))
        if not isinstance(message, JsonRpcRequest):
            return ACCEPTED
        body = yield from self._answered(message, params, session.revision, snapshot)
        return McpAnswer(200, body)

    def delete(self, posted: McpRequest, now: float) -> Session | McpAnswer:
        """The session that a DELETE ends, or why there is none (2a-8).

        Who ends it answers ``ENDED``, or ``NO_ROOM`` where it cannot be remembered.
        """
        version = posted.version
        if version == STATELESS.name.encode():
            return NOT_ALLOWED
        if version is not None and version not in _HANDSHAKE_VERSIONS:
            return refusal(400, "MCP-Protocol-Version names a revision that is not offered")
        try:
            return self._session(posted, now)
        except _Refused as refused:
            return McpAnswer(refused.status, (failure(refused.error),))

    def fault(self, posted: McpRequest) -> McpAnswer:
        """The answer when answering failed, which is a fault of ours."""
        try:
            message = read_body(posted.body)
        except JsonRpcError:
            return refusal(500, "Internal error")
        error = JsonRpcError(INTERNAL_ERROR, "Internal error")
        return McpAnswer(500, (failure(error, _id(message)),))

    def _session(self, posted: McpRequest, now: float) -> Session:
        if not posted.sessions:
            raise _Refused(400, "Mcp-Session-Id is missing; initialize gives one")
        try:
            return self._sessions.read(b", ".join(posted.sessions).strip(b" \t"), now)
        except SessionGoneError:
            raise _Refused(404, "Unknown session, or ended; initialize opens a new one") from None

    def _initialize(
        self, request: JsonRpcRequest, params: Params, snapshot: Snapshot, now: float
    ) -> McpAnswer:
        wanted = params.protocol_version
        if wanted is None:
            error = JsonRpcError(INVALID_PARAMS, '"protocolVersion" must be a string')
            return McpAnswer(200, (failure(error, request.id),))
        revision = negotiated(wanted)
        token = self._sessions.mint(revision, now, self._random(RANDOM_BYTES))
        payload = self._methods.initialize(revision, snapshot)
        return McpAnswer(200, result(request.id, payload), ((SESSION_ID, token),))

    def _answered(
        self, request: JsonRpcRequest, params: Params, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, tuple[Buffer, ...]]:
        """The body of the answer to a request in a session."""
        steps = self._methods.handshake(request.method, params, revision, snapshot)
        try:
            payload = yield from steps
        except JsonRpcError as error:
            return (failure(error, request.id),)
        return result(request.id, payload)

    def _batch(
        self, batch: JsonRpcBatch, revision: Revision, snapshot: Snapshot, room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        if not revision.batches:
            return refusal(400, f"Revision {revision.name} has no batches: send one message")
        if not 0 < len(batch.members) <= MAX_BATCH:
            return refusal(400, f"A batch has 1 to {MAX_BATCH} messages")
        parts: list[Buffer] = []
        try:
            for member in batch.members:
                body = yield from self._member(member, revision, snapshot, room)
                if body:
                    room.reserve(body)
                    parts += (b"," if parts else b"[", *body)
                yield
        finally:
            room.release()
        return McpAnswer(200, (*parts, b"]")) if parts else ACCEPTED

    def _member(
        self, member: Raw, revision: Revision, snapshot: Snapshot, room: AnswerRoom
    ) -> Generator[None, None, tuple[Buffer, ...]]:
        """The answer to one of a batch; none to what wants none."""
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
        return (yield from self._answered(message, Params(message.params), revision, snapshot))

    def _stateless(
        self,
        message: Message | JsonRpcBatch,
        params: Params,
        posted: McpRequest,
        snapshot: Snapshot,
    ) -> Generator[None, None, McpAnswer]:
        if not isinstance(message, JsonRpcRequest | Notification):
            what = "an array" if isinstance(message, JsonRpcBatch) else "a response"
            return refusal(400, f"Revision {STATELESS.name} has requests, not {what}")
        try:
            if isinstance(message, Notification):
                check_notification(params, posted)
                return ACCEPTED
            check_request(message, params, posted)
            payload = yield from self._methods.stateless(message.method, params, snapshot)
        except JsonRpcError as error:
            status = 404 if error.code == METHOD_NOT_FOUND else 400
            return McpAnswer(status, (failure(error, _id(message)),))
        return McpAnswer(200, result(message.id, payload))


def _id(message: Message | JsonRpcBatch) -> bytes | None:
    """What an error's id is, where the message has one."""
    return message.id if isinstance(message, JsonRpcRequest) else None
