"""The operator's side of the hub: ``/v1/subscriptions``, ``push``, ``topics``, ``hub``, ``blocks``.

Implements security-and-operations.md H7 and A3. What the routes do is done by an ``Operator``; here
are the parameters, the answers and the audit lines. Work that was ordered goes on when the client
leaves.
"""

import re
from dataclasses import replace
from functools import partial

from klein import Klein
from msgspec.structs import asdict
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request

from reviewsd.admin.parameters import (
    INVALID,
    MAX_REASON,
    NO_SUBSCRIPTION,
    after,
    host_or_network,
    known,
    limit,
    state,
    text,
    texts,
)
from reviewsd.admin.responses import AdminReplies, ProblemError, line
from reviewsd.api.hub import (
    Blocked,
    BlockList,
    HubStatus,
    Listing,
    ListingPage,
)
from reviewsd.api.jobs import JobLine
from reviewsd.http1.problems import Problem
from reviewsd.http1.urls import TOPICS
from reviewsd.runtime.tasks import TaskSet
from reviewsd.websub.operator import Operator

PATHS = re.compile(rb"/v1/(subscriptions|push|topics|hub|blocks)(/.*)?")
"""What is answered here."""

_NO_TOPIC = Problem(
    404,
    "no-topic",
    "No Such Topic",
    f"The topics are {', '.join(TOPICS)}: by path or whole address.",
)
_NO_BLOCK = Problem(
    404,
    "no-block",
    "Not Blocked",
    "Neither as a host nor as a network. What is blocked: reviewsctl hub blocks",
)
_UNVERIFIED = Problem(
    409,
    "unverified",
    "Not Verified",
    "The callback has not confirmed this subscription yet: nothing is sent to it before.",
)
_PAUSED = Problem(
    409, "paused", "Hub Paused", "The hub sends nothing now. Resume it first: reviewsctl hub resume"
)


