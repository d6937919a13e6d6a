"""``reviewsctl sources login``: receives the code of the browser by a listener, or pasted."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.oauth import Client, GoogleTokens, Login

PORT: Final = 8765
_MAX_LINE: Final = 65_536
_DONE: Final = b"You can close this page, and go back to the terminal.\n"
_REFUSED: Final = b"This address belongs to another login.\n"


async def log_in(
    reactor: Any,  # noqa: ANN401  # interfaces of a reactor, which are many
    tokens: GoogleTokens,
    client: Client,
    show: Callable[[str], None],
    port: int = PORT,
    stdin: int = 0,
) -> None:
    """Log in: wait for the browser, and exchange its code for tokens.

    Args:
        reactor: Twisted's.
        tokens: Keeps them.
        client: The OAuth client.
        show: Shows a line to the operator.
        port: Of the listener, on loopback alone.
        stdin: The descriptor that a pasted address is read from.

    Raises:
        ReadFailedError: It is refused.
    """
    login = Login.begun(client, f"http://127.0.0.1:{port}/")
    code: Deferred[str] = Deferred()

    def receive(address: str) -> bool:
        """Take an address; True if it was that of this login."""
        try:
            found = login.code(address)
        except ReadFailedError as fault:
            show(fault.detail)
            return False
        if not code.called:
            code.callback(found)
        return True

    show("Open this address in a browser, and allow access:")
    show(f"  {login.address}")
    show("If the browser is on another computer, run this there first:")
    show(f"  ssh -L {port}:127.0.0.1:{port} THIS-SERVER")
    show("or paste the address that the browser shows in the end, and press Enter:")
    with _listening(reactor, port, receive, show):
        arguments = (reactor, stdin, receive)
        threading.Thread(target=_read_lines, args=arguments, daemon=True).start()
        found = await code
    await tokens.log_in(login, found)


@contextlib.contextmanager
def _listening(
    reactor: Any,  # noqa: ANN401  # as above
    port: int,
    receive: Callable[[str], bool],
    show: Callable[[str], None],
) -> Iterator[None]:
    """Listen on loopback for the block; where the port is taken, only pasting is left."""
    try:
        listener = reactor.listenTCP(port, Site(_Redirect(receive)), interface="127.0.0.1")
    except CannotListenError:
        show(f"(port {port} is in use: paste the address)")
        yield
        return
    try:
        yield
    finally:
        listener.stopListening()


class _Redirect(Resource):
    """Takes the address that the browser is sent to."""

    isLeaf = True

    def __init__(self, receive: Callable[[str], bool]) -> None:
        super().__init__()
        self._receive = receive

    def render_GET(self, request: Request) -> bytes:
        """Answer the browser."""
        request.setHeader(b"Content-Type", b"text/plain; charset=utf-8")
        is_ours = self._receive(request.uri.decode("latin-1"))
        request.setResponseCode(200 if is_ours else 400)
        return _DONE if is_ours else _REFUSED


def _read_lines(reactor: Any, stdin: int, receive: Callable[[str], bool]) -> None:  # noqa: ANN401
    """Read pasted addresses, in a thread that ends with the process.

    The terminal is shared with the shell, so that it must not be made non-blocking.
    """
    received = b""
    while data := os.read(stdin, _MAX_LINE):
        *lines, received = (received + data).split(b"\n")
        for line in filter(None, map(bytes.strip, lines)):
            reactor.callFromThread(receive, line.decode("utf-8", "replace"))
