"""The choice of media type and coding (RFC 9110 12.5); codings at the door are in tests/unit/web/test_conditional.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.negotiation import (
    JSON_RANGES,
    MAX_PREFERENCES,
    PROBLEMS,
    accepted_codings,
    accepts,
    best_type,
)

ACCEPTED = [
    *(b"", b" ", b"application/json", b"Application/JSON", b"application/*", b"*/*"),
    b"application/json, text/event-stream",
    b"text/event-stream,application/json;q=0.1",
    b"application/json;charset=utf-8",
    b"text/html, */*;q=0.01",
    b"application/json;q=oops",
    b"application/json;q=0, application/json",
    b"*/*;q=0, application/json",
    b"text/html" + MAX_PREFERENCES * b",",  # too long to be read
]
EXCLUDED = [
    *(b"text/event-stream", b"text/html, image/*", b"application/json;q=0", b"jsonp"),
    b"application/json;charset=utf-8;q=0.0",
    b"*/*, application/json;q=0",
    b"application/*;q=0, */*",
]


@pytest.mark.parametrize("accept", [*ACCEPTED, *EXCLUDED])
def test_json_is_accepted_unless_excluded(accept: bytes) -> None:
    """claude-code#45368, composio#2152: clients that do not accept streams were refused."""
    assert (accept in ACCEPTED) == accepts((accept,), JSON_RANGES)


@given(st.binary(max_size=30))
def test_any_accept_is_parsed(accept: bytes) -> None:
    accepts((accept, accept), JSON_RANGES)


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", 0),
        ("application/*", 0),
        ("application/json", 0),
        ("application/problem+json", 1),
        ("APPLICATION/PROBLEM+JSON", 1),
        ("application/problem+json, */*;q=0.1", 1),
        ("application/problem+json, application/json;q=0.9", 1),
        ("application/problem+json, application/json", 0),
        ("application/problem+json;q=0, */*", 0),
        ("application/xml;q=0.9, application/problem+json;q=0.2", 1),
        (";;;, =, /, \xff;q=x", 0),
        ("application/problem+json;q=7", 0),
        (f"application/problem+json;{MAX_PREFERENCES * ' '}q=1", 0),  # too long to be read
    ],
)
def test_first_media_type_is_chosen_unless_later_one_is_preferred(accept: str, chosen: int) -> None:
    assert chosen == best_type((accept.encode("latin-1"),), PROBLEMS)


IDENTITY, GZIP, NONE = (False, True), (True, True), (False, False)
ONLY_GZIP = (True, False)
"""Whether gzip is preferred, and whether identity is accepted."""

CODINGS = [
    ("", IDENTITY),
    ("identity", IDENTITY),
    ("gzip", GZIP),
    ("GZIP", GZIP),
    ("x-gzip", GZIP),
    ("gzip, deflate, br, zstd", GZIP),
    ("br;q=1.0, gzip;q=0.8, *;q=0.1", GZIP),
    ("gzip;q=0", IDENTITY),
    ("x-gzip;q=0", IDENTITY),
    ("br", IDENTITY),
    ("*", GZIP),
    ("gzip;q=0.5, identity", IDENTITY),
    ("gzip;q=0.5, identity;q=0.5", GZIP),
    ("identity;q=0.5, gzip;q=0.4", IDENTITY),
    ("gzip, identity;q=0", ONLY_GZIP),
    ("gzip, *;q=0", ONLY_GZIP),
    ("identity, *;q=0", IDENTITY),
    ("*, identity;q=0", ONLY_GZIP),
    ("*;q=0", NONE),
    ("identity;q=0", NONE),
    ("identity;q=0, gzip;q=0", NONE),
    ("gzip ; q=0.5", GZIP),
    (";;;, =, \xff;q=x", IDENTITY),
    ("gzipped", IDENTITY),
    ("gzip" + MAX_PREFERENCES * ",", IDENTITY),  # too long to be read
]


@pytest.mark.parametrize(("accepted", "expected"), CODINGS)
def test_gzip_is_chosen_if_not_less_preferred(accepted: str, expected: tuple[bool, bool]) -> None:
    """RFC 9110 12.5.3; among equals gzip, which has fewer bytes."""
    assert expected == accepted_codings((accepted.encode("latin-1"),))
