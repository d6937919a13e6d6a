"""Pushes: deliveries of the current content, also to subscribers that have it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from reviewsctl.terminal.output import EXIT_FAILED, show, steps

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client


def push(
    daemon: "Client",
    recipients: Mapping[str, str | Sequence[str]],
    *,
    wait: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Push, print the outcome, and end with exit code 1 if a subscriber was not reached.

    Args:
        daemon: The client of the daemon.
        recipients: As for ``Client.push``.
        wait: Whether to wait until each subscriber had an attempt.
        quiet: Print errors only.
        as_json: Print each event as JSON, the last of type "result".
    """
    if not wait:
        accepted = daemon.push_later(recipients)
        if not quiet:
            typer.echo(accepted if as_json else "started; see: reviewsctl hub status")
        return
    with steps("push", "reviewsctl hub status", quiet=quiet, as_json=as_json) as step:
        answer = daemon.push(recipients, step)
    reached = answer.value.delivered == answer.value.total
    if as_json:
        if not quiet:
            typer.echo(answer.text)
    elif not (reached and quiet):
        from reviewsctl.terminal.hub_views import render_push  # rich, see main

        show(render_push(answer.value), err=not reached)
    if not reached:
        raise typer.Exit(EXIT_FAILED)
