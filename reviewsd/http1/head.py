"""Parses the head of a request strictly (RFC 9112 2 to 6; S3). Bytes in, values out; no I/O.

There is one parser for all requests, so a request ends at one place only. A head that breaks the grammar is refused,
because a proxy may read it differently, which makes request smuggling possible.

The grammar of all fields is checked in one pass over their bytes. Only those on which a response depends (``READ``)
are parsed: a proxy sends many others, and different ones with each request.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address

from msgspec import Struct

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem

MAX_LINE = 16_384
"""Bytes of a request line, or of a field's; more is 414 or 431."""

MAX_HEAD = 16_384
"""Bytes of all fields together."""

MAX_FIELDS = 500

ASTERISK = b"*"
"""The path that stands for the whole server, ``OPTIONS *``."""

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
"""Regular expression of a token character (RFC 9110 5.6.2)."""

VALUE = rb"[\t -~\x80-\xff]"
"""Regular expression of a character of a field value (RFC 9110 5.5)."""

_LINE = re.compile(rb"([A-Z]++) ([!-~]++) HTTP/1\.([01])")
_UNESCAPED = re.compile(rb"[A-Z]++ /[ -~\x80-\xff]*(?<! ) HTTP/1\.[01]")
_FIELDS = re.compile(rb"(?:" + TOKEN + rb"++:" + VALUE + rb"*+\r\n)*+")
_NAME = rb"(?:[0-9A-Za-z._~!$&'()*+,;=-]++|%[0-9A-Fa-f]{2})+"
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Fa-f:.]+)\]|" + _NAME + rb")(?::[0-9]{0,5})?")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*+)([^#]*+)", re.IGNORECASE)
_DIGITS = re.compile(rb"[0-9]{1,16}")
_OWS = b" \t"
_SMALL = 4 * MAX_FIELDS  # bytes that cannot have more fields

READ = frozenset(
    (
        *(b"host", b"connection", b"content-length", b"transfer-encoding", b"expect"),
        *(b"accept", b"accept-encoding", b"content-type", b"origin", b"x-forwarded-for"),
        *(b"if-match", b"if-none-match", b"if-modified-since", b"if-unmodified-since"),
        *(b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name"),
    )
)
"""The fields that are parsed."""

_READ = re.compile(rb"\n((?i:" + b"|".join(sorted(READ)) + rb")):[\t ]*+(" + VALUE + rb"*+)")

_BEFORE = frozenset((b"if-match", b"if-unmodified-since"))
_CONDITIONS = _BEFORE | {b"if-none-match", b"if-modified-since"}


class RefusedError(Exception):
    """The bytes are no request that can be answered; the connection has to end."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.title)


class RequestLine(Struct, frozen=True):
    """A request line."""

    method: bytes
    path: bytes
    query: bytes
    """The part behind the question mark; empty without one."""
    authority: bytes | None
    """The authority of a target in absolute form, which replaces Host (RFC 9112 3.2.2)."""
    old: bool
    """Whether the request is HTTP/1.0."""


class Fields(Struct, frozen=True):
    """The header fields of a request, and its framing."""

    values: Mapping[bytes, tuple[bytes, ...]]
    """The values of each field of ``READ``, without blanks around them, in their order."""
    host: bytes | None
    """The Host field; None only in HTTP/1.0."""
    length: int | None
    """Bytes of the body; None if it comes in chunks."""
    persistent: bool
    """Whether the client keeps the connection open."""
    expects: bool
    """Whether the client waits for a 100 before it sends the body."""
    conditional: bool
    """Whether there are preconditions."""
    if_none_match: bytes | None
    """The value of If-None-Match, if it alone decides (RFC 9110 13.2.2)."""


def read_line(line: bytes) -> RequestLine:
    """Parse a request line, without its end.

    Raises:
        RefusedError: It is no request line, or one for a proxy.
    """
    parts = _LINE.fullmatch(line)
    if parts is None:
        unescaped = _UNESCAPED.fullmatch(line) is not None
        raise RefusedError(problems.UNESCAPED if unescaped else problems.NOT_HTTP)
    method, target, minor = parts.groups()
    authority = None
    if not target.startswith(b"/"):
        target, authority = _origin_form(method, target)
    path, _, query = target.partition(b"?")
    if method == b"CONNECT" or b"#" in target:
        raise RefusedError(problems.NOT_A_PATH)
    return RequestLine(method, path, query, authority, minor == b"0")


def _origin_form(method: bytes, target: bytes) -> tuple[bytes, bytes | None]:
    """Return a target as path and query, and its authority (RFC 9112 3.2)."""
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
    """Return whether a text is a host, with or without a port (RFC 9110 4.2): not empty, no user."""
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
    """Parse the fields of a head.

    Args:
        raw: Their lines, each with its end, without the empty line.
        old: Whether the request is HTTP/1.0.

    Raises:
        RefusedError: They break the grammar, are too many, or are ambiguous about framing or host.
    """
    if len(raw) > MAX_HEAD:
        raise RefusedError(problems.FIELDS_TOO_LARGE)
    if _FIELDS.fullmatch(raw) is None:
        raise RefusedError(problems.NOT_HTTP)
    if len(raw) > _SMALL and raw.count(b"\n") > MAX_FIELDS:
        raise RefusedError(problems.FIELDS_TOO_LARGE)
    values: dict[bytes, tuple[bytes, ...]] = {}
    for spelling, value in _READ.findall(b"\n" + raw):
        name = spelling.lower()
        values[name] = (*values.get(name, ()), value.rstrip(_OWS))
    hosts = values.get(b"host", ())
    if len(hosts) > 1 or not (hosts or old):
        raise RefusedError(problems.NOT_HTTP)
    if hosts and not _is_authority(hosts[0]):
        raise RefusedError(problems.NOT_HTTP)
    tags = values.get(b"if-none-match", ())
    return Fields(
        values,
        hosts[0] if hosts else None,
        _length(values, old=old),
        not old and not closes(values),
        not old and _expects(values),
        not _CONDITIONS.isdisjoint(values),
        tags[0] if len(tags) == 1 and _BEFORE.isdisjoint(values) else None,
    )


def _length(values: Mapping[bytes, tuple[bytes, ...]], *, old: bool) -> int | None:
    """Return the length of the body (RFC 9112 6.3); refuse framing that can be read in two ways."""
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


def _expects(values: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """Return whether the client waits for a 100 (RFC 9110 10.1.1)."""
    lines = values.get(b"expect", ())
    return bool(lines) and b"100-continue" in (line.lower() for line in lines)


def closes(values: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """Return whether ``close`` is an option of Connection (RFC 9110 7.6.1)."""
    line = b",".join(values.get(b"connection", ())).lower()
    return b"close" in line and b"close" in (option.strip(_OWS) for option in line.split(b","))
