"""What Klein is given: a request of Twisted's without what no route wants."""

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from reviewsd.server.server import ConnectionLimits, PublicServer
from reviewsd.web.dispatch import Dispatcher
from reviewsd.web.klein_request import PublicRequest
from tests.support.connections import REPLIES, Client, Line, ask


class Looking(Resource):
    """Remembers the requests that it was asked to render, and says what it is told to."""

    isLeaf = True

    def __init__(self) -> None:
        super().__init__()
        self.parsed: list[PublicRequest] = []
        self.gone: list[str] = []

    def render(self, request: PublicRequest) -> int:
        self.parsed.append(request)
        gone: Deferred[None] = request.notifyFinish()
        gone.addCallbacks(
            lambda _: self.gone.append("answered"), lambda _: self.gone.append("left")
        )
        if request.path == b"/bug":
            raise ZeroDivisionError
        if request.path != b"/later":
            self.answer(request)
        return NOT_DONE_YET

    def answer(self, request: PublicRequest) -> None:
        request.put(REPLIES.plain(200, "ok"))
        request.write(b"what Klein would write")
        request.finish()


def connect(resource: Looking) -> Client:
    clock = Clock()
    channel, line = (
        PublicServer(
            Dispatcher(resource, REPLIES).respond, REPLIES, clock, ConnectionLimits()
        ).buildProtocol(None),
        Line(),
    )
    line.protocol = channel
    channel.makeConnection(line)
    return Client(channel, line, clock)


@pytest.mark.parametrize(
    ("target", "path", "uri", "parts"),
    [
        ("/a/b", b"/a/b", b"/a/b", [b"a", b"b"]),
        ("/a?b=c&d", b"/a", b"/a?b=c&d", [b"a"]),
        ("/a?", b"/a", b"/a", [b"a"]),
        ("/", b"/", b"/", [b""]),
        ("/%61%2Fb//c", b"/%61%2Fb//c", b"/%61%2Fb//c", [b"a/b", b"", b"c"]),
        ("http://x/a?b", b"/a", b"/a?b", [b"a"]),
        ("http://x", b"/", b"/", [b""]),
    ],
)
def test_it_says_what_klein_looks_at(
    target: str, path: bytes, uri: bytes, parts: list[bytes]
) -> None:
    resource = Looking()
    client = connect(resource)
    client.send(ask(target, "Accept: b"))

    (request,) = resource.parsed
    assert (b"GET", path, uri) == (request.method, request.path, request.uri)
    assert (b"HTTP/1.1", parts) == (request.clientproto, request.postpath)
    assert (b"b",) == request.parsed.lines(b"accept")
    assert ["ok"] == client.texts


@pytest.mark.parametrize("host", ["a", "a:8080", "a..b", "[::1]", "xn--a"])
def test_no_name_that_a_client_uses_comes_to_klein(host: str) -> None:
    """It fails on some, and addresses come from ``base_url``."""
    resource = Looking()
    client = connect(resource)
    client.send(ask().replace(b"Host: a", f"Host: {host}".encode()))

    assert b"localhost" == resource.parsed[0].getRequestHostname()
    assert not resource.parsed[0].isSecure()
    assert ["ok"] == client.texts


def test_who_waits_for_its_end_hears_of_it() -> None:
    resource = Looking()
    client = connect(resource)
    client.send(ask(), ask("/later"))
    assert ["answered"] == resource.gone
    client.line.leave()

    assert ["answered", "left"] == resource.gone


def test_a_bug_of_a_resource_is_logged_with_its_path_and_traceback() -> None:
    client = connect(Looking())
    with capturedLogs() as events:
        client.send(ask("/bug"))

    assert [500] == client.statuses
    (event,) = (event for event in events if "log_failure" in event)
    assert (b"/bug", ZeroDivisionError) == (event["path"], event["log_failure"].type)
