"""The head of a request, read strictly (RFC 9112 2 to 6; S3). Bytes in, values out; no I/O.

One reader for all requests, however they are answered, so there are no two opinions about where one
ends. What is not exactly as the grammar has it is refused: whoever sits in front of us may read it
differently, and that is what request smuggling lives on.

A client repeats its fields from request to request, byte for byte. So a connection keeps the last
``Fields``, and passes them on while their bytes are the same.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address

from msgspec import Struct
from msgspec.structs import replace

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem

MAX_LINE = 16_384
"""Bytes of a request line, or of a field's; more is 414 or 431."""

MAX_HEAD = 16_384
"""Bytes of all fields together."""

MAX_FIELDS = 500

ASTERISK = b"*"
"""The path that stands for the whole server, ``OPTIONS *``."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_LINE = re.compile(rb"([A-Z]++) ([!-~]++) HTTP/1\.([01])")
_FIELDS = re.compile(rb"(?:" + _TOKEN + rb"++:[\t -~\x80-\xff]*+\r\n)*+")
_NAME = rb"(?:[0-9A-Za-z._~!$&'()*+,;=-]++|%[0-9A-Fa-f]{2})+"
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Fa-f:.]+)\]|" + _NAME + rb")(?::[0-9]{0,5})?")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*+)([^#]*+)", re.IGNORECASE)
_SIZED = re.compile(rb"^content-length:[\t ]*([0-9]+)[\t ]*\r$", re.IGNORECASE | re.MULTILINE)
_DIGITS = re.compile(rb"[0-9]{1,16}")
_OWS = b" \t"

_BEFORE = frozenset((b"if-match", b"if-unmodified-since"))
_CONDITIONS = _BEFORE | {b"if-none-match", b"if-modified-since"}


class RefusedError(Exception):
    """What came is no request that can be answered; the connection cannot go on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.title)


class Line(Struct, frozen=True):
    """A request line."""

    method: bytes
    path: bytes
    query: bytes
    """What follows the question mark; empty also where there is none."""
    authority: bytes | None
    """Of a target in absolute form, which takes the place of Host (RFC 9112 3.2.2)."""
    old: bool
    """Whether it is HTTP/1.0."""


class Fields(Struct, frozen=True):
    """The header fields of a request, and what they say of its framing."""

    raw: bytes
    """As received, each with its line end."""
    values: Mapping[bytes, tuple[bytes, ...]]
    """The values of each name, in lower case, without blanks around them, in their order."""
    host: bytes | None
    """The Host field, without which there is none but in HTTP/1.0."""
    length: int | None
    """Bytes of the body; None where it comes in chunks."""
    persistent: bool
    """Whether the client wants the connection to go on."""
    expects: bool
    """Whether the client waits for a 100 before it sends the body."""
    conditional: bool
    """Whether there are preconditions."""
    known: bytes | None
    """What If-None-Match says, where it alone decides (RFC 9110 13.2.2)."""
    sized: tuple[int, int] | None
    """Where in ``raw`` the digits of Content-Length are; None where there are none."""


def read_line(line: bytes) -> Line:
    """A request line, without its end.

    Raises:
        RefusedError: It is none, or asks a proxy for something.
    """
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise RefusedError(problems.NOT_HTTP)
    method, target, minor = parts.groups()
    authority = None
    if not target.startswith(b"/"):
        target, authority = _origin_form(method, target)
    path, _, query = target.partition(b"?")
    if method == b"CONNECT" or b"#" in target:
        raise RefusedError(problems.NOT_A_PATH)
    return Line(method, path, query, authority, minor == b"0")


def _origin_form(method: bytes, target: bytes) -> tuple[bytes, bytes | None]:
    """A target as path and query, and the authority that it named (RFC 9112 3.2)."""
    if target == b"*" and method == b"OPTIONS":
        return ASTERISK, None
    parts = _ABSOLUTE.fullmatch(target)
    if parts is None or not _is_authority(parts[1]):
        raise RefusedError(problems.NOT_A_PATH)
    authority, rest = parts.groups()
    if not rest and method == b"OPTIONS":  # the whole server again (RFC 9110 4.2.3)
        return ASTERISK, authority
    return rest if rest.startswith(b"/") else b"/" + rest, authority


