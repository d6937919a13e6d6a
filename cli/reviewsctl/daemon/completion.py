"""What the shell offers for topics and subscriptions: asked of the daemon, at once or not at all.

A completion must neither wait nor say anything: what goes wrong offers nothing (interfaces.md 1.2).
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import typer

from reviewsctl.terminal.words import counted

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client

SECONDS: Final = 0.15  # of the 200 ms; the rest is for the program to start


def topics(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The topics, with how many are subscribed."""
    return _offered(_topics, ctx, incomplete)


def subscriptions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The ids of subscriptions with their callbacks, and once one is begun the callbacks."""
    return _offered(_callbacks if ":" in incomplete else _ids, ctx, incomplete)


def _offered(
    ask: "Callable[[Client], Iterator[tuple[str, str]]]",
    ctx: typer.Context,
    incomplete: str,
) -> list[tuple[str, str]]:
    from reviewsctl.commands.root import session
    from reviewsctl.daemon import (
        client,
        errors,  # 25 ms, see main
    )
    from reviewsctl.terminal.escaping import printable

    try:
        offered = list(ask(client.Client(session(ctx).socket, answer_seconds=SECONDS)))
    except errors.DaemonError:
        return []
    return [
        (printable(word), printable(said)) for word, said in offered if word.startswith(incomplete)
    ]


def _topics(daemon: "Client") -> Iterator[tuple[str, str]]:
    for topic in daemon.hub().value.topics:
        yield topic.path, counted(topic.subscriptions, "subscription")


def _ids(daemon: "Client") -> Iterator[tuple[str, str]]:
    for each in next(daemon.subscriptions(), []):
        yield each.value.id, f"{each.value.callback} {each.value.topic}"


def _callbacks(daemon: "Client") -> Iterator[tuple[str, str]]:
    found = {each.value.callback for each in next(daemon.subscriptions(), [])}
    yield from ((callback, "callback") for callback in sorted(found))
