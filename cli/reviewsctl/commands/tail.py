"""``reviewsctl tail``: events as they happen (interfaces.md 1.1)."""

from typing import TYPE_CHECKING

import typer

from reviewsctl.daemon.session import Json, Session
from reviewsd.api.texts import printable

if TYPE_CHECKING:
    from reviewsd.api.jobs import EventLine

EPILOG = """\b
    Examples:
      reviewsctl tail
      reviewsctl tail --json | jq 'select(.type == "deliver")'"""


def tail(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Shows events as they happen, until Ctrl-C.

    It prints a line for each event: load (data was published or refused), change (topics have new
    content), subscribe (a request for a subscription or its end), verify (a callback has confirmed
    or not), deliver (a delivery succeeded or failed), drop (subscriptions have ended). With --json
    each line is an object with type, ts, level, event (the sentence) and further members, such as
    topic and callback_host. If there are too many events, the oldest are dropped, and a line of
    type "lost" has their number.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        for event in daemon.events():
            typer.echo(event.text if as_json else _line(event.value))


def _line(event: "EventLine") -> str:
    match event.type:
        case "listening":
            return "waiting for events; Ctrl-C ends"
        case "lost":
            return f"{event.lost:,} event{' was' if event.lost == 1 else 's were'} too many to show"
        case _:
            return f"{printable(event.ts)}  {printable(event.type):<9}  {printable(event.event)}"
