"""Streams of changes for ``subscriptions/listen``, from revision 2026-07-28 on (mcp.md 2b-12, 2b-13).

A stream names the resources that a publication has changed. It keeps a set of them until the client has taken the
earlier events, so publications that follow each other quickly give one event, and a stream has a bounded size. Nothing
is kept for a client that is not connected: it subscribes again, and reads again what it depends on.
"""

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from reviewsd.http1.request import Request
from reviewsd.mcp import resources
from reviewsd.mcp.introduction import SERVER_INFO, Introduction
from reviewsd.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, JsonRpcError, JsonRpcRequest
from reviewsd.mcp.revisions import STATELESS
from reviewsd.runtime.counters import Counts
from reviewsd.snapshot.snapshots import Snapshot

LISTEN = "subscriptions/listen"

MAX_STREAMS = 1_024
"""Streams of all clients; the daemon allows fewer if it has few connections."""

MAX_PER_NETWORK = 64
"""Streams of one client network, which may be that of a platform with many users."""

MAX_ID = 256  # bytes of the id of a request, which each event repeats

_SUBSCRIPTION = b'"_meta":{"io.modelcontextprotocol/subscriptionId":%b'
_ACKNOWLEDGED = (
    b'"method":"notifications/subscriptions/acknowledged","params":{%b},"notifications":%b}'
)
_UPDATED = b'"method":"notifications/resources/updated","params":{%b},"uri":%b}'
_ENDED = b'"id":%b,"result":{"resultType":"complete",%b,"%b":%b}}'
_EVENT = b'data: {"jsonrpc":"2.0",%b}\n\n'


class _Filter(Struct):
    """The notifications that a client asks for; unknown kinds are ignored."""

    resource_subscriptions: tuple[str, ...] | None = msgspec.field(
        default=None, name="resourceSubscriptions"
    )


_filter = msgspec.json.Decoder(_Filter)
_encode = msgspec.json.Encoder().encode


class ChangeStream:
    """The events of one client (``http1.responses.EventSource``)."""

    __slots__ = ("_changed", "_id", "_streams", "_uris", "_wake", "network")

    def __init__(
        self, streams: "ChangeStreams", request_id: bytes, network: str, uris: tuple[str, ...]
    ) -> None:
        self.network = network
        self._streams, self._id, self._uris = streams, request_id, uris
        self._changed: set[str] = set()
        self._wake: Callable[[], object] = bool

    @property
    def acknowledgment(self) -> bytes:
        """The first event, which lists the resources of the stream."""
        honored = {"resourceSubscriptions": self._uris} if self._uris else {}
        return _EVENT % (_ACKNOWLEDGED % (_SUBSCRIPTION % self._id, _encode(honored)))

    def open(self, wake: Callable[[], None]) -> None:
        """Send changes from now on."""
        self._wake = wake
        self._streams.add(self)

    def report(self, changed: set[str]) -> None:
        """Send an event for each changed resource that the client has asked for."""
        new = changed.intersection(self._uris)
        if new:
            self._changed |= new
            self._wake()

    def take(self) -> bytes:
        """Return one event for each resource that has changed since the last call."""
        if not self._changed:
            return b""
        meta = _SUBSCRIPTION % self._id
        changed = [uri for uri in self._uris if uri in self._changed]
        self._changed.clear()
        return b"".join([_EVENT % (_UPDATED % (meta, _encode(uri))) for uri in changed])

    def finish(self) -> bytes:
        """Return the remaining events and the result, by which the server ends the stream."""
        info = (SERVER_INFO, self._streams.server_info)
        return self.take() + _EVENT % (_ENDED % (self._id, _SUBSCRIPTION % self._id, *info))

    def close(self) -> None:
        """Stop: the connection has ended."""
        self._streams.remove(self)


class ChangeStreams:
    """All streams of changes.

    Args:
        introduction: Describes the server.
        network_of: Returns the client network of a request.
        limit: Streams of all clients.
    """

    def __init__(
        self,
        introduction: Introduction,
        network_of: Callable[[Request], str],
        limit: int = MAX_STREAMS,
    ) -> None:
        self.server_info = b"{}"
        self._introduction, self._network_of, self._limit = introduction, network_of, limit
        self._open: set[ChangeStream] = set()
        self._per_network = Counter[str]()
        self._tags: Mapping[str, bytes] = {}

    def published(self, snapshot: Snapshot) -> None:
        """Report the resources that have changed since the snapshot before."""
        self.server_info = self._introduction.server_info(snapshot, STATELESS)
        before, self._tags = self._tags, resources.tags(snapshot)
        changed = {
            uri for uri in before.keys() | self._tags if before.get(uri) != self._tags.get(uri)
        }
        for stream in self._open:
            stream.report(changed)

    def stream(
        self, message: JsonRpcRequest, request: Request, snapshot: Snapshot
    ) -> ChangeStream | None:
        """Return the stream that a request asks for, which is counted when it is opened.

        It is None if there are too many, of the client's network or of all.

        Raises:
            JsonRpcError: -32602, ``notifications`` is no filter; -32600, the id is too long.
        """
        if len(message.id) > MAX_ID:
            raise JsonRpcError(INVALID_REQUEST, f'"id" must have at most {MAX_ID} bytes here')
        try:
            requested = _filter.decode(message.params.notifications).resource_subscriptions or ()
        except msgspec.DecodeError:
            raise JsonRpcError(
                INVALID_PARAMS,
                '"notifications" must be an object, its "resourceSubscriptions" a list of addresses',
            ) from None
        network = self._network_of(request)
        if len(self._open) >= self._limit or self._per_network[network] >= MAX_PER_NETWORK:
            return None
        addresses = resources.addresses(snapshot)
        return ChangeStream(
            self, message.id, network, tuple(uri for uri in addresses if uri in requested)
        )

    def add(self, stream: ChangeStream) -> None:
        """Count a stream that begins."""
        self._open.add(stream)
        self._per_network[stream.network] += 1

    def remove(self, stream: ChangeStream) -> None:
        """Forget a stream that has ended."""
        self._open.discard(stream)
        self._per_network[stream.network] -= 1
        if not self._per_network[stream.network]:
            del self._per_network[stream.network]

    def counts(self) -> Counts:
        """Return how many streams are open (O9)."""
        return {"mcp_streams": len(self._open)}
