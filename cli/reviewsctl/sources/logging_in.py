"""``reviewsctl sources login``: receives the code of the browser by a listener, or pasted."""

import contextlib
import os
import select
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Final

from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.oauth import GoogleTokens, Login

PORT: Final = 8765
_MAX_LINE: Final = 65_536
_DONE: Final = b"You can close this page, and go back to the terminal.\n"
_REFUSED: Final = b"This address belongs to another login.\n"


class _Codes:
    """Receives addresses, and keeps the code of the one that belongs to this login."""

    def __init__(self, login: Login, show: Callable[[str], None]) -> None:
        self._login = login
        self._show = show
        self.code = ""

    def receive(self, address: str) -> bool:
        """Take an address; return True if it was that of this login."""
        try:
            self.code = self._login.code(address)
        except ReadFailedError as fault:
            self._show(fault.detail)
            return False
        return True


def log_in(
    tokens: GoogleTokens, show: Callable[[str], None], port: int = PORT, stdin: int = 0
) -> None:
    """Log in: wait for the browser, and exchange its code for tokens.

    Args:
        tokens: Keeps them.
        show: Shows a line to the operator.
        port: Of the listener, on loopback alone.
        stdin: The descriptor that a pasted address is read from.

    Raises:
        ReadFailedError: It is refused.
    """
    login = Login.begun(tokens.client, f"http://127.0.0.1:{port}/")
    codes = _Codes(login, show)
    show("Open this address in a browser, and allow access:")
    show(f"  {login.address}")
    show("If the browser is on another computer, run this there first:")
    show(f"  ssh -L {port}:127.0.0.1:{port} THIS-SERVER")
    show("or paste the address that the browser shows in the end, and press Enter:")
    with contextlib.ExitStack() as stack:
        sources: list[int | HTTPServer] = [stdin]
        try:
            sources.append(stack.enter_context(_listener(port, codes)))
        except OSError:
            show(f"(port {port} is in use: paste the address)")
        _wait(sources, codes)
    tokens.log_in(login, codes.code)


def _wait(sources: "list[int | HTTPServer]", codes: _Codes) -> None:
    """Read from the terminal and the browser until there is a code."""
    pasted = b""
    while not codes.code:
        for ready in select.select(sources, (), ())[0]:
            if isinstance(ready, HTTPServer):
                ready.handle_request()
                continue
            data = os.read(ready, _MAX_LINE)
            if not data:
                sources.remove(ready)  # the terminal is gone
            *lines, pasted = (pasted + data).split(b"\n")
            for line in filter(None, map(bytes.strip, lines)):
                codes.receive(line.decode("utf-8", "replace"))


def _listener(port: int, codes: _Codes) -> HTTPServer:
    class Redirect(BaseHTTPRequestHandler):
        """Takes the address that the browser is sent to."""

        timeout = 5  # seconds for a request, while the terminal waits

        def do_GET(self) -> None:
            is_ours = codes.receive(self.path)
            self.send_response(200 if is_ours else 400)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.end_headers()
            self.wfile.write(_DONE if is_ours else _REFUSED)

        def log_message(self, *_: object) -> None:
            """Log nothing: the address has the code."""

    return HTTPServer(("127.0.0.1", port), Redirect)
