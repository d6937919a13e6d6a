"""Requests as values, without a connection."""

from collections.abc import Mapping

from reviewsd.http1.head import Fields
from reviewsd.http1.request import Request


def conditional_request(values: Mapping[bytes, tuple[bytes, ...]]) -> Request:
    """Return a GET with these header fields, among them preconditions."""
    fields = Fields(
        values,
        b"reviews.example",
        0,
        persistent=True,
        expects=False,
        conditional=True,
        if_none_match=None,
    )
    return Request(b"GET", b"/", fields=fields)
