"""``reviewsctl push``: the current content to all subscribers now (interfaces.md 1.1)."""

from typing import Annotated

import typer

from reviewsctl.daemon import completion
from reviewsctl.daemon.pushing import push as push_to
from reviewsctl.daemon.session import Json, Quiet, Session, Wait

EPILOG = """\b
Examples:
  reviewsctl push
  reviewsctl push /feed.xml
  reviewsctl push --no-wait"""


def push(
    ctx: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="[TOPIC]",
            autocompletion=completion.topics,
            show_default=False,
            help="Only to its subscribers: a path or whole address.",
        ),
    ] = "",
    *,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Delivers the current content to all subscribers now.

    Those that have it already get it again; the hub tells them of each change by itself, so this
    is for when one of them has lost it. It ends when each has had its attempt; the exit code is 1
    if not all of them took it. Ctrl-C stops the waiting, not the push. With --json every event is
    one line, the last of type "result". For one subscriber: reviewsctl subs push.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        push_to(daemon, {"topic": topic}, wait=wait, quiet=quiet, as_json=as_json)
