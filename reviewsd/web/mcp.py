"""The MCP endpoint: HTTP in front of ``reviewsd.mcp`` (mcp.md 2, 7; contract 4).

HTTP is checked here, in the order of mcp.md 2b-2: origin and host name, rate limit, method, media types, size. Every refusal is a
JSON-RPC error object, because clients read nothing else, and has CORS headers, so that a page can read it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Final

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.http1 import urls
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.negotiation import JSON_RANGES, accepts
from reviewsd.http1.problems import MCP_MAX_BODY
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule
from reviewsd.mcp.jsonrpc import INTERNAL_ERROR, JsonRpcError, count_messages, failure
from reviewsd.mcp.server import (
    ALLOW,
    ENDED,
    NO_ROOM,
    NOT_ALLOWED,
    McpAnswer,
    McpServer,
    refusal,
)
from reviewsd.mcp.sessions import Session
from reviewsd.runtime.tasks import TaskSet
from reviewsd.runtime.turns import QueueFullError
from reviewsd.snapshot.snapshots import SnapshotError, Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.transactions import StoreError
from reviewsd.web.app import PublicApp
from reviewsd.web.budgets import COSTLY, RETRY_SOON, Budgets, MemoryFullError, Reservation

Headers = tuple[tuple[bytes, bytes], ...]

_FIELDS = (
    b"Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name,"
    b" Last-Event-ID, traceparent, tracestate, baggage"
)
"""The last three are those of W3C Trace Context and Baggage, which a traced page adds to every request."""
_PREFLIGHT: Headers = (
    ALLOW,
    (b"Access-Control-Allow-Methods", ALLOW[1]),
    (b"Access-Control-Allow-Headers", _FIELDS),
    (b"Access-Control-Max-Age", b"86400"),
)
_EXPOSED = (b"Access-Control-Expose-Headers", b"Mcp-Session-Id, Retry-After")
_VARY = (b"Vary", b"Origin")
_TYPE = (b"Content-Type", b"application/json")
_SOON = (RETRY_SOON,)

_MAX_LOGGED = 100  # foreign origins and host names, each once: a client can invent any number

FOREIGN_ORIGIN = refusal(
    403, "Pages of this origin may not ask; the operator can allow them with mcp.allowed_origins"
)
FOREIGN_HOST = refusal(
    421,
    "Nothing is served under this host name; the operator can allow it with server.allowed_hosts",
)
TOO_LARGE = refusal(413, f"The body must have at most {MCP_MAX_BODY} bytes")
WRONG_TYPE = refusal(415, "Content-Type must be application/json")
NOT_ACCEPTED = refusal(406, "Answers are application/json, which Accept excludes")
UNAVAILABLE = refusal(503, "No data has been published yet", ((b"Retry-After", b"5"),))
CROWDED = refusal(429, "Your network has too many requests waiting; wait for their answers", _SOON)
FULL = refusal(
    503, "Too many answers wait for their clients to take them; try again in a moment", _SOON
)
FAILED = McpAnswer(500, (failure(JsonRpcError(INTERNAL_ERROR, "Internal error")),))
TOO_MANY_MESSAGES = (
    "Too many requests from your network (server.read_limit); wait as long as Retry-After says"
)
TOO_MANY_ENDS = "Too many sessions were ended from your network; this one ends when it expires"
UNSTORED = refusal(503, "The session cannot be ended at the moment", ((b"Retry-After", b"60"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRules:
    """Origins, host names and limits."""

    origins: Origins
    hosts: Hosts
    may_end: Callable[[str], float]
    """Returns the seconds until a client network may end another session; 0.0 if it may now. Each end is stored."""


class McpRoute:
    """Answers at the MCP endpoint; ``tasks`` hold work that continues when the client leaves."""

    app: Final = PublicApp()
    _log = Logger()

    def __init__(
        self,
        server: McpServer,
        snapshots: Snapshots,
        ended: EndedSessions,
        rules: AccessRules,
        responses: Responses,
        budgets: Budgets,
        tasks: TaskSet,
        now: Callable[[], float],
    ) -> None:
        self._server, self._snapshots, self._ended = server, snapshots, ended
        self._rules, self._responses = rules, responses
        self._time, self._memory = budgets
        self._tasks, self._now = tasks, now
        self._logged: set[str] = set()
        self.refused_ends = 0  # sessions that were not ended because too many have been

    @app.route(urls.MCP, methods=None, body=BodyRule.JSON, any_host=True, cost=0)
    def answer(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request of any known method."""
        cors, refused = self._admit(request)
        answer = refused or self._limited(request) or self._serve(request)
        if isinstance(answer, Deferred):
            return answer.addCallback(partial(self._reply, request, cors))
        return self._reply(request, cors, answer)

    def _reply(self, request: Request, cors: Headers, answer: McpAnswer) -> Response:
        if answer.events is not None:
            return self._responses.event_stream(cors, answer.body, answer.events)
        typed = (_TYPE,) if answer.body else ()
        headers = (*cors, *typed, *answer.headers)
        response = self._responses.no_store(answer.status, headers, answer.body)
        try:
            response = self._memory.admit(request, response)
        except MemoryFullError:
            return self._reply(request, cors, FULL)
        return self._time.with_fields(response, request) if self._time.is_limited else response

    def _admit(self, request: Request) -> tuple[Headers, McpAnswer | None]:
        """Return the CORS headers of a request, and its refusal if it is not allowed (mcp.md 7)."""
        cors: Headers = (_VARY,)
        origins = request.lines(b"origin")
        if origins:
            allowed = self._rules.origins.allowed(origins, loopback=request.loopback)
            if allowed is None:
                self._log_refusal("a page of", origins, "mcp.allowed_origins")
                return cors, FOREIGN_ORIGIN
            cors = ((b"Access-Control-Allow-Origin", allowed), _EXPOSED, _VARY)
        if not self._rules.hosts.allow(request.authority, loopback=request.loopback):
            self._log_refusal("a request for", (request.authority or b"",), "server.allowed_hosts")
            return cors, FOREIGN_HOST
        return cors, None

    def _log_refusal(self, source: str, names: Sequence[bytes], setting: str) -> None:
        text = b", ".join(names)[:200].decode("ascii", "backslashreplace")
        if text not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(text)
            sentence = "MCP was refused to {source} {name}; {setting} can allow that"
            self._log.warn(sentence, source=source, name=text, setting=setting)

    def _limited(self, request: Request) -> McpAnswer | None:
        """Return the refusal if the client sends too many messages (S14)."""
        if not self._time.is_limited or request.method == b"OPTIONS":
            return None
        wait = self._time.charge(request, COSTLY * count_messages(request.body))
        return too_many(TOO_MANY_MESSAGES, wait) if wait > 0 else None

    def _serve(self, request: Request) -> McpAnswer | Deferred[McpAnswer]:
        """Answer a request that the rules admit."""
        match request.method:
            case b"OPTIONS":
                return McpAnswer(204, headers=_PREFLIGHT)
            case b"POST":
                if not _is_json(request.lines(b"content-type")):
                    return WRONG_TYPE
                if not accepts(request.lines(b"accept"), JSON_RANGES):
                    return NOT_ACCEPTED
                return TOO_LARGE if request.truncated else self._post(request)
            case b"DELETE":
                return self._delete(request)
        return NOT_ALLOWED

    def _post(self, request: Request) -> McpAnswer | Deferred[McpAnswer]:
        try:
            room = Reservation(self._memory, request)
            steps = self._server.post(request, self._snapshots.current, self._now(), room)
            answer = self._time.run(request, steps)
        except Exception:  # noqa: BLE001 - handled in _failed
            return self._failed(request, Failure())
        if isinstance(answer, Deferred):
            answer.addErrback(partial(self._failed, request))
        return answer

    def _failed(self, request: Request, reason: Failure) -> McpAnswer:
        """Return the JSON-RPC answer to a message that could not be answered."""
        if reason.check(CancelledError):
            reason.raiseException()
        if reason.check(SnapshotError):
            return UNAVAILABLE
        if reason.check(QueueFullError):
            return CROWDED
        self._log.failure("answering an MCP message failed", reason)
        return self._server.fault(request)

    def _delete(self, request: Request) -> McpAnswer | Deferred[McpAnswer]:
        ending = self._server.delete(request, self._now())
        if isinstance(ending, McpAnswer):
            return ending
        wait = self._rules.may_end(self._time.networks.of(request))
        if wait > 0:
            self.refused_ends += 1
            return too_many(TOO_MANY_ENDS, wait)
        return self._tasks.run_detached("end an MCP session", self._end(ending))

    async def _end(self, session: Session) -> McpAnswer:
        """End a session, in a task that continues when the client leaves."""
        try:
            ended = await self._ended.end(session.digest, session.expires)
        except CancelledError:
            raise
        except StoreError as error:
            self._log.warn("an MCP session was not ended: {error}", error=str(error))
            return UNSTORED
        except Exception:  # noqa: BLE001 - logged with its traceback; the client must get an answer
            self._log.failure("ending an MCP session failed")
            return FAILED
        self.refused_ends += not ended
        return ENDED if ended else NO_ROOM


def too_many(text: str, wait: float) -> McpAnswer:
    """Return the refusal of a client that has to wait for some seconds."""
    return refusal(429, text, ((b"Retry-After", b"%d" % ceil(wait)),))


def _is_json(lines: Sequence[bytes]) -> bool:
    """Return whether a Content-Type is JSON's, whatever its parameters (mcp.md 2a-25)."""
    media_types = [line.partition(b";")[0].strip(b" \t").lower() for line in lines]
    return media_types == [b"application/json"]