def _is_authority(text: bytes) -> bool:
    """Whether it is a host, with or without a port (RFC 9110 4.2): never empty, and no user."""
    parts = _AUTHORITY.fullmatch(text)
    if parts is None:
        return False
    if parts[1] is not None:
        try:
            IPv6Address(parts[1].decode())
        except ValueError:
            return False
    return True


def read_fields(raw: bytes, *, old: bool) -> Fields:
    """The fields of a head.

    Args:
        raw: Their lines, each with its end, without the empty one.
        old: Whether the request is HTTP/1.0.

    Raises:
        RefusedError: They break the grammar, are too many, or leave the framing or the host in doubt.
    """
    if len(raw) > MAX_HEAD:
        raise RefusedError(problems.FIELDS_TOO_LARGE)
    if _FIELDS.fullmatch(raw) is None:
        raise RefusedError(problems.NOT_HTTP)
    values: dict[bytes, tuple[bytes, ...]] = {}
    lines = raw.split(b"\r\n")
    if len(lines) - 1 > MAX_FIELDS:
        raise RefusedError(problems.FIELDS_TOO_LARGE)
    for line in lines[:-1]:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(_OWS)
        values[name] = (*values[name], value) if name in values else (value,)
    hosts = values.get(b"host", ())
    if len(hosts) > 1 or not (hosts or old):
        raise RefusedError(problems.NOT_HTTP)
    if hosts and not _is_authority(hosts[0]):
        raise RefusedError(problems.NOT_HTTP)
    tags = values.get(b"if-none-match", ())
    return Fields(
        raw,
        values,
        hosts[0] if hosts else None,
        _length(values, old=old),
        not old and not _closes(values),
        b"100-continue" in (value.lower() for value in values.get(b"expect", ())) and not old,
        not _CONDITIONS.isdisjoint(values),
        tags[0] if len(tags) == 1 and _BEFORE.isdisjoint(values) else None,
        _place_of_length(raw),
    )


def resized(fields: Fields, raw: bytes) -> Fields | None:
    """The fields of a client that repeats itself, but for the length of what it sends.

    Args:
        fields: Those that it sent before.
        raw: What it sends now.

    Returns:
        None where they differ in something else: then they have to be read.
    """
    if fields.sized is None:
        return None
    begin, end = fields.sized
    stop = raw.find(b"\r", begin)
    digits = raw[begin:stop]
    if (
        raw[:begin] != fields.raw[:begin]
        or raw[stop:] != fields.raw[end:]
        or _DIGITS.fullmatch(digits) is None
    ):
        return None
    values = {**fields.values, b"content-length": (digits,)}
    return replace(fields, raw=raw, values=values, length=int(digits), sized=(begin, stop))


def _place_of_length(raw: bytes) -> tuple[int, int] | None:
    found = _SIZED.search(raw)
    return None if found is None else found.span(1)


def _length(values: Mapping[bytes, tuple[bytes, ...]], *, old: bool) -> int | None:
    """How long the body is (RFC 9112 6.3): only where nobody can read it in another way."""
    codings, lengths = values.get(b"transfer-encoding", ()), values.get(b"content-length", ())
    if codings:
        if lengths or old or len(codings) > 1 or codings[0].lower() != b"chunked":
            raise RefusedError(problems.NOT_HTTP)
        return None
    if not lengths:
        return 0
    if len(lengths) > 1 or _DIGITS.fullmatch(lengths[0]) is None:
        raise RefusedError(problems.NOT_HTTP)
    return int(lengths[0])


def _closes(values: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """Whether ``close`` is a member of Connection (RFC 9110 7.6.1)."""
    given = b",".join(values.get(b"connection", ())).lower()
    return b"close" in given and b"close" in (each.strip(_OWS) for each in given.split(b","))
