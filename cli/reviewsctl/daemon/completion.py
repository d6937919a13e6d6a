"""Shell completion of topics and subscriptions, from the daemon (interfaces.md 1.2).

A completion must neither wait nor print: a failure completes nothing.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import typer

from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.words import counted

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client

SECONDS: Final = 0.15  # of 200 ms; the program needs the others to start


def topics(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the topics, with their numbers of subscriptions."""
    return _completions(_topics, ctx, incomplete)


def subscriptions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of subscriptions, or the callbacks once the word has a colon."""
    return _completions(_callbacks if ":" in incomplete else _ids, ctx, incomplete)


def _completions(
    ask: "Callable[[Client], Iterator[tuple[str, str]]]",
    ctx: typer.Context,
    incomplete: str,
) -> list[tuple[str, str]]:
    from reviewsctl.commands.root import session
    from reviewsctl.daemon import (
        client,
        errors,  # 25 ms, see main
    )

    try:
        words = list(ask(client.Client(session(ctx).socket, answer_seconds=SECONDS)))
    except errors.DaemonError:
        return []
    return [
        (printable(word), printable(help_text))
        for word, help_text in words
        if word.startswith(incomplete)
    ]


def _topics(daemon: "Client") -> Iterator[tuple[str, str]]:
    for topic in daemon.hub().value.topics:
        yield topic.path, counted(topic.subscriptions, "subscription")


def _ids(daemon: "Client") -> Iterator[tuple[str, str]]:
    for answer in next(daemon.subscriptions(), []):
        yield answer.value.id, f"{answer.value.callback} {answer.value.topic}"


def _callbacks(daemon: "Client") -> Iterator[tuple[str, str]]:
    callbacks = {answer.value.callback for answer in next(daemon.subscriptions(), [])}
    yield from ((callback, "callback") for callback in sorted(callbacks))
