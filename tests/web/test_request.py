"""What is left out of Twisted's requests must not be missed, and its names must stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web.http_headers import Headers
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from reviewsd.web.channel import Channel, PublicServer
from reviewsd.web.replies import Replies
from reviewsd.web.request import Fields

REPLIES = Replies("https://reviews.example", "public", lambda: 0.0)
NAMES = st.text("abcXYZ-9", min_size=1, max_size=8).map(str.encode)
VALUES = st.binary(max_size=8).map(lambda value: value.translate(None, b"\0\r\n").strip(b" \t"))


class Answering(Resource):
    """Answers with the fields of a header that it is told."""

    isLeaf = True

    def __init__(self, *fields: tuple[bytes, bytes]) -> None:
        super().__init__()
        self.asked: list[Headers] = []
        self._fields = fields

    def render(self, request: Request) -> int:
        self.asked.append(request.requestHeaders)
        for name, value in self._fields:
            request.responseHeaders.setRawHeaders(name, [value])
        request.write(b"abc")
        request.finish()
        return NOT_DONE_YET


def ask(resource: Resource, request: bytes) -> bytes:
    channel = PublicServer(resource, REPLIES.refusal, Clock()).buildProtocol(None)
    assert isinstance(channel, Channel)
    transport = StringTransport()
    channel.makeConnection(transport)
    channel.dataReceived(request)
    return bytes(transport.value())


@given(st.lists(st.tuples(NAMES, VALUES), max_size=6))
def test_fields_are_what_twisted_makes_of_them(fields: list[tuple[bytes, bytes]]) -> None:
    expected = Headers()
    for name, value in fields:
        expected.addRawHeader(name, value)
    resource = Answering()
    lines = b"".join(b"%b: \t%b \r\n" % field for field in fields)

    ask(resource, b"GET / HTTP/1.1\r\n" + lines + b"\r\n")

    assert [dict(expected.getAllRawHeaders())] == [
        dict(asked.getAllRawHeaders()) for asked in resource.asked
    ]


def test_an_answer_without_a_length_goes_out_in_chunks() -> None:
    answer = ask(Answering(), b"GET / HTTP/1.1\r\n\r\n")

    assert b"\r\nTransfer-Encoding: chunked\r\n" in answer
    assert answer.endswith(b"\r\n\r\n3\r\nabc\r\n0\r\n\r\n")


@pytest.mark.parametrize("line_break", [b"\r\n", b"\n", b"\r"])
def test_no_value_can_smuggle_another_field_into_an_answer(line_break: bytes) -> None:
    answer = ask(Answering((b"Link", b"a" + line_break + b"X: y")), b"GET / HTTP/1.1\r\n\r\n")

    assert b"\r\nLink: a X: y\r\n" in answer


def test_twisted_keeps_fields_where_they_are_put() -> None:
    assert {} == Fields()._rawHeaders
