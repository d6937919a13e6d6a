"""The hub as the operator's routes see it, in memory."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from twisted.internet.defer import Deferred, succeed

from reviewsd.admin.reload import Reloading
from reviewsd.api.hub import Block, HubState, Listing, PendingIntent, TopicState
from reviewsd.api.jobs import ConfigChanges, Guard, PushResult, Step, instant
from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.websub.operator import Operator

AT = 1_760_000_000.0
"""2025-10-09T08:53:20Z"""

ACTIVE = Listing(
    id="12",
    topic="/feed.xml",
    callback="https://subscriber.example.com/cb?secret=1",
    host="subscriber.example.com",
    state="active",
    created_at=instant(AT),
    verified_at=instant(AT + 1.5),
    lease_seconds=864_000,
    lease_expires_at=instant(AT + 864_001.5),
    signed=True,
    delivered_version=11,
    topic_version=12,
    consecutive_failures=1,
    next_attempt_at=instant(AT + 120),
    in_flight=False,
    last_attempt_at=instant(AT + 60),
    last_status=503,
    last_error="HTTP 503",
    last_success_at=instant(AT + 10),
    last_failure_at=instant(AT + 60),
    last_failure="HTTP 503",
    pending=None,
)
PENDING = replace(
    ACTIVE,
    id="p7",
    callback="https://new.example.com/",
    host="new.example.com",
    state="pending verification",
    verified_at=None,
    lease_expires_at=None,
    delivered_version=None,
    consecutive_failures=0,
    next_attempt_at=None,
    last_attempt_at=None,
    last_status=None,
    last_error=None,
    last_success_at=None,
    last_failure_at=None,
    last_failure=None,
    pending=PendingIntent(
        mode="subscribe",
        requested_at=instant(AT),
        expires_at=instant(AT + 600),
        attempts=1,
        next_attempt_at=instant(AT + 30),
        requester="192.0.2.7/32",
        lease_seconds=864_000,
    ),
)
QUIET = HubState(
    paused=False,
    active=1,
    pending=1,
    due=1,
    in_flight=0,
    oldest_due_at=instant(AT),
    blocks=0,
    opened_networks=("127.0.0.0/8",),
    store="ok",
    topics=(
        TopicState(
            path="/feed.xml",
            version=12,
            sha256="ab",
            changed_at=instant(AT),
            subscriptions=1,
            due=1,
        ),
    ),
)


class MemoryOperator(Operator):
    """An Operator with lists as its store; each use of the store raises ``fault`` if it is set."""

    def __init__(self) -> None:
        self.now = QUIET
        self.fault: Exception | None = None
        self.gate: Deferred[None] = succeed(None)
        """Delays changes."""
        self.subscriptions = [ACTIVE, PENDING]
        self.blocked: list[Block] = []
        self.done: list[tuple[object, ...]] = []
        """The changes, in order."""

    async def listing(
        self,
        topic: str | None,
        state: str | None,
        callback: str | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Listing]:
        self._check()
        ids = [listing.id for listing in self.subscriptions]
        start = 0 if after is None else ids.index(after) + 1
        filters = (("topic", topic), ("state", state), ("callback", callback))
        return [
            listing
            for listing in self.subscriptions[start:]
            if all(value in {None, getattr(listing, name)} for name, value in filters)
        ][:limit]

    async def find(self, identifier: str) -> Listing | None:
        self._check()
        return next((entry for entry in self.subscriptions if entry.id == identifier), None)

    async def remove(self, identifier: str, reason: str) -> bool:
        await self._change("remove", identifier, reason)
        listing = await self.find(identifier)
        if listing is None:
            return False
        self.subscriptions.remove(listing)
        return True

    async def push(
        self, ids: Sequence[str] | None, topic: str | None, progress: Callable[[Step], None]
    ) -> PushResult:
        progress(Step("pushing", 0, 2, 0))
        await self._change("push", ids, topic)
        progress(Step("pushing", 2, 2, 1))
        return PushResult(total=2, delivered=1, failed=1, removed=0)

    async def push_later(self, ids: Sequence[str] | None, topic: str | None) -> list[int]:
        await self._change("push later", ids, topic)
        return []

    async def state(self) -> HubState:
        return self.now

    async def pause(self) -> None:
        await self._change("pause")

    async def resume(self) -> None:
        await self._change("resume")

    async def blocks(self) -> Sequence[Block]:
        self._check()
        return self.blocked

    async def block(self, value: str, note: str, dry_run: bool) -> int:  # noqa: FBT001  a seam
        await self._change("block", value, note, dry_run)
        if not dry_run:
            self.blocked.append(Block(value=value, note=note, created_at=instant(AT)))
        return 3

    async def unblock(self, value: str) -> bool:
        await self._change("unblock", value)
        return value in {block.value for block in self.blocked}

    async def _change(self, *what: object) -> None:
        await self.gate
        self._check()
        self.done.append(what)

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault


class DataReloading(Reloading):
    """A Reloading with a configuration that never changes."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.changes = ConfigChanges()

    async def reload(
        self, *, lifted: frozenset[Guard] = frozenset(), progress: StepObserver | None = None
    ) -> Report:
        return await self._publisher.reload(lifted=lifted, progress=progress)
