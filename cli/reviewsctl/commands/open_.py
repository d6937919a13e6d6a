"""``reviewsctl open``: open the pages in a browser (pages.md 3)."""

import os
import sys
from typing import Annotated, Final

import typer

from reviewsctl.daemon.session import Session
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import echo

EPILOG = """\b
Examples:
  reviewsctl open
  reviewsctl open --print"""

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Environment variables of a session that can show a browser; ``webbrowser`` obeys the last."""

_LOCAL: Final = "tcp:127.0.0.1:"
"""The beginning of an endpoint that the daemon serves without TLS to this machine."""


def open_(
    ctx: typer.Context,
    *,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Opens the page with the reviews in a browser.

    The address is printed, too. It is base_url, the public one. Where a proxy has to be there before it
    answers, the address on this machine is printed below it. Without a display, as over SSH, nothing is opened.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=False) as daemon:
        status = daemon.status().value
    address = f"{status.base_url}/"
    echo(address)
    if not print_only and address.startswith("https:"):
        for endpoint in status.listen:
            if endpoint.startswith(_LOCAL):
                echo(f"on this machine, without the proxy: http://{endpoint.removeprefix('tcp:')}/")
    has_display = sys.platform == "darwin" or any(map(os.environ.get, _DISPLAYS))
    if print_only or not has_display:
        return
    import webbrowser  # 10 ms

    if not webbrowser.open(address):
        raise CommandError("no browser could be started", remedy="Open the address yourself.")
