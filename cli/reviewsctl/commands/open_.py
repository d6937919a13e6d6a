"""``reviewsctl open``: open the pages in a browser (pages.md 3)."""

import os
import sys
from typing import Annotated, Final

import typer

from reviewsctl.daemon.session import Session
from reviewsctl.terminal.output import echo, fail

EPILOG = """\b
Examples:
  reviewsctl open
  reviewsctl open --print"""

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Environment variables of a session that can show a browser; ``webbrowser`` obeys the last."""


def open_(
    ctx: typer.Context,
    *,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Opens the page with the reviews in a browser.

    The address is printed, too. It is base_url, the public one; a proxy must be there for others to reach it. Without a
    display, as over SSH, it is only printed.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=False) as daemon:
        address = f"{daemon.status().value.base_url}/"
    echo(address)
    has_display = sys.platform == "darwin" or any(map(os.environ.get, _DISPLAYS))
    if print_only or not has_display:
        return
    import webbrowser  # 10 ms

    if not webbrowser.open(address):
        fail("no browser could be started", remedy="Open the address yourself.", as_json=False)
