"""Any bytes of a client get complete responses of ours, log nothing, and leave no delayed call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.connections import REPLIES, Line, serving
from tests.support.publishing import Directories


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Reads:
    directories = Directories(tmp_path_factory.mktemp("house"))
    directories.write(*(review(f"r{n}", text="A boiler.") for n in range(3)))
    directories.publish()
    snapshots = Snapshots(directories.snapshots)
    reads = Reads(snapshots, REPLIES, budgets(Clock()))
    snapshots.refresh()
    return reads


METHODS = st.sampled_from([b"GET", b"HEAD", b"OPTIONS", b"POST", b"get", b"CONNECT", b"X"])
PATHS = st.sampled_from(
    [
        *(b"/reviews.json", b"/feed.xml", b"/api/reviews/search", b"/api/reviews/since/", b"*"),
        *(b"http://a/", b"//", b"/%", b"/%2e", b"a:1", b"", b"/healthz", b"/mcp"),
    ]
)
TEXT = st.one_of(st.binary(max_size=12), st.sampled_from([b"2025-01-01", b"?limit=", b"&rating=9"]))
FIELDS = st.tuples(
    st.sampled_from(
        [
            *(b"Host", b"Connection", b"Content-Length", b"Transfer-Encoding", b"Expect"),
            *(b"If-None-Match", b"If-Modified-Since", b"Accept", b"Accept-Encoding", b"Cookie"),
        ]
    ),
    st.one_of(
        TEXT,
        st.sampled_from([b"close", b"chunked", b"3", b"100-continue", b"*", b"*;q=0", b"a..b"]),
    ),
).map(b": ".join)
REQUESTS = st.builds(
    lambda method, path, text, version, fields, body: (
        b"%s %s%s %s\r\n" % (method, path, text, version)
        + b"".join(field + b"\r\n" for field in fields)
        + b"\r\n"
        + body
    ),
    METHODS,
    PATHS,
    TEXT,
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/3.0", b""]),
    st.lists(st.one_of(st.just(b"Host: a"), FIELDS), max_size=5),
    TEXT,
)


@given(
    requests=st.lists(st.one_of(REQUESTS, st.binary(max_size=64)), min_size=1, max_size=3),
    cut=st.integers(1, 200),
)
def test_any_bytes_get_complete_responses(reads: Reads, requests: list[bytes], cut: int) -> None:
    clock = Clock()
    connection = serving(clock, reads, Probes(REPLIES)).buildProtocol(None)
    line = Line()
    line.protocol = connection
    data = b"".join(requests)
    with capturedLogs() as events:
        connection.makeConnection(line)
        for at in range(0, len(data), cut):
            if not line.closed:
                connection.dataReceived(data[at : at + cut])
        line.leave()

    assert [] == [event for event in events if "log_failure" in event]
    answered = line.value()
    assert b"<html" not in answered
    for text in answered.split(b"\r\n"):
        if text.startswith(b"HTTP/1."):
            status = int(text.split()[1])
            assert status == 100 or 200 <= status < 500 or status == 501, text
    assert answered.count(b"Server: reviewsd\r\n") == answered.count(b"nosniff\r\n")
    assert b"TwistedWeb" not in answered
    assert b"Traceback" not in answered
    assert [] == clock.getDelayedCalls()
