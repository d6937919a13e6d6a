"""Views of the hub for the operator, as ``status_views``."""

import datetime
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from reviewsctl.terminal import subscription_rows
from reviewsctl.terminal.columns import Cell
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.times import duration, moment, until, when
from reviewsctl.terminal.words import counted
from reviewsd.api.hub import Blocked, HubState, Listing, PendingIntent, TopicState
from reviewsd.api.jobs import PushResult

MAX_FAILURES = 3  # in a row; the hub then removes the subscription (contract 5)

_Row = tuple[str, Text | str]


def render_one(one: Listing, now: datetime.datetime) -> Table:
    """Return the view of ``reviewsctl subs show``."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_row("id", Text(printable(one.id)))
    table.add_row("topic", Text(printable(one.topic)))
    table.add_row("callback", Text(printable(one.callback)))
    table.add_row("state", _rich(subscription_rows.state(one, now)))
    table.add_row("created", Text(when(one.created_at, now)))
    if one.verified_at is not None:
        for name, value in _verified(one, one.verified_at, now):
            table.add_row(name, value)
    if one.pending is not None:
        for name, value in _pending(one.pending, now):
            table.add_row(name, value)
    return table


def render_push(result: PushResult) -> Text:
    """Return the outcome of a push."""
    if result.total == 0:
        return Text("nothing to push: there are no active subscriptions")
    reached = f"{result.delivered:,} of {result.total:,} delivered"
    if result.delivered == result.total:
        return Text.assemble(("pushed", "green"), f": {reached}")
    return Text.assemble(
        ("Error: push incomplete", "bold red"),
        f": {reached}, {result.failed:,} failed and are tried again, "
        f"{result.removed:,} gone\n"
        "See reasons and next attempts: reviewsctl subs list, reviewsctl subs show ID",
    )


def render_hub(hub: HubState, now: datetime.datetime) -> Table:
    """Return the view of ``reviewsctl hub status``, with the state first."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_row("hub", hub_state(hub))
    table.add_row("active", f"{hub.active:,}")
    table.add_row("pending", f"{hub.pending:,}")
    table.add_row("due", _due(hub, now))
    table.add_row("in flight", f"{hub.in_flight:,}")
    table.add_row("blocks", f"{hub.blocks:,}")
    if hub.opened_networks:
        networks = ", ".join(hub.opened_networks)
        text = f"callbacks may be in {networks} (hub.callbacks.allow_networks)"
        table.add_row("opened", Text(printable(text), style="yellow"))
    return table


def hub_state(hub: HubState) -> Text:
    """Return ``ok``, or why the hub does not deliver and what to do."""
    if hub.store != "ok":
        return Text(f"the state store fails: {printable(hub.store)}", style="bold yellow")
    if hub.paused:
        return Text("paused; resume with: reviewsctl hub resume", style="bold yellow")
    return Text("ok", style="green")


def render_topics(topics: Iterable[TopicState], now: datetime.datetime) -> Table:
    """Return the topics with their counts of subscribers and due deliveries."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("topic", no_wrap=True)
    for name in ("version", "subscriptions", "due"):
        table.add_column(name, justify="right")
    table.add_column("changed")
    for topic in topics:
        counts = (f"{count:,}" for count in (topic.version, topic.subscriptions, topic.due))
        table.add_row(Text(printable(topic.path)), *counts, when(topic.changed_at, now))
    return table


def render_blocked(blocked: Blocked, *, dry_run: bool) -> Text:
    """Return the effect of a block, or of its dry run."""
    value, count = printable(blocked.value), blocked.removed
    subscriptions = f"{counted(count, 'subscription')} or request{'' if count == 1 else 's'}"
    if dry_run:
        return Text(f"would block {value} and remove {subscriptions}")
    return Text(
        f"blocked {value}, removed {subscriptions}; undo with: reviewsctl hub unblock {value}"
    )


def _verified(
    one: Listing, verified_at: datetime.datetime, now: datetime.datetime
) -> Iterable[_Row]:
    yield "verified", when(verified_at, now)
    yield "lease", _lease(one, now)
    yield "signed", "yes, with its hub.secret" if one.signed else "no"
    yield "version", _rich(subscription_rows.version(one))
    yield "last attempt", _rich(subscription_rows.outcome(one, now))
    if one.last_success_at is not None:
        yield "last success", when(one.last_success_at, now)
    if one.last_failure_at is not None:
        reason = f": {printable(one.last_failure)}" if one.last_failure else ""
        yield "last failure", Text(f"{when(one.last_failure_at, now)}{reason}")
    if one.consecutive_failures:
        count = f"{one.consecutive_failures} in a row; number {MAX_FAILURES} removes it"
        yield "failures", Text(count, style="yellow")
    if one.in_flight:
        yield "next attempt", "under way"
    elif one.next_attempt_at is not None:
        yield "next attempt", _next(one.next_attempt_at, now)
    else:
        yield "next attempt", "when the content changes"


def _pending(pending: PendingIntent, now: datetime.datetime) -> Iterable[_Row]:
    lease = f" for {duration(pending.lease_seconds)}" if pending.mode == "subscribe" else ""
    requester = printable(pending.requester)
    requested = f"{when(pending.requested_at, now)}, by {requester}"
    yield "requested", Text(f"{pending.mode}{lease}, {requested}")
    attempts = f"{pending.attempts} so far"
    if pending.next_attempt_at is not None:
        attempts = f"{attempts}, next {_next(pending.next_attempt_at, now)}"
    yield "verifications", f"{attempts}; they end {_next(pending.expires_at, now)}"


def _lease(one: Listing, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return duration(one.lease_seconds)
    granted = duration(one.lease_seconds)
    if one.lease_expires_at <= now:
        return f"over since {moment(one.lease_expires_at)}, it was {granted}"
    remaining = duration((one.lease_expires_at - now).total_seconds())
    return f"{remaining} left of {granted}, until {moment(one.lease_expires_at)}"


def _rich(cell: Cell) -> Text:
    return Text(cell) if isinstance(cell, str) else Text(cell.text, style=cell.color)


def _due(hub: HubState, now: datetime.datetime) -> str:
    if hub.oldest_due_at is None:
        return f"{hub.due:,}"
    return f"{hub.due:,}, the oldest {duration((now - hub.oldest_due_at).total_seconds())} old"


def _next(then: datetime.datetime, now: datetime.datetime) -> str:
    return f"{until(then, now)} ({moment(then)})" if then > now else "now"
