"""A push: the current content to subscribers now, whether they have it or not."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from reviewsctl.terminal.output import EXIT_FAILED, show, steps

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client


def push(
    daemon: "Client",
    whom: Mapping[str, str | Sequence[str]],
    *,
    wait: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Pushes, and tells how that went: exit code 1 when it did not reach everybody.

    Args:
        daemon: Does it.
        whom: As ``Client.push`` takes it.
        wait: Until each has had its attempt.
        quiet: Print errors only.
        as_json: Print each event as JSON, the last of type "result".
    """
    if not wait:
        accepted = daemon.push_later(whom)
        if not quiet:
            typer.echo(accepted if as_json else "asked for; how it goes: reviewsctl hub status")
        return
    with steps("push", "reviewsctl hub status", quiet=quiet, as_json=as_json) as step:
        answer = daemon.push(whom, step)
    reached = answer.value.delivered == answer.value.total
    if as_json:
        if not quiet:
            typer.echo(answer.text)
    elif not (reached and quiet):
        from reviewsctl.terminal.hub_views import render_push  # rich, see main

        show(render_push(answer.value), err=not reached)
    if not reached:
        raise typer.Exit(EXIT_FAILED)
