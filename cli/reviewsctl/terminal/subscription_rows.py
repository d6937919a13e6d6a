"""Rows of the long tables, which ``columns`` lays out."""

import datetime
from typing import Final

from reviewsctl.terminal.columns import Cell, Colored, Row
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.times import ago, duration, moment
from reviewsd.api.hub import Block, Listing

SUBSCRIPTIONS: Final = (
    *("id", "topic", "callback", "state"),
    *("lease left", "version", "last outcome"),
)
CALLBACK: Final = SUBSCRIPTIONS.index("callback")

BLOCKS: Final = ("blocked", "since", "note")
NOTE: Final = BLOCKS.index("note")


def subscription(one: Listing, now: datetime.datetime) -> Row:
    """Return a row of ``reviewsctl subs list``."""
    return (
        printable(one.id),
        printable(one.topic),
        printable(one.callback),
        state(one, now),
        _left(one, now),
        version(one),
        outcome(one, now),
    )


def state(one: Listing, now: datetime.datetime) -> Cell:
    """Return the state of a subscription; an expired one has ended, though the daemon removes it later."""
    if one.lease_expires_at is not None and one.lease_expires_at <= now:
        return Colored("ended", "yellow")
    return printable(one.state)


def block(one: Block) -> Row:
    """Return a row of ``reviewsctl hub blocks``."""
    return printable(one.value), moment(one.created_at), printable(one.note)


def version(one: Listing) -> Cell:
    """Return the version that the subscriber has, and the current one."""
    if one.delivered_version is None:
        return "-"
    has = f"{one.delivered_version}/{one.topic_version}"
    behind = one.delivered_version < one.topic_version
    return Colored(f"{has} behind", "yellow") if behind else has


def outcome(one: Listing, now: datetime.datetime) -> Cell:
    """Return the outcome of the last attempt."""
    if one.last_attempt_at is None:
        return "under way" if one.in_flight else "none yet"
    status = "no answer" if one.last_status is None else str(one.last_status)
    if one.last_error is None:
        return f"{status}, {ago(one.last_attempt_at, now)}"
    return Colored(f"{printable(one.last_error)}, {ago(one.last_attempt_at, now)}", "red")


def _left(one: Listing, now: datetime.datetime) -> str:
    if one.lease_expires_at is None:
        return "-"
    seconds = (one.lease_expires_at - now).total_seconds()
    return duration(seconds) if seconds > 0 else "over"
