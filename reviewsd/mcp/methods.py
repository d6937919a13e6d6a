"""The methods that are served, in both eras (mcp.md 4; 2a-16 to 23, 2b-3, 4, 7, 11).

A result is a rendered object in parts. In the stateless era the same object gets a few more members
at its front.
"""

from collections.abc import Generator

import msgspec

from reviewsd.http1.representation import Buffer
from reviewsd.mcp import resources
from reviewsd.mcp.introduction import CAPABILITIES, Introduction
from reviewsd.mcp.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, JsonRpcError
from reviewsd.mcp.params import Params
from reviewsd.mcp.resources import TEMPLATES, ResourceNotFoundError, ResourceTooLargeError
from reviewsd.mcp.revisions import STATELESS, Revision
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.mcp.tools import LISTING, TOOLS
from reviewsd.runtime.counters import Counters
from reviewsd.snapshot.snapshots import Snapshot

Payload = tuple[Buffer, ...]

LIST_TTL = 3_600_000  # ms that a client may keep a list or what was discovered; mcp.md 2b-4
READ_TTL = 60_000  # ms, a resource

SUPPORTED = b'["%b"]' % STATELESS.name.encode()
"""What is told to clients of the stateless era (2b-9)."""

RESULTS = ("answered", "refused")
"""What comes of a tool's call; so they are counted (O9)."""

_TOOL_NAMES = frozenset(tool.name for tool in TOOLS)
_UNKNOWN_TOOL = f"Unknown tool; known: {', '.join(tool.name for tool in TOOLS)}"
_PING = (b"{}",)
_META = b'{"_meta":{'
"""The beginning of a result that has notes on its arguments."""

_encode = msgspec.json.Encoder().encode


class Methods:
    """Answers requests.

    Args:
        toolbox: Calls tools.
        introduction: Names the server.
        counters: Counts calls of tools.
    """

    def __init__(self, toolbox: Toolbox, introduction: Introduction, counters: Counters) -> None:
        self._toolbox = toolbox
        self._introduction = introduction
        self._counters = counters

    def initialize(self, revision: Revision, snapshot: Snapshot) -> Payload:
        """The answer to initialize, when this revision was agreed on."""
        return (
            b'{"protocolVersion":"%b","capabilities":%b,"serverInfo":%b,"instructions":%b}'
            % (
                revision.name.encode(),
                CAPABILITIES,
                self._introduction.server_info(snapshot, revision),
                self._introduction.instructions(snapshot),
            ),
        )

    def handshake(
        self, method: str, params: Params, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, Payload]:
        """The result of a request in a session, in steps.

        Raises:
            JsonRpcError: -32601, -32602, -32002.
        """
        if method == "ping":
            return _PING
        return (yield from self._shared(method, params, revision, snapshot))

    def stateless(
        self, method: str, params: Params, snapshot: Snapshot
    ) -> Generator[None, None, Payload]:
        """The result of a request that stands alone, in steps.

        Raises:
            JsonRpcError: -32601, -32602.
        """
        if method == "server/discover":
            found = self._discovered(snapshot)
        else:
            found = yield from self._shared(method, params, STATELESS, snapshot)
        info = self._introduction.server_info(snapshot, STATELESS)
        front = b'{"resultType":"complete",%b"_meta":{"io.modelcontextprotocol/serverInfo":%b'
        first, *rest = found
        noted = bytes(first[: len(_META)]) == _META
        own = b"," if noted else b"},"
        own_members = memoryview(first)[len(_META) if noted else 1 :]
        return ((front + own) % (_freshness(method), info), own_members, *rest)

    def _discovered(self, snapshot: Snapshot) -> Payload:
        return (
            b'{"supportedVersions":%b,"capabilities":%b,"instructions":%b}'
            % (SUPPORTED, CAPABILITIES, self._introduction.instructions(snapshot)),
        )

    def _shared(
        self, method: str, params: Params, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, Payload]:
        """What both eras have."""
        match method:
            case "tools/call":
                return (yield from self._call(params, snapshot))
            case "tools/list":
                params.check_cursor()
                return (LISTING,)
            case "resources/list":
                params.check_cursor()
                return (resources.listing(snapshot),)
            case "resources/templates/list":
                params.check_cursor()
                return (TEMPLATES,)
            case "resources/read":
                return self._read(params, revision, snapshot)
        raise JsonRpcError(METHOD_NOT_FOUND, "Method not found")

    def _call(self, params: Params, snapshot: Snapshot) -> Generator[None, None, Payload]:
        name = params.name
        if name is None:
            raise JsonRpcError(INVALID_PARAMS, '"name" must be a string, the name of a tool')
        if name not in _TOOL_NAMES:
            raise JsonRpcError(INVALID_PARAMS, _UNKNOWN_TOOL)
        answer = yield from self._toolbox.call(name, params.arguments, snapshot)
        result = "refused" if answer.is_error else "answered"
        self._counters.count("mcp_tool_calls_total", name, result)
        noted = b"%b%b}," % (_META, answer.notes) if answer.notes else b"{"
        content = (noted + b'"content":[{"type":"text","text":', answer.text)
        if answer.structured is None:
            return (*content, b'}],"isError":%b}' % (b"true" if answer.is_error else b"false"))
        return (*content, b'}],"structuredContent":', *answer.structured, b',"isError":false}')

    def _read(self, params: Params, revision: Revision, snapshot: Snapshot) -> Payload:
        uri = params.uri
        if uri is None:
            raise JsonRpcError(INVALID_PARAMS, '"uri" must be a string, the uri of a resource')
        try:
            return resources.read(uri, snapshot)
        except ResourceNotFoundError:
            raise JsonRpcError(
                revision.resource_not_found,
                "Unknown resource; resources/list has the known ones",
                b'{"uri":%b}' % _encode(uri),
            ) from None
        except ResourceTooLargeError as error:
            raise JsonRpcError(INVALID_PARAMS, str(error)) from None


def _freshness(method: str) -> bytes:
    """How long, and for whom, a result may be kept (CA); a tool's answer says nothing of it."""
    if method == "tools/call":
        return b""
    milliseconds = READ_TTL if method == "resources/read" else LIST_TTL
    return b'"ttlMs":%d,"cacheScope":"public",' % milliseconds
