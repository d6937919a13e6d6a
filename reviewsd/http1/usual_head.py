"""A usual head, in one look: as strict as ``head``, and a third of its time.

Usual is what clients and proxies send: GET, HEAD or POST with a path, HTTP/1.1, Host a plain name, no chunks,
and no field on which the answer depends twice. One expression takes such a head apart and holds all of
it to the grammar; however the other fields vary, they are only passed over. Whatever is not usual, a
request that must be refused included, is None here, and ``head`` reads it. What both read they read
alike (``tests/unit/http1/test_usual_head.py``).
"""

import re
from typing import Final

from reviewsd.http1.head import MAX_FIELDS, READ, TOKEN, VALUE, Fields, closes

MAX_SIZE: Final = 4 * MAX_FIELDS
"""Bytes of a head that is usual: too few for a line, a field, or their number to be too large."""

_NOT_USUAL = {b"transfer-encoding", b"expect", b"if-match", b"if-unmodified-since"}
_TAKEN: Final = tuple(sorted(READ - _NOT_USUAL))
"""The fields that are taken from a usual head."""

_FIRST: Final = 4
"""The group that has the first of them."""

_LINE = rb"(GET|HEAD|POST) (/[!\"$->@-~]*+)(?:\?([!\"$-~]*+))?+ HTTP/1\.1\r\n"
_VALUES = {b"host": rb"[-0-9A-Za-z._~]++(?::[0-9]{1,5})?+", b"content-length": rb"[0-9]{1,16}+"}


def _either_case(text: bytes) -> bytes:
    return b"".join(
        b"[%c%c]" % (letter, letter ^ 0x20) if letter > ord("-") else re.escape(b"%c" % letter)
        for letter in text
    )


def _rest_of(name: bytes) -> bytes:
    """A field that is taken, after its initial: only once, and without blanks at its end."""
    group = _FIRST + _TAKEN.index(name)
    value = _VALUES.get(name, VALUE + rb"*+")
    once = rb":(?(%d)(?!))[\t ]*+" % group
    return _either_case(name[1:]) + once + rb"(" + value + rb")(?<![\t ])\r\n"


def _fields_of(initial: int) -> bytes:
    """The fields with this initial: those that are taken, and those that nobody reads."""
    names = sorted(name for name in READ if name[0] == initial)
    taken = [_rest_of(name) for name in names if name in _TAKEN]
    read = b"|".join(_either_case(name[1:]) for name in names)
    others = rb"(?!(?:" + read + rb"):)" + TOKEN + rb"*+:" + VALUE + rb"*+\r\n"
    return _either_case(b"%c" % initial) + rb"(?:" + b"|".join((*taken, others)) + rb")"


def _expression() -> bytes:
    """Of a whole head. It tells fields apart by their initials, as most of them nobody reads."""
    initials = sorted({name[0] for name in READ})
    both = b"".join(b"%c%c" % (initial, initial ^ 0x20) for initial in initials)
    others = rb"(?![" + both + rb"])" + TOKEN + rb"++:" + VALUE + rb"*+\r\n"
    fields = b"|".join((others, *map(_fields_of, initials)))
    return _LINE + rb"(?:" + fields + rb")*+\r\n"


_USUAL = re.compile(_expression())


_NONE = [None] * sum(1 for name in _TAKEN if name.startswith((b"mcp-", b"origin")))
"""Where none of these was given."""


def read_usual(  # noqa: C901 - a loop over the fields takes three times as long
    held: bytes,
) -> tuple[bytes, bytes, bytes, Fields, int] | None:
    """The method, path, query and fields of a usual head, and where it ends.

    Args:
        held: What has come, from the first byte of a request on.

    Returns:
        None where it does not begin with a usual head, or not with all of it.
    """
    found = _USUAL.match(held)
    if found is None or (end := found.end()) > MAX_SIZE:
        return None
    method, path, query, *given = found.groups()
    accept, codings, connection, length, kind, host, since, tag, *others, forwarded = given
    if host is None:
        return None
    values = {b"host": (host,)}
    if accept is not None:
        values[b"accept"] = (accept,)
    if codings is not None:
        values[b"accept-encoding"] = (codings,)
    if since is not None:
        values[b"if-modified-since"] = (since,)
    if tag is not None:
        values[b"if-none-match"] = (tag,)
    if forwarded is not None:
        values[b"x-forwarded-for"] = (forwarded,)
    persistent = True
    if connection is not None:
        values[b"connection"] = (connection,)
        persistent = not closes(values)
    if length is not None or kind is not None or others != _NONE:  # which a read seldom has
        for name, value in zip(_TAKEN, given, strict=True):
            if value is not None:
                values[name] = (value,)
    conditional = tag is not None or since is not None
    size = 0 if length is None else int(length)
    fields = Fields(values, host, size, persistent, False, conditional, tag)  # noqa: FBT003  in order
    return method, path, query or b"", fields, end
