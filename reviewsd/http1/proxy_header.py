"""The header that a proxy sends before a client's bytes: PROXY protocol, versions 1 and 2 (S6).

It comes first on every connection of a ``haproxy:`` listener, and has the client's address
(haproxy.org, proxy-protocol.txt). Twisted's reader is not used: it needs the first 16 bytes in one piece,
accepts any text as an address, and raises an exception at a malformed port. No I/O.
"""

import re
from ipaddress import IPv4Address, IPv6Address

from msgspec import Struct

from reviewsd.http1 import problems
from reviewsd.http1.head import RefusedError

MAX_HEADER = 16_384
"""Bytes of a header of version 2, with its extensions, which are skipped."""

_MAX_LINE = 107  # bytes of version 1, its end included
_WORD = b"PROXY "
_LINE = re.compile(
    rb"PROXY (?:UNKNOWN(?: [ -~]*+)?|"
    rb"(TCP[46]) ([0-9A-Fa-f:.]++) ([0-9A-Fa-f:.]++) ([0-9]{1,5}) ([0-9]{1,5}))"
)
_MAX_PORT = 65_535

_SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
_FIXED = 16  # bytes: signature, version and command, family and protocol, length of the rest
_LOCAL, _PROXY = 0x20, 0x21
_WIDTHS = {0x11: 4, 0x21: 16}  # bytes of an address, for TCP over IPv4 and IPv6
_UNNAMED = frozenset({0x00, 0x31})  # unspecified, and UNIX sockets


class ProxyHeader(Struct, frozen=True):
    """The header of a proxy."""

    client: str | None
    """The client's address; None if the connection is the proxy's own, or the client unknown."""
    size: int
    """Bytes of the header."""


def read_header(data: bytes) -> ProxyHeader | None:
    """Return the header at the begin of a connection; None while it is not complete.

    Raises:
        RefusedError: There is no header, or it breaks the protocol.
    """
    try:
        return _read(data)
    except ValueError as error:
        raise RefusedError(problems.NO_PROXY_HEADER) from error


def _read(data: bytes) -> ProxyHeader | None:
    if data.startswith(_SIGNATURE[: len(data)]):
        return _read_binary(data) if len(data) >= _FIXED else None
    if data.startswith(_WORD[: len(data)]):
        return _read_line(data)
    raise ValueError("neither version")


def _read_line(data: bytes) -> ProxyHeader | None:
    """Parse a header of version 1."""
    end = data.find(b"\r\n", 0, _MAX_LINE)
    if end < 0 and len(data) < _MAX_LINE:
        return None
    parts = _LINE.fullmatch(data, 0, max(end, 0))
    if parts is None:
        raise ValueError("no line of version 1")
    family, source, target, *ports = parts.groups()
    if family is None:
        return ProxyHeader(None, end + 2)
    kind = IPv4Address if family == b"TCP4" else IPv6Address
    host, _ = kind(source.decode()), kind(target.decode())
    if max(map(int, ports)) > _MAX_PORT:
        raise ValueError("no port")
    return ProxyHeader(str(host), end + 2)


def _read_binary(data: bytes) -> ProxyHeader | None:
    """Parse a header of version 2; its fixed part is complete."""
    command, family, length = data[12], data[13], int.from_bytes(data[14:_FIXED], "big")
    size, width = _FIXED + length, _WIDTHS.get(family)
    if command not in (_LOCAL, _PROXY) or size > MAX_HEADER:
        raise ValueError("another version or command, or too long")
    nameless = command == _LOCAL or family in _UNNAMED
    if not nameless and (width is None or length < 2 * width + 4):
        raise ValueError("another family, or too short")
    if len(data) < size:
        return None
    if nameless or width is None:
        return ProxyHeader(None, size)
    address = data[_FIXED : _FIXED + width]
    host = IPv4Address(address) if width == 4 else IPv6Address(address)  # noqa: PLR2004  bytes
    return ProxyHeader(str(host), size)