class HubRoutes:
    """Klein's routes for the hub.

    Args:
        operator: Does what is asked.
        replies: Answers.
        base_url: Origin of the topics.
        tasks: Owns what was ordered.
    """

    _app = Klein()

    def __init__(
        self, operator: Operator, replies: AdminReplies, base_url: str, tasks: TaskSet
    ) -> None:
        self._operator = operator
        self._replies = replies
        self._base_url = base_url
        self._carried_out = partial(tasks.outcome, "what a client that has left asked for")

    def resource(self) -> IResource:
        """The routes, all below ``PATHS``."""
        return self._app.resource()

    @_app.route("/v1/subscriptions", methods=["GET"])
    async def subscriptions(self, request: Request) -> bytes:
        """A page of the subscriptions: ``?topic=&state=&callback=&after=&limit=``."""
        at_most = limit(request)
        found = await self._operator.listing(
            self._topic(request),
            state(request),
            text(request, "callback") or None,
            after(request),
            at_most,
        )
        after_it = found[-1].id if len(found) == at_most else None
        page = ListingPage(subscriptions=tuple(found), next=after_it)
        return self._replies.value(request, page)

    @_app.route("/v1/subscriptions/<identifier>", methods=["GET"])
    async def subscription(self, request: Request, identifier: str) -> bytes:
        """All that may be known of one."""
        return self._replies.value(request, await self._one(identifier))

    @_app.route("/v1/subscriptions/<identifier>/remove", methods=["POST"])
    async def remove(self, request: Request, identifier: str) -> bytes:
        """End one: ``?reason=`` for its subscriber."""
        subscription = known(identifier)
        reason = text(request, "reason", MAX_REASON)
        self._replies.audit(request, f"removal of subscription {subscription}")
        if not await self._carried_out(self._operator.remove(subscription, reason)):
            raise ProblemError(NO_SUBSCRIPTION)
        return self._replies.value(request, {"id": subscription, "removed": True})

    @_app.route("/v1/push", methods=["POST"])
    async def push(self, request: Request) -> bytes:
        """Deliver now: to ``?topic=``, to each ``?id=``, or to everybody.

        A JSON line for each step, and one for the result; with ``?wait=false`` only that it was
        asked for.
        """
        topic = self._topic(request)
        ids = [(await self._verified(each)).id for each in texts(request, "id")] or None
        if topic and ids:
            raise ProblemError(replace(INVALID, detail="Name a topic or ids, not both."))
        if (await self._operator.state()).paused:
            raise ProblemError(_PAUSED)
        subscriptions = f"subscriptions {', '.join(ids)}" if ids else "every subscription"
        self._replies.audit(request, f"push to {topic or subscriptions}")
        if request.args.get(b"wait") == [b"false"]:
            await self._carried_out(self._operator.push_later(ids, topic))
            return self._replies.value(request, JobLine("accepted"), 202)
        tell = self._replies.lines(request).tell
        return line(await self._carried_out(self._operator.push(ids, topic, tell)))

    @_app.route("/v1/topics", methods=["GET"])
    async def topics(self, request: Request) -> bytes:
        """The topics, and how far their subscribers are."""
        return self._replies.value(request, {"topics": await self._operator.topics()})

    @_app.route("/v1/hub", methods=["GET"])
    async def hub(self, request: Request) -> bytes:
        """How the hub and its topics are."""
        now = await self._operator.state()
        topics = await self._operator.topics() if now.store == "ok" else ()
        return self._replies.value(request, HubStatus(**asdict(now), topics=tuple(topics)))

    @_app.route("/v1/hub/pause", methods=["POST"])
    async def pause(self, request: Request) -> bytes:
        """Send nothing until it is resumed."""
        self._replies.audit(request, "pause of the hub")
        await self._carried_out(self._operator.pause())
        return self._replies.value(request, {"paused": True})

    @_app.route("/v1/hub/resume", methods=["POST"])
    async def resume(self, request: Request) -> bytes:
        """Send again."""
        self._replies.audit(request, "resumption of the hub")
        await self._carried_out(self._operator.resume())
        return self._replies.value(request, {"paused": False})

    @_app.route("/v1/blocks", methods=["GET"])
    async def blocks(self, request: Request) -> bytes:
        """What is blocked."""
        found = await self._operator.blocks()
        return self._replies.value(request, BlockList(blocks=tuple(found)))

    @_app.route("/v1/blocks", methods=["POST"])
    async def block(self, request: Request) -> bytes:
        """Block ``?value=``, with a ``?note=``; ``?dry_run=true`` only counts."""
        value, note = host_or_network(request), text(request, "note")
        dry_run = request.args.get(b"dry_run") == [b"true"]
        if not dry_run:
            self._replies.audit(request, f"block of {value}")
        removed = await self._carried_out(self._operator.block(value, note, dry_run))
        answer = Blocked(value=value, dry_run=dry_run, removed=removed)
        return self._replies.value(request, answer)

    @_app.route("/v1/blocks", methods=["DELETE"])
    async def unblock(self, request: Request) -> bytes:
        """Let ``?value=`` in again."""
        value = host_or_network(request)
        self._replies.audit(request, f"end of the block of {value}")
        if not await self._carried_out(self._operator.unblock(value)):
            raise ProblemError(_NO_BLOCK)
        return self._replies.value(request, {"value": value, "blocked": False})

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)

    async def _one(self, identifier: str) -> Listing:
        found = await self._operator.find(known(identifier))
        if found is None:
            raise ProblemError(NO_SUBSCRIPTION)
        return found

    async def _verified(self, identifier: str) -> Listing:
        found = await self._one(identifier)
        if found.verified_at is None:
            raise ProblemError(_UNVERIFIED)
        return found

    def _topic(self, request: Request) -> str | None:
        given = text(request, "topic")
        if not given:
            return None
        path = "/" + given.removeprefix(self._base_url).removeprefix("/")
        if path not in TOPICS:
            raise ProblemError(_NO_TOPIC)
        return path
