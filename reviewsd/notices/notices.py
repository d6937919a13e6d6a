"""Reports new reviews, sources that are not read and refused data to the targets of ``notify`` (notices.md).

    a publication, or a minute -> one transaction queues what is new, and claims what is due
    a claim -> its message is sent in a thread, and settled

Signals only wake the loop; what is new is found by comparison with the store, so that neither a restart nor
another node reports anything twice. A failing store or service delays notices and affects nothing else.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from secrets import token_urlsafe

import msgspec
from twisted.internet.base import ReactorBase
from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.api.status import NoticeTest
from reviewsd.api.texts import counted
from reviewsd.config.schema import Config, NotifyTarget
from reviewsd.notices.comparison import ReviewComparison, compare
from reviewsd.notices.messages import Message, MessageWriter
from reviewsd.notices.sender import AppriseSender
from reviewsd.notices.state import RETRY_PAUSES, NoticeEvents, TargetState
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.source_states import SourceReport, SourceStates
from reviewsd.runtime.tasks import TaskSet, wait_at_most
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.store import notices as rows
from reviewsd.store.transactions import InThread, SqlCursor, Store, StoreError

CHECK_SECONDS = 60.0
"""Interval at which replies, sources and due messages are checked."""

RETRY_SECONDS = 5.0
"""Pause after a failure of the store."""

DRAIN_SECONDS = 10.0
"""Time for messages under way to finish when the daemon stops."""

_TEST = Message("Test of reviewsd", "This is a test: notices arrive here.")


_SOURCE = "source "  # the beginning of the conditions of a source
_DAY = 86_400.0  # seconds that a source may fail before it is reported
_UNREADABLE_REMEDY = "Move it away to start over: then all sources are read anew."


@dataclass(frozen=True, slots=True)
class _Checked:
    """The outcome of a check."""

    claims: Mapping[str, NoticeEvents]
    """Events to send, by target."""
    abandoned: Sequence[str]
    """Targets with a claim that a dead process left behind."""
    begun: Sequence[str]
    """Targets that are new."""


class Notices:
    """The notices of a daemon.

    Args:
        config: The configuration; its ``notify`` is not empty.
        store: Keeps what was reported.
        snapshots: The published data.
        publisher: Knows whether the data was refused.
        send: Sends a message to the target of a name; returns why it failed, or "".
        clock: Schedules checks.
        now: The store's clock, milliseconds since 1970 UTC.
        in_thread: Runs comparisons.
    """

    _log = Logger()

    def __init__(
        self,
        config: Config,
        store: Store,
        snapshots: Snapshots,
        publisher: Publisher,
        send: Callable[[str, Message], Awaitable[str]],
        clock: IReactorTime,
        now: Callable[[], int],
        in_thread: InThread,
    ) -> None:
        self._targets = {target.name: target for target in config.notify}
        self._shared = config.hub.shared
        self._sources = SourceStates(config.data_dir)
        self._writer = MessageWriter(base_url=config.base_url, has_pages=config.pages.enabled)
        self._store = store
        self._snapshots = snapshots
        self._publisher = publisher
        self._send = send
        self._clock = clock
        self._now = now
        self._in_thread = in_thread
        self._woken: Deferred[None] = Deferred()
        self._first = True  # until the first check has ended
        self._compared = ""  # the revision that was compared last
        self._ended: Deferred[None] | None = None  # called when the loop has ended
        self._stopping = False
        self._tasks, self._messages = TaskSet(), TaskSet()
        self._sending: dict[str, Deferred[None]] = {}  # messages under way, by target
        self._token = token_urlsafe(16)

    @classmethod
    def from_config(
        cls,
        config: Config,
        reactor: ReactorBase,
        store: Store,
        snapshots: Snapshots,
        publisher: Publisher,
        environ: Mapping[str, str],
        stack: AsyncExitStack,
    ) -> "Notices | None":
        """Build the notices, None without a target; the stack stops them.

        Raises:
            TargetError: apprise is not installed, or an address cannot be used.
        """
        if not config.notify:
            return None
        sender = AppriseSender(reactor, config.notify, environ)
        stack.callback(sender.stop)
        notices = cls(
            config, store, snapshots, publisher, sender.send, reactor, store.now, deferToThread
        )
        stack.push_async_callback(notices.stop)
        return notices

    def start(self) -> None:
        """Start with what happened while the daemon was down."""
        self._snapshots.observe(self.wake)
        self._publisher.observe(self.wake)
        self._ended = Deferred()
        self._tasks.start("notices", self._run(self._ended))

    async def stop(self) -> None:
        """Stop, after a check and messages under way had their time to finish."""
        self._stopping = True
        if self._ended is not None:
            self.wake()  # not cancelled: a claim that is being stored would be lost
            await wait_at_most(self._clock, DRAIN_SECONDS, self._ended)
        await self._tasks.stop()
        await wait_at_most(self._clock, DRAIN_SECONDS, DeferredList([*self._sending.values()]))
        await self._messages.stop()

    def wake(self, _change: object = None) -> None:
        """Check now."""
        if not self._woken.called:
            self._woken.callback(None)

    @property
    def targets(self) -> Collection[str]:
        """The names of the targets."""
        return self._targets.keys()

    async def test(self, name: str) -> Sequence[NoticeTest]:
        """Send a test message to the target of a name, or to all targets; empty if there is none."""
        sending = [
            (target, self._send(target, _TEST)) for target in self._targets if name in {"", target}
        ]
        return [NoticeTest(target=target, problem=await problem) for target, problem in sending]

    async def _run(self, ended: Deferred[None]) -> None:
        while not self._stopping:
            self._woken = Deferred()
            await self._repeat(self._check)
            await wait_at_most(self._clock, CHECK_SECONDS, self._woken)
        ended.callback(None)

    async def _repeat(self, action: Callable[[], Awaitable[object]]) -> None:
        """Repeat an action until the store works, or the daemon stops."""
        while True:
            try:
                await action()
            except StoreError as error:
                self._log.warn("notices: {error}", error=str(error))
            except CancelledError:
                raise
            except Exception:  # noqa: BLE001 - logged with its traceback; the next try may succeed
                self._log.failure("notices failed, next try in {seconds} s", seconds=RETRY_SECONDS)
            else:
                return
            if self._stopping:
                return
            await deferLater(self._clock, RETRY_SECONDS)

    async def _check(self) -> None:
        """Queue what is new, and send what is due."""
        if self._snapshots.empty:
            return
        snapshot, comparison = self._snapshots.current, ReviewComparison()
        if snapshot.revision != self._compared:
            version, known_digests = await self._store.run(rows.known_ids)
            comparison = await self._in_thread(partial(compare, snapshot, version, known_digests))
        sources = await self._in_thread(self._sources.load)
        busy = frozenset(self._sending)
        queue = partial(self._queue, comparison=comparison, sources=sources, busy=busy)
        checked = await self._store.run(queue)
        if checked is None:
            self.wake()  # another node was quicker
            return
        self._compared, self._first = snapshot.revision, False
        if checked.begun:
            names = ", ".join(checked.begun)
            self._log.info("notices to {targets} begin with the next change", targets=names)
        for target in checked.abandoned:
            self._log.warn(
                "the service died while a notice to {target} was under way; it may not have arrived,"
                " and is not repeated",
                target=target,
            )
        for target, events in checked.claims.items():
            self._sending[target] = Deferred()
            self._messages.start(
                f"a notice to {target}", self._send_claimed(target, events, snapshot)
            )

    def _queue(
        self,
        cursor: SqlCursor,
        comparison: ReviewComparison,
        sources: SourceReport,
        busy: frozenset[str],
    ) -> _Checked | None:
        """Queue what is new and claim what is due, in a transaction; None if another node was quicker."""
        if comparison.known_digests is not None and not rows.replace_known_ids(
            cursor, comparison.version, comparison.known_digests
        ):
            return None
        if self._first:
            rows.drop_other_targets(cursor, list(self._targets))
        now, stored = self._now(), _load(cursor)
        claims: dict[str, NoticeEvents] = {}
        abandoned: list[str] = []
        for name, target in self._targets.items():
            before = stored.get(name)
            state = before or TargetState()
            if state.is_abandoned(now) or (state.claim_token and self._first and not self._shared):
                abandoned.append(name)
                state = state.released()
            state = self._observed(target, state, comparison, sources, now)
            if before is None:  # what is so at the first start of a target is not news
                state = TargetState(conditions=state.conditions)
            if state.is_due(now):
                state = state.claimed(self._token, now)
            if state.claim_token == self._token and name not in busy:
                claims[name] = state.sending  # or its claim was stored, and the answer lost
            if state != before:
                _save(cursor, name, state)
        return _Checked(claims, abandoned, [name for name in self._targets if name not in stored])

    def _observed(
        self,
        target: NotifyTarget,
        state: TargetState,
        comparison: ReviewComparison,
        sources: SourceReport,
        now: int,
    ) -> TargetState:
        if comparison.new:
            few, waits = target.stars or 0, target.unanswered_days is not None
            reviews = [review.id for review in comparison.new if review.rating <= few]
            awaiting = [
                review.id for review in comparison.new if waits and review.owner_reply is None
            ]
            state = state.with_reviews(tuple(reviews), tuple(awaiting), now)
        if target.unanswered_days is not None:
            state = state.with_overdue(target.unanswered_days, now)
        report = self._publisher.last
        if report is None or report.outcome == "failed":  # not known whether the data is good
            return state
        conditions = {}
        if target.sources:
            conditions = dict(_source_conditions(sources, state.conditions, now / 1000))
        if target.data and not report.good:
            conditions["data is refused"] = "; ".join(report.problems)
        return state.with_conditions(conditions)

    async def _send_claimed(self, target: str, events: NoticeEvents, snapshot: Snapshot) -> None:
        """Send a message, unless its events do not hold any more, and settle its claim."""
        days = self._targets[target].unanswered_days
        try:
            message = await self._in_thread(partial(self._writer.write, events, snapshot, days))
            problem = "" if message is None else await self._send(target, message)
            await self._settle(target, message, problem)
        finally:
            self._sending.pop(target).callback(None)

    async def _settle(self, target: str, message: Message | None, problem: str) -> None:
        async def settle() -> None:
            attempts = await self._store.run(
                partial(
                    _settle, target=target, token=self._token, sent=not problem, now=self._now()
                )
            )
            if message is not None:
                self._log_outcome(target, message.title, problem, attempts)

        await self._repeat(settle)

    def _log_outcome(self, target: str, title: str, problem: str, attempts: int) -> None:
        if not problem:
            self._log.info("notice sent to {target}: {title}", target=target, title=title)
            return
        then = "given up"
        if attempts:
            then = f"tried again in {RETRY_PAUSES[attempts - 1] // 60_000} minutes"
        self._log.warn(
            "the notice to {target} failed, {then}: {title}: {problem}",
            target=target,
            then=then,
            title=title,
            problem=problem,
        )


def _settle(cursor: SqlCursor, target: str, token: str, now: int, *, sent: bool) -> int:
    """End a claim that still stands; returns the failed attempts at its events, 0 at the end."""
    state = _load(cursor).get(target)
    if state is None or state.claim_token != token:
        return 0
    state = state.settled(now, sent=sent)
    _save(cursor, target, state)
    return state.attempts


def _load(cursor: SqlCursor) -> dict[str, TargetState]:
    texts = rows.target_states(cursor).items()
    return {name: msgspec.json.decode(text, type=TargetState) for name, text in texts}


def _save(cursor: SqlCursor, target: str, state: TargetState) -> None:
    rows.save_target_state(cursor, target, msgspec.json.encode(state).decode())


def _source_conditions(
    report: SourceReport, before: Sequence[str], now: float
) -> Mapping[str, str]:
    """Return a condition for each source that is stopped or has failed for a day, with its problem.

    One lasts until the source is read again, which is a condition too. A file that cannot be read is one
    itself; sources keep theirs until then.
    """
    if report.problem:
        return {
            **{name: "" for name in before if name.startswith(_SOURCE)},
            "the states of the sources are unknown": f"{report.problem}. {_UNREADABLE_REMEDY}",
        }
    conditions = {}
    for name, source in report.sources.items():
        stopped = f"{_SOURCE}{name} is stopped"
        failing = f"{_SOURCE}{name} could not be read for a day"
        read = f"{_SOURCE}{name} is read again"
        since = source.failing_since
        is_late = since is not None and now - since.timestamp() >= _DAY
        problem = _sentences(source.detail, source.remedy)
        if source.state not in ("stopped", "failed"):
            if not {stopped, failing, read}.isdisjoint(before):
                conditions[read] = counted(source.reviews, "review")
        elif source.state == "stopped" or stopped in before:
            conditions[stopped] = problem
        elif is_late or failing in before:
            conditions[failing] = problem
    return conditions


def _sentences(detail: str, remedy: str) -> str:
    """Return a detail with its remedy, which may end with a command to copy."""
    return f"{detail.removesuffix('.')}. {remedy}" if detail and remedy else detail or remedy
