"""What the operator sees of the hub: as ``tables``, pure functions of values and a time."""

import datetime
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from reviewsctl.daemon.messages import (
    Block,
    Blocked,
    HubState,
    Pending,
    PushResult,
    Subscription,
    Topic,
)
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.times import ago, duration, moment, until, when

MAX_FAILURES = 3  # in a row; the hub then removes the subscription (contract 5)

_Row = tuple[str, Text | str]


def render_list(found: Iterable[Subscription], now: datetime.datetime, *, heading: bool) -> Table:
    """``reviewsctl subs list``: a page of it, the first one with a heading."""
    table = Table(box=None, pad_edge=False, show_header=heading, header_style="dim")
    table.add_column("id", no_wrap=True)
    table.add_column("topic", no_wrap=True)
    table.add_column("callback", overflow="fold")
    table.add_column("state")
    table.add_column("lease left", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("last outcome")
    for one in found:
        table.add_row(
            Text(printable(one.id)),
            Text(printable(one.topic)),
            Text(printable(one.callback)),
            Text(printable(one.state)),
            _left(one, now),
            _version(one),
            _outcome(one, now),
        )
    return table


def render_one(one: Subscription, now: datetime.datetime) -> Table:
    """``reviewsctl subs show``: what it is, what it was sent, what comes next."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_row("id", Text(printable(one.id)))
    table.add_row("topic", Text(printable(one.topic)))
    table.add_row("callback", Text(printable(one.callback)))
    table.add_row("state", Text(printable(one.state)))
    table.add_row("created", Text(when(one.created_at, now)))
    if one.verified_at is not None:
        for name, value in _verified(one, one.verified_at, now):
            table.add_row(name, value)
    if one.pending is not None:
        for name, value in _pending(one.pending, now):
            table.add_row(name, value)
    return table


def render_push(result: PushResult) -> Text:
    """How a push went."""
    if result.total == 0:
        return Text("nothing to push: there are no active subscriptions")
    reached = f"{result.delivered:,} of {result.total:,} delivered"
    if result.delivered == result.total:
        return Text.assemble(("pushed", "green"), f": {reached}")
    return Text.assemble(
        ("Error: push incomplete", "bold red"),
        f": {reached}, {result.failed:,} failed and are tried again, "
        f"{result.removed:,} gone\n"
        "Why and when again: reviewsctl subs list, reviewsctl subs show ID",
    )


def render_hub(hub: HubState, now: datetime.datetime) -> Table:
    """``reviewsctl hub status``: the state first."""
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
        opened = ", ".join(hub.opened_networks)
        text = f"callbacks may be in {opened} (hub.callbacks.allow_networks)"
        table.add_row("opened", Text(printable(text), style="yellow"))
    return table


def hub_state(hub: HubState) -> Text:
    """``ok``, or what keeps the hub from its work and what to do."""
    if hub.store != "ok":
        trouble = f"the state store cannot be used: {printable(hub.store)}; it is tried again"
        return Text(trouble, style="bold yellow")
    if hub.paused:
        return Text("paused; go on with: reviewsctl hub resume", style="bold yellow")
    return Text("ok", style="green")


def render_topics(topics: Iterable[Topic], now: datetime.datetime) -> Table:
    """The topics, and how far their subscribers are."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("topic", no_wrap=True)
    for name in ("version", "subscriptions", "due"):
        table.add_column(name, justify="right")
    table.add_column("changed")
    for topic in topics:
        counts = (f"{each:,}" for each in (topic.version, topic.subscriptions, topic.due))
        table.add_row(Text(printable(topic.path)), *counts, when(topic.changed_at, now))
    return table


def render_blocks(blocks: Iterable[Block]) -> Table | Text:
    """``reviewsctl hub blocks``."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("blocked", no_wrap=True)
    table.add_column("since", no_wrap=True)
    table.add_column("note")
    for block in blocks:
        note = Text(printable(block.note))
        table.add_row(Text(printable(block.value)), moment(block.created_at), note)
    return table if table.row_count else Text("nothing is blocked")


def render_blocked(blocked: Blocked, *, dry_run: bool) -> Text:
    """What a block has done, or would do."""
    value, count = printable(blocked.value), blocked.removed
    what = (
        f"{count:,} subscription{'' if count == 1 else 's'} or request{'' if count == 1 else 's'}"
    )
    if dry_run:
        return Text(f"would block {value} and remove {what}")
    return Text(f"blocked {value}, removed {what}; undo with: reviewsctl hub unblock {value}")


def _verified(
    one: Subscription, verified_at: datetime.datetime, now: datetime.datetime
) -> Iterable[_Row]:
    yield "verified", when(verified_at, now)
    yield "lease", _lease(one, now)
    yield "signed", "yes, with its hub.secret" if one.signed else "no"
    yield "version", _version(one)
    yield "last attempt", _outcome(one, now)
    if one.last_success_at is not None:
        yield "last success", when(one.last_success_at, now)
    if one.last_failure_at is not None:
        why = f": {printable(one.last_failure)}" if one.last_failure else ""
        yield "last failure", Text(f"{when(one.last_failure_at, now)}{why}")
    if one.consecutive_failures:
        count = f"{one.consecutive_failures} in a row; number {MAX_FAILURES} removes it"
        yield "failures", Text(count, style="yellow")
    if one.in_flight:
        yield "next attempt", "under way"
    elif one.next_attempt_at is not None:
        yield "next attempt", _next(one.next_attempt_at, now)
    else:
        yield "next attempt", "when the content changes"


def _pending(pending: Pending, now: datetime.datetime) -> Iterable[_Row]:
    lease = f" for {duration(pending.lease_seconds)}" if pending.mode == "subscribe" else ""
    who = printable(pending.requester)
    yield "asked for", Text(f"{pending.mode}{lease}, {when(pending.requested_at, now)}, by {who}")
    tries = f"{pending.attempts} so far"
    if pending.next_attempt_at is not None:
        tries = f"{tries}, next {_next(pending.next_attempt_at, now)}"
    yield "verifications", f"{tries}; given up {_next(pending.expires_at, now)}"


def _lease(one: Subscription, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return duration(one.lease_seconds)
    left = duration((one.lease_expires_at - now).total_seconds())
    granted = duration(one.lease_seconds)
    return f"{left} left of {granted}, until {moment(one.lease_expires_at)}"


def _left(one: Subscription, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return "-"
    left = (one.lease_expires_at - now).total_seconds()
    return duration(left) if left > 0 else "over"


def _version(one: Subscription) -> Text:
    if one.delivered_version is None:
        return Text("-")
    has = f"{one.delivered_version}/{one.topic_version}"
    behind = one.delivered_version < one.topic_version
    return Text(f"{has} behind", style="yellow") if behind else Text(has)


def _outcome(one: Subscription, now: datetime.datetime) -> Text:
    if one.last_attempt_at is None:
        return Text("under way" if one.in_flight else "none yet")
    said = "no answer" if one.last_status is None else str(one.last_status)
    if one.last_error is None:
        return Text(f"{said}, {ago(one.last_attempt_at, now)}")
    failed = f"{printable(one.last_error)}, {ago(one.last_attempt_at, now)}"
    return Text(failed, style="red")


def _due(hub: HubState, now: datetime.datetime) -> str:
    if hub.oldest_due_at is None:
        return f"{hub.due:,}"
    return f"{hub.due:,}, the oldest {duration((now - hub.oldest_due_at).total_seconds())} old"


def _next(then: datetime.datetime, now: datetime.datetime) -> str:
    return f"{until(then, now)} ({moment(then)})" if then > now else "now"
