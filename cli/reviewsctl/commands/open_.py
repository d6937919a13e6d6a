"""``reviewsctl open``: where the pages are (pages.md 3)."""

from typing import Annotated

import typer

from reviewsctl.daemon.session import Session

EPILOG = """\b
Examples:
  reviewsctl open
  reviewsctl open --browser"""


def open_(
    ctx: typer.Context,
    *,
    browser: Annotated[
        bool, typer.Option("--browser", help="Open it in the browser of this machine, too.")
    ] = False,
) -> None:
    """Prints the address of the page with the reviews.

    It is base_url, the public address; a proxy must be there for others to reach it.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=False) as daemon:
        address = f"{daemon.status().value.base_url}/"
    typer.echo(address)
    if browser:
        import webbrowser  # 10 ms

        if not webbrowser.open(address):
            typer.echo("there is no browser on this machine; open the address elsewhere", err=True)
            raise typer.Exit(1)
