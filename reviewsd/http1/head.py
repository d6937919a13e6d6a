"""The head of a request, read strictly (RFC 9112 2 to 6; S3). Bytes in, values out; no I/O.

One reader for all requests, however they are answered, so there are no two opinions about where one
ends. What is not exactly as the grammar has it is refused: whoever sits in front of us may read it
differently, and that is what request smuggling lives on.

All fields are held to the grammar, in one pass over their bytes. Read are only those on which an
answer depends (``READ``): a proxy sends many others, and different ones with each request.
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
"""A character of a name, and"""

VALUE = rb"[\t -~\x80-\xff]"
"""one of a value, as expressions (RFC 9110 5.5, 5.6.2)."""

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
"""The fields that are read; nobody asks for another one."""

_READ = re.compile(rb"\n((?i:" + b"|".join(sorted(READ)) + rb")):[\t ]*+(" + VALUE + rb"*+)")

_BEFORE = frozenset((b"if-match", b"if-unmodified-since"))
_CONDITIONS = _BEFORE | {b"if-none-match", b"if-modified-since"}


class RefusedError(Exception):
    """What came is no request that can be answered; the connection cannot go on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.title)


class RequestLine(Struct, frozen=True):
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

    values: Mapping[bytes, tuple[bytes, ...]]
    """The values of each name of ``READ``, without blanks around them, in their order."""
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


def read_line(line: bytes) -> RequestLine:
    """A request line, without its end.

    Raises:
        RefusedError: It is none, or asks a proxy for something.
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


def _expects(values: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """Whether the client waits for a 100 (RFC 9110 10.1.1)."""
    given = values.get(b"expect", ())
    return bool(given) and b"100-continue" in (value.lower() for value in given)


def closes(values: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """Whether ``close`` is a member of Connection (RFC 9110 7.6.1)."""
    given = b",".join(values.get(b"connection", ())).lower()
    return b"close" in given and b"close" in (each.strip(_OWS) for each in given.split(b","))
