"""The methods of both eras, with sessions and stateless (mcp.md 4; 2a-16 to 2a-23, 2b-3, 2b-4, 2b-7, 2b-11)."""

from collections.abc import Generator

from msgspec.structs import replace

from reviewsd.domain.issues import InvalidParametersError
from reviewsd.http1.representation import Buffer
from reviewsd.mcp import arguments, resources
from reviewsd.mcp.introduction import (
    CAPABILITIES,
    SERVER_INFO,
    STATELESS_CAPABILITIES,
    Introduction,
)
from reviewsd.mcp.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NULL,
    JsonRpcError,
    JsonRpcRequest,
    Params,
    string,
)
from reviewsd.mcp.resources import TEMPLATES
from reviewsd.mcp.results import (
    ANSWER_BUDGET,
    DEFAULT_BUDGET,
    Call,
    Result,
    ToolError,
    error_result,
)
from reviewsd.mcp.revisions import SUPPORTED, Revision
from reviewsd.mcp.tools import LISTING, TOOLS
from reviewsd.mcp.views import Views
from reviewsd.runtime.counters import Counters
from reviewsd.snapshot.snapshots import Snapshot

LIST_TTL = 3_600_000  # ms that a client may cache a list or the discovery; mcp.md 2b-4
READ_TTL = 60_000  # ms, a resource

RESULTS = ("answered", "refused")
"""Labels of the counter of tool calls (O9)."""

NO_INSIGHTS = "No insights are published for this business; use search_reviews."  # mcp.md 5.4

_TOOLS = {tool.name: tool for tool in TOOLS}
_UNKNOWN_TOOL = f"Unknown tool; known: {', '.join(_TOOLS)}"
_LIMITS = frozenset({"limit", "months"})
"""Arguments by which an agent asks for a longer list."""

_DISCOVERY = b'{"supportedVersions":%b,"capabilities":%b,"instructions":%b}'


class Methods:
    """The methods of the protocol.

    Args:
        introduction: Describes the server.
        counters: Counts tool calls.
        answer_budget: Most bytes in the text of a list (mcp.md 5.4).
    """

    def __init__(
        self, introduction: Introduction, counters: Counters, answer_budget: int = ANSWER_BUDGET
    ) -> None:
        self._introduction = introduction
        self._counters = counters
        self._budget = answer_budget
        self._views = Views()

    def initialize(self, revision: Revision, snapshot: Snapshot) -> bytes:
        """Return the result of initialize."""
        return b'{"protocolVersion":"%b","capabilities":%b,"serverInfo":%b,"instructions":%b}' % (
            revision.name.encode(),
            CAPABILITIES,
            self._introduction.server_info(snapshot, revision),
            self._introduction.instructions(snapshot),
        )

    def call(
        self, request: JsonRpcRequest, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, tuple[Buffer, ...]]:
        """Return the rendered result of a request, in steps.

        Raises:
            JsonRpcError: -32601, -32602, -32002.
        """
        result = yield from self._result(request, revision, snapshot)
        if revision.stateless:
            front = b'{"resultType":"complete",%b"_meta":{"%b":%b%b},' % (
                _freshness(request.method),
                SERVER_INFO,
                self._introduction.server_info(snapshot, revision),
                b"," + result.notes if result.notes else b"",
            )
        elif result.notes:
            front = b'{"_meta":{%b},' % result.notes
        else:
            return result.parts
        first, *rest = result.parts
        return (front, memoryview(first)[1:], *rest)

    def _result(
        self, request: JsonRpcRequest, revision: Revision, snapshot: Snapshot
    ) -> Generator[None, None, Result]:
        params = request.params
        match request.method:
            case "tools/call":
                return (yield from self._call_tool(params, snapshot))
            case "tools/list":
                _check_cursor(params)
                return Result((LISTING,))
            case "resources/list":
                _check_cursor(params)
                return Result((resources.listing(snapshot),))
            case "resources/templates/list":
                _check_cursor(params)
                return Result((TEMPLATES,))
            case "resources/read":
                uri = string(params.uri)
                view = self._views.read(uri, snapshot)
                return Result(view or resources.read(uri, revision, snapshot))
            case "ping" if not revision.stateless:
                return Result((b"{}",))
            case "server/discover" if revision.stateless:
                instructions = self._introduction.instructions(snapshot)
                return Result((_DISCOVERY % (SUPPORTED, STATELESS_CAPABILITIES, instructions),))
        raise JsonRpcError(METHOD_NOT_FOUND, "Method not found")

    def _call_tool(self, params: Params, snapshot: Snapshot) -> Generator[None, None, Result]:
        name = string(params.name)
        if name is None:
            raise JsonRpcError(INVALID_PARAMS, '"name" must be a string, the name of a tool')
        if name not in _TOOLS:
            raise JsonRpcError(INVALID_PARAMS, _UNKNOWN_TOOL)
        body = bytes(params.arguments)
        if body in {b"", NULL}:
            body = b"{}"
        elif not body.startswith(b"{"):
            raise JsonRpcError(INVALID_PARAMS, '"arguments" must be an object')
        result = yield from call_tool(name, body, snapshot, self._budget)
        outcome = "refused" if result.is_error else "answered"
        self._counters.count("mcp_tool_calls_total", name, outcome)
        return result


def call_tool(
    name: str, body: bytes, snapshot: Snapshot, budget: int = ANSWER_BUDGET
) -> Generator[None, None, Result]:
    """Call a tool, in steps (mcp.md 5.3 to 5.5).

    Args:
        name: The name of a tool.
        body: The arguments, a strict JSON object.
        snapshot: The data.
        budget: Most bytes in the text of a list.
    """
    tool, notes = _TOOLS[name], b""
    try:
        values, notes = arguments.read(tool.by_name, tool.required, body, tool.order)
        if tool.needs_insights and not snapshot.manifest.insights:
            result = error_result(NO_INSIGHTS)
        else:
            budget = min(budget, DEFAULT_BUDGET) if _LIMITS.isdisjoint(values) else budget
            result = yield from tool.call(Call(values=values, snapshot=snapshot, budget=budget))
    except ToolError as error:
        result = error_result(f"{name}: {error}")
    except InvalidParametersError as error:  # an ambiguous name
        result = error_result(f"{name}: {error}.")
    return replace(result, notes=notes) if notes else result


def _check_cursor(params: Params) -> None:
    """Refuse any cursor: every list has one page, so the server never issued one."""
    if bytes(params.cursor) not in {b"", NULL}:
        raise JsonRpcError(INVALID_PARAMS, "Unknown cursor: the list has one page only")


def _freshness(method: str) -> bytes:
    """Return how long a client may cache a result (CA); nothing for a tool's result."""
    if method == "tools/call":
        return b""
    milliseconds = READ_TTL if method == "resources/read" else LIST_TTL
    return b'"ttlMs":%d,"cacheScope":"public",' % milliseconds
