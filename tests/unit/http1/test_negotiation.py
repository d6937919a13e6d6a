"""The choice of media type and coding (RFC 9110 12.5); codings at the door are in tests/unit/web/test_conditional.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.negotiation import accepts_json


@pytest.mark.parametrize(
    "accept",
    [
        b"",
        b" ",
        b"application/json",
        b"Application/JSON",
        b"application/*",
        b"*/*",
        b"application/json, text/event-stream",
        b"text/event-stream,application/json;q=0.1",
        b"application/json;charset=utf-8",
        b"text/html, */*;q=0.01",
        b"application/json;q=oops",
        b"application/json;q=0, application/json",
        b"*/*;q=0, application/json",
    ],
)
def test_json_is_accepted_unless_excluded(accept: bytes) -> None:
    """claude-code#45368, composio#2152: clients that do not accept streams were refused."""
    assert accepts_json((accept,))


@pytest.mark.parametrize(
    "accept",
    [
        b"text/event-stream",
        b"text/html, image/*",
        b"application/json;q=0",
        b"application/json;charset=utf-8;q=0.0",
        b"*/*, application/json;q=0",
        b"application/*;q=0, */*",
        b"jsonp",
    ],
)
def test_excluded_json_is_not_accepted(accept: bytes) -> None:
    assert not accepts_json((accept,))


@given(st.binary(max_size=30))
def test_any_accept_is_parsed(accept: bytes) -> None:
    accepts_json((accept, accept))
