"""The routes of the hub: ``/v1/subscriptions``, ``push``, ``hub``, ``blocks`` (H7, A3).

An ``Operator`` does the work; the routes read parameters, respond, and write audit lines. Work that was
ordered continues when the client leaves.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from twisted.internet.defer import Deferred
from twisted.web.server import Request

from reviewsd.admin.app import (
    ProblemError,
    audit,
    begin_lines,
    invalid,
    line,
    respond,
    route,
    text,
    texts,
)
from reviewsd.api.hub import Blocked, BlockList, Listing, ListingPage
from reviewsd.api.jobs import JobLine
from reviewsd.domain.addresses import read_block
from reviewsd.domain.subscription import State
from reviewsd.http1.problems import Problem
from reviewsd.http1.urls import TOPICS
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.listing import is_id
from reviewsd.websub.operator import Operator

PAGE = 1000  # greatest number of subscriptions in one response
_MAX_REASON = 200  # characters of ``hub.reason``, which goes out in an address

_NO_SUBSCRIPTION = Problem(
    404,
    "no-subscription",
    "No Such Subscription",
    "There is none of this id, or it has ended. Those there are: reviewsctl subs list",
)
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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HubRoutes:
    """The operator's routes of the hub."""

    operator: Operator
    base_url: str
    tasks: TaskSet

    def _finish(self, work: Coroutine[Deferred[Any], Any, T]) -> Deferred[T]:
        return self.tasks.run_detached("work for a client that has left", work)

    @route("GET", "/v1/subscriptions")
    async def subscriptions(self, request: Request) -> bytes:
        """Return a page of subscriptions: ``?topic=&state=&callback=&after=&limit=``."""
        limit = int(_checked(request, "limit", _is_page_size, f"1 to {PAGE}") or PAGE)
        states = get_args(State)
        entries = await self.operator.listing(
            self._topic(request),
            _checked(request, "state", states.__contains__, f"one of {', '.join(states)}"),
            text(request, "callback") or None,
            _checked(request, "after", is_id, "an id such as 12 or p7"),
            limit,
        )
        next_after = entries[-1].id if len(entries) == limit else None
        return respond(request, ListingPage(subscriptions=tuple(entries), next=next_after))

    @route("GET", "/v1/subscriptions/<identifier>")
    async def subscription(self, request: Request, identifier: str) -> bytes:
        """Return one subscription, or request for one."""
        return respond(request, await self._find(identifier))

    @route("POST", "/v1/subscriptions/<identifier>/remove")
    async def remove(self, request: Request, identifier: str) -> bytes:
        """Remove a subscription; ``?reason=`` is sent to its subscriber."""
        reason = text(request, "reason", _MAX_REASON)
        audit(request, f"removal of subscription {identifier}")
        if not await self._finish(self.operator.remove(identifier, reason)):
            raise ProblemError(_NO_SUBSCRIPTION)
        return respond(request, {"id": identifier, "removed": True})

    @route("POST", "/v1/push")
    async def push(self, request: Request) -> bytes:
        """Deliver the current content to ``?topic=``, to each ``?id=``, or to all subscriptions.

        The response has a JSON line for each step and one for the result; with ``?wait=false`` it is
        an acknowledgement.
        """
        topic = self._topic(request)
        ids = [(await self._find_verified(value)).id for value in texts(request, "id")] or None
        if topic and ids:
            raise invalid("Name a topic or ids, not both.")
        if (await self.operator.state()).paused:
            raise ProblemError(_PAUSED)
        subscriptions = f"subscriptions {', '.join(ids)}" if ids else "every subscription"
        audit(request, f"push to {topic or subscriptions}")
        if request.args.get(b"wait") == [b"false"]:
            await self._finish(self.operator.push_later(ids, topic))
            return respond(request, JobLine("accepted"), 202)
        progress = begin_lines(request)
        return line(await self._finish(self.operator.push(ids, topic, progress)))

    @route("GET", "/v1/hub")
    async def hub(self, request: Request) -> bytes:
        """Return the state of the hub and its topics."""
        return respond(request, await self.operator.state())

    @route("POST", "/v1/hub/pause")
    async def pause(self, request: Request) -> bytes:
        """Send nothing until the hub is resumed."""
        audit(request, "pause of the hub")
        await self._finish(self.operator.pause())
        return respond(request, {"paused": True})

    @route("POST", "/v1/hub/resume")
    async def resume(self, request: Request) -> bytes:
        """End the pause."""
        audit(request, "resumption of the hub")
        await self._finish(self.operator.resume())
        return respond(request, {"paused": False})

    @route("GET", "/v1/blocks")
    async def blocks(self, request: Request) -> bytes:
        """Return all blocks."""
        return respond(request, BlockList(blocks=tuple(await self.operator.blocks())))

    @route("POST", "/v1/blocks")
    async def block(self, request: Request) -> bytes:
        """Block ``?value=`` with a ``?note=``; ``?dry_run=true`` only counts what it would remove."""
        value, note = _host_or_network(request), text(request, "note")
        dry_run = request.args.get(b"dry_run") == [b"true"]
        if not dry_run:
            audit(request, f"block of {value}")
        removed = await self._finish(self.operator.block(value, note, dry_run))
        return respond(request, Blocked(value=value, dry_run=dry_run, removed=removed))

    @route("DELETE", "/v1/blocks")
    async def unblock(self, request: Request) -> bytes:
        """End the block of ``?value=``."""
        value = _host_or_network(request)
        audit(request, f"end of the block of {value}")
        if not await self._finish(self.operator.unblock(value)):
            raise ProblemError(_NO_BLOCK)
        return respond(request, {"value": value, "blocked": False})

    async def _find(self, identifier: str) -> Listing:
        entry = await self.operator.find(identifier)
        if entry is None:
            raise ProblemError(_NO_SUBSCRIPTION)
        return entry

    async def _find_verified(self, identifier: str) -> Listing:
        entry = await self._find(identifier)
        if entry.verified_at is None:
            raise ProblemError(_UNVERIFIED)
        return entry

    def _topic(self, request: Request) -> str | None:
        """Return the path of ``?topic=``, a path or a whole address; None without the parameter."""
        value = text(request, "topic")
        if not value:
            return None
        path = "/" + value.removeprefix(self.base_url).removeprefix("/")
        if path not in TOPICS:
            raise ProblemError(_NO_TOPIC)
        return path


def _checked(
    request: Request, name: str, is_valid: Callable[[str], object], expected: str
) -> str | None:
    """Return a parameter with a valid value; None without it."""
    value = text(request, name)
    if value and not is_valid(value):
        raise invalid(f"{name}: expected {expected}.")
    return value or None


def _is_page_size(value: str) -> bool:
    return value.isascii() and value.isdigit() and 1 <= int(value) <= PAGE


def _host_or_network(request: Request) -> str:
    """Return ``value`` in its normal form, which is logged, so it cannot be a whole callback."""
    try:
        return read_block(text(request, "value"))
    except ValueError as error:
        raise invalid(f"value: {error}.") from error
