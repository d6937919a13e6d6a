"""Views of the hub for the operator, as ``status_views``."""

import datetime
import shlex
from collections.abc import Iterable, Iterator

from reviewsctl.terminal.columns import table
from reviewsctl.terminal.output import NOTHING_WRITTEN, colored
from reviewsctl.terminal.times import ago, duration, moment, until, when
from reviewsd.api.hub import Block, Blocked, Listing, PendingIntent
from reviewsd.api.jobs import PushResult
from reviewsd.api.texts import counted, printable

MAX_FAILURES = 3  # in a row; the hub then removes the subscription (contract 5)

Field = tuple[str, str]
"""A name with its value, which ``columns.fields`` lays out."""


def subscription_fields(one: Listing, now: datetime.datetime) -> Iterator[Field]:
    """Yield the view of ``reviewsctl subs show``."""
    yield "id", printable(one.id)
    yield "topic", printable(one.topic)
    yield "callback", printable(one.callback)
    yield "state", printable(one.state)
    yield "created", when(one.created_at, now)
    if one.verified_at is not None:
        yield from _verified(one, one.verified_at, now)
    if one.pending is not None:
        yield from _pending(one.pending, now)


def push_text(result: PushResult) -> str:
    """Return the outcome of a push."""
    if result.total == 0:
        return "nothing to push: there are no active subscriptions"
    reached = f"{result.delivered:,} of {result.total:,} delivered"
    if result.delivered == result.total:
        return f"{colored('pushed', 'green')}: {reached}"
    return (
        f"{colored('Error: push incomplete', 'bold red')}: {reached}, {result.failed:,} failed and are tried "
        f"again, {result.removed:,} gone\n"
        "See reasons and next attempts: reviewsctl subs list, reviewsctl subs show ID"
    )


def blocked_text(blocked: Blocked, *, dry_run: bool) -> str:
    """Return the effect of a block, or of its dry run."""
    value, count = printable(blocked.value), blocked.removed
    noun = "subscription or request" if count == 1 else "subscriptions or request"
    subscriptions = counted(count, noun)
    if dry_run:
        return f"would block {value} and remove {subscriptions}\n{NOTHING_WRITTEN}"
    return f"blocked {value}, removed {subscriptions}; undo with: reviewsctl hub unblock {shlex.quote(value)}"


def subscription_lines(listings: Iterable[Listing], now: datetime.datetime) -> Iterator[str]:
    """Return the table of ``reviewsctl subs list``, line by line."""
    rows = [
        (
            *(printable(one.id), printable(one.topic), printable(one.callback)),
            *(printable(one.state), _left(one, now), version(one), outcome(one, now)),
        )
        for one in listings
    ]
    headings = ("id", "topic", "callback", "state", "lease left", "version", "last outcome")
    return table(headings, rows)


def block_lines(blocks: Iterable[Block]) -> Iterator[str]:
    """Return the table of ``reviewsctl hub blocks``, line by line."""
    rows = [(printable(one.value), moment(one.created_at), printable(one.note)) for one in blocks]
    return table(("blocked", "since", "note"), rows)


def version(one: Listing) -> str:
    """Return the version that the subscriber has, and the current one."""
    if one.delivered_version is None:
        return "-"
    has = f"{one.delivered_version}/{one.topic_version}"
    behind = one.delivered_version < one.topic_version
    return colored(f"{has} behind", "yellow") if behind else has


def outcome(one: Listing, now: datetime.datetime) -> str:
    """Return the outcome of the last attempt."""
    if one.last_attempt_at is None:
        return "under way" if one.in_flight else "none yet"
    status = "no answer" if one.last_status is None else str(one.last_status)
    if one.last_error is None:
        return f"{status}, {ago(one.last_attempt_at, now)}"
    return colored(f"{printable(one.last_error)}, {ago(one.last_attempt_at, now)}", "red")


def _left(one: Listing, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return "-"
    return duration((one.lease_expires_at - now).total_seconds())


def _verified(
    one: Listing, verified_at: datetime.datetime, now: datetime.datetime
) -> Iterator[Field]:
    yield "verified", when(verified_at, now)
    yield "lease", _lease(one, now)
    yield "signed", "yes, with its hub.secret" if one.signed else "no"
    yield "version", version(one)
    yield "last attempt", outcome(one, now)
    if one.last_success_at is not None:
        yield "last success", when(one.last_success_at, now)
    if one.last_failure_at is not None:
        reason = f": {printable(one.last_failure)}" if one.last_failure else ""
        yield "last failure", f"{when(one.last_failure_at, now)}{reason}"
    if one.consecutive_failures:
        count = f"{one.consecutive_failures} in a row; number {MAX_FAILURES} removes it"
        yield "failures", colored(count, "yellow")
    if one.in_flight:
        yield "next attempt", "under way"
    elif one.next_attempt_at is not None:
        yield "next attempt", _next(one.next_attempt_at, now)
    else:
        yield "next attempt", "when the content changes"


def _pending(pending: PendingIntent, now: datetime.datetime) -> Iterator[Field]:
    lease = f" for {duration(pending.lease_seconds)}" if pending.mode == "subscribe" else ""
    requester = printable(pending.requester)
    requested = f"{when(pending.requested_at, now)}, by {requester}"
    yield "requested", f"{pending.mode}{lease}, {requested}"
    attempts = f"{pending.attempts} so far"
    if pending.next_attempt_at is not None:
        attempts = f"{attempts}, next {_next(pending.next_attempt_at, now)}"
    yield "verifications", f"{attempts}; they end {_next(pending.expires_at, now)}"


def _lease(one: Listing, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return duration(one.lease_seconds)
    granted = duration(one.lease_seconds)
    remaining = duration((one.lease_expires_at - now).total_seconds())
    return f"{remaining} left of {granted}, until {moment(one.lease_expires_at)}"


def _next(then: datetime.datetime, now: datetime.datetime) -> str:
    return f"{until(then, now)} ({moment(then)})" if then > now else "now"
