"""``reviewsctl metrics``: the daemon's metrics (interfaces.md 1.1)."""

import typer

from reviewsctl.daemon.session import Session

EPILOG = """\b
Examples:
  reviewsctl metrics
  reviewsctl metrics | grep delivery"""


def metrics(ctx: typer.Context) -> None:
    """Prints the daemon's metrics, as Prometheus reads them.

    How many requests, deliveries, errors and much else there were, and how long they took. The
    same can be fetched where "metrics.listen" of the configuration says; docs/runbook.md tells what to
    make of it.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        text = daemon.metrics()
    from reviewsctl.terminal.escaping import printable_lines

    typer.echo(printable_lines(text), nl=False)
