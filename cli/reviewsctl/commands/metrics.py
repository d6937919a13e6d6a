"""``reviewsctl metrics``: the daemon's metrics (interfaces.md 1.1)."""

import typer

from reviewsctl.daemon.session import Session
from reviewsctl.terminal.output import printable_lines

EPILOG = """\b
Examples:
  reviewsctl metrics
  reviewsctl metrics | grep delivery"""


def metrics(ctx: typer.Context) -> None:
    """Prints the daemon's metrics, in the format of Prometheus.

    They count requests, deliveries and errors, and measure their times. docs/how-to/runbook.md
    explains them. The key metrics.listen of the configuration serves them by HTTP.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        text = daemon.metrics()
    typer.echo(printable_lines(text), nl=False)
